package scope

import (
	"encoding/binary"
	"sync"
)

// notBase64 is a bit above the twelve of a pair.
const notBase64 = 1 << 15

// base64Pairs gives, for two bytes in the order of memory, their twelve bits as characters of standard base64, or
// notBase64. It is made when first used: a command that reads no scope does not wait for it.
var base64Pairs = sync.OnceValue(func() *[1 << 16]uint16 {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	pairs := new([1 << 16]uint16)
	for i := range pairs {
		pairs[i] = notBase64
	}
	for i := range len(alphabet) {
		for j := range len(alphabet) {
			pairs[int(alphabet[i])|int(alphabet[j])<<8] = uint16(i<<6 | j)
		}
	}
	return pairs
})

// appendBase64 decodes canonical padded base64 to the end of dst, which has the room. Unlike encoding/base64 it takes no
// line breaks and no stray bits. ok is false where text is not canonical; dst then has its old length.
func appendBase64(dst, text []byte) (out []byte, ok bool) {
	if len(text) == 0 {
		return dst, true
	}
	if len(text)%4 != 0 {
		return dst, false
	}
	pad := 0
	for pad < 2 && text[len(text)-1-pad] == '=' {
		pad++
	}
	pairs := base64Pairs()
	n, full := len(dst), len(text)/4
	if pad > 0 {
		full--
	}
	out = dst[:n+3*full]
	q, d, bad := text[:4*full], out[n:], uint16(0)
	for ; len(q) >= 8 && len(d) >= 8; q, d = q[8:], d[6:] { // writes two bytes too many, which the next turn overwrites
		v := binary.LittleEndian.Uint64(q)
		a, b, c, e := pairs[uint16(v)], pairs[uint16(v>>16)], pairs[uint16(v>>32)], pairs[uint16(v>>48)]
		bad |= a | b | c | e
		binary.BigEndian.PutUint64(d, (uint64(a)<<36|uint64(b)<<24|uint64(c)<<12|uint64(e))<<16)
	}
	for ; len(q) >= 4 && len(d) >= 3; q, d = q[4:], d[3:] {
		high, low := pairs[binary.LittleEndian.Uint16(q)], pairs[binary.LittleEndian.Uint16(q[2:])]
		bad |= high | low
		v := uint32(high)<<12 | uint32(low)
		d[0], d[1], d[2] = byte(v>>16), byte(v>>8), byte(v)
	}
	if bad >= notBase64 {
		return dst, false
	}
	return lastQuad(out, dst, text[4*full:], pad)
}

// lastQuad decodes the four characters that hold padding; "A" stands in for it, so that stray bits show.
func lastQuad(out, dst, last []byte, pad int) ([]byte, bool) {
	if pad == 0 {
		return out, true
	}
	quad := [4]byte{'A', 'A', 'A', 'A'}
	copy(quad[:], last[:4-pad])
	pairs := base64Pairs()
	high, low := pairs[binary.LittleEndian.Uint16(quad[:])], pairs[binary.LittleEndian.Uint16(quad[2:])]
	v := uint32(high)<<12 | uint32(low)
	if (high|low) >= notBase64 || v&(1<<(8*pad)-1) != 0 {
		return dst, false
	}
	return append(out, byte(v>>16), byte(v>>8))[:len(out)+3-pad], true
}
