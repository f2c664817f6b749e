package scope

import (
	"errors"
	"maps"
	"sync"

	"github.com/better-compute/approver/core/kinds"
	"github.com/better-compute/approver/core/merkle"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// A Verified is a scope whose leaves were all checked and whose root was computed from them: every payload gives its
// digest, is of its kind's type and canonical, and acts on its own subject, and where the file declares a root, size or
// leaf index, they are the computed ones. Leaves are told by their position in hash order, from 0.
type Verified struct {
	header Header
	leaves []leaf        // in file order
	names  []string      // of the kinds
	bytes  [][]byte      // the same as bytes
	kinds  []*kinds.Kind // for each of names, nil where no table knows it
	types  []string      // type URLs
	scope  *quorum.Scope
}

// VerifyOptions say what a verification needs beside the file.
type VerifyOptions struct {
	Kinds   *kinds.Table // the kinds that are known
	BatchID string       // of a bare array of leaves; a scope file has its own
	Workers int          // goroutines that hash at once, at least 1
}

// Verify checks the scope in the order of WIRE.md §5 and computes its root. Errors are INVALID_INPUT naming the leaf
// (reasons payload-too-large, payload-digest, payload-type, payload-unknown-fields, payload-subject, duplicate-leaf,
// too-many-leaves), or SCOPE_MISMATCH with what was declared and what was computed.
func (p *Parsed) Verify(o VerifyOptions) (*Verified, error) {
	if o.Kinds == nil {
		return nil, wire.Errorf(wire.InvalidInput, "", "no kind table to verify with")
	}
	v := &Verified{header: p.header, leaves: p.leaves, names: p.kinds.list, types: p.types.list}
	for _, name := range v.names {
		v.bytes = append(v.bytes, []byte(name))
		v.kinds = append(v.kinds, o.Kinds.Lookup([]byte(name)))
	}
	if v.header.Bare {
		v.header.BatchID = o.BatchID
	}
	if err := v.checkLeaves(p, max(1, o.Workers)); err != nil {
		return nil, err
	}
	var err error
	v.scope, err = quorum.HashScope(v.header.BatchID, len(v.leaves), max(1, o.Workers), func(i int) (subject, kind, digest []byte) {
		l := &v.leaves[i]
		return l.subject, v.bytes[l.kind], l.boundDigest()
	})
	if err != nil {
		return nil, v.duplicate(err)
	}
	if err := p.checkTotals(); err != nil {
		return nil, err
	}
	if err := v.checkDeclared(p.placed); err != nil {
		return nil, err
	}
	return v, nil
}

// checkLeaves checks each leaf by itself and reports the first that fails, in file order; of one leaf its form comes
// first, which was looked at while reading.
func (v *Verified) checkLeaves(p *Parsed, workers int) error {
	failed := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		check := func() {
			var walked kinds.Walked
			for i := len(v.leaves) * w / workers; i < len(v.leaves)*(w+1)/workers; i++ {
				if failed[w] = v.checkLeaf(&p.digests, i, &walked); failed[w] != nil {
					return
				}
			}
		}
		if w == workers-1 {
			check()
		} else {
			wg.Go(check)
		}
	}
	wg.Wait()
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	return p.badForm
}

func (v *Verified) checkLeaf(digests *digester, i int, w *kinds.Walked) error {
	l := &v.leaves[i]
	if len(l.payload) > wire.MaxPayloadBytes {
		return leafError(i, "payload-too-large", "the payload has %d bytes; at most %d are taken", len(l.payload), wire.MaxPayloadBytes)
	}
	kind := v.kinds[l.kind]
	subject, ok := wire.ParseSubject(l.subject)
	if !ok {
		return leafError(i, "", "the subject is not of its form")
	}
	if l.flags&hasPayload == 0 {
		if kind == nil {
			return nil
		}
		return namedLeaf(i, kind.CheckSubjectForm(subject))
	}
	digest := digests.sum(i, l.payload)
	if l.flags&hasEmpty != 0 || l.flags&hasDigest != 0 && digest != l.digest {
		return leafError(i, "payload-digest", "the payload gives digest %x, the file says %q", digest, v.declaredDigest(l)).
			With("computed", merkle.Hash(digest)).With("declared", v.declaredDigest(l))
	}
	l.digest = digest
	if kind == nil {
		return nil
	}
	if err := kind.CheckType(v.types[l.typeURL]); err != nil {
		return namedLeaf(i, err)
	}
	if err := kind.Walk(l.payload, w); err != nil {
		return namedLeaf(i, err)
	}
	return namedLeaf(i, kind.CheckSubject(subject, w))
}

