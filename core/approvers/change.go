package approvers

import (
	"fmt"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
)

// A Change is an approver set that is to be signed, and what it is held against. Next, Epoch, Time and a trust domain are
// needed; everything else is shown where it is given.
type Change struct {
	Next  *quorum.Set // a removal is one without keys
	Epoch uint64      // from which Next is in force, 1 to 2^53-1

	Current      *quorum.Set // in force now; nil where none is given
	CurrentEpoch uint64      // of Current
	CurrentFrom  string      // the file that Current was read from, for the review to name
	CurrentKnown string      // what of the approver's own says that it is in force, as in "as you have it configured"; "" is nothing, a finding

	Labels     map[quorum.KID]string      // names of the files that keys of either set came in, as they came
	Proofs     [][]byte                   // contents of PATH.proof files
	Signatures []*quorum.SetSignatureFile // collected so far, over Next at Epoch
	Key        quorum.KID                 // the key that would sign, where it is known already

	TrustDomain     string   // configured or given; "" takes FileTrustDomain, which is a finding
	Configured      bool     // TrustDomain is configured, whether it was given too or not
	FileTrustDomain string   // the word of a file that came with the change, or ""
	Configuration   []string // the configuration file, and what it stands instead of, for the review to name

	Time  review.Time
	Other []review.Finding // about how the files came here, the key, the ledger
}

// Review makes the document that a person sees, tied to the statement that would be signed. Errors, in this order:
// INVALID_INPUT without a set or with an epoch that is none (malformed-set); TRUST_DOMAIN_MISMATCH, or INVALID_INPUT where
// no trust domain is named, and for a signature that is for another; CONFLICT for two sets of one epoch; SCOPE_MISMATCH for a signature that is for something
// else, and ACCESS_DENIED, bad-signature, for one that its key did not make; ACCESS_DENIED (stale-epoch, epoch-too-high) for
// an epoch that no machine would take; and those of a proof that is not of its form, does not verify, or is of no key of Next.
func (c *Change) Review() (*review.Review, error) {
	h, err := c.held()
	if err != nil {
		return nil, err
	}
	digest := c.Next.Digest()
	doc := review.Document{
		What: "approver-set change", Root: digest[:], RootOf: "the new set", Counts: review.Changes,
		Facts: h.facts(), Operations: h.changes(), Findings: h.findings(),
	}
	if h.before == nil {
		doc.Counts, doc.Operations = review.Parts, h.parts()
		doc.What = "approver set"
	}
	doc.Size = len(doc.Operations)
	if places := countEscapes(&doc); len(places) > 0 {
		doc.Findings = append(doc.Findings, review.NewFinding(review.EscapedText,
			review.Escape(counted(doc.Escapes, "character")+" shown as escapes"), places...))
	}
	return review.New(h.statement, doc)
}

// countEscapes counts the escapes of a document in the document, and tells where they are.
func countEscapes(d *review.Document) (places []review.Text) {
	add := func(place string, lists ...[]review.Text) {
		n := 0
		for _, list := range lists {
			for _, t := range list {
				n += t.Escapes()
			}
		}
		if n > 0 {
			d.Escapes += n
			places = append(places, review.Escape(fmt.Sprintf("%s: %d", place, n)))
		}
	}
	for _, f := range d.Facts {
		add(f.Name, f.Value)
	}
	for i := range d.Operations {
		for _, f := range d.Operations[i].Fields() {
			add(fmt.Sprintf("%s %d, %s", d.Counts, i+1, f.Name), f.Value)
		}
	}
	return places
}

// counted gives a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
