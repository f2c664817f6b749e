package kinds

import "encoding/binary"

// uvarint reads the minimal varint at b[i] and gives where it ends, or -1 where it is cut off, not minimal or over 64
// bits.
func uvarint(b []byte, i int) (v uint64, end int) {
	if i < len(b) && b[i] < 0x80 {
		return uint64(b[i]), i + 1
	}
	return longUvarint(b, i)
}

func longUvarint(b []byte, i int) (v uint64, end int) {
	for shift := uint(0); i < len(b) && shift < 64; shift += 7 {
		c := b[i]
		i++
		if shift == 63 && c > 1 {
			return 0, -1
		}
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			if c == 0 { // the byte before would have ended it
				return 0, -1
			}
			return v, i
		}
	}
	return 0, -1
}

// span reads the length at b[i] and gives the bounds of the content behind it.
func span(b []byte, i int) (start, end int, bad *fault) {
	n, start := uvarint(b, i)
	if start < 0 {
		return i, i, newFault(i, "has a length that %s", varintTrouble(b[i:]))
	}
	if n > uint64(len(b)-start) {
		return i, i, newFault(i, "has %d bytes by its length, but %d are left", n, len(b)-start)
	}
	return start, start + int(n), nil
}

func fixed32(b []byte, i int) uint64 { return uint64(binary.LittleEndian.Uint32(b[i:])) }
func fixed64(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }
