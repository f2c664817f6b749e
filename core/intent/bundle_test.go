package intent_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/intent"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

func TestNewTrustBundle(t *testing.T) {
	keys, roots := signers(t), goodRoots(t)
	set := newSet(t, 2, keys["alice"], keys["bob"])
	offer := quorum.Offer{Set: set, Epoch: 2, Signatures: []quorum.UnverifiedSignature{signSet(t, keys["alice"], 2, set)}}
	b, err := intent.NewTrustBundle(3, roots[:2], offer)
	require.NoError(t, err)
	again, err := intent.ParseTrustBundle(b.Encode())
	require.NoError(t, err)
	require.EqualValues(t, 3, again.Version())
	require.Equal(t, roots[:2], again.Roots())
	got, err := again.Offer()
	require.NoError(t, err)
	require.Equal(t, set.Digest(), got.Set.Digest())
	require.Equal(t, offer.Epoch, got.Epoch)
	require.Equal(t, offer.Signatures, got.Signatures)

	none, err := intent.NewTrustBundle(1, roots[:1], quorum.Offer{})
	require.NoError(t, err)
	got, err = none.Offer()
	require.NoError(t, err)
	require.Equal(t, quorum.Offer{}, got)
}

func TestNewTrustBundleRefuses(t *testing.T) {
	keys, roots := signers(t), goodRoots(t)
	set := newSet(t, 1, keys["alice"])
	removal, err := quorum.NewSet(quorum.SetDraft{})
	require.NoError(t, err)
	sig := signSet(t, keys["alice"], 2, set)
	signed := func(s quorum.UnverifiedSignature) quorum.Offer {
		return quorum.Offer{Set: set, Epoch: 2, Signatures: []quorum.UnverifiedSignature{s}}
	}
	for name, c := range map[string]struct {
		version uint64
		roots   []intent.Root
		offer   quorum.Offer
		reason  string
	}{
		"version 0":               {0, roots[:1], quorum.Offer{}, ""},
		"version 2^53":            {1 << 53, roots[:1], quorum.Offer{}, ""},
		"no roots":                {1, nil, quorum.Offer{}, ""},
		"17 roots":                {1, append(roots, bundleNamed(t, "the first set").Roots()...), quorum.Offer{}, ""},
		"a root twice":            {1, append(roots[:1:1], roots[0]), quorum.Offer{}, ""},
		"the zero root":           {1, []intent.Root{{}}, quorum.Offer{}, ""},
		"an epoch without a set":  {1, roots[:1], quorum.Offer{Epoch: 1}, "malformed-set"},
		"a signature alone":       {1, roots[:1], quorum.Offer{Signatures: []quorum.UnverifiedSignature{sig}}, "malformed-set"},
		"epoch 0":                 {1, roots[:1], quorum.Offer{Set: set}, "malformed-set"},
		"a removal at epoch 0":    {1, roots[:1], quorum.Offer{Set: removal}, "malformed-set"},
		"epoch 2^53":              {1, roots[:1], quorum.Offer{Set: set, Epoch: 1 << 53}, "malformed-set"},
		"a signature of 63 bytes": {1, roots[:1], signed(quorum.UnverifiedSignature{KID: sig.KID, Sig: sig.Sig[:63]}), "malformed-set"},
		"a kid that is none":      {1, roots[:1], signed(quorum.UnverifiedSignature{KID: "\xff", Sig: sig.Sig}), "malformed-set"},
		"more than 256 KiB": {1, roots[:1], quorum.Offer{Set: set, Epoch: 2, Signatures: func() (many []quorum.UnverifiedSignature) {
			for range 3000 {
				many = append(many, sig)
			}
			return many
		}()}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := intent.NewTrustBundle(c.version, c.roots, c.offer)
			require.Equal(t, wire.InvalidInput, wire.CodeOf(err), "%v", err)
			require.Equal(t, c.reason, wire.ReasonOf(err))
		})
	}
	b := bundleNamed(t, "the first set")
	_, err = b.WithVersion(0)
	require.Equal(t, wire.InvalidInput, wire.CodeOf(err))
}

