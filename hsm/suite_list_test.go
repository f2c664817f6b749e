//go:build cgo && unix

package hsm_test

import (
	"encoding/hex"
	"slices"
	"testing"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
	"github.com/stretchr/testify/require"
)

// all gives every key pair that the token is to show.
func (s suite) all() []suiteKey {
	keys := slices.Concat(s.Keys, s.Twins)
	for _, k := range []*suiteKey{s.Always, s.Edwards} {
		if k != nil && k.Label != s.Keys[0].Label {
			keys = append(keys, *k)
		}
	}
	return keys
}

// suiteLists: before a login the token shows public halves, which tell a wrong key from the right one; after it the
// private ones too.
func suiteLists(t *testing.T, s suite, m *spy) {
	inventory, err := hsm.ListSlots(t.Context(), m, 0)
	require.NoError(t, err)
	var found []hsm.TokenInfo
	for _, slot := range inventory.Slots {
		require.NoError(t, slot.Trouble)
		if slot.Token.Label == s.Token {
			found = append(found, slot.Token)
		}
	}
	require.Len(t, found, 1)
	token := s.open(t, m, "")
	require.Equal(t, found[0], token.Info())
	requireListed(t, token, s.all(), hsm.PublicKey)
	require.NoError(t, token.Close())
	require.Zero(t, m.count("C_Login"))

	for i, k := range s.Keys {
		token := s.open(t, m, ";object="+k.Label)
		found, shown, err := token.Public(t.Context(), quorum.PublicKey{})
		require.NoError(t, err)
		require.True(t, shown)
		require.True(t, found.Equal(k.public(t)))
		_, _, err = token.Public(t.Context(), s.Keys[(i+1)%len(s.Keys)].public(t))
		requireRefused(t, err, wire.KeyUnavailable, "key-mismatch")
		_, err = token.Key(t.Context(), k.public(t))
		requireRefused(t, err, wire.KeyUnavailable, "key-not-found") // private keys are hidden
		require.NoError(t, token.Close())
	}
	require.Zero(t, m.count("C_Login"))
}

// suiteListsPrivate: each private key stands beside its public half, and its URI leads to it and to no other.
func suiteListsPrivate(t *testing.T, s suite, m *spy) {
	token := s.login(t, m, "")
	listed := requireListed(t, token, s.all(), hsm.PrivateKey, hsm.PublicKey)
	require.NoError(t, token.Close())
	for _, o := range listed {
		if o.Class != hsm.PrivateKey || o.Algorithm != hsm.AlgorithmP256 {
			continue
		}
		expected, err := quorum.ParsePublicKey(o.SPKI)
		require.NoError(t, err)
		require.Equal(t, expected.KID().String(), o.KID())
		token := open(t, m, o.URI.String())
		require.NoError(t, token.Login(t.Context(), fixedPIN(s.PIN)))
		signer, err := token.Key(t.Context(), quorum.PublicKey{}) // nothing but the URI says which
		require.NoError(t, err, o.URI)
		require.True(t, signer.Public().Equal(expected))
		require.NoError(t, token.Close())
	}
}

// requireListed requires one object of each class for every key, and nothing else.
func requireListed(t *testing.T, token *hsm.Token, keys []suiteKey, classes ...hsm.ObjectClass) []hsm.KeyObject {
	t.Helper()
	listed, err := token.Objects(t.Context())
	require.NoError(t, err)
	type entry struct {
		class     hsm.ObjectClass
		id, label string
		public    string
	}
	var wanted, got []entry
	for _, k := range keys {
		for _, class := range classes {
			wanted = append(wanted, entry{class, k.ID, k.Label, hex.EncodeToString(k.Public)})
		}
	}
	for _, o := range listed {
		require.NotNil(t, o.Label)
		got = append(got, entry{o.Class, hex.EncodeToString(o.ID), *o.Label, hex.EncodeToString(o.SPKI)})
	}
	require.ElementsMatch(t, wanted, got)
	return listed
}
