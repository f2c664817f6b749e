//go:build cgo && unix

package hsm_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
	"github.com/miekg/pkcs11"
	"github.com/stretchr/testify/require"
)

// faultyKeys is p11fault over a SoftHSM token "approver" with P-256 keys of the labels, and these keys.
func faultyKeys(t *testing.T, labels ...string) (*faults, []suiteKey) {
	t.Helper()
	h := newSoftHSM(t, "approver")
	m := tokenMaker{t, h.module, "approver", "1234"}
	var keys []suiteKey
	for i, label := range labels {
		keys = append(keys, m.key("EC:prime256v1", fmt.Sprintf("%02x", i+1), label))
	}
	return h.faulty(), keys
}

// Modules give CKA_EC_POINT in different encodings. Each is the same key: found before the login, told from another, and
// the one that signs. Both halves are read in it: the TPM's private keys show their point too.
func TestECPointEncodingsOfAModule(t *testing.T) {
	f, keys := faultyKeys(t, "k256", "other")
	m := load(t, f.module)
	for form, bytes := range map[string]int{"raw": 65, "octet": 67, "bit": 68, "spki": 91} {
		t.Run(form, func(t *testing.T) {
			f.set("C_GetAttributeValue 0 0 ecpoint " + form)
			requirePointLength(t, f.module, bytes)
			requireKeyOfPoint(t, m, keys)
		})
	}
	f.set("C_GetAttributeValue 0 0 attr 0x181=0441040000") // cut off: the half is not shown rather than guessed
	token := open(t, m, approverURI)
	_, shown, err := token.Public(t.Context(), quorum.PublicKey{})
	require.NoError(t, err)
	require.False(t, shown)
	require.NoError(t, token.Close())
}

func requireKeyOfPoint(t *testing.T, m hsm.Module, keys []suiteKey) {
	t.Helper()
	token := open(t, m, "pkcs11:token=approver;object="+keys[0].Label)
	found, shown, err := token.Public(t.Context(), quorum.PublicKey{})
	require.NoError(t, err)
	require.True(t, shown)
	require.True(t, found.Equal(keys[0].public(t)))
	_, _, err = token.Public(t.Context(), keys[1].public(t))
	requireRefused(t, err, wire.KeyUnavailable, "key-mismatch")
	require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
	signer, err := token.Key(t.Context(), quorum.PublicKey{})
	require.NoError(t, err)
	keys[0].requireSignsAs(t, signer)
	require.NoError(t, token.Close())
}

// requirePointLength looks at the module itself, without ours: it gives the encoding that the test is about.
func requirePointLength(t *testing.T, module string, bytes int) {
	t.Helper()
	raw, session := rawSession(t, module)
	defer raw.Finalize()
	require.NoError(t, raw.FindObjectsInit(session, []*pkcs11.Attribute{pkcs11.NewAttribute(pkcs11.CKA_CLASS, pkcs11.CKO_PUBLIC_KEY)}))
	objects, _, err := raw.FindObjects(session, 1)
	require.NoError(t, err)
	require.Len(t, objects, 1)
	require.NoError(t, raw.FindObjectsFinal(session))
	values, err := raw.GetAttributeValue(session, objects[0], []*pkcs11.Attribute{{Type: pkcs11.CKA_EC_POINT}})
	require.NoError(t, err)
	require.Len(t, values[0].Value, bytes)
}

func rawSession(t *testing.T, module string) (*pkcs11.Ctx, pkcs11.SessionHandle) {
	t.Helper()
	raw := pkcs11.New(module)
	require.NoError(t, raw.Initialize())
	slots, err := raw.GetSlotList(true)
	require.NoError(t, err)
	session, err := raw.OpenSession(slots[0], pkcs11.CKF_SERIAL_SESSION)
	require.NoError(t, err)
	return raw, session
}

