package kinds

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"
	"pgregory.net/rapid"

	"github.com/better-compute/approver/golden"
)

// oracle tells whether bytes are the canonical encoding of what dynamicpb reads from them, with sorted maps.
func oracle(k *Kind, payload []byte) (m *dynamicpb.Message, seen look, canonical bool) {
	m = dynamicpb.NewMessage(k.Message())
	if !unmarshal(payload, m) {
		return m, seen, false
	}
	seen.message(m, 1)
	return m, seen, !seen.unknown && !seen.any && seen.levels <= 32 && bytes.Equal(sorted.message(m), payload)
}

// unmarshal tells whether dynamicpb reads a payload. A map entry whose key stands a second time with another wire type
// makes dynamicpb 1.36.12 panic, which counts as no.
func unmarshal(payload []byte, m *dynamicpb.Message) (ok bool) {
	defer func() { ok = recover() == nil && ok }()
	return proto.Unmarshal(payload, m) == nil
}

// checkWalk compares all that the package says of a payload with the oracle, and tells whether Walk accepts it.
func checkWalk(t require.TestingT, k *Kind, payload []byte) bool {
	before := bytes.Clone(payload)
	err := k.Walk(payload, new(Walked))
	m, seen, canonical := oracle(k, payload)
	if err != nil {
		require.False(t, canonical, "refused %x: %v", payload, err)
		return false
	}
	straight := k.SortMaps(payload)
	require.NoError(t, k.Walk(straight, new(Walked)))
	require.Len(t, payload, proto.Size(m), "%x", payload)
	_, _, canonical = oracle(k, straight)
	require.True(t, canonical || seen.nan, "accepted %x", payload)

	var texts []string
	k.Texts(payload, func(text []byte) bool { texts = append(texts, string(text)); return true })
	slices.Sort(texts)
	slices.Sort(seen.texts)
	require.Equal(t, seen.texts, texts)

	var joined []byte
	for number, raw := range k.TopFields(payload) {
		joined = append(protowire.AppendVarint(joined, k.plan.byNumber(number).tag), raw...)
	}
	require.True(t, bytes.Equal(payload, joined))

	fields, err := k.Decode(straight)
	require.NoError(t, err)
	if want := decoded(m); !seen.nan && !slices.EqualFunc(want, fields, sameField) {
		require.Fail(t, "Decode differs from dynamicpb", cmp.Diff(want, fields))
	}
	require.Equal(t, before, payload, "the payload was written to")
	return true
}

func sameField(a, b Field) bool {
	return a.Name == b.Name && a.Number == b.Number && a.Type == b.Type && a.Present == b.Present &&
		a.Repeated == b.Repeated && a.Map == b.Map && a.Oneof == b.Oneof && slices.EqualFunc(a.Values, b.Values, sameValue)
}

func sameValue(a, b Value) bool {
	return (a.Key == nil) == (b.Key == nil) && (a.Key == nil || sameValue(*a.Key, *b.Key)) && a.Text == b.Text &&
		bytes.Equal(a.Bytes, b.Bytes) && a.IsBytes == b.IsBytes && slices.EqualFunc(a.Fields, b.Fields, sameField)
}

// mutate changes an encoding in one of the ways that forgers and other encoders would.
func (s *source) mutate(b []byte) []byte {
	b = bytes.Clone(b)
	at := s.below(len(b) + 1)
	switch s.byte() % 9 {
	case 0: // another bit
		if at < len(b) {
			b[at] ^= 1 << (s.byte() % 8)
		}
	case 1: // another byte
		if at < len(b) {
			b[at] = s.byte()
		}
	case 2: // a byte more
		b = slices.Insert(b, at, s.byte())
	case 3: // a byte less
		if at < len(b) {
			b = slices.Delete(b, at, at+1)
		}
	case 4: // cut off
		b = b[:at]
	case 5: // an unknown field, or one known, at the end
		b = protowire.AppendVarint(protowire.AppendTag(b, protowire.Number(1+s.below(300)), protowire.VarintType), s.bits())
	case 6: // an overlong varint
		if at < len(b) && b[at] < 0x80 {
			b[at] |= 0x80
			b = slices.Insert(b, at+1, 0)
		}
	default: // fields doubled, moved or left out
		fields := split(b)
		if len(fields) == 0 {
			return b
		}
		i, j := s.below(len(fields)), s.below(len(fields))
		switch s.byte() % 3 {
		case 0:
			fields = slices.Insert(fields, j, fields[i])
		case 1:
			fields[i], fields[j] = fields[j], fields[i]
		case 2:
			fields = slices.Delete(fields, i, i+1)
		}
		b = bytes.Join(fields, nil)
	}
	return b
}

