package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/hsm"
	"github.com/better-compute/approver/hsm/softtoken"
)

// What went wrong for people who do this job with other tools, and the test of ours that would see it. The reports are
// public ones of the projects named; rows without a test here are served by those of other files and packages.
//
//	tuf-on-ci 236         signed with the wrong key            TestReports, TestFaultForeignSignature; hsm.TestSwappedKey, ceremony.TestBadSignatures
//	tuf-on-ci 527         a missed touch is not named          TestReports, TestFaultMissedTouch; hsm.TestFaultsInSigning
//	tuf-on-ci 432         a changed field was not shown        kinds.TestEveryChangeOfAFieldIsShown, review.TestEveryChangeShows
//	superchain-ops 751    another hash printed than signed     TestWrittenIsWhatWasShown, TestTerminalSigns
//	superchain-ops 706    a hash without 0x never matched      testdata/root.txtar
//	openbao 3601          approvers did not see the data       TestReports; kinds.TestDecodeOfAnEmptyPayloadShowsDefaults
//	teleport 13799        the list was cut                     TestTerminalShowsTheLast; testdata/show.txtar
//	deno 36195            invisible text changed what showed   TestReports; review.TestEscapeEveryRune
//	gh-dash 868           a bare Enter confirmed               TestTerminalDoesNotSign
//	smallstep crypto 1074 tried the default PIN silently       TestTokenPINWrongOrMissing, TestFaultNoPIN
//	pkcs11-provider 455   the final try locked the token       TestReports, TestFaultPINState; hsm.TestPINStatesOfAToken
//	libp11 618            two tokens of one label              TestTokenReports, TestFaultAmbiguous; hsm.TestTwoTokensOfOneLabelCostNoLogin
//	OpenSC 3635           two keys of one id                   TestTokenReports, TestFaultAmbiguous; hsm.TestSoftHSMKeyIsSettledOrRefused
//	go-tuf 733            one key counted twice                TestReports; testdata/verify.txtar
//	Coz 26                duplicate JSON members               TestCases (bad-json-duplicate)
//	astria 310            protobuf not canonical               TestReports, TestCases (bad-unknown-field, bad-repeated-scalar)
//	gittuf 382            a failure with exit status 0         TestCases
//	libjcat 129           a private key readable by all        testdata/keygen.txtar
//	crypto11 94           raw EC_POINT                         TestFaultReports; hsm.TestECPointEncodings
//	crypto11 72           public and private labels differ     TestFaultReports; hsm.TestSoftHSMKeyIsSettledOrRefused
//	miekg/pkcs11 193      C_GetFunctionList fails              TestFaultReports; hsm.TestLoadModuleSaysWhatFailed
//	pkcs11key 19          ALWAYS_AUTHENTICATE                  TestTokenReports, TestFaultReports; hsm.TestSoftHSMAlwaysAuthenticate
//	boulder 3468          dead sessions                        TestFaultRemoval; hsm.TestFaultsInSigning
//	cosign 2853           a read-write session                 TestFaultReports; hsm.TestReadOnlySessionIsEnough
//	step-kms-plugin 152   "could not open" and nothing else    TestReports; hsm.TestLoadModuleSaysWhatFailed
func TestReports(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"tuf-on-ci 236":       reportOtherKeySigns,
		"tuf-on-ci 527":       reportMissedTouch,
		"openbao 3601":        reportEmptyPayload,
		"deno 36195":          reportInvisibleText,
		"pkcs11-provider 455": reportFinalTry,
		"go-tuf 733":          reportOneKeyTwice,
		"astria 310":          reportNotCanonical,
		"step-kms-plugin 152": reportModule,
	} {
		t.Run(name, test)
	}
}

// A faultyModule is a module with some functions replaced.
type faultyModule struct {
	hsm.Module
	sign   func(digest []byte) ([]byte, error)
	flags  uint // added to the token's
	logins int
}