// A private key beside the public half of another: what is expected is refused before the login, and where nothing is, the
// signature does not come out.
func TestPublicHalfOfAnotherKey(t *testing.T) {
	f, keys := faultyKeys(t, "k256", "other")
	f.set("C_GetAttributeValue 0 0 swap 1")
	token := open(t, load(t, f.module), approverURI)
	_, _, err := token.Public(t.Context(), keys[0].public(t))
	requireRefused(t, err, wire.KeyUnavailable, "key-mismatch")
	require.Zero(t, f.count("C_Login"))
	require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
	_, err = token.Key(t.Context(), keys[0].public(t))
	requireRefused(t, err, wire.KeyUnavailable, "key-mismatch")
	for _, expected := range []quorum.PublicKey{{}, keys[1].public(t)} {
		signer, err := token.Key(t.Context(), expected)
		require.NoError(t, err)
		require.True(t, signer.Public().Equal(keys[1].public(t)))
		signature, err := signer.Sign(t.Context(), trial(signer.Public()))
		requireRefused(t, err, wire.KeyUnavailable, "bad-signature")
		require.Zero(t, signature)
		require.NoError(t, token.Close())
		token = open(t, load(t, f.module), approverURI)
		require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
	}
	require.NoError(t, token.Close())
}

// Another key behind the handle between look-up and signing, and a right key that signed something else.
func TestForeignSignatures(t *testing.T) {
	f, keys := faultyKeys(t, "k256", "other")
	m := load(t, f.module)
	for _, rule := range []string{"C_SignInit 0 0 swap 1", "C_Sign 0 0 other 1"} {
		f.set()
		token := open(t, m, approverURI)
		require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
		signer, err := token.Key(t.Context(), keys[0].public(t))
		require.NoError(t, err)
		keys[0].requireSignsAs(t, signer)
		f.set(rule)
		signature, err := signer.Sign(t.Context(), trial(signer.Public()))
		requireRefused(t, err, wire.KeyUnavailable, "bad-signature")
		require.ErrorContains(t, err, "does not verify")
		require.Zero(t, signature)
		require.NoError(t, token.Close())
	}
}

// An attribute that a module does not have is no reason to fail where the rest says enough.
func TestAttributeThatIsNotThere(t *testing.T) {
	f, keys := faultyKeys(t, "k256", "other")
	m := load(t, f.module)
	for name, attribute := range map[string]string{
		"CKA_ID": "0x102", "CKA_LABEL": "0x3", "CKA_EC_PARAMS": "0x180", "CKA_EC_POINT": "0x181", "CKA_ALWAYS_AUTHENTICATE": "0x202",
	} {
		t.Run(name, func(t *testing.T) {
			f.set("C_GetAttributeValue 0 0 noattr " + attribute)
			token := open(t, m, approverURI)
			defer token.Close()
			require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
			signer, err := token.Key(t.Context(), keys[0].public(t))
			require.NoError(t, err)
			keys[0].requireSignsAs(t, signer)
		})
	}
	f.set("C_GetAttributeValue 0 0 noattr 0x181")
	token := open(t, m, approverURI)
	_, shown, err := token.Public(t.Context(), quorum.PublicKey{})
	require.NoError(t, err)
	require.False(t, shown)
	require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
	_, err = token.Key(t.Context(), quorum.PublicKey{})
	requireRefused(t, err, wire.KeyUnavailable, "key-not-found")
	require.ErrorContains(t, err, "does not show its public half")
	require.NoError(t, token.Close())
}

// Each way that a list of functions is unusable is told, with the module's path, before anything calls into it.
func TestUnusableFunctionLists(t *testing.T) {
	f, _ := faultyKeys(t)
	for rule, says := range map[string]string{
		"C_GetFunctionList 0 0 rv 0x2":      "CKR_HOST_MEMORY (0x02)",
		"C_GetFunctionList 0 0 null 1":      "gave no functions",
		"C_GetFunctionList 0 0 version 1":   "a version other than 2 and 3",
		"C_Login 0 0 missing 1":             "left out a function",
		"C_Sign 0 0 missing 1":              "left out a function",
		"C_GetAttributeValue 0 0 missing 1": "left out a function",
	} {
		f.set(rule)
		_, err := hsm.LoadModule(t.Context(), f.module)
		requireRefused(t, err, wire.KeyUnavailable, "module")
		require.ErrorContains(t, err, says, rule)
		require.ErrorContains(t, err, f.module)
	}
	require.Zero(t, f.tried("C_Initialize"))
	f.set()
	load(t, f.module)
}

