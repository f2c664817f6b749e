//go:build cgo && unix

package hsm_test

import (
	"crypto/elliptic"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ThalesIgnite/crypto11"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
	"github.com/miekg/pkcs11"
	"github.com/stretchr/testify/require"
)

func TestLoadModuleSaysWhatFailed(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.so")
	require.NoError(t, os.WriteFile(text, []byte("no library"), 0o600))
	libc := run(t, "gcc", "-print-file-name=libm.so.6")
	libc, err := filepath.EvalSymlinks(libc[:len(libc)-1])
	require.NoError(t, err)
	for name, test := range map[string]struct{ path, says string }{
		"relative":     {"libsofthsm2.so", "absolute"},
		"empty":        {"", "absolute"},
		"absent":       {filepath.Join(dir, "absent.so"), "no such file"},
		"folder":       {dir, "not a regular file"},
		"no library":   {text, text + ": file too short"},
		"no function":  {libc, "undefined symbol: C_GetFunctionList"},
		"NUL in it":    {"/usr/lib\x00/x.so", "absolute"},
		"not absolute": {"./x.so", "absolute"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := hsm.LoadModule(t.Context(), test.path)
			requireRefused(t, err, wire.KeyUnavailable, "module")
			require.ErrorContains(t, err, test.says)
		})
	}
	f := newSoftHSM(t).faulty()
	f.set("C_GetFunctionList 0 0 rv 5")
	_, err = hsm.LoadModule(t.Context(), f.module)
	requireRefused(t, err, wire.KeyUnavailable, "module")
	require.ErrorContains(t, err, f.module)
	require.ErrorContains(t, err, "CKR_GENERAL_ERROR (0x05)")
	f.set()
	load(t, f.module)
}

// The whole course on SoftHSM: each signature is checked apart from the package that made it.
func TestSoftHSMSigns(t *testing.T) {
	h := newSoftHSM(t, "approver", "other")
	h.keygen("approver", "01", "k256")
	h.keygen("other", "01", "k256")
	token := open(t, load(t, h.module), approverURI)
	require.Equal(t, "approver", token.Info().Label)
	require.NotEmpty(t, token.Info().Serial)
	public, shown, err := token.Public(t.Context(), quorum.PublicKey{})
	require.NoError(t, err)
	require.True(t, shown)
	require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
	k, err := token.Key(t.Context(), public)
	require.NoError(t, err)
	requireSigns(t, k, public)
	require.NoError(t, token.Close())
}

func TestSoftHSMKeyIsSettledOrRefused(t *testing.T) {
	h := newSoftHSM(t, "approver")
	h.keygen("approver", "01", "a")
	h.keygen("approver", "01", "b")
	h.keygen("approver", "02", "private")
	h.tool("approver", "--keypairgen", "--key-type", "EC:secp384r1", "--id", "03", "--label", "p384", "--usage-sign")
	relabelPublic(t, h.module, "private", "public")
	for name, test := range map[string]struct{ uri, reason string }{
		"two keys of one id":                     {"id=%01", "ambiguous"},
		"two keys of one id, by label":           {"id=%01;object=b", ""},
		"another label than the public half":     {"object=private", ""},
		"the public half's label":                {"object=public", ""},
		"no such label":                          {"object=c", "key-not-found"},
		"not the byte 01 but the characters 0 1": {"id=01", "key-not-found"},
		"another curve":                          {"object=p384", "key-not-found"},
	} {
		t.Run(name, func(t *testing.T) {
			token := open(t, load(t, h.module), "pkcs11:token=approver;"+test.uri)
			require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
			if test.reason == "key-not-found" { // an expected key is no reason to take another kind of key for it
				_, err := token.Key(t.Context(), publicOf(t, newP256(t)))
				requireRefused(t, err, wire.KeyUnavailable, test.reason)
			}
			k, err := token.Key(t.Context(), quorum.PublicKey{})
			if test.reason != "" {
				requireRefused(t, err, wire.KeyUnavailable, test.reason)
				return
			}
			require.NoError(t, err)
			requireSigns(t, k, k.Public())
		})
	}
}

