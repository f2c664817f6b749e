package hsm_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"testing"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
	"github.com/better-compute/approver/hsm/softtoken"
	"github.com/stretchr/testify/require"
)

// A spy is a module that notes the calls to it and can answer some of them itself, by their C names.
type spy struct {
	hsm.Module
	calls     []string
	fail      map[string]error
	attribute func(o hsm.Object, a hsm.Attribute, value []byte, err error) ([]byte, error)
	secret    func() (int, error)
	login     func(u hsm.UserType, pin []byte) error
	sign      func(digest, signature []byte) ([]byte, error)
	find      func(template []hsm.Match, found []hsm.Object) []hsm.Object
}

func (s *spy) note(name string) error {
	s.calls = append(s.calls, name)
	return s.fail[name]
}

func (s *spy) count(name string) (n int) {
	for _, c := range s.calls {
		if c == name {
			n++
		}
	}
	return n
}

func (s *spy) Initialize() error {
	if err := s.note("C_Initialize"); err != nil {
		return err
	}
	return s.Module.Initialize()
}

func (s *spy) Finalize() error {
	if err := s.note("C_Finalize"); err != nil {
		return err
	}
	return s.Module.Finalize()
}

func (s *spy) Slots() ([]hsm.SlotID, error) {
	if err := s.note("C_GetSlotList"); err != nil {
		return nil, err
	}
	return s.Module.Slots()
}

func (s *spy) OpenSession(id hsm.SlotID) (hsm.Session, error) {
	if err := s.note("C_OpenSession"); err != nil {
		return 0, err
	}
	return s.Module.OpenSession(id)
}

func (s *spy) Token(id hsm.SlotID) (hsm.TokenRecord, error) {
	if err := s.note("C_GetTokenInfo"); err != nil {
		return hsm.TokenRecord{}, err
	}
	return s.Module.Token(id)
}

func (s *spy) CloseSession(h hsm.Session) error {
	if err := s.note("C_CloseSession"); err != nil {
		return err
	}
	return s.Module.CloseSession(h)
}

func (s *spy) Logout(h hsm.Session) error {
	if err := s.note("C_Logout"); err != nil {
		return err
	}
	return s.Module.Logout(h)
}

func (s *spy) Login(h hsm.Session, u hsm.UserType, pin []byte) error {
	if err := s.note("C_Login"); err != nil {
		return err
	}
	if s.login != nil {
		if err := s.login(u, pin); err != nil {
			return err
		}
	}
	return s.Module.Login(h, u, pin)
}

func (s *spy) Find(h hsm.Session, template []hsm.Match) ([]hsm.Object, error) {
	if err := s.note("C_FindObjects"); err != nil {
		return nil, err
	}
	found, err := s.Module.Find(h, template)
	if s.find != nil {
		found = s.find(template, found)
	}
	return found, err
}

// Attributes gives what s.attribute makes of each attribute, and the last error of one, as a module does.
func (s *spy) Attributes(h hsm.Session, o hsm.Object, asked ...hsm.Attribute) (values [][]byte, err error) {
	if err := s.note("C_GetAttributeValue"); err != nil {
		return nil, err
	}
	if s.attribute == nil {
		return s.Module.Attributes(h, o, asked...)
	}
	for _, a := range asked {
		var value []byte
		one, bad := s.Module.Attributes(h, o, a)
		if bad == nil {
			value = one[0]
		}
		if value, bad = s.attribute(o, a, value, bad); bad != nil {
			err = bad
		}
		values = append(values, value)
	}
	return values, err
}

func (s *spy) SecretLength(h hsm.Session, o hsm.Object) (int, error) {
	if s.secret != nil {
		return s.secret()
	}
	return s.Module.SecretLength(h, o)
}

func (s *spy) SignInit(h hsm.Session, m hsm.Mechanism, o hsm.Object) error {
	if err := s.note("C_SignInit"); err != nil {
		return err
	}
	return s.Module.SignInit(h, m, o)
}

func (s *spy) Sign(h hsm.Session, digest []byte) ([]byte, error) {
	if err := s.note("C_Sign"); err != nil {
		return nil, err
	}
	signature, err := s.Module.Sign(h, digest)
	if s.sign != nil && err == nil {
		return s.sign(digest, signature)
	}
	return signature, err
}

// fixedPIN is a PIN that is simply known.
type fixedPIN string

func (p fixedPIN) PIN(context.Context, hsm.TokenInfo) ([]byte, error) { return []byte(p), nil }

func newP256(t *testing.T) *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	return key
}

func publicOf(t *testing.T, key *ecdsa.PrivateKey) quorum.PublicKey {
	p, err := quorum.NewPublicKey(&key.PublicKey)
	require.NoError(t, err)
	return p
}

func newSpy(t *testing.T, tokens ...softtoken.Token) *spy {
	m, err := softtoken.New(tokens...)
	require.NoError(t, err)
	return &spy{Module: m, fail: make(map[string]error)}
}

// approverToken is the token of the package comment, with one key.
func approverToken(key *ecdsa.PrivateKey) softtoken.Token {
	return softtoken.Token{Label: "approver", Serial: "01", PIN: "1234",
		Keys: []softtoken.Key{{Label: "k256", ID: []byte{1}, Private: key}}}
}

const approverURI = "pkcs11:token=approver;object=k256"

func uri(t *testing.T, s string) hsm.URI {
	u, err := hsm.ParseURI(s)
	require.NoError(t, err)
	return u
}

func open(t *testing.T, m hsm.Module, s string) *hsm.Token {
	token, err := hsm.OpenToken(t.Context(), m, hsm.TokenOptions{URI: uri(t, s)})
	require.NoError(t, err)
	t.Cleanup(func() { token.Close() })
	return token
}

func trial(key quorum.PublicKey) quorum.Statement {
	var nonce [32]byte
	rand.Read(nonce[:])
	return quorum.KeyTrial(key, nonce)
}

// requireSigns has the signer sign twice and verifies each signature apart from it.
func requireSigns(t *testing.T, s quorum.Signer, expected quorum.PublicKey) {
	t.Helper()
	for range 2 {
		statement := trial(expected)
		signature, err := s.Sign(t.Context(), statement)
		require.NoError(t, err)
		require.Equal(t, expected.KID(), signature.KID)
		require.True(t, expected.Verify(statement, signature.Sig))
	}
}

func requireRefused(t *testing.T, err error, code wire.Code, reason string) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, code, wire.CodeOf(err), "%v", err)
	require.Equal(t, reason, wire.ReasonOf(err), "%v", err)
}