// tried is count, of a module that may not have been called at all.
func (f *faults) tried(function string) int {
	f.t.Helper()
	if _, err := os.Stat(f.log); os.IsNotExist(err) {
		return 0
	}
	return f.count(function)
}

// The rules of CKA_ALWAYS_AUTHENTICATE, as p11fault has them over any module, are those of PKCS#11: in another order it is
// an error. So a key that signs twice was logged in for twice, each time straight after C_SignInit.
func TestAlwaysAuthenticateIsEnforced(t *testing.T) {
	f, keys := faultyKeys(t, "k256")
	f.set("C_SignInit 0 0 alwaysauth 1234")
	token := open(t, load(t, f.module), approverURI)
	require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
	signer, err := token.Key(t.Context(), keys[0].public(t))
	require.NoError(t, err)
	keys[0].requireSignsAs(t, signer)
	keys[0].requireSignsAs(t, signer)
	require.Equal(t, 2, f.count("C_Login:context"))
	require.Equal(t, 1, f.count("C_Login:user"))
	require.NoError(t, token.Close())

	raw, session := rawSession(t, f.module)
	defer raw.Finalize()
	require.NoError(t, raw.Login(session, pkcs11.CKU_USER, "1234"))
	require.NoError(t, raw.FindObjectsInit(session, []*pkcs11.Attribute{pkcs11.NewAttribute(pkcs11.CKA_CLASS, pkcs11.CKO_PRIVATE_KEY)}))
	objects, _, err := raw.FindObjects(session, 1)
	require.NoError(t, err)
	require.NoError(t, raw.FindObjectsFinal(session))
	require.Equal(t, pkcs11.Error(pkcs11.CKR_OPERATION_NOT_INITIALIZED), raw.Login(session, pkcs11.CKU_CONTEXT_SPECIFIC, "1234"))
	ecdsa := []*pkcs11.Mechanism{pkcs11.NewMechanism(pkcs11.CKM_ECDSA, nil)}
	require.NoError(t, raw.SignInit(session, ecdsa, objects[0]))
	require.Equal(t, pkcs11.Error(pkcs11.CKR_PIN_INCORRECT), raw.Login(session, pkcs11.CKU_CONTEXT_SPECIFIC, "4321"))
	_, err = raw.Sign(session, make([]byte, 32))
	require.Equal(t, pkcs11.Error(pkcs11.CKR_USER_NOT_LOGGED_IN), err)
}

// Signing asks for no read-write session, and a pin pad gets NULL and nothing else.
func TestWhatTheModuleIsAskedFor(t *testing.T) {
	f, keys := faultyKeys(t, "k256")
	f.set("C_OpenSession 0 0 norw 1", "C_GetTokenInfo 0 0 flags 0x100", "C_Login 0 0 pinpad 1234")
	token := open(t, load(t, f.module), approverURI)
	require.NoError(t, token.Login(t.Context(), sourceFunc(func() []byte {
		t.Error("a PIN was asked for, of a token with a pin pad")
		return nil
	})))
	signer, err := token.Key(t.Context(), keys[0].public(t))
	require.NoError(t, err)
	keys[0].requireSignsAs(t, signer)
	require.NoError(t, token.Close())
	require.Zero(t, f.count("C_OpenSession:rw"))
	require.Equal(t, 1, f.count("C_Login:null"))

	f.set("C_GetTokenInfo 0 0 noflags 0x8") // no user PIN: shown, and the module's own answer decides
	token = open(t, load(t, f.module), approverURI)
	require.Equal(t, hsm.PINNotSet, token.Info().PIN)
	require.NoError(t, token.Close())
}

