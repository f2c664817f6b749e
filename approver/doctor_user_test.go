//go:build linux

package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// The approver's own account sees all that root sees, though a process that may not be dumped has files in /proc that are root's.
func TestDoctorAsAnOrdinaryUser(t *testing.T) {
	require.Zero(t, os.Geteuid(), "the tests of other users run as root: ./softhsm-test.sh")
	s := newToken(t)
	s.ok("hsm", "keygen", "--module", softHSMModule, "--token", "approver", "--label", "fit", "--pin-file", "pin.txt", "--out", "fit")
	asNobody := func(more string) told {
		t.Helper()
		return parseTold(t, s.sh("chmod 711 . .. ../.. && cp $approver ./approver && chmod 755 approver && chown -R 65534:65534 . && umask 022 && "+
			"exec setpriv --reuid 65534 --regid 65534 --clear-groups ./approver doctor --json --module "+softHSMModule+
			" --key 'pkcs11:token=approver;object=fit' --pub fit.pub --login --pin-file pin.txt "+more))
	}
	d := asNobody("")
	require.Zero(t, d.Red, "%v", d)
	for name, finding := range map[string]string{
		"user": "not root", "linker": "nothing is loaded", "output folder": "takes a file", "free space": "MiB", "PIN": "PIN ready",
		"key": "as expected", "trial": "what an approver's key should be",
	} {
		d.require(t, name, green, finding)
	}
	d.require(t, "module", amber, "SHA-256 [0-9a-f]{64}, held against nothing$")
	d.require(t, "token", amber, `label "approver"`)
	for _, name := range []string{"swap", "core dumps", "tracing"} {
		require.Equal(t, s.doctor().light(name), d.light(name), name)
	}
	asNobody("--out-dir /root").require(t, "output folder", red, "permission denied")
}

// light gives the light of a check.
func (d told) light(name string) light {
	for _, c := range d.Checks {
		if c.Check == name {
			return c.Light
		}
	}
	return dark
}

// A build without cgo looks at everything but tokens, and says why these cannot be.
func TestDoctorWithoutCGO(t *testing.T) {
	s := newSession(t)
	s.command = builtWithoutCGO
	d := s.doctor("--key", "alice.pem", "--approvers", "set.json", "--login")
	require.Zero(t, d.Red, "%v", d)
	d.require(t, "key", amber, "^alice.pem, a file")
	d.require(t, "trial", green, "it holds key "+kid("alice"))
	d.require(t, "approver set", green, "^2 of 3")
	d = s.doctor("--key", tokenKey, "--module", softHSMModule, "--login")
	d.require(t, "module", red, "this build has no cgo")
	d.require(t, "token", dark, "no module")
	d.require(t, "trial", dark, "no key")
	require.Contains(t, s.run("doctor", "--key", tokenKey, "--module", softHSMModule).stderr, "\ntry: do what stands below each red line, and run it again\n")
}
