package intent

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/better-compute/approver/core/wire"
)

// A Published is a content that was published and the version it was published under.
type Published struct {
	Version uint64            // 1 to 2^53-1
	Content [sha256.Size]byte // TrustBundle.ContentDigest
}

// A History is every content that a deployment published, the current one last. It is immutable; the zero History is of a
// deployment that has published nothing.
type History struct{ published []Published }

// NewHistory takes what was recorded, ascending strictly by version. A content may be there more than once. The error is
// INVALID_INPUT.
func NewHistory(published []Published) (History, error) {
	var before uint64
	for _, p := range published {
		if p.Version <= before || p.Version > wire.MaxInteger {
			return History{}, wire.Errorf(wire.InvalidInput, "", "published versions ascend from 1 to 2^53-1; %d comes after %d", p.Version, before)
		}
		before = p.Version
	}
	return History{slices.Clone(published)}, nil
}

// Published gives all of it, ascending by version.
func (h History) Published() []Published { return slices.Clone(h.published) }

// Current gives what was published last; ok is false where nothing was.
func (h History) Current() (current Published, ok bool) {
	if len(h.published) == 0 {
		return Published{}, false
	}
	return h.published[len(h.published)-1], true
}

// A Publication says under which version a content is served.
type Publication struct {
	Published
	New   bool // the history has a new entry, which is to be recorded before the bundle is served
	Stale bool // the content was replaced: it is served at its old version, which machines ignore; a warning is due
}

// Publish settles the version of a content. The current content keeps its version, another takes the next one, and neither
// is below floor, which an operator may set; 0 is none. A content that was replaced never comes back as newer: it stays at the
// version it had last, whatever the floor, unless floor is above the current version. It gives the history that is to be
// recorded. The error is INVALID_INPUT for a floor over 2^53-1, or where no version is left.
//
// Processes that publish the same deployment call it under a lock, each on the history as recorded.
func (h History) Publish(content [sha256.Size]byte, floor uint64) (Publication, History, error) {
	if floor > wire.MaxInteger {
		return Publication{}, h, wire.Errorf(wire.InvalidInput, "", "the lowest trust version is %d; at most 2^53-1", floor)
	}
	current, _ := h.Current()
	if floor <= current.Version {
		if last, found := h.last(content); found {
			return Publication{Published: last, Stale: last != current}, h, nil
		}
		floor = current.Version + 1
	}
	if floor > wire.MaxInteger {
		return Publication{}, h, wire.Errorf(wire.InvalidInput, "", "version %d is the last; content %s cannot be published", current.Version, hex.EncodeToString(content[:]))
	}
	next := Published{floor, content}
	return Publication{Published: next, New: true}, History{append(slices.Clone(h.published), next)}, nil
}

// last gives the latest publication of a content.
func (h History) last(content [sha256.Size]byte) (p Published, found bool) {
	for _, p := range slices.Backward(h.published) {
		if p.Content == content {
			return p, true
		}
	}
	return Published{}, false
}