// A token that is removed for good: every call after it fails, the ones of Close too, and Close still ends everything.
func TestRemovalForGood(t *testing.T) {
	f, _ := faultyKeys(t, "k256")
	m := load(t, f.module)
	for _, rv := range []string{"0x82", "0x30", "0x05", "0x32", "0xb3", "0xe0"} {
		for _, function := range []string{"C_Login", "C_SignInit", "C_Sign"} {
			t.Run(function+" "+rv, func(t *testing.T) {
				f.set(function + " 0 0 gone " + rv)
				f.forget()
				requireRefused(t, signOnce(t, m, 0), wire.KeyUnavailable, "device-removed")
				require.Equal(t, 1, f.count(function))
				require.Equal(t, 1, f.count("C_CloseSession"))
				require.Equal(t, 1, f.count("C_Finalize"))
				f.set() // C_Finalize was not let through, and the next one starts anew
				rawFinalize(t, f.module)
			})
		}
	}
}

// forget empties the log.
func (f *faults) forget() {
	f.t.Helper()
	require.NoError(f.t, os.WriteFile(f.log, nil, 0o600))
}

func rawFinalize(t *testing.T, module string) {
	t.Helper()
	require.NoError(t, pkcs11.New(module).Finalize())
}

// A module that crashes takes the process with it, in whatever function, and never makes it look like success.
func TestCrashOfAModule(t *testing.T) {
	if os.Getenv(childVariable) != "" {
		t.Log("ended with", signOnce(t, load(t, os.Getenv(childVariable)), 0))
		return
	}
	f, _ := faultyKeys(t, "k256")
	for _, crash := range []string{"exit", "segv", "kill"} {
		for _, function := range []string{"C_Initialize", "C_Login", "C_Sign", "C_Finalize"} {
			t.Run(crash+" in "+function, func(t *testing.T) {
				f.set(function + " 0 0 " + crash + " 1")
				f.forget()
				cmd := childOf(t, f.module)
				cmd.Args[1] = "-test.run=^TestCrashOfAModule$"
				out, err := cmd.CombinedOutput()
				require.IsType(t, &exec.ExitError{}, err, "%s", out)
				require.NotContains(t, string(out), "ended with")
				require.NotContains(t, string(out), "PASS")
				log, err := os.ReadFile(f.log)
				require.NoError(t, err)
				require.True(t, strings.HasSuffix(strings.ReplaceAll(string(log), "C_Login:user\n", ""), "\n"+function+"\n"), "%s", log)
			})
		}
	}
}

// Some modules pad their texts with NULs instead of spaces: neither is of the text, so a token is found by its label and
// shown without them.
func TestTextsPaddedWithNULs(t *testing.T) {
	f, _ := faultyKeys(t)
	f.set("C_GetInfo 0 0 nulpad 1", "C_GetSlotInfo 0 0 nulpad 1", "C_GetTokenInfo 0 0 nulpad 1")
	m := load(t, f.module)
	inventory, err := hsm.ListSlots(t.Context(), m, 0)
	require.NoError(t, err)
	slot := inventory.Slots[0]
	for _, text := range []string{inventory.Library.Description, inventory.Library.Manufacturer, slot.Description, slot.Manufacturer,
		slot.Token.Label, slot.Token.Serial, slot.Token.Model, slot.Token.Manufacturer} {
		require.NotEmpty(t, text)
		require.NotContains(t, text, "\x00")
	}
	token := open(t, m, slot.Token.URI().String())
	require.Equal(t, "approver", token.Info().Label)
	require.NoError(t, token.Close())
}

// Lengths that are longer than the room a library was given are no lengths: nothing is read beyond, and nothing is signed.
// Handles without end are no list.
func TestLengthsThatCannotBe(t *testing.T) {
	f, _ := faultyKeys(t, "k256")
	m := load(t, f.module)
	refused := func(rule string) {
		f.set(rule)
		requireRefused(t, signOnce(t, m, 0), wire.KeyUnavailable, "module")
	}
	for _, length := range []string{"16777216", "0x40000000", "0x10000000000", "0xfffffffffffffffe"} {
		for _, rule := range []string{"C_GetSlotList 0 0 length ", "C_GetSlotList 1 0 length ", "C_FindObjects 0 0 length ", "C_GetAttributeValue 0 0 length ", "C_Sign 0 0 short "} {
			refused(rule + length)
		}
	}
	refused("C_FindObjects 0 0 length 64")
	f.set()
	require.NoError(t, signOnce(t, m, 0))
}