func TestSizesAreBounded(t *testing.T) {
	// A bundle that is canonical but for its size: a signature of any length is of the set alone.
	long := func(n int) []byte {
		b := bundleNamed(t, "no quorum").Encode()
		return append(append(b, 0x3a, 0x84, 0x80, 0x10, 0x12, 0x80, 0x80, 0x10), bytes.Repeat([]byte{1}, n)...)
	}
	_, err := intent.ParseTrustBundle(long(256 << 10))
	require.ErrorContains(t, err, "at most 262144")
	require.Equal(t, wire.InvalidInput, wire.CodeOf(err))
	_, err = intent.ParseSignedTrustBundle(make([]byte, intent.MaxBundleBytes+1025))
	require.ErrorContains(t, err, "at most 263168")
}

// TestProtocReadsBundles has protoc read what is written here, by the .proto files alone, and write the same bytes again.
func TestProtocReadsBundles(t *testing.T) {
	b := bundleNamed(t, "a set that two approvers signed")
	s, err := intent.Sign(t.Context(), b, domain, joinSigner(t))
	require.NoError(t, err)
	for message, encoded := range map[string][]byte{"TrustBundle": b.Encode(), "SignedTrustBundle": s.Encode()} {
		text := protoc(t, "--decode=bettercompute.v1."+message, encoded)
		if message == "TrustBundle" {
			require.Contains(t, string(text), "version: 3\n")
			require.Contains(t, string(text), "approver_set_epoch: 2\n")
			require.Equal(t, 2, strings.Count(string(text), "approver_set_signatures {"))
			require.NotContains(t, string(text), "\n9:", "an unknown field")
		}
		require.Equal(t, encoded, protoc(t, "--encode=bettercompute.v1."+message, text))
	}
}

func protoc(t *testing.T, flag string, input []byte) []byte {
	top, err := filepath.Abs("..")
	require.NoError(t, err)
	cmd := exec.Command("protoc", "--proto_path="+top, flag, "bettercomputev1/trust.proto")
	cmd.Stdin = bytes.NewReader(input)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s (protoc: apt-get install protobuf-compiler)", stderr.String())
	return out
}

// A bundle at its bound does not grow over it by its version, or no machine would read what was signed.
func TestWithVersionKeepsTheBound(t *testing.T) {
	alice := signers(t)["alice"]
	var tiers []quorum.Tier
	for i := range uint32(64) { // a tier more is a few bytes more
		tiers = append(tiers, quorum.Tier{MaxScopeSize: i + 1, Threshold: 1})
	}
	over := false
	for n := range tiers {
		set, err := quorum.NewSet(quorum.SetDraft{Keys: []quorum.PublicKey{public(t, alice)}, Threshold: 1, Tiers: tiers[:n]})
		require.NoError(t, err)
		o := quorum.Offer{Set: set, Epoch: 2}
		signature := signSet(t, alice, 2, set)
		var b *intent.TrustBundle
		for count := 2300; ; count++ {
			o.Signatures = slices.Repeat([]quorum.UnverifiedSignature{signature}, count)
			next, err := intent.NewTrustBundle(1, goodRoots(t)[:1], o)
			if err != nil {
				break
			}
			b = next
		}
		high, err := b.WithVersion(1<<53 - 1)
		if len(b.Encode())+7 > intent.MaxBundleBytes {
			over = true
			require.Equal(t, wire.InvalidInput, wire.CodeOf(err), "%d bytes", len(b.Encode()))
			continue
		}
		require.NoError(t, err)
		_, err = intent.ParseTrustBundle(high.Encode())
		require.NoError(t, err)
	}
	require.True(t, over, "no bundle came near the bound")
}
