package scope

import (
	"strings"
	"testing"

	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/golden"
)

// expectedText makes an expected list, right in most of its parts.
func expectedText(e *entropy) []byte {
	subject := func() string { return e.pick("node_a", "node_b", "bmc:s/10.0.0.1", "node:node_t", "node_a", "nöde") }
	var parts []string
	form := e.next() % 3
	for range e.next()%5 + 1 {
		switch form {
		case 0:
			parts = append(parts, e.pick("", " ", "# ", "")+subject()+e.pick("", "", "\r", " x"))
		case 1:
			parts = append(parts, `"`+subject()+`"`)
		case 2:
			parts = append(parts, `{"subject":"`+subject()+`","kind":"`+e.pick("node.reboot", "a.b", "node.reboot", "x")+`"`+
				e.pick("", `,"payloadSha256":"`+strings.Repeat("ab", 32)+`"`, `,"payloadSha256":null`, `,"note":1`)+`}`)
		}
	}
	if form == 0 {
		return damage(e, []byte(strings.Join(parts, "\n")))
	}
	return damage(e, []byte("["+strings.Join(parts, ",")+"]"))
}

// FuzzParseExpected reads lists in all three forms: what is taken holds subjects and kinds of their form only.
func FuzzParseExpected(f *testing.F) {
	for i := range 48 {
		f.Add([]byte(strings.Repeat(string(rune('!'+i)), i)))
	}
	var b golden.Balance
	f.Fuzz(func(t *testing.T, data []byte) {
		text := expectedText(&entropy{data})
		e, err := ParseExpected(text)
		count(t, &b, err == nil)
		if err != nil {
			if wire.CodeOf(err) != wire.InvalidInput {
				t.Fatal(err)
			}
			return
		}
		for _, s := range e.subjects {
			if _, ok := wire.ParseSubject([]byte(s)); !ok {
				t.Fatalf("%q is taken as a subject of %q", s, text)
			}
		}
		for _, entry := range e.entries {
			if _, ok := wire.ParseSubject([]byte(entry.subject)); !ok || !wire.IsKind(entry.kind) {
				t.Fatalf("%q is taken as an entry of %q", entry, text)
			}
		}
		if e.Len() == 0 || len(e.subjects) > 0 && len(e.entries) > 0 {
			t.Fatalf("%q makes an empty or a mixed list", text)
		}
	})
}
