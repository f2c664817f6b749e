//go:build cgo && unix

package hsm_test

import (
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
	"github.com/miekg/pkcs11"
	"github.com/stretchr/testify/require"
)

// A suite is one module with one token on it, and what the same sub-tests are to find there, on every module alike. It is
// filled by other programs than ours.
type suite struct {
	Module        string
	Token         string // its label
	PIN, WrongPIN string
	AfterWrong    hsm.PINState // what the token shows after a wrong PIN; modules differ
	Keys          []suiteKey   // two P-256 keys or more
	Twins         []suiteKey   // P-256 keys of one id
	Always        *suiteKey    // a key with CKA_ALWAYS_AUTHENTICATE, where the module has such keys
	Edwards       *suiteKey    // an Ed25519 key, where the module has such keys

	EdwardsRefused string // the code that the module gives where the token has such keys, and it cannot sign with them
}

// A suiteKey is a key pair on the token. Public is its SubjectPublicKeyInfo as another program read it from there.
type suiteKey struct {
	Label, ID string // the id in hex
	Public    []byte
}

func (k suiteKey) public(t *testing.T) quorum.PublicKey {
	t.Helper()
	key, err := quorum.ParsePublicKey(k.Public)
	require.NoError(t, err)
	return key
}

func (k suiteKey) escapedID(t *testing.T) string {
	t.Helper()
	raw, err := hex.DecodeString(k.ID)
	require.NoError(t, err)
	escaped := ""
	for _, b := range raw {
		escaped += "%" + hex.EncodeToString([]byte{b})
	}
	return escaped
}

// A suiteStep is one sub-test. The spy counts what reaches the module.
type suiteStep struct {
	name string
	run  func(t *testing.T, s suite, m *spy)
}

func (s suite) steps() []suiteStep {
	steps := []suiteStep{
		{"open", suiteOpens}, {"list", suiteLists}, {"wrong PIN", suiteWrongPIN}, {"right PIN", suiteRightPIN},
		{"list private keys", suiteListsPrivate}, {"find", suiteFinds}, {"sign and verify", suiteSigns},
		{"sign again", suiteSignsAgain}, {"several keys", suiteSeveralKeys}, {"two keys of one id", suiteTwins},
		{"make, check and delete a key", suiteMakesKey},
	}
	if s.Always != nil {
		steps = append(steps, suiteStep{"always authenticate", suiteAlwaysAuthenticates})
	}
	if s.Edwards != nil {
		steps = append(steps, suiteStep{"Ed25519", suiteEdwards})
	}
	return append(steps, suiteStep{"close leaves nothing open", suiteCloses})
}

func (s suite) run(t *testing.T) {
	m := &spy{Module: load(t, s.Module)}
	for _, step := range s.steps() {
		require.True(t, t.Run(step.name, func(t *testing.T) { step.run(t, s, m) }))
	}
}

// childVariable hands a test what it is to do in a process of its own.
const childVariable = "APPROVER_TEST_CHILD"

