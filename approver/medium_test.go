//go:build linux

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/hsm"
)

// A stick is mounted in the session's folder with a scope and all that it is checked against, copies of which lie on the desk.
func (s *session) stick() {
	s.t.Helper()
	s.write("list.txt", []byte("node_a\nnode_b\n"))
	stick := s.tmpfs("stick", 0)
	for _, name := range []string{"ok-2.json", "list.txt", "set.json", "alice.pem", "alice.pem.pub", "bob.pem.pub"} {
		require.NoError(s.t, os.WriteFile(filepath.Join(stick, name), s.read(name), 0o600))
	}
}

// What lies on the scope's own stick is named, by whatever way it is reached; what lies on the machine is not.
func TestSameMedium(t *testing.T) {
	s := newSession(t)
	s.stick()
	require.NoError(t, os.Symlink("stick/list.txt", s.path("by-link.txt")))
	require.NoError(t, os.Symlink("stick", s.path("usb")))
	require.NoError(t, os.Symlink(s.path("list.txt"), s.path("stick/away.txt")))
	const rule = "ACKNOWLEDGE same-medium"
	scope := []string{"--scope", "stick/ok-2.json", "--now", now}
	for _, c := range []struct {
		name  string
		args  []string
		shown []string // of same-medium; none is no finding
		link  string   // of odd-path; "" is no finding
	}{
		{"nothing beside it", nil, nil, ""},
		{"on the machine", []string{"--expect", "list.txt", "--approvers", "set.json"}, nil, ""},
		{"a list", []string{"--expect", "stick/list.txt"}, []string{"the expected list lies on the scope's own medium", " expected list: stick/list.txt\n"}, ""},
		{"a set", []string{"--expect", "list.txt", "--approvers", "stick/set.json"}, []string{"the approver set lies on", "approver set: stick/set.json\n"}, ""},
		{"two of three keys", []string{"--approvers", "stick/alice.pem.pub,stick/bob.pem.pub,carol.pem.pub"},
			[]string{"approver set: stick/alice.pem.pub\n", "approver set: stick/bob.pem.pub\n"}, ""},
		{"a link to it", []string{"--expect", "by-link.txt"}, []string{"expected list: by-link.txt, which is stick/list.txt\n"},
			"expected list: the symbolic link by-link.txt leads to stick/list.txt\n"},
		{"a folder's link to it", []string{"--expect", "usb/list.txt"}, []string{"expected list: usb/list.txt, which is stick/list.txt\n"},
			"expected list: the symbolic link usb leads to stick\n"},
		{"a link away from it", []string{"--expect", "stick/away.txt"}, nil, "the symbolic link stick/away.txt leads to"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := s.ok(append(append([]string{"batch", "show"}, scope...), c.args...)...)
			for _, line := range c.shown {
				require.Contains(t, r.stdout, line)
			}
			require.Equal(t, len(c.shown) > 0, strings.Contains(r.stdout, rule), "%s", r.stdout)
			require.Equal(t, c.link != "", strings.Contains(r.stdout, "ACKNOWLEDGE odd-path"), "%s", r.stdout)
			require.Contains(t, r.stdout, c.link)
		})
	}

	// A scope on the machine's own disk, and all beside it.
	r := s.ok("batch", "show", "--scope", "ok-2.json", "--now", now, "--expect", "list.txt", "--approvers", "set.json")
	require.NotContains(t, r.stdout, rule)
}

// The configuration, and the table of kinds that it names.
func TestSameMediumConfiguration(t *testing.T) {
	s := newSession(t)
	s.stick()
	scope := []string{"--scope", "stick/ok-2.json", "--now", now}
	require.NoError(t, os.Mkdir(s.path("stick/own"), 0o700))
	for _, name := range []string{"kinds.toml", "acme.binpb"} {
		data, err := os.ReadFile(filepath.Join("..", "examples", "kinds", name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(s.path("stick/own/"+name), data, 0o600))
	}
	require.NoError(t, os.WriteFile(s.path("stick/own/config.toml"), []byte("kinds = \"kinds.toml\"\n"), 0o600))
	r := s.ok(append([]string{"batch", "show", "--config", "stick/own/config.toml"}, scope...)...)
	for _, place := range []string{"kinds table: stick/own/kinds.toml", "descriptor set: stick/own/acme.binpb", "configuration: stick/own/config.toml"} {
		require.Contains(t, r.stdout, place)
	}
	r = s.ok(append([]string{"batch", "show", "--kinds", "stick/own/kinds.toml"}, scope...)...)
	require.Contains(t, r.stdout, "the kinds table and the descriptor set lie on the scope's own medium")
	require.NoError(t, os.WriteFile(s.path("kinds.toml"), s.read("stick/own/kinds.toml"), 0o600))
	require.NoError(t, os.Symlink("stick/own/acme.binpb", s.path("acme.binpb")))
	r = s.ok(append([]string{"batch", "show", "--kinds", "kinds.toml"}, scope...)...)
	require.Contains(t, r.stdout, "the descriptor set lies on the scope's own medium")
}

// The key that signs, and its public half.
func TestSameMediumKey(t *testing.T) {
	s := newSession(t)
	s.stick()
	for _, c := range []struct{ key, pub, shown string }{
		{"stick/alice.pem", "alice.pem.pub", "the key file lies on"},
		{"alice.pem", "stick/alice.pem.pub", "the public key lies on"},
		{"alice.pem", "alice.pem.pub", ""},
	} {
		r := s.ok("batch", "sign", "--key", c.key, "--pub", c.pub, "--yes", "--scope", "stick/ok-2.json", "--now", now)
		require.Equal(t, c.shown != "", strings.Contains(r.stderr, "ACKNOWLEDGE same-medium"), "%s", r.stderr)
		require.Contains(t, r.stderr, c.shown)
	}
}

// A PKCS#11 module is code that sees the PIN: that it came with the scope is told.
func TestSameMediumModule(t *testing.T) {
	s := newSession(t)
	s.stick()
	s.write("pin.txt", []byte(testPIN))
	s.write("stick/p11.so", nil)
	s.write("p11.so", nil)
	for module, told := range map[string]bool{"stick/p11.so": true, "p11.so": false} {
		r := inProcess(t, func(a *app) {
			a.loadModule = func(context.Context, hsm.ModuleFile) (hsm.Module, error) { return newFaultyModule(t), nil }
		}, "batch", "sign", "--scope", s.path("stick/ok-2.json"), "--now", now, "--yes", "--key", tokenKey, "--module", s.path(module),
			"--pin-file", s.path("pin.txt"), "--pub", s.path("alice.pem.pub"))
		require.Zero(t, r.status, r.stderr)
		require.Equal(t, told, strings.Contains(r.stderr, "the PKCS#11 module lies on the scope's own medium"), r.stderr)
	}
}

// Where the stick is the home folder or the one for temporary files, it is the machine.
func TestSameMediumSpareTheMachinesOwn(t *testing.T) {
	s := newSession(t)
	s.stick()
	args := []string{"batch", "show", "--scope", "stick/ok-2.json", "--now", now, "--expect", "stick/list.txt"}
	env := s.env
	for _, variable := range []string{"HOME=", "TMPDIR="} {
		s.env = append(env[:len(env):len(env)], variable+s.path("stick"))
		require.NotContains(t, s.ok(args...).stdout, "same-medium", variable)
	}
	s.env = env
	require.Contains(t, s.ok(args...).stdout, "same-medium")
}
