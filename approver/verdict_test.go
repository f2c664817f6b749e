package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/kinds"
	"github.com/better-compute/approver/core/quorum"
)

// signAt writes a signature file by a test key over a scope whose window ends then, whatever batch sign would say to that.
func (s *session) signAt(path, scope, name string, notAfter time.Time) {
	s.t.Helper()
	v, err := readScope(s.path(scope), "", kinds.Builtin(), nil)
	require.NoError(s.t, err)
	statement, err := v.Scope().Approval(uint64(notAfter.UnixMilli()), "compute.example.com")
	require.NoError(s.t, err)
	block, _ := pem.Decode(s.read(name + ".pem"))
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	require.NoError(s.t, err)
	digest := statement.Digest()
	a, b, err := ecdsa.Sign(rand.Reader, key.(*ecdsa.PrivateKey), digest[:])
	require.NoError(s.t, err)
	id, err := quorum.ParseKID(kid(name))
	require.NoError(s.t, err)
	signature := quorum.Signature{KID: id}
	a.FillBytes(signature.Sig[:32])
	b.FillBytes(signature.Sig[32:])
	s.write(path, quorum.NewSignatureFile(statement, signature).Encode())
	s.requireSignature(path, name)
}

// An auditor judges an old batch as of a day within its window, which is given by hand. A machine's clock that shows such a
// day is wrong, and so is any that shows a time at which the window cannot have been open.
func TestVerifyClock(t *testing.T) {
	s := newSession(t)
	end := time.Date(2020, time.June, 30, 0, 0, 0, 0, time.UTC)
	s.write("old.json", bytes.Replace(caseFile("ok-2.json"), []byte("4102444800000"), []byte("1593475200000"), 1))
	s.signAt("old.sig", "old.json", "alice", end)
	s.signAt("new.sig", "ok-2.json", "alice", time.UnixMilli(4102444800000))
	today := time.Date(2026, time.December, 24, 0, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		batch        string
		machine      time.Time
		byHand       string
		code, reason string
	}{
		"an auditor at the end":                 {"old", today, "2020-06-30T00:00:00Z", "", ""},
		"an auditor 720 h before it":            {"old", today, "2020-05-31T00:00:00Z", "", ""},
		"an auditor before that":                {"old", today, "2020-05-30T23:59:59.999Z", "INVALID_STATE", "clock"},
		"an auditor long before":                {"old", today, "1999-01-01T00:00:00Z", "INVALID_STATE", "clock"},
		"an auditor after the end":              {"old", today, "2020-06-30T00:00:00.001Z", "ACCESS_DENIED", "expired"},
		"today":                                 {"old", today, "", "ACCESS_DENIED", "expired"},
		"a machine before this release":         {"old", end, "", "INVALID_STATE", "clock"},
		"a machine without a clock":             {"old", time.Unix(1, 0), "", "INVALID_STATE", "clock"},
		"a machine in the window":               {"new", time.UnixMilli(4102444800000), "", "", ""},
		"a machine 720 h before the end":        {"new", time.UnixMilli(4102444800000).Add(-720 * time.Hour), "", "", ""},
		"a machine more than 720 h before":      {"new", time.UnixMilli(4102444800000 - 1).Add(-720 * time.Hour), "", "INVALID_STATE", "clock"},
		"a slow machine, and the time by hand":  {"new", time.Unix(0, 0), now, "", ""},
		"a right machine, and the time is not":  {"new", time.UnixMilli(4102444800000), "2026-12-24T00:00:00Z", "INVALID_STATE", "clock"},
		"a time by hand that is of no calendar": {"new", today, "9999-12-31T23:59:59Z", "ACCESS_DENIED", "expired"},
	} {
		t.Run(name, func(t *testing.T) {
			args := []string{"batch", "verify", s.path(test.batch + ".sig"), "--scope", s.path(map[string]string{"old": "old.json", "new": "ok-2.json"}[test.batch]),
				"--approvers", s.path("set.json"), "--trust-domain", "compute.example.com", "--json"}
			if test.byHand != "" {
				args = append(args, "--now", test.byHand)
			}
			r := inProcess(t, func(a *app) { a.now = func() time.Time { return test.machine } }, args...)
			if test.code == "" {
				require.Zero(t, r.status, "%s", r.stderr)
				require.Contains(t, r.stdout, `"holds":true`)
				return
			}
			requireRefusal(t, r, test.code, test.reason)
			if test.reason == "clock" {
				require.Empty(t, r.stdout, "there is no verdict")
				require.Contains(t, r.stderr, "clock ")
			}
		})
	}
}
