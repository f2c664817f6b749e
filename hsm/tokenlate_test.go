package hsm_test

import (
	"context"
	"testing"
	"time"

	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
	"github.com/stretchr/testify/require"
)

// A login that is interrupted, at a PIN pad say, can still have logged in: it is logged out.
func TestLoginThatComesLateIsLoggedOut(t *testing.T) {
	m := newSpy(t, approverToken(newP256(t)))
	ctx, cancel := context.WithCancel(t.Context())
	m.login = func(hsm.UserType, []byte) error {
		cancel()
		time.Sleep(50 * time.Millisecond)
		return nil
	}
	token := open(t, m, approverURI)
	requireRefused(t, token.Login(ctx, fixedPIN("1234")), wire.KeyUnavailable, "")
	require.NoError(t, token.Close())
	require.Equal(t, []string{"C_Login", "C_Logout", "C_CloseSession", "C_Finalize"}, m.calls[len(m.calls)-4:])
}
