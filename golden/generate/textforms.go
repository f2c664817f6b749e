package main

import (
	"fmt"
	"strings"
)

type textForm struct {
	Name  string `json:"name"`
	Form  string `json:"form"`
	Text  string `json:"text"`
	Want  string `json:"want"`
	Size  int    `json:"size,omitempty"`  // hex: the bytes that are wanted
	Bytes string `json:"bytes,omitempty"` // hex: what a good text reads as
}

// textForms is texts that have the form of their field, or not: hex, base64, base64url, kid (WIRE.md §1), and the table of
// §2.
func textForms() any {
	var v []textForm
	for form, list := range named[[]form]("id", ids(), "kind", kindForms(), "trustDomain", trustDomains(), "address", addresses(), "subject", subjects()) {
		for _, f := range list {
			v = append(v, textForm{Name: formName(form, f.text), Form: form, Text: f.text, Want: wanted(f.good)})
		}
	}
	for _, s := range []struct{ form, text string }{{"id", "a\n"}, {"id", "a\x00"}, {"id", "a\\b"}, {"kind", "a.b\n"}, {"trustDomain", "a\n"}, {"subject", "node_a\n"},
		{"subject", "bmc:node_site1/a\x00"}, {"address", "10.0.7.12\n"}, {"address", "a\tb"}, {"address", "[fd00::8]:443\n"}, {"address", rep(":", 600)},
		{"address", rep("1", 600)}} {
		v = append(v, textForm{Name: formName(s.form, s.text), Form: s.form, Text: s.text, Want: "refused"})
	}
	return append(append(v, hexForms()...), base64Forms()...)
}

func formName(form, text string) string {
	if len(text) > 70 {
		return fmt.Sprintf("%s of %d bytes, %s…", form, len(text), quote(text[:8]))
	}
	return form + " " + quote(text)
}

func wanted(good bool) string {
	if good {
		return "ok"
	}
	return "refused"
}

func hexForms() (v []textForm) {
	add := func(text string, size int, good bool) {
		f := textForm{Name: formName("hex", text), Form: "hex", Text: text, Want: wanted(good), Size: size}
		if good {
			f.Bytes = text
		}
		v = append(v, f)
	}
	root := hexOf(one().root)
	add(root, 32, true)
	add(rep("0", 64), 32, true)
	add("00ff", 2, true)
	for _, bad := range []string{"", strings.ToUpper(root), oneUpper(root), "0x" + root, "0X" + root, "0x" + root[2:], root[:63], root[:62], root + "0", root + "00", " " + root,
		root + "\n", "g" + root[1:], root[:32] + " " + root[33:], "\uff10" + root[3:], "-" + root[1:]} {
		add(bad, 32, false)
	}
	return v
}

func base64Forms() (v []textForm) {
	add := func(form, text string, good bool, bytes []byte) {
		v = append(v, textForm{Name: formName(form, text), Form: form, Text: text, Want: wanted(good), Bytes: hexOf(bytes)})
	}
	for n := range 5 {
		b := []byte{0xfb, 0xff, 0xbf, 0x00, 0x10}[:n]
		add("base64", b64(b), true, b)
		add("base64url", b64url(b), true, b)
	}
	for _, bad := range []string{"+w", "+w=", "+x==", "+w===", "+w==+w==", "+/9=", "-w==", "+w==\n", "+w=\n=", "\n+w==", "+w ==", " +w==", "+w== ", "+/+/\r\n", "A", "AA", "AAA", "AAAAA",
		"=", "====", "A===", "AA=A", "+w==.", "é===", "AAAA\x00"} {
		add("base64", bad, false, nil)
	}
	for _, bad := range []string{"-w==", "-w=", "-x", "-_9", "+w", "-/", "-w\n", "-\nw", " -w", "-w ", "A", "AAAAA", "=", "-w.", "é", "AAAA\x00"} {
		add("base64url", bad, false, nil)
	}
	kid := alice.kid()
	add("kid", kid, true, sum(alice.spki))
	for _, bad := range []string{"", kid[:42], kid + "A", kid + "=", stray(kid), hexOf(sum(alice.spki)), " " + kid, kid + "\n", kid[:20] + "+" + kid[21:]} {
		add("kid", bad, false, nil)
	}
	return v
}
