//go:build linux

package main

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/hsm"
)

// Every flag of hsm that takes a value is refused without one, and when it is given twice.
func TestHSMFlagsAreStrict(t *testing.T) {
	values := map[string]string{"string": "x", "int": "3", "uint64": "3", "duration": "3s"}
	n := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Value.Type() == "bool" {
				return
			}
			n++
			path := append([]string{"hsm"}, strings.Fields(c.CommandPath())[1:]...)
			value := values[f.Value.Type()]
			require.NotEmpty(t, value, "%s: a flag of type %s", f.Name, f.Value.Type())
			for _, test := range []struct {
				why  string
				args []string
			}{{"it is empty", []string{"--" + f.Name, ""}}, {"it is given twice", []string{"--" + f.Name, value, "--" + f.Name, value}}} {
				r := inProcess(t, func(*app) {}, append(slices.Clone(path), test.args...)...)
				require.Equal(t, 2, r.status, "%q: %s", path, r.stderr)
				require.Contains(t, r.stderr, "INVALID_INPUT: --"+f.Name+": "+test.why+"\n")
			}
		})
	}
	walk((&app{}).hsmCommand())
	require.Greater(t, n, 40)
}

// What is typed as an argument where none goes may be a PIN, and is not repeated.
func TestHSMArgumentsAreNotRepeated(t *testing.T) {
	for _, line := range []string{"hsm", "hsm modules", "hsm list", "hsm init", "hsm pin", "hsm pin change", "hsm pin unlock", "hsm keygen", "hsm import", "hsm check", "hsm delete", "doctor"} {
		for _, typed := range []string{testPIN, "geheim99"} {
			r := inProcess(t, func(*app) {}, append(strings.Fields(line), typed)...)
			require.Equal(t, 2, r.status, line)
			require.NotContains(t, r.stdout+r.stderr, typed, line)
		}
	}
}

// hsmCommands are the commands that log in, each with all it needs but a PIN; OUT stands for a place to write.
var hsmCommands = map[string][]string{
	"list":       {"list", "--token", "approver", "--login"},
	"keygen":     {"keygen", "--token", "approver", "--label", "new", "--out", "out/new"},
	"check":      {"check", tokenKey},
	"import":     {"import", tokenKey, "--from", "k256.pem.pub"},
	"pin change": {"pin", "change", "--token", "approver", "--new-pin-file", "pin.txt"},
	"pin unlock": {"pin", "unlock", "--token", "approver", "--new-pin-file", "pin.txt"},
}

func (f *faultyToken) hsm(args ...string) []string {
	return append([]string{"hsm"}, append(args, "--module", f.module)...)
}

// Without a PIN and a terminal there is no C_Login; nor with a file or descriptor that gives none.
func TestHSMWithoutPINLogsInNowhere(t *testing.T) {
	token := newFaultyToken(t)
	for name, args := range hsmCommands {
		t.Run(name, func(t *testing.T) {
			f := token.in(t)
			flag := "--pin-"
			if name == "pin unlock" {
				flag = "--so-pin-"
			}
			f.fails("pin-missing", f.hsm(args...))
			require.Zero(t, f.count("C_Login"), "%q", f.calls())
			require.NotZero(t, f.count("C_OpenSession"))
			for fd := range 3 {
				f.refused("INVALID_INPUT", "", f.hsm(append(args, flag+"fd", string(rune('0'+fd)))...))
			}
			f.fails("pin-missing", f.hsm(append(args, flag+"fd", "7")...))
			f.refused("NOT_FOUND", "", f.hsm(append(args, flag+"file", "absent.txt")...))
			require.Empty(t, f.calls(), "the module was used for a PIN that is not there")
		})
	}
	token.refused("INVALID_STATE", "not-confirmed", token.hsm("delete", tokenKey, "--pin-file", "pin.txt"))
	require.Empty(t, token.calls())
	token.refused("INVALID_STATE", "not-confirmed", token.hsm("init", "--label", "new"))
	require.Empty(t, token.calls())
}