// relabelPublic gives the public half of a key another label.
func relabelPublic(t *testing.T, module, label, to string) {
	p := pkcs11.New(module)
	require.NoError(t, p.Initialize())
	defer p.Finalize()
	slots, err := p.GetSlotList(true)
	require.NoError(t, err)
	s, err := p.OpenSession(slots[0], pkcs11.CKF_SERIAL_SESSION|pkcs11.CKF_RW_SESSION)
	require.NoError(t, err)
	require.NoError(t, p.Login(s, pkcs11.CKU_USER, "1234"))
	require.NoError(t, p.FindObjectsInit(s, []*pkcs11.Attribute{
		pkcs11.NewAttribute(pkcs11.CKA_CLASS, pkcs11.CKO_PUBLIC_KEY), pkcs11.NewAttribute(pkcs11.CKA_LABEL, label),
	}))
	objects, _, err := p.FindObjects(s, 2)
	require.NoError(t, err)
	require.Len(t, objects, 1)
	require.NoError(t, p.FindObjectsFinal(s))
	require.NoError(t, p.SetAttributeValue(s, objects[0], []*pkcs11.Attribute{pkcs11.NewAttribute(pkcs11.CKA_LABEL, to)}))
}

func TestSoftHSMAlwaysAuthenticate(t *testing.T) {
	h := newSoftHSM(t, "approver")
	h.keygen("approver", "01", "k256", "--always-auth")
	f := h.faulty()
	token := open(t, load(t, f.module), approverURI)
	require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
	k, err := token.Key(t.Context(), quorum.PublicKey{})
	require.NoError(t, err)
	requireSigns(t, k, k.Public())
	require.Equal(t, 3, f.count("C_Login"))
}

func TestTwoTokensOfOneLabelCostNoLogin(t *testing.T) {
	f := newSoftHSM(t, "approver", "approver").faulty()
	_, err := hsm.OpenToken(t.Context(), load(t, f.module), hsm.TokenOptions{URI: uri(t, approverURI)})
	requireRefused(t, err, wire.KeyUnavailable, "ambiguous")
	require.Len(t, err.(*wire.Error).Details["tokens"], 2)
	require.Zero(t, f.count("C_Login"))
	require.Equal(t, f.count("C_Initialize"), f.count("C_Finalize"))
}

func TestWrongPINIsTriedOnce(t *testing.T) {
	f := newSoftHSM(t, "approver").faulty()
	token := open(t, load(t, f.module), approverURI)
	err := token.Login(t.Context(), fixedPIN("1234\n"))
	requireRefused(t, err, wire.KeyUnavailable, "pin-incorrect")
	require.ErrorContains(t, err, hsm.PINCountLow.String())
	require.Equal(t, 1, f.count("C_Login"))
	requireRefused(t, token.Login(t.Context(), nil), wire.KeyUnavailable, "pin-missing")
	require.Equal(t, 1, f.count("C_Login"))
}

func TestPINStatesOfAToken(t *testing.T) {
	h := newSoftHSM(t, "approver")
	h.keygen("approver", "01", "k256")
	f := h.faulty()
	m := load(t, f.module)
	login := func(o hsm.TokenOptions, rules ...string) error {
		f.set(rules...)
		o.URI = uri(t, approverURI)
		token, err := hsm.OpenToken(t.Context(), m, o)
		require.NoError(t, err)
		defer token.Close()
		return token.Login(t.Context(), fixedPIN("1234"))
	}
	requireRefused(t, login(hsm.TokenOptions{}, "C_GetTokenInfo 0 0 flags 0x40000"), wire.KeyUnavailable, "pin-locked")
	requireRefused(t, login(hsm.TokenOptions{AllowFinalTry: true}, "C_GetTokenInfo 0 0 flags 0x40000"), wire.KeyUnavailable, "pin-locked")
	requireRefused(t, login(hsm.TokenOptions{}, "C_GetTokenInfo 0 0 flags 0x20000"), wire.KeyUnavailable, "pin-final-try")
	require.Zero(t, f.count("C_Login"))
	require.NoError(t, login(hsm.TokenOptions{AllowFinalTry: true}, "C_GetTokenInfo 0 0 flags 0x20000"))
	require.NoError(t, login(hsm.TokenOptions{}, "C_GetTokenInfo 0 0 flags 0x10000"))
	require.Equal(t, 2, f.count("C_Login"))
	requireRefused(t, login(hsm.TokenOptions{}, "C_Login 0 0 rv 0x100"), wire.KeyUnavailable, "")
	requireRefused(t, login(hsm.TokenOptions{}, "C_Login 0 0 rv 0xa4"), wire.KeyUnavailable, "pin-locked")
	require.Equal(t, 4, f.count("C_Login"))
}

