package hsm_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
	"github.com/stretchr/testify/require"
)

// interrupted leaves a signature that takes that long when its context ends, closes the token, and gives Close's error.
func interrupted(t *testing.T, m *spy, takes time.Duration) error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	token := open(t, m, approverURI)
	require.NoError(t, token.Login(ctx, fixedPIN("1234")))
	key, err := token.Key(ctx, quorum.PublicKey{})
	require.NoError(t, err)
	m.sign = func(_, signature []byte) ([]byte, error) {
		cancel()
		time.Sleep(takes)
		return signature, nil
	}
	_, err = key.Sign(ctx, trial(key.Public()))
	requireRefused(t, err, wire.KeyUnavailable, "")
	return token.Close()
}

// A card takes seconds for a signature. An interrupt waits for it, and logs out.
func TestCloseWaitsForASlowCard(t *testing.T) {
	t.Parallel()
	m := newSpy(t, approverToken(newP256(t)))
	require.NoError(t, interrupted(t, m, 1500*time.Millisecond))
	require.Equal(t, []string{"C_Sign", "C_Logout", "C_CloseSession", "C_Finalize"}, m.calls[len(m.calls)-4:])
}

// Where it takes longer nothing can be called any more. The token is then logged in, and only pulling it out changes that.
func TestCloseSaysThatATokenIsLoggedIn(t *testing.T) {
	t.Parallel()
	m := newSpy(t, approverToken(newP256(t)))
	err := interrupted(t, m, 5*time.Second)
	requireRefused(t, err, wire.KeyUnavailable, "timeout")
	require.ErrorContains(t, err, "the token may still be logged in: unplug it")
}

// A removal is told once, however many calls of Close meet it, and not again where the login has told it.
func TestRemovalIsToldOnce(t *testing.T) {
	const sentence = "the token was removed"
	m := newSpy(t, approverToken(newP256(t)))
	token := open(t, m, approverURI)
	require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
	for _, name := range []string{"C_Logout", "C_CloseSession", "C_Finalize"} {
		m.fail[name] = hsm.RV(0x32)
	}
	require.Equal(t, 1, strings.Count(token.Close().Error(), sentence))

	m = newSpy(t, approverToken(newP256(t)))
	token = open(t, m, approverURI)
	for _, name := range []string{"C_Login", "C_CloseSession", "C_Finalize"} {
		m.fail[name] = hsm.RV(0x32)
	}
	err := token.Login(t.Context(), fixedPIN("1234"))
	requireRefused(t, err, wire.KeyUnavailable, "device-removed")
	require.NoError(t, token.Close())
}