// A PIN that is locked, or at its final try, is not tried.
func TestHSMLooksAtThePINStateFirst(t *testing.T) {
	token := newFaultyToken(t)
	for name, args := range hsmCommands {
		if name == "pin unlock" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			f := token.in(t)
			args := f.hsm(append(args, "--pin-file", "pin.txt")...)
			f.fails("pin-locked", args, "C_GetTokenInfo 0 0 flags 0x40000")
			require.Zero(t, f.count("C_Login"))
			f.fails("pin-final-try", args, "C_GetTokenInfo 0 0 flags 0x20000")
			require.Zero(t, f.count("C_Login"))
		})
	}
	args := token.hsm("pin", "unlock", "--token", "approver", "--so-pin-file", "so.txt", "--new-pin-file", "pin.txt")
	token.write("so.txt", []byte("12345678\n"))
	token.fails("pin-locked", args, "C_GetTokenInfo 0 0 flags 0x400000") // CKF_SO_PIN_LOCKED
	require.Zero(t, token.count("C_Login"))
	token.set("C_GetTokenInfo 0 0 flags 0x40000") // the user's: what unlock is for
	token.ok(args...)
}

// keysOnToken gives the labels of the private keys on the token.
func (s *session) keysOnToken() (labels []string) {
	s.t.Helper()
	r := s.ok("hsm", "list", "--module", softHSMModule, "--token", "approver", "--login", "--pin-file", "pin.txt", "--json")
	var listed struct {
		Modules []struct {
			Slots []struct {
				Token struct {
					Objects []struct{ Class, Label string }
				}
			}
		}
	}
	require.NoError(s.t, json.Unmarshal([]byte(r.stdout), &listed))
	for _, o := range listed.Modules[0].Slots[0].Token.Objects {
		labels = append(labels, o.Class+" "+o.Label)
	}
	return labels
}

// Where a key was made and the rest fails, the key is destroyed again, and the command says so.
func TestHSMKeygenIsAllOrNothing(t *testing.T) {
	s := newToken(t)
	before := s.keysOnToken()
	require.Len(t, before, 2)
	args := []string{"hsm", "keygen", "--token", "approver", "--label", "new", "--module", softHSMModule, "--pin-file", "pin.txt", "--out"}

	dir := s.tmpfs("stick", 0)
	fill(t, dir+"/filler", 0)
	r := s.requireNotWritten(dir, append(args, "stick/new")...)
	require.Contains(t, r.stderr, "no space left on device")
	require.Contains(t, r.stderr, "the new key was destroyed again")
	require.Equal(t, before, s.keysOnToken())

	s.write("status", nil)
	files := s.files()
	for _, to := range []string{">/dev/full", "| exec true"} {
		r := s.sh("exec 3>status; { " + untilBroken + " $approver " + strings.Join(args, " ") + " new; echo $? >&3; } " + to)
		require.Equal(t, "1\n", string(s.read("status")), "%s: %s", to, r.stderr)
		require.Regexp(t, "(?m)^IO_ERROR: .*the new key was destroyed again", r.stderr)
		require.Equal(t, files, s.files(), "%s: something was left behind", to)
		require.Equal(t, before, s.keysOnToken())
	}
	for _, line := range []string{strings.Join(args, " ") + " new", "batch keygen --plaintext --out new"} {
		r := s.sh("$approver " + line + " >&-")
		require.Equal(t, 1, r.status)
		require.Contains(t, r.stderr, "IO_ERROR: standard output is closed: nobody would see the kid of the new key")
		require.Equal(t, files, s.files())
		require.Equal(t, before, s.keysOnToken())
	}
	for _, place := range []string{"/dev/full", "nowhere/new", "pin.txt/new"} {
		require.Equal(t, 1, s.run(append(args, place)...).status)
		require.Equal(t, before, s.keysOnToken())
	}
	r = s.ok(append(args, "new")...)
	require.NotContains(t, r.stderr, "destroyed")
	require.Len(t, s.keysOnToken(), 4)
}

// A signature of the new key that fails: no key, no file.
func TestHSMKeygenTriesTheKey(t *testing.T) {
	f := newFaultyToken(t)
	before := f.keysOnToken()
	args := f.hsm("keygen", "--token", "approver", "--label", "new", "--out", "out/new", "--pin-file", "pin.txt")
	for _, rule := range []string{"C_Sign 0 1 flip 5", "C_Sign 1 1 flip 5", "C_Sign 0 1 rv 0x32", "C_Sign 0 1 short 63"} {
		f.set(rule)
		r := f.run(args...)
		require.Equal(t, 1, r.status, "%s: %s", rule, r.stderr)
		require.Regexp(t, "(?m)^KEY_UNAVAILABLE: ", r.stderr, rule)
		require.Empty(t, f.left(), rule)
		require.Empty(t, r.stdout)
		f.set()
		if rule != "C_Sign 0 1 rv 0x32" { // the token was removed
			require.Equal(t, before, f.keysOnToken(), rule)
		}
	}
}

