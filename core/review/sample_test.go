package review

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/better-compute/approver/core/wire"
)

func texts(lines ...string) []Text {
	out := make([]Text, len(lines))
	for i, l := range lines {
		out[i] = Escape(l)
	}
	return out
}

func one(name, typ, value string) Field {
	return Field{Name: Escape(name), Type: typ, Value: texts(value)}
}

func numbered(format string, n int) []Text {
	out := make([]Text, n)
	for i := range out {
		out[i] = Escape(fmt.Sprintf(format, i))
	}
	return out
}

var sampleRoot = sha256.Sum256([]byte("a made-up root"))

// sample is a made-up batch: 14 machines alike, one with another image and a hostile name, one that just reboots, one opaque.
func sample() *Document {
	reimage := func(image string) []Field {
		return []Field{
			one("image", "string", image),
			{Name: Escape("wipe"), Type: "bool", Default: true, Value: texts("false")},
			{Name: Escape("user_data"), Type: "string", Value: EscapeLines("#!/bin/sh\nset -e\n" + strings.Repeat("echo step\n", 9) + "exit 0  \n")},
			{Name: Escape("network"), Type: "message NetworkConfig", Fields: []Field{
				one("vlan", "uint32", "17"),
				{Name: Escape("gateway"), Type: "string", Note: "not set"},
				{Name: Escape("labels"), Type: "map", Fields: []Field{
					one("rack", "map<string, string>", ""),
					one("zone   \"safe\"", "string", "\x1b[2K"),
				}},
				{Name: Escape("routes"), Type: "repeated string", Default: true},
			}},
		}
	}
	common := Operation{Title: Escape("node.reimage"), Type: Escape("bettercompute.v1.ReimageRequest"), Digest: bytes.Repeat([]byte{0xa1}, 32),
		Destructive: true, Marks: []string{"runs as root"}, Subjects: numbered("gpu-%03d", 14)}
	common.SetFields(func() []Field { return reimage("ubuntu-24.04") })
	outlier := common
	outlier.Digest, outlier.Outlier, outlier.Subjects = bytes.Repeat([]byte{0xb2}, 32), true, texts("gpu-777")
	outlier.SetFields(func() []Field {
		f := reimage("ubuntu-22.04 ")
		f[0].Odd, f[0].Usual = true, texts("ubuntu-24.04")
		return f
	})
	inspect := Operation{Title: Escape("node.inspect"), Type: Escape("bettercompute.v1.InspectRequest"), Digest: bytes.Repeat([]byte{0xc3}, 32), Subjects: texts("gpu-000")}
	inspect.SetFields(func() []Field { return []Field{} })
	opaque := Operation{Title: Escape("custom.flash"), Destructive: true, Marks: []string{"opaque", "any payload"}, Subjects: texts("gpu-001")}
	closed := NewFinding(WindowClosed, Escape("the window closed at 2026-09-21 14:13:20 UTC, 2 h ago"))
	closed.Details = map[string]any{"notAfter": 1790000000000, "by": "J\u00fcrgen\u202e"}
	odd := NewFinding(Outlier, Escape("1 of 15 subjects of node.reimage has another image"), texts("gpu-777")...)
	lifted, _ := NewFinding(Opaque, Escape("1 operation cannot be shown"), texts("gpu-001")...).Lifted()
	return &Document{
		What: "batch scope", Root: sampleRoot[:], Size: 17, Escapes: 5,
		Facts: []Fact{
			{Name: "batch", Value: texts("batch_01k0")},
			{Name: "trust domain", Value: texts("compute.example.com"), Note: "from the file; none is configured here"},
			{Key: "reason", Name: "reason", Value: texts("routine \x1b[1Aapproved, " + strings.Repeat("and so on ", 20) + "J\u00fcrgen")},
			{Name: "approvals", Value: texts("kid-one", "kid-two"), Note: "claimed"},
			{Name: "delegation"},
		},
		Tallies: []Tally{{Title: "by kind", Rows: []Count{
			{Escape("node.reimage"), 15, true}, {Escape("node.inspect"), 1, false}, {Escape("custom.flash"), 1, true},
		}}},
		Findings: []Finding{odd, NewFinding(ApprovalsClaimed, Escape("2 approvals are claimed")), closed,
			NewFinding(EscapedText, Escape("5 escapes"), texts("reason", "labels of node.reimage")...), lifted,
			NewFinding(MixedKinds, Escape("3 kinds in one batch"), numbered("place %02d", 14)...)},
		Operations: []Operation{common, inspect, opaque, outlier},
	}
}

// fleet is a document of 50,000 subjects in so many operations of two fields.
func fleet(operations int) *Document {
	subjects := numbered("gpu-%05d", wire.MaxLeaves)
	d := &Document{What: "batch scope", Root: sampleRoot[:], Size: wire.MaxLeaves}
	each := wire.MaxLeaves / operations
	for i := range operations {
		o := Operation{Title: Escape("node.reboot"), Destructive: true, Digest: fmt.Appendf(nil, "%032d", i), Subjects: subjects[i*each : (i+1)*each]}
		o.SetFields(func() []Field {
			return []Field{one("force", "bool", "true"), one("grace_seconds", "uint32", fmt.Sprint(i))}
		})
		d.Operations = append(d.Operations, o)
	}
	held := func(values ...int) (h []Held) {
		for _, v := range values {
			h = append(h, Held{N: each, Value: texts(fmt.Sprint(v))})
		}
		return h
	}
	if operations > SummaryAbove {
		d.Summaries = []Summary{{Escape("node.reboot"), []Column{
			{Name: Escape("force"), Type: "bool", Distinct: 1, Common: []Held{{N: wire.MaxLeaves, Value: texts("true")}}},
			{Name: Escape("grace_seconds"), Type: "uint32", Distinct: operations, Range: fmt.Sprintf("0 to %d", operations-1),
				Common: held(0, 1, 2), Rare: held(operations-3, operations-2, operations-1)},
		}}}
	}
	d.Tallies = []Tally{{"by kind", []Count{{Escape("node.reboot"), wire.MaxLeaves, true}}}}
	return d
}
