// Package approvers makes the review of an approver-set change: what a person reads before signing that another set of
// approvers, other thresholds, or no quorum at all is in force from an epoch on (WIRE.md §4).
//
// # What is signed
//
// A signature under the purpose approver-set covers u64(epoch), the digest of the whole new set, and the trust domain. It
// says nothing of the set that is replaced, so what changes can be shown only beside a current set that the approver
// brings. The Document counts either
//
//	changes  where a current set is given: each key that joins, leaves or replaces another, the threshold, each tier, the
//	         unbatched cap, the epoch, so far as they differ
//	parts    where none is given, or it is the same set at the same epoch: each key, the threshold, each tier, the cap
//
// and its facts give the new set in full either way. A key replaces another where both have the same label, which is the
// name of the file it came in: text from outside, escaped, and worth no more than its source.
//
// # What is refused
//
// Two sets for one epoch are CONFLICT; an epoch below the current one is stale-epoch, for no machine would ever take it.
// A signature handed in that its key did not make, and a proof of a key that is not in the new set, are refused too.
//
// Findings are trust-domain-unpinned, set-removal, set-weaker, no-key-proof, and those of the clock (WIRE.md §10); and our
// own: no-current, current-unpinned (nothing of the approver's confirms the set in force), no-change, epoch-jump. A new key
// has shown that its holder has it by its proof, by its signature over this very change, or by being the one that signs.
//
// # Worked example
//
// Alice, Bob and Carol, two of whom must sign; Dave takes Carol's place, and small batches are to need one approval:
//
//	c := approvers.Change{Next: next, Epoch: 2, Current: current, CurrentEpoch: 1, CurrentFrom: "set.json",
//		Labels: labels, Proofs: [][]byte{daveProof}, Key: alice, TrustDomain: "compute.example.com", Time: now}
//	r, err := c.Review()
//
// draws, among the facts and the root,
//
//	4 changes; 0 escapes in texts.
//	ACKNOWLEDGE set-weaker   batches of 1 to 5 operations: 1 approval instead of 2
//	1 of 4  a key joins                 <kid>   file "dave.pub", proof verified
//	2 of 4  a key leaves                <kid>   file "carol.pub"
//	3 of 4  a tier is added             batches of up to 5 operations   before: no tier, after: 1
//	4 of 4  the epoch rises             before: 1, after: 2
package approvers
