package hsm_test

import (
	"context"
	"testing"
	"time"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
	"github.com/stretchr/testify/require"
)

// A bad signature is given to nobody, and after any error in signing the session is over.
func TestSigningErrorsEndTheSession(t *testing.T) {
	flip := func(_, s []byte) ([]byte, error) { s[40] ^= 1; return s, nil }
	for name, test := range map[string]struct {
		function string
		rv       hsm.RV
		sign     func(digest, signature []byte) ([]byte, error)
		reason   string
		says     string
	}{
		"flipped":       {sign: flip, reason: "bad-signature"},
		"short":         {sign: func(_, s []byte) ([]byte, error) { return s[:63], nil }, reason: "bad-signature", says: "63"},
		"long":          {sign: func(_, s []byte) ([]byte, error) { return append(s, 0), nil }, reason: "bad-signature", says: "65"},
		"zero":          {sign: func(_, s []byte) ([]byte, error) { return make([]byte, 64), nil }, reason: "bad-signature"},
		"removed":       {function: "C_Sign", rv: 0x32, reason: "device-removed", says: "CKR_DEVICE_REMOVED (0x32)"},
		"device error":  {function: "C_Sign", rv: 0x30, reason: "device-removed"},
		"general error": {function: "C_SignInit", rv: 0x05, reason: "device-removed"},
		"object handle": {function: "C_SignInit", rv: 0x82, reason: "device-removed"},
		"missed touch":  {function: "C_Sign", rv: 0x101, says: "touch"},
		"wants its PIN": {function: "C_Sign", rv: 0x101, says: "PIN"},
		"vendor":        {function: "C_Sign", rv: 0x80000001, says: "CKR_VENDOR_DEFINED (0x80000001)"},
		"unknown":       {function: "C_Sign", rv: 0x999, says: "0x999"},
	} {
		t.Run(name, func(t *testing.T) {
			key := newP256(t)
			m := newSpy(t, approverToken(key))
			token := open(t, m, approverURI)
			require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
			k, err := token.Key(t.Context(), publicOf(t, key))
			require.NoError(t, err)
			m.sign = test.sign
			if test.function != "" {
				m.fail[test.function] = test.rv
			}
			signature, err := k.Sign(t.Context(), trial(k.Public()))
			requireRefused(t, err, wire.KeyUnavailable, test.reason)
			require.ErrorContains(t, err, test.says)
			require.Zero(t, signature)

			m.sign, m.fail = nil, nil
			before := len(m.calls)
			_, err = k.Sign(t.Context(), trial(k.Public()))
			requireRefused(t, err, wire.KeyUnavailable, test.reason)
			require.Len(t, m.calls, before, "a session that is over is not called")
			require.NoError(t, token.Close())
			require.Equal(t, 1, m.count("C_Finalize"))
		})
	}
}

// Another key behind the same label between look-up and signing gives no signature.
func TestSwappedKey(t *testing.T) {
	a, b := newP256(t), newP256(t)
	m := newSpy(t, approverToken(b))
	token := open(t, m, approverURI)
	require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
	m.attribute = func(_ hsm.Object, attribute hsm.Attribute, value []byte, err error) ([]byte, error) {
		if attribute == hsm.AttrECPoint {
			return publicOf(t, a).SPKI()[26:], nil
		}
		return value, err
	}
	k, err := token.Key(t.Context(), publicOf(t, a))
	require.NoError(t, err)
	_, err = k.Sign(t.Context(), trial(k.Public()))
	requireRefused(t, err, wire.KeyUnavailable, "bad-signature")
}

func TestZeroStatementIsNotSigned(t *testing.T) {
	key := newP256(t)
	m := newSpy(t, approverToken(key))
	token := open(t, m, approverURI)
	require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
	k, err := token.Key(t.Context(), publicOf(t, key))
	require.NoError(t, err)
	_, err = k.Sign(t.Context(), quorum.Statement{})
	requireRefused(t, err, wire.InvalidInput, "")
	require.Zero(t, m.count("C_SignInit"))
	requireSigns(t, k, publicOf(t, key))
}

// hanging is a module whose C_Sign returns only when it is let go.
type hanging struct {
	*spy
	entered, release, returned chan struct{}
}

func (h hanging) Sign(s hsm.Session, digest []byte) ([]byte, error) {
	defer close(h.returned)
	close(h.entered)
	<-h.release
	return h.spy.Sign(s, digest)
}