// split gives the outermost fields, tags included.
func split(b []byte) (fields [][]byte) {
	for len(b) > 0 {
		_, _, n := protowire.ConsumeField(b)
		if n < 0 {
			return fields
		}
		fields = append(fields, b[:n])
		b = b[n:]
	}
	return fields
}

func TestCanonicalEncodingsAreAccepted(t *testing.T) {
	all := append(Builtin().Kinds(), rich(t), caseKind(t))
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.SampledFrom(all).Draw(t, "kind")
		s := &source{rapid.SliceOfN(rapid.Byte(), 0, 400).Draw(t, "choices")}
		m := s.message(k.Message())
		payload := sorted.message(m)
		require.True(t, checkWalk(t, k, payload), "%x", payload)

		r := rand.New(rand.NewPCG(uint64(s.byte()), 1))
		shuffled := writer{order: func(e [][]byte) { r.Shuffle(len(e), func(i, j int) { e[i], e[j] = e[j], e[i] }) }}.message(m)
		require.True(t, checkWalk(t, k, shuffled), "%x", shuffled)
		require.Equal(t, payload, k.SortMaps(shuffled))
	})
}

func fuzzKind(f *testing.F, kinds []*Kind) {
	for seed := range 64 {
		r := rand.New(rand.NewPCG(uint64(seed), 2))
		b := make([]byte, 300)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		f.Add(b)
	}
	var c golden.Balance
	f.Fuzz(func(t *testing.T, choices []byte) {
		s := &source{choices}
		k := kinds[s.below(len(kinds))]
		payload := sorted.message(s.message(k.Message()))
		require.NoError(t, c.Count(checkWalk(t, k, payload)))
		require.NoError(t, c.Count(checkWalk(t, k, s.mutate(payload))))
		require.NoError(t, c.Count(checkWalk(t, k, s.mutate(s.mutate(payload)))))
		require.NoError(t, c.Count(checkWalk(t, k, choices))) // the bytes as they are
	})
}

// FuzzWalkBuiltin holds the kinds of the table against the oracle, with canonical, mutated and arbitrary bytes.
func FuzzWalkBuiltin(f *testing.F) { fuzzKind(f, Builtin().Kinds()) }

// FuzzWalkRich does so for messages of every type and shape.
func FuzzWalkRich(f *testing.F) { fuzzKind(f, []*Kind{rich(f), caseKind(f)}) }

// TestMutationsAreMostlyRefused counts: every mutation that is accepted is, by the oracle, another canonical payload.
func TestMutationsAreMostlyRefused(t *testing.T) {
	kinds := []*Kind{rich(t), caseKind(t)}
	r := rand.New(rand.NewPCG(3, 4))
	accepted, refused := 0, 0
	for range 4000 {
		b := make([]byte, 400)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		s := &source{b}
		k := kinds[s.below(len(kinds))]
		payload := sorted.message(s.message(k.Message()))
		mutated := s.mutate(payload)
		if bytes.Equal(payload, mutated) {
			continue
		}
		if checkWalk(t, k, mutated) {
			accepted++
		} else {
			refused++
		}
	}
	t.Logf("%d accepted, %d refused", accepted, refused)
	require.Greater(t, refused, accepted)
	require.Greater(t, accepted, 100)
}
