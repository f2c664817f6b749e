package intent_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/intent"
	"github.com/better-compute/approver/hsm"
	"github.com/better-compute/approver/hsm/softtoken"
)

type knownPIN string

func (p knownPIN) PIN(context.Context, hsm.TokenInfo) ([]byte, error) { return []byte(p), nil }

// TestAKeyOnATokenSigns has the JoinService's key on a token, where it is a key of another job than an approver's.
func TestAKeyOnATokenSigns(t *testing.T) {
	k := joinSigner(t)
	module, err := softtoken.New(softtoken.Token{Label: "join", PIN: "1234", Keys: []softtoken.Key{{Label: "join", ID: []byte{1}, Private: k}}})
	require.NoError(t, err)
	uri, err := hsm.ParseURI("pkcs11:token=join;object=join;type=private")
	require.NoError(t, err)
	token, err := hsm.OpenToken(t.Context(), module, hsm.TokenOptions{URI: uri})
	require.NoError(t, err)
	defer token.Close()
	require.NoError(t, token.Login(t.Context(), knownPIN("1234")))
	signer, err := token.NonApproverSigner(t.Context(), &k.PublicKey)
	require.NoError(t, err)
	s, err := intent.Sign(t.Context(), bundleNamed(t, "two roots"), domain, signer)
	require.NoError(t, err)
	_, err = s.Verify(public(t, k), domain)
	require.NoError(t, err)
}