func (m *faultyModule) Sign(s hsm.Session, digest []byte) ([]byte, error) {
	if m.sign == nil {
		return m.Module.Sign(s, digest)
	}
	return m.sign(digest)
}

func (m *faultyModule) Token(slot hsm.SlotID) (hsm.TokenRecord, error) {
	r, err := m.Module.Token(slot)
	r.Flags |= m.flags
	return r, err
}

func (m *faultyModule) Login(s hsm.Session, u hsm.UserType, pin []byte) error {
	m.logins++
	return m.Module.Login(s, u, pin)
}

// newFaultyModule gives a token "approver" in memory with alice's key "k256".
func newFaultyModule(t *testing.T) *faultyModule {
	t.Helper()
	block, _ := pem.Decode([]byte(testKeys()[0].Private))
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	require.NoError(t, err)
	m, err := softtoken.New(softtoken.Token{Label: "approver", Serial: "1", PIN: testPIN,
		Keys: []softtoken.Key{{Label: "k256", ID: []byte{1}, Private: key.(*ecdsa.PrivateKey)}}})
	require.NoError(t, err)
	return &faultyModule{Module: m}
}

// signWith runs batch sign in this process, on a module of ours.
func (s *session) signWith(m hsm.Module, more ...string) result {
	s.t.Helper()
	s.write("pin.txt", []byte(testPIN))
	args := []string{"batch", "sign", "--json", "--scope", s.path("ok-2.json"), "--now", now, "--yes", "--key", tokenKey,
		"--module", "/in/memory", "--pin-file", s.path("pin.txt"), "--pub", s.path("alice.pem.pub"), "--out", s.path("sig.json")}
	return inProcess(s.t, func(a *app) {
		a.loadModule = func(context.Context, string, *[sha256.Size]byte) (hsm.Module, error) { return m, nil }
	}, append(args, more...)...)
}

// inProcess runs a command line in this process, without a terminal, in surroundings that change may change.
func inProcess(t testing.TB, change func(*app), args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	a := &app{
		stdout: &stdout, stderr: &stderr, getenv: emptyEnvironment(t), now: time.Now, loadModule: loadModule,
		openTTY: func() (*os.File, error) { return nil, os.ErrNotExist },
	}
	change(a)
	status := run(t.Context(), a, args)
	return result{status: status, stdout: stdout.String(), stderr: stderr.String()}
}

// emptyEnvironment is one in which only the folder of ledgers is set, which is new.
func emptyEnvironment(t testing.TB) func(string) string {
	state := t.TempDir()
	return func(name string) string {
		if name == "XDG_STATE_HOME" {
			return state
		}
		return ""
	}
}

func reportOtherKeySigns(t *testing.T) {
	s, m := newSession(t), newFaultyModule(t)
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	m.sign = func(digest []byte) ([]byte, error) {
		a, b, err := ecdsa.Sign(rand.Reader, other, digest)
		return append(a.FillBytes(make([]byte, 32)), b.FillBytes(make([]byte, 32))...), err
	}
	requireRefusal(t, s.signWith(m), "KEY_UNAVAILABLE", "bad-signature")
	require.NoFileExists(t, s.path("sig.json"))
	m.sign = nil
	require.Zero(t, s.signWith(newFaultyModule(t)).status)
	s.requireSignature("sig.json", "alice")
}

func reportMissedTouch(t *testing.T) {
	s, m := newSession(t), newFaultyModule(t)
	const userNotLoggedIn = hsm.RV(0x101)
	m.sign = func([]byte) ([]byte, error) { return nil, userNotLoggedIn }
	r := s.signWith(m)
	require.Equal(t, 1, r.status)
	require.Contains(t, r.stderr, "touch")
	require.Contains(t, r.stderr, "PIN")
	require.NoFileExists(t, s.path("sig.json"))
}

