package quorum_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// The oracle of this file knows who signed what because it had it signed, and judges by that alone: it looks at no
// signature, no digest and no encoding. A set is to it a text that says all of it.

// A madeSet is a set as the test made it.
type madeSet struct {
	text      string // keys by their numbers, threshold, tiers, cap
	keys      []int
	threshold int
	set       *quorum.Set
}

// A madeSignature is a signature with the truth about it.
type madeSignature struct {
	given  quorum.UnverifiedSignature
	signer int    // the number of the key that made it, -1 where it was damaged since
	label  int    // the number of the key whose kid it stands under, -1 for nobody's
	set    string // what was signed
	epoch  uint64
	domain string
}

// A madeOffer is an offer with the truth about it.
type madeOffer struct {
	set        madeSet
	epoch      uint64
	signatures []madeSignature
}

func (o madeOffer) given() quorum.Offer {
	offer := quorum.Offer{Set: o.set.set, Epoch: o.epoch}
	for _, s := range o.signatures {
		offer.Signatures = append(offer.Signatures, s.given)
	}
	return offer
}

// A model is what the oracle says a machine holds.
type model struct {
	held   *madeSet // nil for none
	epoch  uint64
	domain string
	pin    string // the text of the set, or ""
}

// signers counts the distinct held keys that truly signed this set at this epoch for the model's own domain.
func (m *model) signers(o madeOffer) int {
	count := 0
	for _, key := range m.held.keys {
		if slices.ContainsFunc(o.signatures, func(s madeSignature) bool {
			return s.signer == key && s.label == key && s.set == o.set.text && s.epoch == o.epoch && s.domain == m.domain
		}) {
			count++
		}
	}
	return count
}

// judge says what becomes of an offer, in the words of the vectors.
func (m *model) judge(o madeOffer) string {
	if m.held == nil {
		switch {
		case len(o.set.keys) == 0:
			return "kept"
		case m.pin != "" && m.pin != o.set.text:
			return "pin-mismatch"
		case o.epoch <= m.epoch:
			return "stale-epoch"
		case o.epoch > 4294967296:
			return "epoch-too-high"
		}
		return "taken"
	}
	same := o.set.text == m.held.text
	if same && o.epoch == m.epoch {
		return "nothing to do"
	}
	if m.domain == "" {
		return "no-trust-domain"
	}
	signed := o.epoch > m.epoch && m.signers(o) >= m.held.threshold
	switch {
	case signed:
		return "taken"
	case same:
		return "kept"
	case o.epoch > m.epoch:
		return "approver-set-unsigned"
	}
	return "stale-epoch"
}

// A world is keys, a machine, and whoever makes offers to it: approvers, a control plane that lost some and replays others.
type world struct {
	keys   []testKey
	model  model
	holder quorum.Holder
	made   []madeOffer
}

var domains = []string{"compute.example.com", "staging.example.com"}

func (w *world) drawSet(t *rapid.T) madeSet {
	n := rapid.SampledFrom([]int{0, 1, 2, 2, 3, 3}).Draw(t, "keys in the set")
	if n == 0 {
		return madeSet{text: "removal", set: setOf(t, 0)}
	}
	m := madeSet{keys: rapid.Permutation([]int{0, 1, 2, 3}).Draw(t, "keys")[:n]}
	m.threshold = rapid.IntRange(1, n).Draw(t, "threshold")
	draft := quorum.SetDraft{Threshold: uint32(m.threshold), UnbatchedPerHour: rapid.SampledFrom([]uint32{0, 0, 0, 1}).Draw(t, "cap")}
	if rapid.IntRange(0, 3).Draw(t, "tiers") == 0 {
		draft.Tiers = []quorum.Tier{{MaxScopeSize: 5, Threshold: 1}}
	}
	for _, k := range m.keys {
		draft.Keys = append(draft.Keys, w.keys[k].public)
	}
	slices.Sort(m.keys)
	m.text = fmt.Sprint(m.keys, m.threshold, draft.Tiers, draft.UnbatchedPerHour)
	set, err := quorum.NewSet(draft)
	require.NoError(t, err)
	m.set = set
	return m
}

func (w *world) drawEpoch(t *rapid.T) uint64 {
	near := w.model.epoch + uint64(rapid.SampledFrom([]int{0, 1, 1, 1, 2, 3}).Draw(t, "epochs on"))
	epoch := rapid.SampledFrom([]uint64{near, near, near, near, near, near, 1, 2, 5, 1 << 32, 1<<32 + 1, wire.MaxInteger}).Draw(t, "epoch")
	return min(max(epoch, 1), wire.MaxInteger)
}

// sign makes one signature over a set and epoch, often good, sometimes over something else, damaged or renamed.
func (w *world) sign(t *rapid.T, key int, set madeSet, epoch uint64) madeSignature {
	s := madeSignature{signer: key, label: key, set: set.text, epoch: epoch, domain: domains[0]}
	fault := rapid.IntRange(0, 11).Draw(t, "fault")
	signed := set.set
	switch fault {
	case 1:
		s.epoch = min(epoch+1, wire.MaxInteger)
	case 2:
		s.domain = domains[1]
	case 3:
		other := w.drawSet(t)
		s.set, signed = other.text, other.set
	}
	statement, err := quorum.ApproverSetChange(s.epoch, signed, s.domain)
	require.NoError(t, err)
	s.given = w.keys[key].signUnverified(t, statement)
	switch fault {
	case 4:
		s.given.Sig[rapid.IntRange(0, 63).Draw(t, "byte")] ^= 1
		s.signer = -1
	case 5:
		s.label = rapid.IntRange(0, len(w.keys)-1).Draw(t, "label")
		s.given.KID = w.keys[s.label].kid()
	case 6:
		s.given.Sig = otherHalf(s.given.Sig)
	case 7:
		s.given.KID, s.label = "nobody", -1
	case 8:
		s.given.Sig, s.signer = s.given.Sig[:63], -1
	}
	return s
}

