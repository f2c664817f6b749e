package main

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// Every flag that takes a value is refused without one, which a shell makes of an unset variable, and when it is given twice.
func TestFlagsAreStrict(t *testing.T) {
	values := map[string]string{"string": "x", "stringArray": "x", "int": "3", "uint32": "3", "uint64": "3", "duration": "3s", "number": "3"}
	s := newSession(t)
	seen := make(map[string][]string)
	for _, command := range (&app{}).batchCommand().Commands() {
		command.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Value.Type() == "bool" {
				return
			}
			seen[command.Name()] = append(seen[command.Name()], f.Name)
			value := values[f.Value.Type()]
			require.NotEmpty(t, value, "%s: a flag of type %s", f.Name, f.Value.Type())
			refused := func(why string, args ...string) {
				t.Helper()
				args = append([]string{"batch", command.Name()}, args...)
				r := inProcess(t, func(*app) {}, args...)
				require.Equal(t, 2, r.status, "%q: %s", args, r.stderr)
				require.Contains(t, r.stderr, "INVALID_INPUT: --"+f.Name+": "+why+"\n", "%q", args)
				require.Empty(t, r.stdout)
			}
			refused("it is empty", "--"+f.Name, "")
			refused("it is empty", "--"+f.Name+"=")
			if f.Value.Type() == "stringArray" {
				refused("it is empty", "--"+f.Name, value, "--"+f.Name, "")
				return
			}
			if strings.HasPrefix(f.Value.Type(), "uint") {
				refused("it is 0, as if it were not given", "--"+f.Name, "0")
			}
			refused("it is given twice", "--"+f.Name, value, "--"+f.Name, value)
			refused("it is given twice", "--"+f.Name, value, "--"+f.Name, "")
		})
	}
	require.Equal(t, []string{"out"}, seen["keygen"])
	require.Subset(t, seen["show"], []string{"scope", "root", "expect", "trust-domain", "approvers", "batch", "not-after", "now", "max-hours", "operations-out", "scope-out"})
	require.Subset(t, seen["sign"], []string{"scope", "root", "expect", "trust-domain", "approvers", "key", "pub", "module", "pin-file", "pin-fd", "timeout", "out", "size"})
	require.Subset(t, seen["verify"], []string{"scope", "approvers", "threshold", "tiers", "trust-domain", "now"})

	// The same from a shell, where the variable is not set.
	r := s.sh(`$approver batch sign --scope ok-2.json --key alice.pem --yes --now ` + now + ` --root "$reviewed"`)
	require.Equal(t, 2, r.status)
	require.Contains(t, r.stderr, "INVALID_INPUT: --root: it is empty\n")
	require.Empty(t, r.stdout)
}

// A name in --approvers ends at a comma and nowhere else.
func TestApproversAreFileNames(t *testing.T) {
	s := newSession(t)
	r := s.refused("NOT_FOUND", "", append(sign("ok-2.json"), "--approvers", "alice.pem.pub\nbob.pem.pub")...)
	require.Contains(t, r.stderr, "alice.pem.pub<U+000A>bob.pem.pub")
	for _, list := range []string{"alice.pem.pub,", ",alice.pem.pub", "alice.pem.pub, ,bob.pem.pub", " "} {
		require.Equal(t, 2, s.run(append(sign("ok-2.json"), "--approvers", list)...).status, list)
	}
	for _, number := range []string{"010", "0x10", "1_0", "+72", " 72"} {
		require.Equal(t, 2, s.run(append(sign("ok-2.json"), "--max-hours", number)...).status, number)
	}
	for _, odd := range []string{"alice\nbob.pub", `"alice.pub"`, `a"b.pub`, "'alice.pub", "#alice.pub", `a\b.pub`} {
		s.write(odd, s.read("alice.pem.pub"))
		s.requireSigns(append(sign("ok-2.json"), "--approvers", "bob.pem.pub,"+odd)...)
	}
}