func reportFinalTry(t *testing.T) {
	s, m := newSession(t), newFaultyModule(t)
	m.flags = hsm.FlagPINFinalTry
	requireRefusal(t, s.signWith(m), "KEY_UNAVAILABLE", "pin-final-try")
	require.Zero(t, m.logins)
	require.NoFileExists(t, s.path("sig.json"))
	require.Zero(t, s.signWith(m, "--allow-final-try").status)
	require.Equal(t, 1, m.logins)
}

// bare gives the arguments of batch show for one leaf of a bare array.
func (s *session) bare(subject, kind, message, value string) []string {
	leaf := map[string]any{"subject": subject, "kind": kind,
		"payload": map[string]string{"typeUrl": "type.googleapis.com/bettercompute.v1." + message, "value": value}}
	data, err := json.Marshal([]any{leaf})
	require.NoError(s.t, err)
	s.write("bare.json", data)
	return []string{"batch", "show", "--scope", "bare.json", "--batch", "b", "--not-after", "4102444800000", "--trust-domain", "d", "--now", now}
}

func reportEmptyPayload(t *testing.T) {
	s := newSession(t)
	r := s.ok(s.bare("node_a", "node.reboot", "RebootRequest", "")...)
	require.Regexp(t, `(?m)^ +force +false \(default\)$`, r.stdout)
	require.Regexp(t, `(?m)^ +grace_seconds +0 \(default\)$`, r.stdout)
	require.Regexp(t, `(?m)^ +reason +"" \(default\)$`, r.stdout)
	r = s.ok(append(s.bare("node_a", "node.reboot", "RebootRequest", ""), "--json")...)
	require.Contains(t, r.stdout, `{"name":"force","type":"bool","default":true,"value":["false"]}`)
}

func reportNotCanonical(t *testing.T) {
	s := newSession(t)
	s.ok(s.bare("node_a", "node.reboot", "RebootRequest", "CAE=")...) // force = true
	for _, value := range []string{
		"CIEA",     // true as an overlong varint
		"CAI=",     // true as 2
		"CAEIAQ==", // twice
		"CAA=",     // the default, written
		"IAE=",     // field 4, which is unknown
	} {
		s.refused("INVALID_INPUT", "payload-unknown-fields", s.bare("node_a", "node.reboot", "RebootRequest", value)...)
	}
}

func reportInvisibleText(t *testing.T) {
	s := newSession(t)
	for r, want := range map[rune]string{
		0x202e: "<U+202E>", 0x2066: "<U+2066>", 0x200b: "<U+200B>", 0xad: "<U+00AD>", 0x2028: "<U+2028>", 0x1b: "<U+001B>", '\r': "<U+000D>", 0x9b: "<U+009B>",
	} {
		reason, err := json.Marshal("re" + string(r) + "boot" + string(r))
		require.NoError(t, err)
		s.write("odd.json", bytes.Replace(caseFile("ok-2.json"), []byte(`"case"`), reason, 1))
		shown := s.ok("batch", "show", "--scope", "odd.json", "--now", now)
		require.Contains(t, shown.stdout, "re"+want+"boot"+want)
		require.Contains(t, shown.stdout, "2 escapes in texts")
		require.NotContains(t, shown.stdout, string(r))
		// In a payload too, which is what would run.
		payload := append([]byte{0x1a, byte(len(string(r)) + 2)}, "a"+string(r)+"b"...)
		args := s.bare("node_a", "node.reboot", "RebootRequest", base64Of(payload))
		shown = s.ok(args...)
		require.Contains(t, shown.stdout, `"a`+want+`b"`)
		require.Contains(t, shown.stdout, "1 escape in texts")
		for _, text := range []string{shown.stdout, s.ok(append(args, "--json")...).stdout} {
			require.NotContains(t, text, string(r))
		}
	}
}

func base64Of(b []byte) string {
	text, _ := json.Marshal(b)
	return strings.Trim(string(text), `"`)
}

func reportOneKeyTwice(t *testing.T) {
	s := newSession(t)
	set := strings.Replace(string(s.read("set.json")), kid("bob"), kid("alice"), 1)
	s.write("twice.json", []byte(set))
	s.refused("INVALID_INPUT", "malformed-set", append(sign("ok-2.json"), "--approvers", "twice.json")...)
}

