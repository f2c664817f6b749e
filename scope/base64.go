package scope

// base64Values gives, for each byte, its six bits as one of the characters of standard base64, or a bit above them all.
var base64Values = func() (t [256]uint32) {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	for i := range t {
		t[i] = notBase64
	}
	for i := range len(alphabet) {
		t[alphabet[i]] = uint32(i)
	}
	return t
}()

const notBase64 = 1 << 24

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
	n, full := len(dst), len(text)/4
	if pad > 0 {
		full--
	}
	out = dst[:n+3*full]
	q, bad := text[:4*full], uint32(0)
	for d := out[n:]; len(q) >= 4 && len(d) >= 3; q, d = q[4:], d[3:] {
		v := base64Values[q[0]]<<18 | base64Values[q[1]]<<12 | base64Values[q[2]]<<6 | base64Values[q[3]]
		bad |= base64Values[q[0]] | base64Values[q[1]] | base64Values[q[2]] | base64Values[q[3]]
		d[0], d[1], d[2] = byte(v>>16), byte(v>>8), byte(v)
	}
	if bad >= notBase64 {
		return dst, false
	}
	last := text[4*full:]
	switch pad {
	case 1:
		a, b, c := base64Values[last[0]], base64Values[last[1]], base64Values[last[2]]
		if a|b|c >= notBase64 || c&3 != 0 {
			return dst, false
		}
		out = append(out, byte(a<<2|b>>4), byte(b<<4|c>>2))
	case 2:
		a, b := base64Values[last[0]], base64Values[last[1]]
		if a|b >= notBase64 || b&15 != 0 {
			return dst, false
		}
		out = append(out, byte(a<<2|b>>4))
	}
	return out, true
}
