package intent

import (
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/better-compute/approver/core/bettercomputev1"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// The bounds of a trust bundle: its bytes and its roots, of which a rotation has two.
const (
	MaxBundleBytes = 256 << 10
	MaxRoots       = 16
)

// A TrustBundle is what a machine trusts: command-signing roots and the approver set, under a version. It is immutable and
// keeps its bounds and roots; what it says of the set is kept as it came, and judged by Offer.
type TrustBundle struct {
	message *bettercomputev1.TrustBundle // never changed, never handed out
	roots   []Root
}

// NewTrustBundle makes a bundle to publish: version 1 to 2^53-1; 1 to 16 distinct roots; a set with its epoch and
// signatures, or the zero Offer for a bundle that says nothing of a set. The error is INVALID_INPUT, malformed-set where a
// rule of the set is broken.
func NewTrustBundle(version uint64, roots []Root, o quorum.Offer) (*TrustBundle, error) {
	m := &bettercomputev1.TrustBundle{Version: version}
	for _, r := range roots {
		m.CommandSigningRoots = append(m.CommandSigningRoots, r.DER())
	}
	if err := putOffer(m, o); err != nil {
		return nil, err
	}
	b, err := newBounded(m)
	if err != nil {
		return nil, err
	}
	_, err = b.Offer()
	return b, err
}

// newBounded makes a bundle of a message that was not read, so that its size is not known to be one that is.
func newBounded(m *bettercomputev1.TrustBundle) (*TrustBundle, error) {
	b, err := newTrustBundle(m)
	if err != nil {
		return nil, err
	}
	if n := len(b.Encode()); n > MaxBundleBytes {
		return nil, wire.Errorf(wire.InvalidInput, "", "trust bundle: %d bytes; at most %d are read", n, MaxBundleBytes)
	}
	return b, nil
}

// ParseTrustBundle reads the protobuf message TrustBundle strictly: at most 256 KiB, canonical, so that what is taken
// encodes to the same bytes; its version and roots within their bounds. A rule of the set that is broken is no error here:
// the rest of such a bundle applies (WIRE.md §4). The error is INVALID_INPUT.
func ParseTrustBundle(binpb []byte) (*TrustBundle, error) {
	m := new(bettercomputev1.TrustBundle)
	if err := readMessage("trust bundle", MaxBundleBytes, binpb, m); err != nil {
		return nil, err
	}
	return newTrustBundle(m)
}

func newTrustBundle(m *bettercomputev1.TrustBundle) (*TrustBundle, error) {
	n := len(m.CommandSigningRoots)
	switch {
	case m.Version < 1 || m.Version > wire.MaxInteger:
		return nil, wire.Errorf(wire.InvalidInput, "", "trust bundle: version %d; wanted: 1 to 2^53-1", m.Version)
	case n < 1 || n > MaxRoots: // without roots a machine would run commands that nobody signed
		return nil, wire.Errorf(wire.InvalidInput, "", "trust bundle: %d command-signing roots; wanted: 1 to %d", n, MaxRoots)
	}
	b := &TrustBundle{message: m}
	seen := make(map[[32]byte]bool, n)
	for i, der := range m.CommandSigningRoots {
		root, err := ParseRoot(der)
		if err != nil {
			return nil, wire.Errorf(wire.InvalidInput, "", "trust bundle: root %d: %s", i, wire.MessageOf(err))
		}
		if seen[root.SHA256()] {
			return nil, wire.Errorf(wire.InvalidInput, "", "trust bundle: root %d is there twice", i)
		}
		seen[root.SHA256()] = true
		b.roots = append(b.roots, root)
	}
	return b, nil
}

// Encode gives the protobuf message TrustBundle in its one canonical encoding, what the JoinService signs and sends.
func (b *TrustBundle) Encode() []byte { return writeMessage(b.message) }

// Version gives the version, 1 to 2^53-1.
func (b *TrustBundle) Version() uint64 { return b.message.Version }

// Roots gives the command-signing roots in the order in which they stand.
func (b *TrustBundle) Roots() []Root { return slices.Clone(b.roots) }

// WithVersion gives the same content under another version, 1 to 2^53-1. The error is INVALID_INPUT, which a bundle of nearly
// 256 KiB can get for its size: a high version takes more bytes.
func (b *TrustBundle) WithVersion(version uint64) (*TrustBundle, error) {
	m := proto.CloneOf(b.message)
	m.Version = version
	return newBounded(m)
}
