package review

import (
	"sync/atomic"
	"testing"
)

var fuzzPlain, fuzzEscaped atomic.Int64

// What a byte of fuzz input may stand for: parts that never need an escape in any order, and parts that may.
var (
	plainParts   = []string{"node.reimage", " ", "é", "東", "\u0e19", "gpu-0123456789", ">"}
	hostileParts = []string{"<", "<U", "<U+", "<0x", "202E>", "\x1b[", "\u202e", "\u0e35", "\u0301", "\n", "\xe2\x80", "\xae"}
)

// fuzzStrings makes two strings of an input: one of plain parts alone, and one with all that the bytes stand for, those from
// 0x80 on for the three bytes that follow. The second has at least one escape, so that both kinds occur however long the
// fuzzer stays with one input.
func fuzzStrings(data []byte) (plain, hostile []string) {
	for i := 0; i < len(data); i++ {
		c := int(data[i])
		nice := plainParts[c%len(plainParts)]
		plain = append(plain, nice)
		switch {
		case c >= 0x80:
			end := min(i+4, len(data))
			hostile = append(hostile, string(data[i+1:end]))
			i = end - 1
		case c%2 == 0:
			hostile = append(hostile, nice)
		default:
			hostile = append(hostile, hostileParts[c/2%len(hostileParts)])
		}
	}
	return plain, append(hostile, "\x1b")
}

// FuzzEscape holds every string against the promises of Escape. It counts strings with and without escapes, and fails
// where one of both stays near zero: then it would test nothing.
func FuzzEscape(f *testing.F) {
	f.Add([]byte{1, 3, 4})
	f.Add([]byte{4, 15, 15, 15, 19, 15})
	f.Add([]byte("\xf0\x1b[2\x81\xe2\x80\xae"))
	f.Add([]byte{0x8b, 5, 7, 202, 9})
	f.Fuzz(func(t *testing.T, data []byte) {
		plain, hostile := fuzzStrings(data)
		for _, parts := range [][]string{plain, hostile} {
			if checkEscape(t, parts) > 0 {
				fuzzEscaped.Add(1)
			} else {
				fuzzPlain.Add(1)
			}
		}
		without, with := fuzzPlain.Load(), fuzzEscaped.Load()
		if n := without + with; n >= 5000 && min(without, with) < n/10 {
			t.Fatalf("of %d strings %d had an escape: the generator is one-sided", n, with)
		}
	})
}