// draw makes an offer, or finds one that was made before; what was signed before may come again under another offer.
func (w *world) draw(t *rapid.T) madeOffer {
	if len(w.made) > 0 && rapid.IntRange(0, 3).Draw(t, "replay") == 0 {
		return rapid.SampledFrom(w.made).Draw(t, "offer")
	}
	o := madeOffer{set: w.drawSet(t), epoch: w.drawEpoch(t)}
	if w.model.held != nil && rapid.IntRange(0, 3).Draw(t, "the set in force") == 0 {
		o.set = *w.model.held
	}
	for range rapid.IntRange(0, 3).Draw(t, "signatures") {
		o.signatures = append(o.signatures, w.sign(t, rapid.IntRange(0, len(w.keys)-1).Draw(t, "signer"), o.set, o.epoch))
	}
	if w.model.held != nil && rapid.Bool().Draw(t, "signed as it should be, or by one less") {
		for _, key := range w.model.held.keys[:max(0, w.model.held.threshold-rapid.IntRange(0, 1).Draw(t, "less"))] {
			o.signatures = append(o.signatures, w.sign(t, key, o.set, o.epoch))
		}
	}
	if len(w.made) > 0 && rapid.IntRange(0, 2).Draw(t, "foreign") == 0 {
		o.signatures = append(o.signatures, rapid.SampledFrom(w.made).Draw(t, "from").signatures...)
	}
	o.signatures = rapid.Permutation(o.signatures).Draw(t, "order")
	return o
}

func (w *world) start(t *rapid.T) {
	w.model = model{domain: rapid.SampledFrom([]string{domains[0], domains[0], domains[0], domains[0], ""}).Draw(t, "own trust domain")}
	draft := quorum.HolderDraft{TrustDomain: w.model.domain}
	if rapid.IntRange(0, 4).Draw(t, "pinned") == 0 {
		pinned := w.drawSet(t)
		digest := pinned.set.Digest()
		w.model.pin, draft.Pin = pinned.text, &digest
		w.made = append(w.made, madeOffer{set: pinned, epoch: 1}, madeOffer{set: pinned, epoch: 3})
	}
	h, err := quorum.NewHolder(draft)
	require.NoError(t, err)
	w.holder = h
}

// step makes an offer, and delivers it unless it is lost.
func (w *world) step(t *rapid.T) string {
	o := w.draw(t)
	w.made = append(w.made, o)
	if rapid.IntRange(0, 5).Draw(t, "lost") == 0 {
		return "lost"
	}
	before := w.holder
	next, taken, err := before.Take(o.given())
	want := w.model.judge(o)
	got := taken.String()
	if err != nil {
		require.Zero(t, taken)
		require.Equal(t, wire.AccessDenied, wire.CodeOf(err))
		got = wire.ReasonOf(err)
	}
	require.Equal(t, want, got, "held %+v, offered %s at %d", w.model, o.set.text, o.epoch)
	if want == "taken" {
		require.Greater(t, next.Epoch(), before.Epoch(), "an epoch never comes again")
		w.model.epoch = o.epoch
		if w.model.held = nil; len(o.set.keys) > 0 {
			w.model.held = &o.set
		}
	} else {
		require.Equal(t, before, next, "nothing changed")
	}
	w.requireModel(t, next)
	w.holder = next
	return want
}

// requireModel holds the machine against the model, also as it stands after a restart.
func (w *world) requireModel(t *rapid.T, h quorum.Holder) {
	require.Equal(t, w.model.epoch, h.Epoch())
	require.Equal(t, w.model.domain, h.TrustDomain())
	require.Equal(t, w.model.held == nil, h.Set() == nil)
	require.True(t, h.Set() == nil || h.Set().Equal(w.model.held.set))
	draft := quorum.HolderDraft{Set: h.Set(), Epoch: h.Epoch(), TrustDomain: h.TrustDomain()}
	if pin, ok := h.Pin(); ok {
		draft.Pin = &pin
	}
	again, err := quorum.NewHolder(draft)
	require.NoError(t, err)
	require.Equal(t, h, again)
}

// No sequence of offers, whoever makes, mixes, loses and replays them, gives a machine a set that its own quorum did not
// sign, or an epoch that it had.
func TestHolderAgainstOracle(t *testing.T) {
	keys := newKeys(t, 5) // the last is in no set
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		w := &world{keys: keys}
		w.start(t)
		for range 30 {
			seen[w.step(t)]++
		}
	})
	for _, outcome := range []string{"taken", "kept", "nothing to do", "no-trust-domain", "stale-epoch", "approver-set-unsigned", "pin-mismatch", "epoch-too-high"} {
		require.NotZero(t, seen[outcome], "%s: %v", outcome, seen)
	}
	t.Log(seen)
}