func hangingKey(t *testing.T, timeout time.Duration) (hanging, *hsm.Token, *hsm.TokenKey) {
	key := newP256(t)
	h := hanging{newSpy(t, approverToken(key)), make(chan struct{}), make(chan struct{}), make(chan struct{})}
	token, err := hsm.OpenToken(t.Context(), h, hsm.TokenOptions{URI: uri(t, approverURI), Timeout: timeout})
	require.NoError(t, err)
	require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
	k, err := token.Key(t.Context(), publicOf(t, key))
	require.NoError(t, err)
	return h, token, k
}

// A module that missed a deadline is not called again, even where the call came back later.
func TestHangEndsWithoutFinalize(t *testing.T) {
	h, token, k := hangingKey(t, 50*time.Millisecond)
	_, err := k.Sign(t.Context(), trial(k.Public()))
	requireRefused(t, err, wire.KeyUnavailable, "timeout")
	require.ErrorContains(t, err, "C_Finalize")
	_, err = k.Sign(t.Context(), trial(k.Public()))
	requireRefused(t, err, wire.KeyUnavailable, "timeout")
	close(h.release)
	<-h.returned
	requireRefused(t, token.Close(), wire.KeyUnavailable, "timeout")
	require.Zero(t, h.count("C_Finalize"))
}

// After a login that hangs nothing waits for the module.
func TestHangInLogin(t *testing.T) {
	m := newSpy(t, approverToken(newP256(t)))
	release := make(chan struct{})
	defer close(release)
	m.login = func(hsm.UserType, []byte) error { <-release; return nil }
	token, err := hsm.OpenToken(t.Context(), m, hsm.TokenOptions{URI: uri(t, approverURI), Timeout: 20 * time.Millisecond})
	require.NoError(t, err)
	requireRefused(t, token.Login(t.Context(), fixedPIN("1234")), wire.KeyUnavailable, "timeout")
	requireRefused(t, token.Login(t.Context(), fixedPIN("1234")), wire.KeyUnavailable, "timeout")
	_, err = token.Key(t.Context(), quorum.PublicKey{})
	requireRefused(t, err, wire.KeyUnavailable, "timeout")
	requireRefused(t, token.Close(), wire.KeyUnavailable, "timeout")
}

// An interrupt while the module works: Close waits a little, then logs out if the module came back, or leaves it.
func TestInterruptDuringSigning(t *testing.T) {
	for name, returns := range map[string]bool{"the call returns": true, "the call hangs": false} {
		t.Run(name, func(t *testing.T) {
			h, token, k := hangingKey(t, time.Minute)
			ctx, cancel := context.WithCancel(t.Context())
			go func() { <-h.entered; cancel() }()
			start := time.Now()
			_, err := k.Sign(ctx, trial(k.Public()))
			requireRefused(t, err, wire.KeyUnavailable, "")
			require.ErrorIs(t, err, context.Canceled)
			if returns {
				close(h.release)
				require.NoError(t, token.Close())
				require.Equal(t, []string{"C_Logout", "C_CloseSession", "C_Finalize"}, h.calls[len(h.calls)-3:])
				return
			}
			requireRefused(t, token.Close(), wire.KeyUnavailable, "timeout")
			require.Less(t, time.Since(start), time.Minute)
			close(h.release)
		})
	}
}

func TestInterruptWhileIdle(t *testing.T) {
	key := newP256(t)
	m := newSpy(t, approverToken(key))
	token := open(t, m, approverURI)
	require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
	k, err := token.Key(t.Context(), publicOf(t, key))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = k.Sign(ctx, trial(k.Public()))
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, m.count("C_SignInit"))
	require.NoError(t, token.Close())
	require.Equal(t, []string{"C_Logout", "C_CloseSession", "C_Finalize"}, m.calls[len(m.calls)-3:])
}

func TestSigningFromManyGoroutines(t *testing.T) {
	key := newP256(t)
	token := open(t, newSpy(t, approverToken(key)), approverURI)
	require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
	k, err := token.Key(t.Context(), publicOf(t, key))
	require.NoError(t, err)
	errs := make(chan error)
	for range 8 {
		go func() {
			_, err := k.Sign(t.Context(), trial(k.Public()))
			errs <- err
		}()
	}
	for range 8 {
		require.NoError(t, <-errs)
	}
}
