//go:build cgo && unix

package hsm_test

import (
	"path/filepath"
	"testing"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
	"github.com/stretchr/testify/require"
)

// A served is a token behind p11-kit's server: the end of the server and its child is a token that is pulled out.
type served struct {
	suite
	Client, Socket string
}

func newServed(t *testing.T) served {
	t.Helper()
	h := newSoftHSM(t, "approver")
	m := tokenMaker{t, h.module, "approver", "1234"}
	s := served{suite{Module: h.module, Token: "approver", PIN: "1234", Keys: []suiteKey{m.key("EC:prime256v1", "01", "k256")}},
		libraryAt(t, "p11-kit-client.so"), filepath.Join(t.TempDir(), "p11-kit")}
	t.Setenv("P11_KIT_SERVER_ADDRESS", "unix:path="+s.Socket)
	return s
}

func (s served) plugIn(t *testing.T) (pullOut func()) {
	t.Helper()
	return startP11Kit(t, s.Socket, s.Module, s.Token)
}

var removals = []struct {
	name string
	run  func(t *testing.T, s served, m *spy)
}{
	{"before the login", removedBeforeLogin}, {"before the key is looked for", removedBeforeKey},
	{"before a signature", removedBeforeSignature}, {"between signatures", removedBetweenSignatures},
}

func TestRemovalThroughP11Kit(t *testing.T) {
	inChild(t, newServed, func(t *testing.T, s served) {
		m := &spy{Module: load(t, s.Client)}
		for _, r := range removals {
			t.Run(r.name, func(t *testing.T) { r.run(t, s, m) })
			require.Equal(t, m.count("C_Initialize"), m.count("C_Finalize"), r.name)
			t.Run(r.name+", then plugged in", func(t *testing.T) { // the next use finds the token again
				pullOut := s.plugIn(t)
				token := s.login(t, m, ";object=k256")
				signer, err := token.Key(t.Context(), s.Keys[0].public(t))
				require.NoError(t, err)
				s.Keys[0].requireSignsAs(t, signer)
				require.NoError(t, token.Close())
				pullOut()
			})
		}
	}, func(served) (names []string) {
		for _, r := range removals {
			names = append(names, r.name, r.name+", then plugged in")
		}
		return names
	})
}

func removedBeforeLogin(t *testing.T, s served, m *spy) {
	pullOut := s.plugIn(t)
	token := s.open(t, m, ";object=k256")
	pullOut()
	before := m.count("C_Login")
	requireRefused(t, token.Login(t.Context(), sourceFunc(func() []byte {
		t.Error("the PIN was asked for, of a token that is gone")
		return nil
	})), wire.KeyUnavailable, "device-removed")
	require.Equal(t, before, m.count("C_Login"))
	token.Close()
}

func removedBeforeKey(t *testing.T, s served, m *spy) {
	pullOut := s.plugIn(t)
	token := s.login(t, m, ";object=k256")
	pullOut()
	_, err := token.Key(t.Context(), s.Keys[0].public(t))
	requireRefused(t, err, wire.KeyUnavailable, "device-removed")
	token.Close()
}

func (s served) signer(t *testing.T, m *spy) (*hsm.Token, *hsm.TokenKey) {
	t.Helper()
	token := s.login(t, m, ";object=k256")
	signer, err := token.Key(t.Context(), s.Keys[0].public(t))
	require.NoError(t, err)
	return token, signer
}

func requireRemoved(t *testing.T, m *spy, signer *hsm.TokenKey) {
	t.Helper()
	before := m.count("C_SignInit")
	for range 2 { // the session is over; the second is not tried
		signature, err := signer.Sign(t.Context(), trial(signer.Public()))
		requireRefused(t, err, wire.KeyUnavailable, "device-removed")
		require.Equal(t, quorum.Signature{}, signature)
	}
	require.Equal(t, before+1, m.count("C_SignInit"))
}

func removedBeforeSignature(t *testing.T, s served, m *spy) {
	pullOut := s.plugIn(t)
	token, signer := s.signer(t, m)
	pullOut()
	requireRemoved(t, m, signer)
	require.NoError(t, token.Close())
}

// The token comes back before the next signature: the session that it took with it does not.
func removedBetweenSignatures(t *testing.T, s served, m *spy) {
	pullOut := s.plugIn(t)
	token, signer := s.signer(t, m)
	s.Keys[0].requireSignsAs(t, signer)
	pullOut()
	pullOut = s.plugIn(t)
	requireRemoved(t, m, signer)
	require.NoError(t, token.Close())
	pullOut()
}