func TestPINPadOfAToken(t *testing.T) {
	h := newSoftHSM(t, "approver")
	h.keygen("approver", "01", "k256")
	f := h.faulty()
	f.set("C_GetTokenInfo 0 0 flags 0x100", "C_Login 0 0 pinpad 1234")
	token := open(t, load(t, f.module), approverURI)
	require.True(t, token.Info().PINPad)
	require.NoError(t, token.Login(t.Context(), hsm.PINMissing{}))
	k, err := token.Key(t.Context(), quorum.PublicKey{})
	require.NoError(t, err)
	requireSigns(t, k, k.Public())
}

// Read-write sessions are never asked for.
func TestReadOnlySessionIsEnough(t *testing.T) {
	h := newSoftHSM(t, "approver")
	h.keygen("approver", "01", "k256")
	f := h.faulty()
	f.set("C_OpenSession 0 0 norw 1")
	token := open(t, load(t, f.module), approverURI)
	require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
	k, err := token.Key(t.Context(), quorum.PublicKey{})
	require.NoError(t, err)
	requireSigns(t, k, k.Public())
}

// Every fault ends in its reason, without a signature and without a second try, and the next run works.
func TestFaultsInSigning(t *testing.T) {
	h := newSoftHSM(t, "approver")
	h.keygen("approver", "01", "k256")
	f := h.faulty()
	m := load(t, f.module)
	for _, test := range []struct{ rule, reason, says string }{
		{"C_Sign 0 0 flip 5", "bad-signature", "does not verify"},
		{"C_Sign 0 0 short 63", "bad-signature", "63 bytes"},
		{"C_Sign 0 0 rv 0x32", "device-removed", "CKR_DEVICE_REMOVED (0x32)"},
		{"C_Sign 0 0 rv 0x30", "device-removed", "CKR_DEVICE_ERROR (0x30)"},
		{"C_Sign 0 0 rv 0x05", "device-removed", "CKR_GENERAL_ERROR (0x05)"},
		{"C_SignInit 0 0 rv 0x82", "device-removed", "CKR_OBJECT_HANDLE_INVALID (0x82)"},
		{"C_Sign 0 0 rv 0x101", "", "touch"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			f.set()
			token := open(t, m, approverURI)
			require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
			k, err := token.Key(t.Context(), quorum.PublicKey{})
			require.NoError(t, err)
			requireSigns(t, k, k.Public())
			f.set(test.rule)
			before := f.count("C_SignInit")
			signature, err := k.Sign(t.Context(), trial(k.Public()))
			requireRefused(t, err, wire.KeyUnavailable, test.reason)
			require.ErrorContains(t, err, test.says)
			require.Zero(t, signature)
			require.Equal(t, before+1, f.count("C_SignInit"))
			require.NoError(t, token.Close())
			require.Equal(t, f.count("C_Initialize"), f.count("C_Finalize"))
		})
	}
}

