package intent_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/bettercomputev1"
	"github.com/better-compute/approver/core/intent"
	"github.com/better-compute/approver/golden"
	"google.golang.org/protobuf/proto"
)

// vary damages a message at up to two places, or not at all for half of the inputs.
func vary(good, data []byte) []byte {
	m := bytes.Clone(good)
	for len(data) >= 4 && data[0]%2 == 0 && len(m) > 0 {
		at := (int(data[1])<<8 | int(data[2])) % len(m)
		switch data[3] % 4 {
		case 0:
			m[at] ^= 1 << (data[0] >> 5)
		case 1:
			m = append(m[:at], m[at+1:]...)
		case 2:
			m = append(m[:at:at], append([]byte{data[3]}, m[at:]...)...)
		case 3:
			m = append(m, data[:4]...)
		}
		data = data[4:]
	}
	return m
}

// count fails a fuzz target that no longer sees both answers.
func count(t testing.TB, b *golden.Balance, accepted bool) {
	if err := b.Count(accepted); err != nil {
		t.Fatal(err)
	}
}

// seeds gives every fuzz target inputs of both kinds.
func seeds(f *testing.F) {
	for i := range uint16(64) {
		f.Add(i, []byte{byte(i), byte(i), byte(3 * i), byte(i / 4)})
	}
}

// FuzzTrustBundle reads bundles, damaged here and there: what is taken is written as it came, a set that it gives keeps its
// rules, and the content is another exactly when what is said is another.
func FuzzTrustBundle(f *testing.F) {
	seeds(f)
	var messages [][]byte
	for _, v := range golden.TrustBundles().Bundles {
		if v.OK() && len(v.Binpb) < 4000 {
			messages = append(messages, golden.Base64(v.Binpb))
		}
	}
	var balance golden.Balance
	f.Fuzz(func(t *testing.T, which uint16, data []byte) {
		binpb := vary(messages[int(which)%len(messages)], data)
		b, err := intent.ParseTrustBundle(binpb)
		count(t, &balance, err == nil)
		if err != nil {
			return
		}
		require.Equal(t, binpb, b.Encode())
		o, err := b.Offer()
		if err != nil || o.Set == nil {
			return
		}
		require.NotZero(t, o.Epoch)
		var m bettercomputev1.TrustBundle
		require.NoError(t, proto.Unmarshal(binpb, &m))
		require.Len(t, m.ApproverKeys, len(o.Set.Keys()))
		m.ApproverSetEpoch ^= 2
		if other, err := intent.ParseTrustBundle(mustMarshal(t, &m)); err == nil {
			require.NotEqual(t, b.ContentDigest(), other.ContentDigest())
		}
	})
}

func mustMarshal(t testing.TB, m proto.Message) []byte {
	b, err := proto.Marshal(m)
	require.NoError(t, err)
	return b
}

// FuzzSignedTrustBundle reads signed bundles, damaged here and there: what is taken is written as it came, and what
// verifies is a bundle that the key signed, byte for byte.
func FuzzSignedTrustBundle(f *testing.F) {
	seeds(f)
	var messages [][]byte
	signed := map[string]bool{}
	for _, v := range golden.TrustBundles().Signed {
		if v.OK() {
			messages = append(messages, golden.Base64(v.Binpb))
			signed[string(golden.Base64(v.Bundle))] = true
		}
	}
	key := public(f, joinSigner(f))
	var balance golden.Balance
	f.Fuzz(func(t *testing.T, which uint16, data []byte) {
		binpb := vary(messages[int(which)%len(messages)], data)
		s, err := intent.ParseSignedTrustBundle(binpb)
		count(t, &balance, err == nil)
		if err != nil {
			return
		}
		require.Equal(t, binpb, s.Encode())
		if v, err := s.Verify(key, domain); err == nil {
			require.True(t, signed[string(v.Bundle().Encode())], "a bundle that was never signed")
		}
	})
}
