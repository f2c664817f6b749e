package main

import (
	"slices"
	"strconv"
	"strings"
)

// A proofMessage is a proof in protobuf.
type proofMessage struct {
	Name  string `json:"name"`
	Binpb string `json:"binpb"` // base64
	outcome
	Proof *proof `json:"proof,omitempty"` // what a good one says
}

// A proofVector is an inclusion proof file.
type proofVector struct {
	Name string `json:"name"`
	content
	outcome
	Canonical bool   `json:"canonical,omitempty"` // it is laid out as it is written
	Binpb     string `json:"binpb,omitempty"`     // base64: the proof alone, in protobuf
}

type proofList struct {
	messages []proofMessage
	files    []proofVector
}

// batchProofs is inclusion proofs in protobuf and as files, good or refused by one rule (WIRE.md §2, §7).
func batchProofs() any {
	l := &proofList{}
	for _, size := range []int{1, 2, 3, 5, 33} {
		t := tree(size)
		for _, at := range []int{0, size / 2, size - 1} {
			if !slices.ContainsFunc(l.messages, func(m proofMessage) bool { return m.Name == proofName(t, at) }) {
				l.good(t, at)
			}
		}
	}
	l.badMessages()
	l.badFiles()
	return struct {
		Messages []proofMessage `json:"messages"`
		Files    []proofVector  `json:"files"`
	}{l.messages, l.files}
}

func proofName(t treeVector, at int) string { return "leaf " + strconv.Itoa(at) + " of " + t.Name }

func (p proof) message() []byte {
	var m []byte
	if p.Index > 0 {
		m = vint(1, int64(p.Index))
	}
	for _, s := range p.Siblings {
		m = append(m, sub(2, unhex(s))...)
	}
	return m
}

// proofObject is the file of the proof of a leaf at a place in hash order.
func (t treeVector) proofObject(at int) object {
	l, p := t.Leaves[t.Order[at]], t.Proofs[at]
	var siblings []string
	for _, s := range p.Siblings {
		siblings = append(siblings, `"`+s+`"`)
	}
	return object{{"format", `"better-compute-batch-proof"`}, {"version", "1"}, {"batchId", `"` + t.BatchID + `"`}, {"scopeRoot", `"` + t.Root + `"`},
		{"scopeSize", strconv.Itoa(t.Size)}, {"subject", `"` + l.Subject + `"`}, {"kind", `"` + l.Kind + `"`}, {"payloadSha256", `"` + l.PayloadSHA256 + `"`},
		{"leafHash", `"` + t.LeafHashes[at] + `"`}, {"index", strconv.Itoa(at)}, {"siblings", lines(siblings)}}
}

func (l *proofList) good(t treeVector, at int) {
	p := t.Proofs[at]
	l.messages = append(l.messages, proofMessage{proofName(t, at), b64(p.message()), ok, &p})
	l.files = append(l.files, proofVector{proofName(t, at), text(t.proofObject(at).String() + "\n"), ok, true, b64(p.message())})
}

func (l *proofList) badMessages() {
	p := tree(5).Proofs[1]
	first, second := sub(2, unhex(p.Siblings[0])), sub(2, unhex(p.Siblings[1]))
	for name, message := range named[[]byte](
		"an index of 0 written", msg(vint(1, 0), first), "the index twice", msg(vint(1, 1), vint(1, 1), first), "the index last", msg(first, vint(1, 1)),
		"the index in two bytes", msg(tag(1, wireVarint), overlong(1), first), "the index as a fixed number", msg(fixed32(1, 1), first),
		"index 50,000", msg(vint(1, 50_000), first), "an index that is 1 in 32 bits", msg(vint(1, 1<<32+1), first),
		"a sibling of 31 bytes", msg(vint(1, 1), sub(2, make([]byte, 31))), "a sibling of 33 bytes", msg(vint(1, 1), sub(2, make([]byte, 33))),
		"an empty sibling", msg(vint(1, 1), sub(2), second), "17 siblings", msg(slices.Repeat([][]byte{first}, 17)...), "an unknown field", msg(vint(1, 1), first, vint(3, 1)),
		"a group", msg(vint(1, 1), tag(3, wireGroup), tag(3, wireEnd)), "cut off", msg(vint(1, 1), first[:20]),
	) {
		l.messages = append(l.messages, proofMessage{Name: name, Binpb: b64(message), outcome: invalid})
	}
}

func (l *proofList) badFiles() {
	t := tree(5)
	add := func(name string, want outcome, file string) {
		l.files = append(l.files, proofVector{Name: name, content: text(file), outcome: want})
	}
	with := func(name, raw string) string {
		o := t.proofObject(1)
		o.set(name, raw)
		return o.String()
	}
	for _, m := range t.proofObject(1) {
		o := t.proofObject(1)
		o.del(m.name)
		add("no "+m.name, invalid, o.String())
	}
	for name, m := range named[member](
		"version 2", member{"version", "2"}, "another format", member{"format", `"better-compute-batch-scope"`}, "another subject", member{"subject", `"node_999"`},
		"another kind", member{"kind", `"node.wipe"`}, "another batch", member{"batchId", `"batch_6"`}, "another digest", member{"payloadSha256", `"` + t.Root + `"`},
		"another leaf hash", member{"leafHash", `"` + t.LeafHashes[0] + `"`},
		"a digest of 31 bytes", member{"payloadSha256", `"` + t.Root[2:] + `"`}, "a sibling of 31 bytes", member{"siblings", `["` + t.Root[2:] + `"]`},
		"17 siblings", member{"siblings", "[" + strings.TrimSuffix(rep(`"`+t.Root+`",`, 17), ",") + "]"}, "siblings null", member{"siblings", "null"},
		"index 50,000", member{"index", "50000"}, "index -1", member{"index", "-1"}, "an unknown member", member{"note", `"x"`},
	) {
		add(name, invalid, with(m.name, m.raw))
	}
	alone := tree(1)
	for name, l := range named[treeLeaf]("a subject of no form", treeLeaf{"a b", "node.wipe", ""}, "a kind of no form", treeLeaf{"node_a", "wipe", ""}) {
		root := hexOf(leafHash(alone.BatchID, l.Subject, l.Kind, nil)) // which would prove it
		add(name, invalid, treeVector{BatchID: alone.BatchID, Size: 1, Leaves: []treeLeaf{l}, Order: []int{0}, LeafHashes: []string{root}, Root: root,
			Proofs: alone.Proofs}.proofObject(0).String())
	}
	notIn := refused("ACCESS_DENIED not-in-scope")
	add("another index", notIn, with("index", "0"))
	add("an index beyond the size", notIn, with("index", "5"))
	add("another size", notIn, with("scopeSize", "50000"))
	add("another root", notIn, with("scopeRoot", `"`+t.LeafHashes[0]+`"`))
	add("a sibling less", notIn, with("siblings", `["`+t.Proofs[1].Siblings[0]+`"]`))
	add("an empty list of siblings", notIn, with("siblings", `[]`))
	add("scopeSize 0", malformedApproval, with("scopeSize", "0"))
}