// inChild calls run in a process of its own, that of the same test over again, with what prepare gave in this one. Modules
// read their environment when they are loaded, keep threads and connections, and can take the process with them. The
// child is started through the program wrap, where one is given, and must have passed each of the sub-tests named.
func inChild[S any](t *testing.T, prepare func(*testing.T) S, run func(*testing.T, S), subTests func(S) []string, wrap ...string) {
	t.Helper()
	if text := os.Getenv(childVariable); text != "" {
		var s S
		require.NoError(t, json.Unmarshal([]byte(text), &s))
		run(t, s)
		return
	}
	s := prepare(t)
	text, err := json.Marshal(s)
	require.NoError(t, err)
	out, err := childOf(t, string(text), wrap...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: "+t.Name()+" (")
	require.NotContains(t, string(out), "--- SKIP")
	for _, name := range subTests(s) {
		require.Contains(t, string(out), "--- PASS: "+t.Name()+"/"+rewritten(name)+" (")
	}
}

func childOf(t *testing.T, text string, wrap ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	line := append(slices.Clone(wrap), self, "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=3m")
	cmd := exec.CommandContext(t.Context(), line[0], line[1:]...)
	cmd.Env = append(os.Environ(), childVariable+"="+text)
	return cmd
}

// rewritten is how package testing writes the name of a sub-test.
func rewritten(name string) string {
	b := []byte(name)
	for i := range b {
		if b[i] == ' ' { // the only one of the characters that it changes which names have here
			b[i] = '_'
		}
	}
	return string(b)
}

func runSuite(t *testing.T, prepare func(*testing.T) suite) {
	t.Helper()
	inChild(t, prepare, func(t *testing.T, s suite) { s.run(t) }, func(s suite) (names []string) {
		for _, step := range s.steps() {
			names = append(names, step.name)
		}
		return names
	})
}

// open opens the suite's token for the key that the attributes name.
func (s suite) open(t *testing.T, m hsm.Module, attributes string) *hsm.Token {
	t.Helper()
	return open(t, m, "pkcs11:token="+s.Token+attributes)
}

// login opens the token and logs in.
func (s suite) login(t *testing.T, m hsm.Module, attributes string) *hsm.Token {
	t.Helper()
	token := s.open(t, m, attributes)
	require.NoError(t, token.Login(t.Context(), fixedPIN(s.PIN)))
	return token
}

// requireSignsAs has the key sign, and verifies with crypto/ecdsa alone, under the key that another program read. It gives
// the signature.
func (k suiteKey) requireSignsAs(t *testing.T, signer quorum.Signer) quorum.Signature {
	t.Helper()
	parsed, err := x509.ParsePKIXPublicKey(k.Public)
	require.NoError(t, err)
	statement := trial(signer.Public())
	signature, err := signer.Sign(t.Context(), statement)
	require.NoError(t, err)
	digest := statement.Digest()
	half := len(signature.Sig) / 2
	r, v := new(big.Int).SetBytes(signature.Sig[:half]), new(big.Int).SetBytes(signature.Sig[half:])
	require.True(t, ecdsa.Verify(parsed.(*ecdsa.PublicKey), digest[:], r, v))
	digest[0] ^= 1
	require.False(t, ecdsa.Verify(parsed.(*ecdsa.PublicKey), digest[:], r, v))
	require.Equal(t, k.public(t).KID(), signature.KID)
	return signature
}

func suiteOpens(t *testing.T, s suite, m *spy) {
	token := s.open(t, m, "")
	info := token.Info()
	require.Equal(t, s.Token, info.Label)
	require.NotEmpty(t, info.Serial)
	require.NotEmpty(t, info.Manufacturer)
	require.Equal(t, hsm.PINReady, info.PIN)
	require.False(t, info.PINPad)

	_, err := hsm.OpenToken(t.Context(), m, hsm.TokenOptions{URI: uri(t, "pkcs11:token="+s.Token)})
	requireRefused(t, err, wire.KeyUnavailable, "module") // a second use of the module would end the first with its own end
	require.NoError(t, token.Close())

	again := s.open(t, m, ";serial="+info.Serial)
	require.Equal(t, info, again.Info())
	require.NoError(t, again.Close())

	_, err = hsm.OpenToken(t.Context(), m, hsm.TokenOptions{URI: uri(t, "pkcs11:token=another")})
	requireRefused(t, err, wire.KeyUnavailable, "token-not-found")
	require.Contains(t, err.(*wire.Error).Details["tokens"],
		map[string]string{"label": info.Label, "serial": info.Serial, "model": info.Model})
	require.Zero(t, m.count("C_Login"))
}

// One wrong PIN only: the TPM locks on the fourth, and remembers.
func suiteWrongPIN(t *testing.T, s suite, m *spy) {
	token := s.open(t, m, ";object="+s.Keys[0].Label)
	before := m.count("C_Login")
	requireRefused(t, token.Login(t.Context(), fixedPIN(s.WrongPIN)), wire.KeyUnavailable, "pin-incorrect")
	require.Equal(t, before+1, m.count("C_Login"))
	require.Equal(t, s.AfterWrong, token.Info().PIN)
	_, err := token.Key(t.Context(), s.Keys[0].public(t))
	requireRefused(t, err, wire.KeyUnavailable, "key-not-found")
	requireRefused(t, token.Login(t.Context(), hsm.PINMissing{}), wire.KeyUnavailable, "pin-missing")
	require.Equal(t, before+1, m.count("C_Login"))

	require.NoError(t, token.Login(t.Context(), fixedPIN(s.PIN)))
	require.NoError(t, token.Close())
	token = s.open(t, m, "")
	require.Equal(t, hsm.PINReady, token.Info().PIN)
	require.NoError(t, token.Close())
}

func suiteRightPIN(t *testing.T, s suite, m *spy) {
	file := filepath.Join(t.TempDir(), "pin")
	require.NoError(t, os.WriteFile(file, []byte(s.PIN+"\n"), 0o600))
	token := s.open(t, m, "")
	require.NoError(t, token.Login(t.Context(), hsm.PINFile(file)))
	err := token.Login(t.Context(), fixedPIN(s.PIN))
	requireRefused(t, err, wire.KeyUnavailable, "")
	require.ErrorContains(t, err, "CKR_USER_ALREADY_LOGGED_IN")
	require.NoError(t, token.Close())
}

func suiteFinds(t *testing.T, s suite, m *spy) {
	for i, k := range s.Keys {
		byLabel, byID := ";object="+k.Label, ";id="+k.escapedID(t)
		for _, attributes := range []string{byLabel, byID, byLabel + byID, ";type=private" + byLabel} {
			token := s.login(t, m, attributes)
			found, err := token.Key(t.Context(), quorum.PublicKey{})
			require.NoError(t, err, attributes)
			require.True(t, found.Public().Equal(k.public(t)), attributes)
			_, err = token.Key(t.Context(), s.Keys[(i+1)%len(s.Keys)].public(t))
			requireRefused(t, err, wire.KeyUnavailable, "key-mismatch")
			require.NoError(t, token.Close())
		}
	}
	for _, attributes := range []string{";object=none", ";id=%7f%7f", ";object=" + s.Keys[0].Label + ";id=" + s.Keys[1].escapedID(t)} {
		token := s.login(t, m, attributes)
		_, err := token.Key(t.Context(), quorum.PublicKey{})
		requireRefused(t, err, wire.KeyUnavailable, "key-not-found")
		require.NoError(t, token.Close())
	}
}

func suiteSigns(t *testing.T, s suite, m *spy) {
	for _, k := range s.Keys {
		token := s.login(t, m, ";object="+k.Label)
		signer, err := token.Key(t.Context(), k.public(t))
		require.NoError(t, err)
		before := m.count("C_Sign")
		first, second := k.requireSignsAs(t, signer), k.requireSignsAs(t, signer)
		require.Equal(t, before+2, m.count("C_Sign"))
		require.NotEqual(t, first, second)
		require.NoError(t, token.Close())
	}
}

// A half of a signature that begins with a zero byte comes once in 128 signatures, and shows whether a module pads.
func suiteSignsAgain(t *testing.T, s suite, m *spy) {
	k := s.Keys[0]
	token := s.login(t, m, ";object="+k.Label)
	signer, err := token.Key(t.Context(), k.public(t))
	require.NoError(t, err)
	sessions := m.count("C_OpenSession")
	const enough = 5000 // without one in so many, it is not chance
	padded := false
	for i := 0; i < enough && !padded; i++ {
		signature := k.requireSignsAs(t, signer)
		padded = signature.Sig[0] == 0 || signature.Sig[len(signature.Sig)/2] == 0
	}
	require.True(t, padded)
	require.Equal(t, sessions, m.count("C_OpenSession"))
	require.NoError(t, token.Close())
}

// Two keys in one session, in turn.
func suiteSeveralKeys(t *testing.T, s suite, m *spy) {
	token := s.login(t, m, "")
	_, err := token.Key(t.Context(), quorum.PublicKey{})
	requireRefused(t, err, wire.KeyUnavailable, "ambiguous")
	var signers []*hsm.TokenKey
	for _, k := range s.Keys {
		signer, err := token.Key(t.Context(), k.public(t)) // what is expected settles it
		require.NoError(t, err)
		signers = append(signers, signer)
	}
	for range 2 {
		for i, k := range s.Keys {
			k.requireSignsAs(t, signers[i])
		}
	}
	require.NoError(t, token.Close())
}

func suiteTwins(t *testing.T, s suite, m *spy) {
	require.Len(t, s.Twins, 2)
	before, signatures := m.count("C_Login"), m.count("C_SignInit")
	token := s.open(t, m, ";id="+s.Twins[0].escapedID(t))
	_, _, err := token.Public(t.Context(), quorum.PublicKey{})
	requireRefused(t, err, wire.KeyUnavailable, "ambiguous")
	require.Equal(t, before, m.count("C_Login"))
	require.NoError(t, token.Login(t.Context(), fixedPIN(s.PIN)))
	_, err = token.Key(t.Context(), quorum.PublicKey{})
	requireRefused(t, err, wire.KeyUnavailable, "ambiguous")
	require.Equal(t, signatures, m.count("C_SignInit"))
	require.NoError(t, token.Close())

	for _, k := range s.Twins {
		token := s.login(t, m, ";id="+k.escapedID(t)+";object="+k.Label)
		signer, err := token.Key(t.Context(), quorum.PublicKey{})
		require.NoError(t, err)
		k.requireSignsAs(t, signer)
		require.NoError(t, token.Close())
	}
}

func suiteAlwaysAuthenticates(t *testing.T, s suite, m *spy) {
	token := s.login(t, m, ";object="+s.Always.Label)
	signer, err := token.Key(t.Context(), s.Always.public(t))
	require.NoError(t, err)
	before := m.count("C_Login")
	for range 3 {
		s.Always.requireSignsAs(t, signer)
	}
	require.Equal(t, before+3, m.count("C_Login"))
	require.NoError(t, token.Close())
}

// suiteCloses opens and closes often: no session, no login and no file descriptor is left.
func suiteCloses(t *testing.T, s suite, m *spy) {
	round := func() {
		token := s.login(t, m, ";object="+s.Keys[0].Label)
		signer, err := token.Key(t.Context(), quorum.PublicKey{})
		require.NoError(t, err)
		_, err = signer.Sign(t.Context(), trial(signer.Public()))
		require.NoError(t, err)
		require.NoError(t, token.Close())
	}
	round()
	open := openDescriptors(t)
	for range 10 {
		round()
	}
	require.Equal(t, open, openDescriptors(t))
	require.Equal(t, m.count("C_OpenSession"), m.count("C_CloseSession"))
	require.Equal(t, m.count("C_Initialize")-1, m.count("C_Finalize")) // one was refused, while the token was open

	raw := pkcs11.New(s.Module)
	require.NoError(t, raw.Initialize())
	defer raw.Finalize()
	slots, err := raw.GetSlotList(true)
	require.NoError(t, err)
	for _, slot := range slots {
		info, err := raw.GetTokenInfo(slot)
		require.NoError(t, err)
		require.Contains(t, []uint{0, ^uint(0)}, info.SessionCount) // CK_UNAVAILABLE_INFORMATION where it is not told
	}
}

func openDescriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/dev/fd")
	require.NoError(t, err)
	return len(entries)
}
