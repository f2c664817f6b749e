//go:build linux

package main

import (
	"bytes"
	"context"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// signingFunctions are the functions of a signature, from the first to the last before it is written.
var signingFunctions = []string{"C_Initialize", "C_GetSlotList", "C_GetTokenInfo", "C_OpenSession", "C_FindObjectsInit", "C_GetAttributeValue", "C_Login", "C_SignInit", "C_Sign"}

// A function that does not return: the deadline ends the process, which names the function and calls nothing any more.
func TestFaultHang(t *testing.T) {
	t.Parallel()
	f := newFaultyToken(t)
	for _, function := range signingFunctions {
		t.Run(function, func(t *testing.T) {
			f := f.in(t)
			r := f.fails("timeout", f.args("--timeout", "300ms"), function+" 0 0 hang 1")
			named := strings.TrimSuffix(function, "Init")
			if function == "C_SignInit" {
				named = function
			}
			require.Contains(t, r.stderr, named+" did not return within 300ms")
			require.Contains(t, r.stderr, "without C_Finalize")
			calls := f.calls()
			require.Equal(t, function, strings.SplitN(calls[len(calls)-1], ":", 2)[0], "the module was called again")
		})
	}
	f.signs(f.args())
}

// One that hangs while it is loaded, in its constructor or in C_GetFunctionList: whatever loads it waits as long as it was told.
func TestFaultHangInLoading(t *testing.T) {
	t.Parallel()
	f := newFaultyToken(t)
	for _, function := range []string{"constructor", "C_GetFunctionList"} {
		for name, args := range map[string][]string{
			"sign": f.args("--timeout", "300ms"), "list": {"hsm", "list", "--module", f.module, "--timeout", "300ms"},
			"check": {"hsm", "check", tokenKey, "--module", f.module, "--pin-file", "pin.txt", "--timeout", "300ms"},
		} {
			t.Run(name+" "+function, func(t *testing.T) {
				f := f.in(t)
				r := f.fails("timeout", args, function+" 0 0 hang 1")
				require.Contains(t, r.stderr, "dlopen did not return within 300ms")
				require.Equal(t, []string{function}, f.calls())
			})
		}
	}
	f.signs(f.args())
}

// A module that hangs when it is left: the signature was made and is not lost, and the process ends.
func TestFaultHangAfterTheSignature(t *testing.T) {
	t.Parallel()
	f := newFaultyToken(t)
	for _, function := range []string{"C_Logout", "C_CloseSession", "C_Finalize"} {
		r := f.signs(f.args("--timeout", "300ms"), function+" 0 0 hang 1")
		require.Regexp(t, `(?m)^warning: .*`+function+` did not return within 300ms`, r.stderr)
	}
}

// start runs a command line in the background and waits until the module's function was called.
func (f *faultyToken) start(function string, args []string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	f.t.Helper()
	cmd, stdout, stderr = f.prepare(args...), new(bytes.Buffer), new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	require.NoError(f.t, cmd.Start())
	f.reach(function)
	return cmd, stdout, stderr
}

// reach waits until a function of the module was called.
func (f *faultyToken) reach(function string) {
	f.t.Helper()
	require.Eventually(f.t, func() bool { return slices.Contains(f.calls(), function) }, 20*time.Second, 5*time.Millisecond, "no call of %s", function)
}

// A signal while the module works: the call is waited for, the user logged out, nothing written. While it hangs nothing of
// it can be called, and the process ends all the same.
func TestFaultSignal(t *testing.T) {
	t.Parallel()
	f := newFaultyToken(t)
	for _, function := range []string{"C_FindObjectsInit", "C_Login", "C_SignInit", "C_Sign"} {
		for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
			for _, how := range []string{"delay 2000", "hang 1"} {
				t.Run(function+" "+how+" "+signal.String(), func(t *testing.T) {
					f := f.in(t)
					f.set(function + " 0 0 " + how)
					cmd, stdout, stderr := f.start(function, f.args())
					require.NoError(t, cmd.Process.Signal(signal))
					require.Error(t, cmd.Wait())
					require.Equal(t, 1, cmd.ProcessState.ExitCode(), "%s", stderr)
					require.Regexp(t, `(?m)^KEY_UNAVAILABLE: cancelled at C_`, stderr.String())
					requireNoSecret(t, stdout.String(), stderr.String())
					require.Empty(t, stdout.String())
					require.Empty(t, f.left())
					if how == "hang 1" {
						require.NotContains(t, f.calls(), "C_Finalize")
						require.NotContains(t, f.calls(), "C_Logout")
						require.Contains(t, stderr.String(), "warning: ")
						return
					}
					require.Equal(t, function != "C_FindObjectsInit", f.count("C_Login") == 1)
					f.requireLeft() // logged out, where C_Login was called, though its answer came too late to be looked at
				})
			}
		}
	}
	f.signs(f.args())
}

