package scope

import (
	"bytes"
	"crypto/sha256"
	"slices"

	"github.com/better-compute/approver/core/kinds"
)

// A Decoded is a verified scope whose leaves are grouped into distinct operations, each with what a person is shown of it.
type Decoded struct {
	verified   *Verified
	operations []operation       // in the order in which their first leaves stand in the file
	ordered    []*operation      // as they are shown, the rare ones first
	positions  []uint32          // leaves by their position in the file, those of one operation together, by subject
	tables     map[string]*table // of the kinds with several operations
}

// A class tells what can be shown of an operation.
type class uint8

const (
	shown      class = iota // the payload is there and its kind is known
	unbound                 // no payload and no digest: any payload of the kind is admitted
	digestOnly              // a digest without its payload
	unknown                 // the kind is in no table
)

// An operation is what one or more leaves have in common, the relayed address or target left out (WIRE.md §7).
type operation struct {
	class    class
	kind     *kinds.Kind // nil where unknown
	kindName string
	typeURL  string
	payload  []byte // of the first of its leaves
	digest   []byte // the payload's, where all leaves share it
	first    int    // its leaves are positions[first:last]
	last     int
	rare     bool    // few subjects of its kind have it
	odd      []oddly // fields that few subjects of the kind have
}

func (o *operation) size() int { return o.last - o.first }

// operationKey is equal for two leaves exactly when they are one operation.
type operationKey struct {
	kind, typeURL uint32
	class         class
	content       [sha256.Size]byte
}

// Decode groups the leaves into operations, the rare ones first.
func (v *Verified) Decode() *Decoded {
	d := &Decoded{verified: v, positions: make([]uint32, len(v.leaves)), tables: make(map[string]*table)}
	of := make([]uint32, len(v.leaves)) // operation of each leaf
	ids := make(map[operationKey]uint32)
	var g grouper
	var lastKey operationKey
	lastID := uint32(0)
	for i := range v.leaves {
		key := g.key(v, &v.leaves[i])
		if i == 0 || key != lastKey { // neighbours in a file are often alike
			id, ok := ids[key]
			if !ok {
				id = uint32(len(d.operations))
				ids[key] = id
				d.operations = append(d.operations, v.operation(&v.leaves[i], key))
			}
			lastKey, lastID = key, id
		}
		of[i] = lastID
		d.operations[lastID].last++ // a count, until spread makes it an end
	}
	d.spread(of)
	d.markRare()
	d.ordered = make([]*operation, len(d.operations))
	for i := range d.operations {
		d.ordered[i] = &d.operations[i]
	}
	d.order()
	return d
}

// spread puts the leaves of each operation together, ordered by subject.
func (d *Decoded) spread(of []uint32) {
	next := 0
	for i := range d.operations {
		o := &d.operations[i]
		o.first, next = next, next+o.last
		o.last = o.first
	}
	for leaf, id := range of {
		o := &d.operations[id]
		d.positions[o.last] = uint32(leaf)
		o.last++
	}
	leaves := d.verified.leaves
	bySubject := func(a, b uint32) int { return bytes.Compare(leaves[a].subject, leaves[b].subject) }
	for i := range d.operations {
		if p := d.positions[d.operations[i].first:d.operations[i].last]; !slices.IsSortedFunc(p, bySubject) {
			slices.SortFunc(p, bySubject)
		}
	}
}

func (v *Verified) operation(l *leaf, key operationKey) operation {
	o := operation{class: key.class, kind: v.kinds[l.kind], kindName: v.names[l.kind]}
	if l.flags&hasPayload != 0 {
		o.typeURL, o.payload = v.names[l.typeURL], l.payload
	}
	if o.class != unbound && (o.class != shown || key.content == l.digest) {
		o.digest = l.digest[:]
	}
	return o
}

// A grouper makes keys and keeps the space it needs for that.
type grouper struct {
	walked kinds.Walked
	buf    []byte
}

func (g *grouper) key(v *Verified, l *leaf) operationKey {
	key := operationKey{kind: l.kind, content: l.digest}
	switch kind := v.kinds[l.kind]; {
	case !l.bound():
		return operationKey{kind: l.kind, class: unbound}
	case kind == nil && l.flags&hasPayload == 0:
		key.class = unknown
	case kind == nil:
		key.class, key.typeURL = unknown, l.typeURL+1
	case l.flags&hasPayload == 0:
		key.class = digestOnly
	case kind.RelayedField() != 0:
		if kind.Walk(l.payload, &g.walked) == nil && g.walked.RelayedEnd > g.walked.RelayedStart {
			g.buf = append(append(g.buf[:0], l.payload[:g.walked.RelayedStart]...), l.payload[g.walked.RelayedEnd:]...)
			key.content = sha256.Sum256(g.buf)
		}
	}
	return key
}

// withoutRelayed gives the payload of a shown operation without the relayed address or target.
func (o *operation) withoutRelayed() []byte {
	var w kinds.Walked
	if o.kind.RelayedField() == 0 || o.kind.Walk(o.payload, &w) != nil {
		return o.payload
	}
	return slices.Concat(o.payload[:w.RelayedStart], o.payload[w.RelayedEnd:])
}
