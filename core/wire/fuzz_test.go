package wire_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/golden"
)

// address makes an address out of fuzz bytes, near the border of the form.
func address(data []byte) string {
	next := func() int {
		if len(data) == 0 {
			return 0
		}
		v := int(data[0])
		data = data[1:]
		return v
	}
	host := ""
	switch next() % 4 {
	case 0:
		host = fmt.Sprintf("%d.%d.%d.%d", next(), next(), next(), next())
	case 1:
		var raw [16]byte
		for i := range raw {
			if next()%2 == 0 {
				raw[i] = byte(next())
			}
		}
		host = netip.AddrFrom16(raw).String()
		if next()%2 == 0 {
			host = "[" + host + "]"
		}
	case 2:
		labels := make([]string, next()%4+1)
		for i := range labels {
			labels[i] = strings.Repeat(string("aZ09-_."[next()%7]), next()%4+1) + "b"
		}
		host = strings.Join(labels, ".")
	case 3:
		host = string(data[:min(len(data), 12)])
	}
	switch next() % 4 {
	case 0:
		host += fmt.Sprintf(":%d", next()*300)
	case 1:
		at := next() % (len(host) + 1)
		host = host[:at] + string("0:.-xA%]"[next()%8]) + host[at:]
	}
	return host
}

// FuzzAddress holds IsAddress against net/netip, which reads more than the form takes, and a naive reading of its text.
func FuzzAddress(f *testing.F) {
	for _, seed := range []string{"\x00\x0a\x00\x07\x0c", "\x01", "\x02\x03\x01", "\x03[::1]:443"} {
		f.Add([]byte(seed))
	}
	var b golden.Balance
	f.Fuzz(func(t *testing.T, data []byte) {
		text := address(data)
		got := wire.IsAddress([]byte(text))
		count(t, &b, got)
		if got != naiveAddress(text) {
			t.Fatalf("%q: %t", text, got)
		}
	})
}

// naiveAddress reads WIRE.md §2 word by word.
func naiveAddress(s string) bool {
	isV6 := func(s string) bool {
		a, err := netip.ParseAddr(s)
		return err == nil && a.Is6() && !a.Is4In6() && a.Zone() == "" && a.String() == s
	}
	if isV6(s) {
		return true
	}
	host := s
	if i := strings.LastIndex(s, ":"); i >= 0 && !strings.HasSuffix(s, "]") {
		var port int
		if n, err := fmt.Sscanf(s[i+1:], "%d", &port); n != 1 || err != nil || fmt.Sprint(port) != s[i+1:] || port < 1 || port > 65535 {
			return false
		}
		host = s[:i]
	}
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		return isV6(host[1 : len(host)-1])
	}
	if a, err := netip.ParseAddr(host); err == nil && a.Is4() {
		return a.String() == host
	}
	labels := strings.Split(host, ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" ||
			label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
	}
	last := labels[len(labels)-1]
	return len(host) <= 253 && strings.ContainsAny(last[:1], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
}

// FuzzDecodeJSON holds the strict reader against encoding/json: what it takes is JSON, and a value that is written again
// is taken again.
func FuzzDecodeJSON(f *testing.F) {
	for _, seed := range []string{`{"a":[1,"x",null,{"b":true}]}`, `[9007199254740991]`, `{"a":1,"a":2}`, `{"é":"ü"}`, `[1.5]`, `["\n"]`, `[[[[]]]]`} {
		f.Add([]byte(seed), uint8(0))
		f.Add([]byte(seed), uint8(1))
	}
	var b golden.Balance
	f.Fuzz(func(t *testing.T, data []byte, form uint8) {
		if form%2 == 0 { // half of the inputs are JSON made of the bytes
			list := make([]any, 0, len(data))
			for _, c := range data {
				list = append(list, map[string]any{fmt.Sprint(c): []any{c, nil, c > 9}})
			}
			data, _ = json.Marshal(list)
		}
		var v any
		err := wire.DecodeJSON("file", data, &v)
		count(t, &b, err == nil)
		if err == nil && !json.Valid(data) {
			t.Fatalf("taken, and not JSON: %q", data)
		}
	})
}

// count fails a fuzz target that no longer sees both answers.
func count(t testing.TB, b *golden.Balance, accepted bool) {
	if err := b.Count(accepted); err != nil {
		t.Fatal(err)
	}
}
