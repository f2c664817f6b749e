package wire

import (
	"encoding/binary"
	"math"
)

// Context begins every signing input (WIRE.md §1).
const Context = "better-compute/v1"

// AppendU32 appends u32(n), four bytes, big-endian.
func AppendU32(b []byte, n uint32) []byte { return binary.BigEndian.AppendUint32(b, n) }

// AppendU64 appends u64(n), eight bytes, big-endian.
func AppendU64(b []byte, n uint64) []byte { return binary.BigEndian.AppendUint64(b, n) }

// U64 is u64(n) alone, as a part of a signing input.
func U64(n uint64) []byte { return AppendU64(make([]byte, 0, 8), n) }

// AppendLP appends lp(x), the length of x as u32 and x. It panics where the length does not fit 32 bits: every field has
// a limit far below that, checked before.
func AppendLP[T ~string | ~[]byte](b []byte, x T) []byte {
	if uint64(len(x)) > math.MaxUint32 {
		panic("wire: length does not fit u32")
	}
	return append(AppendU32(b, uint32(len(x))), x...)
}

// SigningInput gives the bytes that a signature for a purpose covers by their SHA-256 (WIRE.md §1).
func SigningInput(purpose string, parts ...[]byte) []byte {
	n := 4 + len(Context) + 4 + len(purpose)
	for _, p := range parts {
		n += 4 + len(p)
	}
	b := AppendLP(AppendLP(make([]byte, 0, n), Context), purpose)
	for _, p := range parts {
		b = AppendLP(b, p)
	}
	return b
}