// A token that takes no writing is told before a PIN is tried.
func TestHSMReadOnlyToken(t *testing.T) {
	f := newFaultyToken(t)
	f.refused("KEY_UNAVAILABLE", "*", f.hsm(append(hsmCommands["keygen"], "--pin-file", "pin.txt")...), "C_OpenSession 0 0 norw 1")
	require.Zero(t, f.count("C_Login"))
	f.set("C_OpenSession 0 0 norw 1")
	f.ok(f.hsm("list", "--token", "approver", "--login", "--pin-file", "pin.txt")...)
	require.Contains(t, f.run(f.hsm("check", tokenKey, "--pin-file", "pin.txt")...).stdout, "key-trial signature", "it looks without writing")
}

// A token with a keypad wants no PIN of ours: none is asked for, and none is given.
func TestHSMPINPad(t *testing.T) {
	f := newFaultyToken(t)
	f.set("C_GetTokenInfo 0 0 flags 0x100", "C_Login 0 0 pinpad "+testPIN)
	r := f.ok(f.hsm(hsmCommands["keygen"]...)...)
	require.Contains(t, r.stderr, "enter the PIN on the token's own keypad")
	require.Equal(t, []string{"new.proof", "new.pub"}, f.left())
	f.ok(f.hsm("check", "pkcs11:token=approver;object=new", "--pub", "out/new.pub")...)
	f.ok(f.hsm(hsmCommands["list"]...)...)
	require.Equal(t, 3, f.count("C_Login"))
}

// A module that hangs is left after --timeout, and no file stays. Nor can a key that is there by then be destroyed, which is
// said.
func TestHSMTimeout(t *testing.T) {
	f := newFaultyToken(t)
	args := f.hsm(append(hsmCommands["keygen"], "--pin-file", "pin.txt", "--timeout", "300ms")...)
	for _, function := range []string{"C_Initialize", "C_OpenSession", "C_Login"} {
		f.fails("timeout", args, function+" 0 0 hang 1")
	}
	f.set("C_Sign 0 0 hang 1")
	r := f.run(args...)
	require.Equal(t, 1, r.status)
	require.Regexp(t, `(?m)^KEY_UNAVAILABLE: .*only 0 could be destroyed again; delete the rest`, r.stderr)
	require.Empty(t, f.left())
	f.set()
	require.Len(t, f.keysOnToken(), 4)
}

// A PIN that comes by a descriptor, two of them at once.
func TestHSMPINDescriptors(t *testing.T) {
	s := newToken(t)
	s.write("next.txt", []byte("72615038\n"))
	open := func(name string) *os.File {
		file, err := os.Open(s.path(name))
		require.NoError(t, err)
		t.Cleanup(func() { file.Close() })
		return file
	}
	s.fds = []*os.File{open("pin.txt"), open("next.txt")}
	s.ok("hsm", "pin", "change", "--token", "approver", "--module", softHSMModule, "--pin-fd", "3", "--new-pin-fd", "4")
	s.fds = []*os.File{open("next.txt")}
	s.ok("hsm", "list", "--login", "--token", "approver", "--module", softHSMModule, "--pin-fd", "3")
}

// A module that crashes or hangs when it is tried is a row, and the others are listed.
func TestHSMModulesOutlivesAModule(t *testing.T) {
	f := newFaultyToken(t)
	require.NoError(t, os.MkdirAll(f.path("home/.config/pkcs11/modules"), 0o700))
	f.write("home/.config/pkcs11/modules/faulty.module", []byte("module: "+f.module+"\npriority: 7\n"))
	f.env = append(f.env, "HOME="+f.path("home"))
	for rule, says := range map[string]string{
		"":                              "Implementation of PKCS11",
		"C_Initialize 0 0 exit 1":       "(crashed|failed)",
		"C_GetFunctionList 0 0 exit 1":  "(crashed|failed)",
		"C_Initialize 0 0 rv 0x30":      "CKR_DEVICE_ERROR",
		"C_GetFunctionList 0 0 rv 0x05": "CKR_GENERAL_ERROR",
	} {
		f.set(rule)
		r := f.ok("hsm", "modules")
		state := map[bool]string{true: "ok   ", false: "fails"}[rule == ""]
		require.Regexp(t, "(?m)^"+state+"  "+f.module+"\n(       .*\n)*       .*"+says+".*\n       from \\S*faulty.module$", r.stdout, rule)
		require.Regexp(t, `(?m)^ok     \S*libsofthsm2.so$`, r.stdout, rule)
		r = f.run("hsm", "list", "--login", "--token", "approver", "--pin-file", "pin.txt")
		require.Equal(t, 2, r.status, "a PIN is given to whatever is found")
		require.Zero(t, f.count("C_Login"))
		list := f.ok("hsm", "list")
		require.Regexp(t, "(?m)^module \\S*/libsofthsm2.so\n  Implementation of PKCS11", list.stdout, rule)
		require.Contains(t, list.stdout, "module "+f.module, rule)
		require.NotContains(t, list.stdout, "p11-kit-proxy", "tokens are listed twice")
	}
}

