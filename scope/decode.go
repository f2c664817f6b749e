package scope

import (
	"bytes"
	"crypto/sha256"
	"hash/maphash"
	"slices"
	"sync"

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
	rare     bool        // few subjects of its kind have it
	root     bool        // a machine runs a text of it with full rights
	plain    bool        // no text of it needs an escape
	kind     *kinds.Kind // nil where unknown
	kindName string
	typeURL  string
	payload  []byte // of the first of its leaves
	digest   []byte // the payload's, where all leaves share it
	first    int    // its leaves are positions[first:last]
	last     int
	odd      []oddly // fields that few subjects of the kind have
}

func (o *operation) size() int { return o.last - o.first }

// operationKey is equal for two leaves exactly when they are one operation.
type operationKey struct {
	kind, typeURL uint32
	class         class
	content       [sha256.Size]byte
}

// short gives a hash of the key. It has a seed of its own in every run: a digest without its payload is whatever somebody
// wrote, so many could be made alike in any part of them.
func (k *operationKey) short(seed maphash.Seed) uint64 {
	return maphash.Bytes(seed, k.content[:]) ^ uint64(k.kind)<<32 ^ uint64(k.typeURL)<<8 ^ uint64(k.class)
}

// Decode groups the leaves into operations, the rare ones first.
func (v *Verified) Decode() *Decoded {
	d := &Decoded{verified: v, positions: make([]uint32, len(v.leaves)), tables: make(map[string]*table)}
	of, keys, counts := v.group()
	d.operations = make([]operation, len(keys))
	seen := make([]bool, len(keys))
	for leaf, id := range of {
		if !seen[id] {
			seen[id] = true
			d.operations[id] = v.operation(&v.leaves[leaf], &keys[id])
		}
	}
	d.spread(of, counts)
	d.ordered = make([]*operation, len(d.operations))
	for i := range d.operations {
		d.ordered[i] = &d.operations[i]
	}
	d.order()
	var wg sync.WaitGroup
	wg.Go(d.markPlain)
	d.markRare()
	wg.Wait()
	return d
}

// group numbers the operations in the order of their first leaves: for each leaf its operation, and for each operation its
// key and the number of its leaves.
func (v *Verified) group() (of []uint32, keys []operationKey, counts []uint32) {
	const none = ^uint32(0)
	of = make([]uint32, len(v.leaves))
	// Room for the worst case costs no memory that is not touched.
	keys, counts = make([]operationKey, 0, len(v.leaves)), make([]uint32, 0, len(v.leaves))
	chain := make([]uint32, 0, len(v.leaves)) // the operation before with the same short key
	last := make(map[uint64]uint32)
	seed := maphash.MakeSeed()
	var g grouper
	for i := range v.leaves {
		key := g.key(v, &v.leaves[i])
		if i > 0 && key == keys[of[i-1]] { // neighbours in a file are often alike
			of[i] = of[i-1]
			counts[of[i]]++
			continue
		}
		short := key.short(seed)
		newest, ok := last[short]
		if !ok {
			newest = none
		}
		id := newest
		for id != none && keys[id] != key {
			id = chain[id]
		}
		if id == none {
			id = uint32(len(keys))
			keys, counts, chain = append(keys, key), append(counts, 0), append(chain, newest)
			last[short] = id
		}
		of[i] = id
		counts[id]++
	}
	return of, keys, counts
}

// spread puts the leaves of each operation together, ordered by subject.
func (d *Decoded) spread(of, counts []uint32) {
	next := 0
	for i := range d.operations {
		d.operations[i].first, d.operations[i].last = next, next
		next += int(counts[i])
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

func (v *Verified) operation(l *leaf, key *operationKey) operation {
	o := operation{class: key.class, kind: v.kinds[l.kind], kindName: v.names[l.kind]}
	if l.flags&hasPayload != 0 {
		o.typeURL, o.payload = v.types[l.typeURL], l.payload
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
