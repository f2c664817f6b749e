package main

import (
	"strconv"
	"strings"
)

// A member is a member of a JSON object: its name, and its value as it stands in the file.
type member struct{ name, raw string }

// An object is a JSON object whose members keep their order.
type object []member

func (o *object) set(name, raw string) {
	for i, m := range *o {
		if m.name == name {
			(*o)[i].raw = raw
			return
		}
	}
	*o = append(*o, member{name, raw})
}

func (o *object) del(name string) {
	for i, m := range *o {
		if m.name == name {
			*o = append((*o)[:i:i], (*o)[i+1:]...)
			return
		}
	}
	panic("no member " + name)
}

func (o object) String() string {
	var parts []string
	for _, m := range o {
		parts = append(parts, quote(m.name)+":"+m.raw)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// A leaf is a leaf of a scope: bound to a payload, to a digest alone, or to nothing.
type leaf struct {
	subject, kind string
	typeURL       string // of the payload, where there is one
	value         []byte // the payload, or nil for none
	digest        []byte // what the leaf binds: 32 bytes, or none
}

// bound is a leaf with its payload, of its kind's type.
func bound(subject, kind string, value []byte) leaf {
	if value == nil {
		value = []byte{}
	}
	return leaf{subject, kind, typeURL(kind), value, sum(value)}
}

// digestOnly is a leaf whose payload is not in the file.
func digestOnly(subject, kind string, digest []byte) leaf {
	return leaf{subject: subject, kind: kind, digest: digest}
}

// unbound is a leaf that admits any payload.
func unbound(subject, kind string) leaf { return leaf{subject: subject, kind: kind} }

func (l leaf) object() object {
	o := object{{"subject", quote(l.subject)}, {"kind", quote(l.kind)}, {"payloadSha256", `"` + hexOf(l.digest) + `"`}}
	if l.value != nil {
		o = append(o, member{"payload", object{{"typeUrl", quote(l.typeURL)}, {"value", `"` + b64(l.value) + `"`}}.String()})
	}
	return o
}

// A scope is a scope file in the making: true to its leaves until it is mutated.
type scope struct {
	batchID string
	head    object
	leaves  []object
	root    []byte
	size    int
	order   []int // of each place in hash order the leaf as listed
	opaque  int
	unbound int
}

func newScope(batchID string, leaves ...leaf) *scope {
	s := &scope{batchID: batchID, size: len(leaves)}
	var hashes [][]byte
	for _, l := range leaves {
		hashes = append(hashes, leafHash(batchID, l.subject, l.kind, l.digest))
		s.leaves = append(s.leaves, l.object())
		switch {
		case len(l.digest) == 0:
			s.unbound++
		case l.value == nil || typeURL(l.kind) == "":
			s.opaque++
		}
	}
	var sorted [][]byte
	sorted, s.order = inHashOrder(hashes)
	s.root = treeHash(sorted)
	s.head = object{
		{"format", `"better-compute-batch-scope"`}, {"version", "1"}, {"batchId", quote(batchID)},
		{"scopeRoot", `"` + hexOf(s.root) + `"`}, {"scopeSize", strconv.Itoa(s.size)}, {"notAfter", strconv.Itoa(notAfter)},
		{"trustDomain", `"` + domain + `"`}, {"reason", `"kernel roll-out"`}, {"createdBy", `"id_ops"`},
	}
	return s
}

// ordered puts the leaves in hash order, each with its leafIndex in front.
func (s *scope) ordered() *scope {
	var leaves []object
	for i, at := range s.order {
		leaves = append(leaves, append(object{{"leafIndex", strconv.Itoa(i)}}, s.leaves[at]...))
	}
	s.leaves = leaves
	return s
}

func (s *scope) set(name, raw string) *scope {
	s.head.set(name, raw)
	return s
}

func (s *scope) del(name string) *scope {
	s.head.del(name)
	return s
}

// leaf sets a member of one leaf.
func (s *scope) leaf(i int, name, raw string) *scope {
	s.leaves[i].set(name, raw)
	return s
}

// text gives the file as WIRE.md §5 says that we write it: compact, one array element a line, final newline.
func (s *scope) text() string {
	return string(append(s.head, member{"leaves", s.list()}).String()) + "\n"
}

func (s *scope) list() string {
	if len(s.leaves) == 0 {
		return "[]"
	}
	var lines []string
	for _, l := range s.leaves {
		lines = append(lines, l.String())
	}
	return "[\n" + strings.Join(lines, ",\n") + "\n]"
}
