//go:build linux

package main

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/review"
)

// The private key is gone and the public half is there: no green, with and without a login.
func TestDoctorPrivateKeyGone(t *testing.T) {
	s := newToken(t)
	s.pkcs11Tool("--delete-object", "--type", "privkey", "--id", "01")
	args := []string{"--key", tokenKey, "--module", softHSMModule, "--pub", "k256.pem.pub", "--pin-file", "pin.txt"}
	s.doctor(args...).require(t, "key", amber, "only the public half was seen")
	d := s.doctor(append(args, "--login")...)
	d.require(t, "key", red, "^the token has no such key")
	d.require(t, "trial", dark, "no key")
}

// The public half is gone and the private key is there: --login finds it.
func TestDoctorPublicHalfGone(t *testing.T) {
	s := newToken(t)
	s.pkcs11Tool("--delete-object", "--type", "pubkey", "--id", "01")
	args := []string{"--key", tokenKey, "--module", softHSMModule, "--pin-file", "pin.txt"}
	s.doctor(args...).require(t, "key", red, "shows no key that the URI names")
	s.doctor(append(args, "--login")...).require(t, "key", amber, "^the private key is there; the token shows no public half of it, and none is expected$")
	s.doctor(append(args, "--login", "--pub", "k256.pem.pub")...).require(t, "key", amber, "is expected; the private key is there")
}

// One broken file hides nothing but what stands in it: everything that is wrong is told at once.
func TestDoctorGoesOnBesideABrokenFile(t *testing.T) {
	s := newSession(t)
	require.NoError(t, os.Mkdir(s.path("lists"), 0o700))
	s.write("lists/batch_1.txt", []byte("no subject!\n"))
	s.write("broken.json", []byte("{}"))
	s.write("config.toml", []byte("trust_domain = \"compute.example.com\"\nkey = \"alice.pem\"\napprovers = \"broken.json\"\nmax_hours = 0\nexpected_lists = \"lists\"\n"))
	d := s.doctor("--config", "config.toml")
	d.require(t, "configuration", red, "^INVALID_CONFIG: .*max_hours.*; .*broken.json")
	d.require(t, "trust domain", green, "^compute.example.com$")
	d.require(t, "kinds", green, "built-in")
	d.require(t, "expected lists", red, "list of batch batch_1")
	d.require(t, "key", amber, "^alice.pem, a file")
	d.require(t, "approver set", dark, "what is configured for it is refused: approvers")
	s.write("config.toml", []byte("key = \"pkcs11:object=k?pin-value=4711\"\npublic_key = \"broken.json\"\n[module]\npath = \""+softHSMModule+"\"\nsha256 = \"12\"\n"))
	d = s.doctor("--config", "config.toml")
	d.require(t, "configuration", red, "public_key.*; .*module.*; .*key: ")
	d.require(t, "module", dark, "what is configured for it is refused: module")
	d.require(t, "key", dark, "what is configured for it is refused: key")
	d.require(t, "approver set", amber, "none is known")
	require.NotContains(t, s.run("doctor", "--config", "config.toml").stdout, "4711")
}

// A module that is not the configured one: somebody has to say who changed it.
func TestDoctorModuleDigest(t *testing.T) {
	s := newSession(t)
	s.write("config.toml", fmt.Appendf(nil, "[module]\npath = %q\nsha256 = \"%064x\"\n", softHSMModule, 7))
	r := s.run("doctor", "--config", "config.toml", "--json")
	for _, c := range parseTold(t, r).Checks {
		if c.Check == "module" {
			require.Equal(t, red, c.Light)
			require.Contains(t, c.Advice, "if nobody updated it, do not sign here")
			return
		}
	}
	require.Fail(t, "not looked at")
}

// As the clock says before this release, or as it is set while doctor runs, nobody signs.
func TestDoctorClockAsACommand(t *testing.T) {
	r := inProcess(t, func(a *app) { a.now = func() time.Time { return review.ReleaseDate.Add(-time.Hour) } }, "doctor", "--json")
	parseTold(t, r).require(t, "clock", red, "before this release was made")
	require.Equal(t, 1, r.status)
	calls := 0
	r = inProcess(t, func(a *app) {
		a.now = func() time.Time {
			calls++
			return time.Now().Add(time.Duration(calls) * time.Hour)
		}
	}, "doctor", "--json")
	parseTold(t, r).require(t, "clock pace", red, "while [0-9.]+ s went by")
}