func TestRemovalBeforeLogin(t *testing.T) {
	f := newSoftHSM(t, "approver").faulty()
	token := open(t, load(t, f.module), approverURI)
	f.set("C_GetTokenInfo 0 0 rv 0xe0", "C_Login 0 0 rv 0x32")
	requireRefused(t, token.Login(t.Context(), fixedPIN("1234")), wire.KeyUnavailable, "device-removed")
	require.Zero(t, f.count("C_Login"))
}

func TestHangOfAModule(t *testing.T) {
	h := newSoftHSM(t, "approver")
	h.keygen("approver", "01", "k256")
	for _, function := range []string{"C_Initialize", "C_GetSlotList", "C_OpenSession", "C_Login", "C_Sign"} {
		t.Run(function, func(t *testing.T) {
			f := softHSM{t, h.module}.faulty()
			f.set(function + " 0 0 hang 1")
			start := time.Now()
			err := signOnce(t, load(t, f.module), 200*time.Millisecond)
			requireRefused(t, err, wire.KeyUnavailable, "timeout")
			require.ErrorContains(t, err, function)
			require.Less(t, time.Since(start), time.Minute)
			require.Zero(t, f.count("C_Finalize"))
		})
	}
}

// signOnce opens, logs in, signs and closes, and gives the first error.
func signOnce(t *testing.T, m hsm.Module, timeout time.Duration) error {
	token, err := hsm.OpenToken(t.Context(), m, hsm.TokenOptions{URI: uri(t, approverURI), Timeout: timeout})
	if err != nil {
		return err
	}
	defer token.Close()
	if err := token.Login(t.Context(), fixedPIN("1234")); err != nil {
		return err
	}
	k, err := token.Key(t.Context(), quorum.PublicKey{})
	if err != nil {
		return err
	}
	_, err = k.Sign(t.Context(), trial(k.Public()))
	return err
}

func TestManySignaturesLeaveNothingOpen(t *testing.T) {
	h := newSoftHSM(t, "approver")
	h.keygen("approver", "01", "k256")
	f := h.faulty()
	m := load(t, f.module)
	for range 10 {
		token := open(t, m, approverURI)
		require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
		k, err := token.Key(t.Context(), quorum.PublicKey{})
		require.NoError(t, err)
		for range 20 {
			_, err := k.Sign(t.Context(), trial(k.Public()))
			require.NoError(t, err)
		}
		require.NoError(t, token.Close())
	}
	require.Equal(t, 200, f.count("C_Sign"))
	for _, function := range []string{"C_OpenSession", "C_CloseSession", "C_Login", "C_Logout", "C_Finalize"} {
		require.Equal(t, 10, f.count(function), function)
	}
}

// crypto11 is another client of the same tokens: a key that it made signs through us, and one of ours through it.
func TestCrypto11(t *testing.T) {
	h := newSoftHSM(t, "approver")
	h.keygen("approver", "01", "ours")
	config := &crypto11.Config{Path: h.module, TokenLabel: "approver", Pin: "1234"}
	c, err := crypto11.Configure(config)
	require.NoError(t, err)
	theirs, err := c.GenerateECDSAKeyPairWithLabel([]byte{2}, []byte("theirs"), elliptic.P256())
	require.NoError(t, err)
	made, err := hsm.FromSigner(theirs, quorum.PublicKey{})
	require.NoError(t, err)
	requireSigns(t, made, made.Public())
	ours, err := c.FindKeyPair([]byte{1}, nil)
	require.NoError(t, err)
	found, err := hsm.FromSigner(ours, quorum.PublicKey{})
	require.NoError(t, err)
	requireSigns(t, found, found.Public())
	_, err = hsm.FromSigner(ours, made.Public())
	requireRefused(t, err, wire.KeyUnavailable, "key-mismatch")
	require.NoError(t, c.Close())

	for label, public := range map[string]quorum.PublicKey{"ours": found.Public(), "theirs": made.Public()} {
		token := open(t, load(t, h.module), "pkcs11:token=approver;object="+label)
		require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
		k, err := token.Key(t.Context(), public)
		require.NoError(t, err)
		requireSigns(t, k, public)
		require.NoError(t, token.Close())
	}
}