func reportModule(t *testing.T) {
	s := newSession(t)
	path := s.path(s.write("module.so", []byte("no library")))
	r := s.refused("KEY_UNAVAILABLE", "module", "batch", "sign", "--scope", "ok-2.json", "--now", now, "--yes", "--key", tokenKey, "--module", path)
	require.Contains(t, r.stderr, path+": file too short")
}

// The rows about tokens, on SoftHSM.
func TestTokenReports(t *testing.T) {
	s := newToken(t)
	pin := []string{"--pin-file", "pin.txt"}

	// libp11 618: both serials are listed, and nobody logs in.
	s.tool("softhsm2-util", "--init-token", "--free", "--label", "approver", "--so-pin", "12345678", "--pin", "1111")
	serials := tokenSerials(s.tool("softhsm2-util", "--show-slots"))
	require.Len(t, serials, 2)
	r := s.refusedToken("ambiguous", s.signOnToken(pin...)...)
	require.Zero(t, s.logins())
	for _, serial := range serials {
		require.Contains(t, r.stderr, serial)
	}
	onFirst := func(query string) []string {
		for _, serial := range serials {
			key := "pkcs11:token=approver;serial=" + serial + ";" + query
			if s.run(s.signOnToken("--pin-file", "pin.txt", "--pub", "k256.pem.pub", "--key", "pkcs11:token=approver;serial="+serial+";object=k256")...).status == 0 {
				return []string{"--key", key, "--pin-file", "pin.txt"}
			}
		}
		require.Fail(t, "neither token signs")
		return nil
	}
	byID := onFirst("id=%01")

	// OpenSC 3635: two keys of one id are refused, or settled by label or public key.
	serial := strings.Split(strings.Split(byID[1], "serial=")[1], ";")[0]
	s.tool("pkcs11-tool", "--module", softHSMModule, "--slot-index", s.slotOf(serial), "--login", "--pin", testPIN,
		"--keypairgen", "--key-type", "EC:prime256v1", "--id", "01", "--label", "second", "--usage-sign")
	s.refusedToken("ambiguous", s.signOnToken(byID...)...)
	s.ok(s.signOnToken(append(byID, "--pub", "k256.pem.pub")...)...)
	byLabel := slices.Clone(byID)
	byLabel[1] += ";object=k256"
	s.ok(s.signOnToken(byLabel...)...)

	// pkcs11key 19: a key that wants the PIN for each signature signs, twice.
	s.tool("pkcs11-tool", "--module", softHSMModule, "--slot-index", s.slotOf(serial), "--login", "--pin", testPIN,
		"--keypairgen", "--key-type", "EC:prime256v1", "--id", "05", "--label", "careful", "--usage-sign", "--always-auth")
	careful := []string{"--key", "pkcs11:token=approver;serial=" + serial + ";object=careful", "--pin-file", "pin.txt"}
	s.ok(s.signOnToken(careful...)...)
	s.ok(s.signOnToken(careful...)...)
}

// tokenSerials reads the serials of the tokens named "approver".
func tokenSerials(slots string) (serials []string) {
	for part := range strings.SplitSeq(slots, "\nSlot ") {
		_, after, _ := strings.Cut(part, "Serial number:")
		if serial, _, ok := strings.Cut(strings.TrimSpace(after), "\n"); ok && strings.Contains(part, "Label:            approver") {
			serials = append(serials, strings.TrimSpace(serial))
		}
	}
	return serials
}

// slotOf gives the place of a token among the slots.
func (s *session) slotOf(serial string) string {
	s.t.Helper()
	for i, part := range strings.Split(s.tool("softhsm2-util", "--show-slots"), "\nSlot ")[1:] {
		if strings.Contains(part, serial) {
			return string(rune('0' + i))
		}
	}
	require.Fail(s.t, "no token has serial "+serial)
	return ""
}
