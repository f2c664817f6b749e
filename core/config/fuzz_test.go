package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/better-compute/approver/core/config"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/golden"
)

// fuzzValues stand for a value of the configuration now and then: good ones of another key, bounds, and what is no value.
var fuzzValues = []string{`"alice.pub"`, `"set.json"`, `"lists"`, `"root.crt"`, `24`, `720`, `721`, `0`, `-1`, `1`, `9007199254740991`,
	`9007199254740992`, `""`, `"a.b"`, `["alice.pub"]`, `["alice.sig"]`, `[]`, `true`, `1.5`, `[{ max_scope_size = 5, threshold = 1 }]`,
	`{ threshold = 1 }`, `1979-05-27`, `"\u0000"`, `'/lib/p11.so'`, `nan`}

// draw makes a configuration of the whole one: lines left out, values exchanged, lines in another order or twice, bytes changed.
func draw(data []byte) []byte {
	lines := strings.SplitAfter(whole, "\n")
	next := func() int {
		if len(data) == 0 {
			return 0
		}
		b := data[0]
		data = data[1:]
		return int(b)
	}
	for steps := next() % 4; steps > 0; steps-- {
		at := next() % len(lines)
		key, _, isKey := strings.Cut(lines[at], " = ")
		switch next() % 6 {
		case 0, 1:
			lines[at] = "\n"
		case 2, 3:
			if isKey {
				lines[at] = key + " = " + fuzzValues[next()%len(fuzzValues)] + "\n"
			}
		case 4:
			lines = slices.Insert(lines, next()%len(lines), lines[at])
		case 5:
			if text := []byte(lines[at]); len(text) > 1 {
				text[next()%len(text)] = byte(next())
				lines[at] = string(text)
			}
		}
	}
	return []byte(strings.Join(lines, ""))
}

// judge reads a configuration and holds what comes out against what every configuration keeps.
func judge(t testing.TB, path string, text []byte, b *golden.Balance) {
	t.Helper()
	s, err := config.Parse(path, text)
	if e := b.Count(err == nil); e != nil {
		t.Fatal(e)
	}
	if err != nil {
		if code := wire.CodeOf(err); code != wire.InvalidConfig {
			t.Fatalf("%s: %v", text, err)
		}
		return
	}
	if s.MaxHours.IsSet() && (s.MaxHours.Value < 1 || s.MaxHours.Value > 720) {
		t.Fatalf("max_hours %d", s.MaxHours.Value)
	}
	if s.TrustDomain.IsSet() && !wire.IsTrustDomain(s.TrustDomain.Value) {
		t.Fatalf("trust_domain %q", s.TrustDomain.Value)
	}
	if own := s.ApproverSet(); own.IsSet() && (own.Value.Set.IsRemoval() || own.Value.Epoch < 1 || own.Value.Epoch > wire.MaxInteger) {
		t.Fatalf("%s: approver set %+v", text, own.Value)
	}
	if s.Published.IsSet() && !(s.TrustDomain.IsSet() && s.CommandSigning.IsSet()) {
		t.Fatalf("%s: published without a trust domain or a root", text)
	}
	if a, p := s.SetFile, s.Published; a.IsSet() && p.IsSet() && a.Value.Set.Digest() != p.Value.Set.Digest() {
		t.Fatalf("%s: two sets", text)
	}
	for _, key := range config.Keys() {
		if w, ok := s.Written(key.Name); ok && (w.Origin.Line < 1 || w.Origin.Line > strings.Count(string(text), "\n")+1) {
			t.Fatalf("%s: %s on line %d", text, key.Name, w.Origin.Line)
		}
	}
}

func FuzzParse(f *testing.F) {
	d := newDesk(f)
	f.Add([]byte{0})
	for at := range byte(24) {
		f.Add([]byte{1, at, 0})
		f.Add([]byte{2, at, 2, at, at, 5, 3, at})
	}
	var b golden.Balance
	f.Fuzz(func(t *testing.T, data []byte) { judge(t, d.path("config.toml"), draw(data), &b) })
}

// TestParseBalance runs the target's generator on its own, so that a plain test run sees both answers too.
func TestParseBalance(t *testing.T) {
	d := newDesk(t)
	var b golden.Balance
	n := uint32(1)
	for range 5000 {
		data := make([]byte, 16)
		for i := range data {
			n = n*1664525 + 1013904223
			data[i] = byte(n >> 24)
		}
		judge(t, d.path("config.toml"), draw(data), &b)
	}
}
