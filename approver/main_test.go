package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/golden"
)

// The tests run the command as a process: scripts run the test binary's own main, the others what "go build" makes, which
// is no slower and no larger than what people use.

// built is the command, and builtWithoutCGO the one that knows no tokens.
var built, builtWithoutCGO string

func TestMain(m *testing.M) {
	testscript.Main(suite{m}, map[string]func(){
		"approver": func() {
			syscall.Setsid() // away from a terminal that runs the tests; under ttyin it leads its session and stays
			main()
		},
		"measure": measure,
	})
}

// measure runs a command line and writes the most memory it had, in KiB, its processor time and how long it took to
// descriptor 3. It stands between because the kernel counts the memory of who started a process as the process's own.
func measure() {
	out := os.NewFile(3, "measured")
	syscall.CloseOnExec(3)
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	start := time.Now()
	cmd.Run()
	took, state := time.Since(start), cmd.ProcessState
	fmt.Fprintln(out, state.SysUsage().(*syscall.Rusage).Maxrss, int64(state.UserTime()+state.SystemTime()), int64(took))
	os.Exit(cmd.ProcessState.ExitCode())
}

type suite struct{ *testing.M }

func (s suite) Run() int {
	dir, err := os.MkdirTemp("", "approver-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	built, builtWithoutCGO = filepath.Join(dir, "approver"), filepath.Join(dir, "approver-nocgo")
	for out, cgo := range map[string]string{built: "CGO_ENABLED=1", builtWithoutCGO: "CGO_ENABLED=0"} {
		build := exec.Command("go", "build", "-o", out, ".")
		build.Env = append(os.Environ(), cgo)
		if text, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "building the command with %s: %v\n%s", cgo, err, text)
			return 1
		}
	}
	return s.M.Run()
}

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
	fds     []*os.File // inherited, from 3 on
}

func newSession(t testing.TB) *session {
	t.Helper()
	s := &session{t: t, dir: t.TempDir(), command: built}
	s.env = append(os.Environ(), "TZ=UTC", "HOME=/nonexistent", passphraseVariable+"=")
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

// prepare makes the process of a command line, with a session of its own and so without a terminal.
func (s *session) prepare(args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	s.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, s.command, args...)
	cmd.Dir, cmd.Env, cmd.ExtraFiles = s.dir, s.env, s.fds
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
	cmd.Env = append(slices.Clone(s.env), "approver="+s.command)
	return s.finish(cmd)
}

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

// requireRefusal holds a run with --json against a code and reason: the last line of standard error is ASCII and one
// JSON object.
func requireRefusal(t require.TestingT, r result, code, reason string) {
	require.Equal(t, 1, r.status, "%s", r.stderr)
	lines := strings.Split(strings.TrimSuffix(r.stderr, "\n"), "\n")
	got := parseRefusal(t, lines[len(lines)-1])
	if reason == "*" {
		require.Regexp(t, "^"+code+" ", got)
		return
	}
	require.Equal(t, code+" "+reason, got)
}

// parseRefusal gives code and reason of a line with a JSON error.
func parseRefusal(t require.TestingT, line string) string {
	var got struct {
		Error struct {
			Code    string         `json:"code"`
			Message string         `json:"message"`
			Details map[string]any `json:"details"`
		} `json:"error"`
	}
	d := json.NewDecoder(strings.NewReader(line))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&got), "%s", line)
	require.NotEmpty(t, got.Error.Message)
	require.Less(t, strings.IndexFunc(line, func(r rune) bool { return r < ' ' || r > '~' }), 0, "not plain ASCII: %q", line)
	reason, _ := got.Error.Details["reason"].(string)
	return got.Error.Code + " " + reason
}

func requirePrintable(t require.TestingT, stderr string) {
	at := strings.IndexFunc(stderr, func(r rune) bool { return r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0) })
	require.Less(t, at, 0, "a control character on standard error: %q", stderr)
}

func requireNoSecret(t require.TestingT, streams ...string) {
	for _, secret := range append(privateKeys(), testPassphrase, testPIN, wrongPIN) {
		for _, stream := range streams {
			require.NotContains(t, stream, secret)
		}
	}
}

// caseFile gives an independent scope file.
func caseFile(name string) []byte { return golden.Independent("scopes/" + name) }