// A signal after the signature was written changes nothing about it.
func TestFaultSignalAfterTheSignature(t *testing.T) {
	f := newFaultyToken(t)
	f.set("C_Logout 0 0 delay 300")
	cmd, _, stderr := f.start("C_Logout", f.args())
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, cmd.Wait(), "%s", stderr)
	f.requireSignature("out/sig.json", "k256")
	f.requireLeft()
}

// line gives a line for a terminal, on which the PIN is typed.
func (f *faultyToken) line(more string) string {
	return "exec $approver batch sign --scope ok-2.json --now " + now + " --module " + f.module + " --key \"" + tokenKey +
		"\" --pub k256.pem.pub --out out/sig.json " + more
}

// interrupt sends a signal to the command on a terminal; 0 is Ctrl-C, and SIGQUIT is sent by its key, Ctrl-\.
func (c *screen) interrupt(signal syscall.Signal) {
	c.s.t.Helper()
	switch signal {
	case 0:
		c.press("C-c")
		return
	case syscall.SIGQUIT:
		c.press(`C-\`)
		return
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(c.s.read("pid"))))
	require.NoError(c.s.t, err)
	require.NoError(c.s.t, syscall.Kill(pid, signal))
}

// awaitSilence waits until the terminal does not show what is typed.
func (c *screen) awaitSilence() {
	c.s.t.Helper()
	tty := strings.TrimSpace(c.tmux("display-message", "-p", "#{pane_tty}"))
	c.until(func() bool {
		out, err := exec.Command("stty", "-F", tty, "-a").Output()
		return err == nil && strings.Contains(string(out), " -echo ")
	}, "the terminal shows what is typed")
}

// A signal on a terminal: while the PIN is typed, while the token signs, and while it hangs. The terminal is set as before
// (screen.end compares what stty says), and the token left as far as it can be.
func TestFaultSignalOnTerminal(t *testing.T) {
	t.Parallel()
	f := newFaultyToken(t)
	for name, signal := range map[string]syscall.Signal{"C-c": 0, "SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM, "SIGHUP": syscall.SIGHUP, "C-\\": syscall.SIGQUIT} {
		for _, where := range []string{"typing the PIN", "in C_Login", "in C_Sign", "in C_Sign, which hangs", "in C_Login, which hangs"} {
			t.Run(where+" "+name, func(t *testing.T) {
				f := f.in(t)
				function, hangs := "", strings.HasSuffix(where, "hangs")
				if rest, ok := strings.CutPrefix(where, "in "); ok {
					function, _, _ = strings.Cut(rest, ",")
					f.set(function + map[bool]string{true: " 0 0 hang 1", false: " 0 0 delay 2000"}[hangs])
				} else {
					f.set()
				}
				c := f.onScreen(100, 40, f.line(""))
				c.answer()
				c.await("PIN for token")
				c.awaitSilence()
				if function == "" {
					c.tmux("send-keys", "-l", testPIN[:4]) // half a PIN is in the terminal
					time.Sleep(50 * time.Millisecond)
				} else {
					c.say(testPIN)
					f.reach(function)
				}
				c.interrupt(signal)
				require.Equal(t, 1, c.end(), "%s", c.text())
				require.Contains(t, c.text(), "KEY_UNAVAILABLE: cancelled at")
				require.NotContains(t, c.text(), testPIN[:4])
				require.Empty(t, f.left())
				switch {
				case hangs:
					require.NotContains(t, f.calls(), "C_Finalize")
				default:
					require.Equal(t, function == "", f.count("C_Login") == 0)
					f.requireLeft()
				}
			})
		}
	}
}

// An interrupt while the new key signs its trial: the key is destroyed again once the token has answered.
func TestFaultSignalTakesTheNewKeyBack(t *testing.T) {
	f := newFaultyToken(t)
	f.set("C_Sign 0 0 delay 500")
	cmd := f.prepare("hsm", "keygen", "--token", "approver", "--label", "new", "--out", "new", "--module", f.module, "--pin-file", "pin.txt")
	require.NoError(t, cmd.Start())
	f.reach("C_Sign")
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	require.Error(t, cmd.Wait())
	f.set()
	require.Equal(t, []string{"private key k256", "public key k256"}, f.keysOnToken())
}

// Two that make a key of one label at once: one is made, and the other is refused.
func TestFaultTwoKeysOfOneLabel(t *testing.T) {
	f := newFaultyToken(t)
	f.set("C_GenerateKeyPair 0 0 delay 700")
	var both []*exec.Cmd
	for _, out := range []string{"one", "two"} {
		cmd := f.prepare("hsm", "keygen", "--token", "approver", "--label", "new", "--out", out, "--module", f.module, "--pin-file", "pin.txt")
		require.NoError(t, cmd.Start())
		both = append(both, cmd)
	}
	made := 0
	for _, cmd := range both {
		if cmd.Wait() == nil {
			made++
		}
	}
	require.Equal(t, 1, made)
	f.set()
	require.ElementsMatch(t, []string{"private key k256", "private key new", "public key k256", "public key new"}, f.keysOnToken())
}

// A key of the label that another program makes while the new one is tried: the new one goes again.
func TestFaultAnotherKeyOfTheLabel(t *testing.T) {
	f := newFaultyToken(t)
	f.set("C_Sign 0 1 delay 1500")
	cmd, _, stderr := f.start("C_Sign", []string{"hsm", "keygen", "--token", "approver", "--label", "new", "--out", "new", "--module", f.module, "--pin-file", "pin.txt"})
	f.keygen("07", "new")
	require.Error(t, cmd.Wait())
	require.Contains(t, stderr.String(), `CONFLICT: another key labelled "new" was made at the same time; the new key was destroyed again`)
	require.ElementsMatch(t, []string{"private key k256", "private key new", "public key k256", "public key new"}, f.keysOnToken())
	require.NoFileExists(t, f.path("new.pub"))
}

// A program that holds the lock is waited for as long as it was said, and no longer.
func TestModuleIsLocked(t *testing.T) {
	s := newSession(t)
	s.write("module.so", nil)
	path := s.path("module.so")
	unlock, err := lockModule(t.Context(), path, 0)
	require.NoError(t, err)
	_, err = lockModule(t.Context(), path, 50*time.Millisecond)
	require.ErrorContains(t, err, "another program makes a key by the module")
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = lockModule(interrupted, path, time.Hour)
	require.ErrorContains(t, err, "interrupted")
	time.AfterFunc(50*time.Millisecond, unlock)
	unlock, err = lockModule(t.Context(), path, time.Minute)
	require.NoError(t, err)
	unlock()
	unlock, err = lockModule(t.Context(), s.path("absent.so"), 0)
	require.NoError(t, err)
	unlock()
}
