package scope

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// A WantedLeaf says which leaf is to be proven. A subject may have several leaves of one kind, told apart by what they
// bind: PayloadSHA256, or with Unbound any payload. With neither there must be only one.
type WantedLeaf struct {
	Subject       string
	Kind          string
	PayloadSHA256 []byte // 32 bytes, or none
	Unbound       bool
}

// Prove gives the inclusion proof of the one leaf that is wanted, verified under the root and size of the scope. Errors are
// NOT_FOUND where the scope has no such leaf, and INVALID_INPUT: ambiguous where it has several, each with the digests that
// there are (detail payloadSha256), and for a WantedLeaf of another form.
func (v *Verified) Prove(w WantedLeaf) (*quorum.ProofFile, error) {
	if n := len(w.PayloadSHA256); n != 0 && (w.Unbound || n != sha256.Size) {
		return nil, wire.Errorf(wire.InvalidInput, "", "a leaf binds a payload by 32 bytes, or any; wanted: one of both")
	}
	digest, err := v.boundBy(w)
	if err != nil {
		return nil, err
	}
	proof, ok := v.scope.ProofFile(quorum.Entry{Subject: w.Subject, Kind: w.Kind, PayloadSHA256: digest})
	if !ok {
		return nil, wire.Errorf(wire.NotFound, "", "the tree of the scope does not hold the leaf")
	}
	if err := proof.VerifyIn(v.scope.Root(), uint64(v.scope.Size())); err != nil {
		return nil, err
	}
	return proof, nil
}

// boundBy gives what the one leaf that is wanted binds.
func (v *Verified) boundBy(w WantedLeaf) (digest []byte, err error) {
	digests := v.digestsOf(w.Subject, w.Kind)
	found := digests
	if w.Unbound || len(w.PayloadSHA256) > 0 {
		found = slices.DeleteFunc(slices.Clone(digests), func(d []byte) bool { return !bytes.Equal(d, w.PayloadSHA256) })
	}
	switch {
	case len(digests) == 0:
		return nil, wire.Errorf(wire.NotFound, "", "the scope has no leaf of subject %q and kind %q", w.Subject, w.Kind)
	case len(found) == 0:
		return nil, wire.Errorf(wire.NotFound, "", "the scope has no such leaf of subject %q and kind %q; it has: %s",
			w.Subject, w.Kind, namedDigests(digests)).With("payloadSha256", hexDigests(digests))
	case len(found) > 1:
		return nil, wire.Errorf(wire.InvalidInput, "ambiguous", "the scope has %d leaves of subject %q and kind %q: %s",
			len(found), w.Subject, w.Kind, namedDigests(found)).With("payloadSha256", hexDigests(found))
	}
	return found[0], nil
}

// digestsOf gives what the leaves of a subject and kind bind, in hash order.
func (v *Verified) digestsOf(subject, kind string) (digests [][]byte) {
	for i := range v.scope.Size() {
		if l := v.at(i); string(l.subject) == subject && v.names[l.kind] == kind {
			digests = append(digests, bytes.Clone(l.boundDigest()))
		}
	}
	return digests
}

// listedDigests is how many digests an error names.
const listedDigests = 20

func hexDigests(digests [][]byte) []string {
	list := []string{}
	for _, d := range digests[:min(len(digests), listedDigests)] {
		list = append(list, hex.EncodeToString(d))
	}
	return list
}

// namedDigests lists digests as a person reads them.
func namedDigests(digests [][]byte) string {
	list := hexDigests(digests)
	for i, d := range list {
		if d == "" {
			list[i] = "any payload"
		}
	}
	if more := len(digests) - len(list); more > 0 {
		list = append(list, "and "+strconv.Itoa(more)+" more")
	}
	return strings.Join(list, ", ")
}
