package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// now is the clock of the independent scopes.
const now = "2099-12-31T00:00:00Z"

// What no test may ever see in arguments, in the environment of others or on a stream.
const (
	testPassphrase = "brass lantern quietly 57"
	testPIN        = "83641907"
	wrongPIN       = "55501234"
)

// A session is a folder with keys, sets and scopes in it, and somebody who runs commands there without a terminal.
type session struct {
	t       testing.TB
	dir     string
	command string
	env     []string
	state   string     // folder that all commands remember in; "" gives each a fresh one, as if it were the first
	fds     []*os.File // inherited, from 3 on
}

func newSession(t testing.TB) *session {
	t.Helper()
	s := &session{t: t, dir: t.TempDir(), command: built}
	s.env = append(os.Environ(), "TZ=UTC", "HOME=/nonexistent", passphraseVariable+"=", "APPROVER_CONFIG=", "XDG_CONFIG_HOME=",
		"BETTER_COMPUTE_APPROVER_KEYS=", "BETTER_COMPUTE_APPROVER_THRESHOLD=", "BETTER_COMPUTE_UNBATCHED_PER_HOUR=",
		"BETTER_COMPUTE_APPROVER_SET_SIGNATURES=", "BETTER_COMPUTE_TRUST_VERSION=") // nothing is configured, whatever the developer has
	require.NoError(t, writeFixtures(s.dir))
	return s
}

// A result is how a command ended.
type result struct {
	status         int
	stdout, stderr string
	took           time.Duration
	cpu            time.Duration // where it was measured
	maxRSS         int64         // bytes, where it was measured
}

// path gives a file of the session's folder.
func (s *session) path(name string) string { return filepath.Join(s.dir, name) }

func (s *session) write(name string, data []byte) string {
	s.t.Helper()
	require.NoError(s.t, os.WriteFile(s.path(name), data, 0o600))
	return name
}

func (s *session) read(name string) []byte {
	s.t.Helper()
	data, err := os.ReadFile(s.path(name))
	require.NoError(s.t, err)
	return data
}

// files gives what is in the folder, temporary files included.
func (s *session) files() (names []string) {
	s.t.Helper()
	entries, err := os.ReadDir(s.dir)
	require.NoError(s.t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// environment gives the environment of a process. No process remembers anything in the developer's own folder.
func (s *session) environment() []string {
	state := s.state
	if state == "" {
		state = s.t.TempDir()
	}
	return append(slices.Clone(s.env), "XDG_STATE_HOME="+state)
}

// remembers lets all commands from now on have one ledger, and gives its folder.
func (s *session) remembers() string {
	s.state = s.t.TempDir()
	return filepath.Join(s.state, "approver")
}

// prepare makes the process of a command line, with a session of its own and so without a terminal.
func (s *session) prepare(args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	s.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, s.command, args...)
	cmd.Dir, cmd.Env, cmd.ExtraFiles = s.dir, s.environment(), s.fds
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// run runs a command line. Whatever it does, it shows no secret, and only printable lines on standard error.
func (s *session) run(args ...string) result {
	s.t.Helper()
	return s.finish(s.prepare(args...))
}

// measured runs a command line and measures its memory and processor time.
func (s *session) measured(args ...string) result {
	s.t.Helper()
	cmd := s.prepare(append([]string{s.command}, args...)...)
	var err error
	cmd.Path, err = exec.LookPath("measure")
	require.NoError(s.t, err)
	cmd.Args[0] = "measure"
	read, write, err := os.Pipe()
	require.NoError(s.t, err)
	defer read.Close()
	cmd.ExtraFiles = []*os.File{write}
	r := s.finish(cmd)
	write.Close()
	_, err = fmt.Fscan(read, &r.maxRSS, &r.cpu, &r.took)
	require.NoError(s.t, err)
	r.maxRSS <<= 10
	return r
}

// sh runs a shell line in which "$approver" is the command.
func (s *session) sh(line string) result {
	s.t.Helper()
	cmd := s.prepare()
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", line}
	cmd.Env = append(s.environment(), "approver="+s.command)
	return s.finish(cmd)
}

// untilBroken is for a shell: it goes on once nothing can be written to standard output any more.
const untilBroken = "trap '' PIPE; while echo; do :; done 2>/dev/null;"

func (s *session) finish(cmd *exec.Cmd) result {
	s.t.Helper()
	var stdout, stderr bytes.Buffer
	if cmd.Stdout == nil {
		cmd.Stdout = &stdout
	}
	if cmd.Stderr == nil {
		cmd.Stderr = &stderr
	}
	start := time.Now()
	err := cmd.Run()
	if _, exited := err.(*exec.ExitError); !exited {
		require.NoError(s.t, err)
	}
	r := result{status: cmd.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String(), took: time.Since(start)}
	requireNoSecret(s.t, strings.Join(cmd.Args, " "), r.stdout, r.stderr)
	if s.command != built && s.command != builtWithoutCGO {
		return r // a program of others
	}
	if !slices.Contains(cmd.Args, "--qr") {
		requirePrintable(s.t, r.stderr)
	}
	return r
}

// ok runs a command line that must succeed.
func (s *session) ok(args ...string) result {
	s.t.Helper()
	r := s.run(args...)
	require.Zero(s.t, r.status, "%v: %s", args, r.stderr)
	return r
}

// refused runs a command line that must end with that code and reason, as text and as JSON, and write nothing. The
// reason "*" is any.
func (s *session) refused(code, reason string, args ...string) result {
	s.t.Helper()
	before := s.files()
	asJSON := s.run(append(slices.Clone(args), "--json")...)
	requireRefusal(s.t, asJSON, code, reason)
	r := s.run(args...)
	require.Equal(s.t, 1, r.status, "%v: %s", args, r.stderr)
	require.Regexp(s.t, "(?m)^"+code+": ", r.stderr)
	if args[1] == "sign" {
		require.Empty(s.t, r.stdout+asJSON.stdout, "something was signed")
	}
	require.Equal(s.t, before, s.files(), "something was written")
	return r
}

// sign gives the arguments of batch sign by alice at the clock of the cases.
func sign(scope string, more ...string) []string {
	return append([]string{"batch", "sign", "--scope", scope, "--key", "alice.pem", "--now", now, "--yes"}, more...)
}