func (v *Verified) declaredDigest(l *leaf) string {
	if l.flags&hasEmpty != 0 {
		return ""
	}
	return merkle.Hash(l.digest).String()
}

// namedLeaf puts the leaf's place before an error of the kind table and keeps its code and reason.
func namedLeaf(i int, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*wire.Error](err); ok {
		named := leafError(i, e.Reason, "%s", e.Message)
		named.Code = e.Code
		maps.Copy(named.Details, e.Details)
		return named
	}
	return leafError(i, "", "%w", err)
}

func (v *Verified) duplicate(err error) error {
	d, ok := errors.AsType[*quorum.DuplicateLeafError](err)
	if !ok {
		return err
	}
	l := &v.leaves[d.First]
	return leafError(d.Second, "duplicate-leaf", "it is the same as leaf %d: %s, %s", d.First, l.subject, v.names[l.kind]).With("first", d.First)
}

func (p *Parsed) checkTotals() error {
	if p.count > p.limits.leaves {
		return wire.Errorf(wire.InvalidInput, "too-many-leaves", "%d leaves; at most %d are taken", p.count, p.limits.leaves)
	}
	if p.bytes > p.limits.batchBytes {
		return wire.Errorf(wire.InvalidInput, "payload-too-large", "the payloads have %d bytes; at most %d are taken in one batch", p.bytes, p.limits.batchBytes)
	}
	return nil
}

// checkDeclared holds what the file declares against what was computed; placed tells whether any leaf declares its index.
// The root and size of a bare array are the computed ones.
func (v *Verified) checkDeclared(placed bool) error {
	h := &v.header
	if h.Bare {
		h.Root, h.Size = v.scope.Root(), uint64(v.scope.Size())
	}
	if h.Size != uint64(v.scope.Size()) {
		return wire.Errorf(wire.ScopeMismatch, "", "the file holds %d leaves and declares %d", v.scope.Size(), h.Size).
			With("declared", h.Size).With("computed", v.scope.Size())
	}
	for index := 0; placed && index < v.scope.Size(); index++ {
		if l := v.at(index); l.index >= 0 && l.index != int64(index) {
			return wire.Errorf(wire.ScopeMismatch, "", "leaf %d declares leafIndex %d; in hash order it is %d",
				v.scope.Given(index), l.index, index).With("declared", l.index).With("computed", index)
		}
	}
	if h.Root != v.scope.Root() {
		return wire.Errorf(wire.ScopeMismatch, "", "the leaves give root %s, the file declares %s: it is not the scope that was signed for",
			v.scope.Root(), h.Root).With("declared", h.Root).With("computed", v.scope.Root())
	}
	return nil
}

// at gives the leaf at a position in hash order.
func (v *Verified) at(index int) *leaf { return &v.leaves[v.scope.Given(index)] }

// Header gives what the file says of itself. For a bare array the batch id is the one that was given, the root and size
// are the computed ones.
func (v *Verified) Header() Header { return v.header }

// Scope gives the tree, with its root, size and proofs.
func (v *Verified) Scope() *quorum.Scope { return v.scope }

// A Leaf is one verified leaf.
type Leaf struct {
	Index         int // in hash order
	Subject       string
	Kind          string
	PayloadSHA256 []byte // 32 bytes, or none for an unbound leaf
	HasPayload    bool
	TypeURL       string
	Payload       []byte
}

// Leaf gives the leaf at a position in hash order.
func (v *Verified) Leaf(index int) Leaf {
	l := v.at(index)
	out := Leaf{Index: index, Subject: string(l.subject), Kind: v.names[l.kind], PayloadSHA256: l.boundDigest()}
	if l.flags&hasPayload != 0 {
		out.HasPayload, out.TypeURL, out.Payload = true, v.types[l.typeURL], l.payload
	}
	return out
}