// Standard output that takes nothing is an error, whatever is printed.
func TestHSMStandardOutputFails(t *testing.T) {
	s := newToken(t)
	s.write("next.txt", []byte("72615038\n"))
	for _, line := range []string{
		"modules", "modules --json", "list --module " + softHSMModule, "list --json --module " + softHSMModule,
		"check '" + tokenKey + "' --pin-file pin.txt --module " + softHSMModule, "check --json '" + tokenKey + "' --pin-file pin.txt --module " + softHSMModule,
		"pin change --token approver --pin-file pin.txt --new-pin-file next.txt --module " + softHSMModule,
	} {
		r := s.sh("$approver hsm " + line + " >/dev/full")
		require.Equal(t, 1, r.status, "%s: %s", line, r.stderr)
		require.Contains(t, r.stderr, "IO_ERROR", line)
	}
	r := s.sh("$approver hsm pin change --token approver --pin-file next.txt --new-pin-file pin.txt --module " + softHSMModule + " >/dev/full")
	require.Contains(t, r.stderr, "; the PIN was set all the same")
	require.Len(t, s.keysOnToken(), 2)
}

// What a token calls itself is text from outside.
func TestHSMEscapesWhatATokenSays(t *testing.T) {
	s := newToken(t)
	s.tool("softhsm2-util", "--init-token", "--free", "--label", "\x1b[2Jx\ny", "--so-pin", "12345678", "--pin", testPIN)
	for _, more := range [][]string{{}, {"--json"}} {
		r := s.ok(append([]string{"hsm", "list", "--module", softHSMModule}, more...)...)
		requirePrintable(t, r.stdout)
		require.NotContains(t, r.stdout, "<<", "escaped twice")
		if len(more) == 0 {
			require.Contains(t, r.stdout, "<U+001B>[2Jx<U+000A>y")
		}
	}
	r := s.run("hsm", "keygen", "--token", "absent", "--label", "x", "--out", "x", "--module", softHSMModule, "--pin-file", "pin.txt")
	require.Equal(t, 1, r.status)
	requirePrintable(t, r.stderr)
}

// A token without label or serial is erased by nothing that Enter could answer.
func TestErasureQuestions(t *testing.T) {
	for want, info := range map[string]hsm.TokenInfo{
		"label=a serial=b": {Label: "a", Serial: "b", Slot: 7},
		"serial=b":         {Serial: "b", Slot: 7},
		"label=a<U+000A>":  {Label: "a\n", Slot: 7},
		"slot=7":           {Slot: 7},
	} {
		var got []string
		for _, q := range erasureQuestions(info) {
			for _, word := range []string{"label", "serial", "slot"} {
				if strings.Contains(q[0], word) {
					got = append(got, word+"="+q[1])
				}
			}
		}
		require.Equal(t, want, strings.Join(got, " "))
	}
}

// A key is deleted by what stands on the screen of it, and by Enter none.
func TestDeletionQuestion(t *testing.T) {
	name, odd := "k", "a\n"
	for _, test := range []struct {
		key          hsm.KeyObject
		right, wrong string
	}{
		{hsm.KeyObject{Class: hsm.PrivateKey, Label: &name, ID: []byte{1}}, "k", "01"},
		{hsm.KeyObject{Class: hsm.PrivateKey, Label: &odd}, "a<U+000A>", "a"},
		{hsm.KeyObject{Class: hsm.PrivateKey, ID: []byte{1}}, "01", "1"},
	} {
		_, right := deletionQuestion([]hsm.KeyObject{{Class: hsm.PublicKey, Label: new(string)}, test.key})
		require.True(t, right(test.right), test.right)
		require.False(t, right(test.wrong), test.wrong)
		require.False(t, right(""))
	}
	_, right := deletionQuestion([]hsm.KeyObject{{Class: hsm.PrivateKey}})
	require.False(t, right(""))
}
