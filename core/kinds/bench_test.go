package kinds

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/better-compute/approver/core/bettercomputev1"
)

// payload160 is a reimage of 160 bytes, the size perf targets are stated for.
func payload160(t testing.TB) []byte {
	b, err := proto.Marshal(&bettercomputev1.ReimageRequest{
		Image: "ubuntu-24.04-gpu-570.86", ImageSha256: make([]byte, 32), WipeDisks: true,
		PreserveMounts: []string{"/srv/models", "/var/lib/etcd"}, UserData: "#cloud-config\nruncmd:\n - [systemctl, start, x.service]\nhost: node-0001.example.org"[:69]})
	require.NoError(t, err)
	require.Len(t, b, 160)
	return b
}

func BenchmarkPayload(b *testing.B) {
	k := Builtin().Lookup([]byte("node.reimage"))
	payload := payload160(b)
	b.Run("Walk", func(b *testing.B) {
		var w Walked
		b.ReportAllocs()
		for b.Loop() {
			if err := k.Walk(payload, &w); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Texts", func(b *testing.B) {
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			k.Texts(payload, func(text []byte) bool { n += len(text); return true })
		}
	})
	b.Run("Decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := k.Decode(payload); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("GeneratedUnmarshal", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := proto.Unmarshal(payload, new(bettercomputev1.ReimageRequest)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("DynamicUnmarshal", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := proto.Unmarshal(payload, dynamicpb.NewMessage(k.Message())); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkWalkRelayed(b *testing.B) {
	k := Builtin().Lookup([]byte("bmc.power"))
	payload := unhex(b, "0a09 31302e302e372e3132 1003")
	var w Walked
	b.ReportAllocs()
	for b.Loop() {
		if err := k.Walk(payload, &w); err != nil {
			b.Fatal(err)
		}
	}
}

// Nothing allocates for a canonical payload, whatever it holds.
func TestNoAllocations(t *testing.T) {
	var w Walked
	walk := func(k *Kind, payload []byte) {
		require.NoError(t, k.Walk(payload, &w))
		n := 0
		require.Zero(t, testing.AllocsPerRun(50, func() {
			_ = k.Walk(payload, &w)
			k.Texts(payload, func(text []byte) bool { n += len(text); return true })
			for _, raw := range k.TopFields(payload) {
				n += len(raw)
			}
		}), "%s %x", k.Name(), payload)
	}
	for _, v := range vectors(t) {
		walk(kindOfType(t, v.TypeURL), v.payload(t))
	}
	walk(caseKind(t), unhex(t, "7a0178 800101 900101 a20103 420161 aa0104 0800 1200 b20102 0101"))
	name := []byte("bmc.power")
	require.Zero(t, testing.AllocsPerRun(50, func() { _ = Builtin().Lookup(name) }))
}
