package review

import (
	"sync/atomic"
	"testing"
)

var fuzzPlain, fuzzEscaped atomic.Int64

// fuzzParts are what a byte of fuzz input may stand for; bytes past the end stand for themselves, three at a time.
var fuzzParts = []string{"<", "<U+", "<0x", "202E>", ">", "\x1b[", "\u202e", "\u0e19", "\u0e35", "\u0301", "\n", "node.reimage", "é", "東"}

// FuzzEscape builds strings of hostile and plain parts. It counts strings with and without escapes, and fails where one
// of both stays near zero: then it would test nothing.
func FuzzEscape(f *testing.F) {
	f.Add([]byte{1, 3, 4})
	f.Add([]byte{7, 8, 8, 8, 10, 8})
	f.Add([]byte("\xf0\x00a\xe2\x80\xae"))
	f.Add([]byte{0x8b, 11, 12, 13})
	f.Fuzz(func(t *testing.T, data []byte) {
		parts := make([]string, 0, len(data))
		for i := 0; i < len(data); {
			switch c := data[i]; {
			case c&0x80 == 0 && len(data)%2 == 1: // an ordinary string: half of the inputs
				parts = append(parts, fuzzParts[11+c%3])
				i++
			case c < 0x80:
				parts = append(parts, fuzzParts[int(c)%len(fuzzParts)])
				i++
			default:
				end := min(i+4, len(data))
				parts = append(parts, string(data[i+1:end]))
				i = end
			}
		}
		counter := &fuzzPlain
		if checkEscape(t, parts) > 0 {
			counter = &fuzzEscaped
		}
		counter.Add(1)
		plain, escaped := fuzzPlain.Load(), fuzzEscaped.Load()
		if n := plain + escaped; n >= 5000 && min(plain, escaped) < n/50 {
			t.Fatalf("of %d strings %d had an escape: the generator is one-sided", n, escaped)
		}
	})
}
