package approvers_test

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/approvers"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// What is signed is the statement over the very set that is shown, under the trust domain that is shown.
func TestReviewIsOfTheStatement(t *testing.T) {
	c := made(t)
	r, err := c.Review()
	require.NoError(t, err)
	want, err := quorum.ApproverSetChange(2, c.Next, trustDomain)
	require.NoError(t, err)
	require.Equal(t, want.Input(), r.Statement().Input())
	digest := c.Next.Digest()
	require.Equal(t, digest[:], r.Document().Root)
	require.Equal(t, trustDomain, fact(r.Document(), "trustDomain").Value[0].String())
	require.NoError(t, r.Stop())
	question, answer := r.Confirmation()
	require.Equal(t, "number of changes in the approver-set change", question)
	require.Equal(t, "3", answer)
}

func TestRefusals(t *testing.T) {
	broken := proof(t, 3)
	broken[len(broken)-8] ^= 1
	forged := quorum.EncodeKeyProof(publicKeys()[3], sign(t, 4, quorum.ProofOfKey(publicKeys()[3])))
	removed := makeSet(t, nil, 0, 0)
	for name, c := range map[string]struct {
		change  func(*approvers.Change)
		code    wire.Code
		reason  string
		details map[string]any
	}{
		"no set":                    {func(c *approvers.Change) { c.Next = nil }, wire.InvalidInput, "malformed-set", nil},
		"epoch 0":                   {func(c *approvers.Change) { c.Epoch = 0 }, wire.InvalidInput, "malformed-set", nil},
		"epoch 2^53":                {func(c *approvers.Change) { c.Epoch = 1 << 53 }, wire.InvalidInput, "malformed-set", nil},
		"no current epoch":          {func(c *approvers.Change) { c.CurrentEpoch = 0 }, wire.InvalidInput, "malformed-set", nil},
		"no trust domain":           {func(c *approvers.Change) { c.TrustDomain = "" }, wire.InvalidInput, "", nil},
		"a trust domain that isn't": {func(c *approvers.Change) { c.TrustDomain = "Compute" }, wire.InvalidInput, "", nil},
		"another trust domain": {func(c *approvers.Change) { c.FileTrustDomain = "staging.example.com" }, wire.TrustDomainMismatch, "",
			map[string]any{"file": "staging.example.com", "own": trustDomain}},
		"two sets for the current epoch": {func(c *approvers.Change) { c.Epoch = 1 }, wire.Conflict, "", map[string]any{"epoch": uint64(1)}},
		"removal at the current epoch":   {func(c *approvers.Change) { c.Epoch, c.Next = 1, removed }, wire.Conflict, "", nil},
		"an epoch below the current one": {func(c *approvers.Change) { c.CurrentEpoch = 3 }, wire.AccessDenied, "stale-epoch",
			map[string]any{"held": uint64(3), "offered": uint64(2)}},
		"the current set at an epoch below": {func(c *approvers.Change) { c.Next, c.CurrentEpoch = c.Current, 3 }, wire.AccessDenied, "stale-epoch", nil},
		"too high after a removal":          {func(c *approvers.Change) { c.Current, c.Epoch = removed, 1<<32+1 }, wire.AccessDenied, "epoch-too-high", nil},
		"a signature over another set": {func(c *approvers.Change) {
			c.Signatures = []*quorum.SetSignatureFile{setSignature(t, 1, c.Next, 2, trustDomain), setSignature(t, 2, c.Current, 2, trustDomain)}
		}, wire.Conflict, "", map[string]any{"signature": 1, "kid": kid(2), "epoch": uint64(2)}},
		"a signature over another set, current unknown": {func(c *approvers.Change) {
			c.Signatures = []*quorum.SetSignatureFile{setSignature(t, 2, c.Current, 2, trustDomain)}
			c.Current = nil
		}, wire.Conflict, "", nil},
		"a signature for another epoch": {func(c *approvers.Change) {
			c.Signatures = []*quorum.SetSignatureFile{setSignature(t, 1, c.Next, 3, trustDomain)}
		}, wire.ScopeMismatch, "", map[string]any{"field": "epoch", "signed": uint64(3), "here": uint64(2)}},
		"a signature for another deployment": {func(c *approvers.Change) {
			c.Signatures = []*quorum.SetSignatureFile{setSignature(t, 1, c.Current, 2, "staging.example.com")}
		}, wire.ScopeMismatch, "", map[string]any{"field": "trustDomain"}},
		"a proof by another key":   {func(c *approvers.Change) { c.Proofs = append(c.Proofs, forged) }, wire.AccessDenied, "bad-signature", map[string]any{"proof": 1}},
		"a proof that is none":     {func(c *approvers.Change) { c.Proofs = [][]byte{[]byte("{}")} }, wire.InvalidInput, "", map[string]any{"proof": 0}},
		"a proof that was changed": {func(c *approvers.Change) { c.Proofs = [][]byte{broken} }, "", "", map[string]any{"proof": 0}},
	} {
		t.Run(name, func(t *testing.T) {
			change := made(t)
			c.change(&change)
			r, err := change.Review()
			require.Nil(t, r)
			require.Error(t, err)
			if c.code != "" {
				require.Equal(t, c.code, wire.CodeOf(err), "%v", err)
				require.Equal(t, c.reason, wire.ReasonOf(err), "%v", err)
			}
			var e *wire.Error
			require.ErrorAs(t, err, &e)
			for key, value := range c.details {
				require.Equal(t, value, e.Details[key], key)
			}
		})
	}
}

// A conflict gives both digests, for the approvers to find out which one is meant.
func TestConflictNamesBothSets(t *testing.T) {
	c := made(t)
	c.Epoch = 1
	_, err := c.Review()
	for _, s := range []*quorum.Set{c.Current, c.Next} {
		digest := s.Digest()
		require.ErrorContains(t, err, hex.EncodeToString(digest[:]))
	}
}

func TestFindings(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*approvers.Change)
		rules  []review.Rule
	}{
		"none":                    {func(*approvers.Change) {}, nil},
		"no proof":                {func(c *approvers.Change) { c.Proofs = nil }, []review.Rule{review.NoKeyProof}},
		"a proof of another key":  {func(c *approvers.Change) { c.Proofs = [][]byte{proof(t, 4)} }, []review.Rule{review.NoKeyProof}},
		"no key joins":            {func(c *approvers.Change) { c.Next, c.Proofs = makeSet(t, []int{0, 1}, 2, 0), nil }, nil},
		"a key joins, k the same": {func(c *approvers.Change) { c.Next = makeSet(t, upTo(4), 2, 0) }, nil},
		"nothing is known":        {func(c *approvers.Change) { c.Current = nil }, []review.Rule{review.NoKeyProof}},
		"a lower threshold":       {func(c *approvers.Change) { c.Next = makeSet(t, []int{0, 1, 3}, 1, 0) }, []review.Rule{review.SetWeaker}},
		"a higher threshold":      {func(c *approvers.Change) { c.Next = makeSet(t, []int{0, 1, 3}, 3, 0) }, nil},
		"a tier that changes nothing": {func(c *approvers.Change) {
			c.Next = makeSet(t, []int{0, 1, 3}, 2, 0, quorum.Tier{MaxScopeSize: 9, Threshold: 2})
		}, nil},
		"a tier beyond every batch": {func(c *approvers.Change) {
			c.Current = makeSet(t, upTo(3), 2, 0, quorum.Tier{MaxScopeSize: 1<<32 - 1, Threshold: 2})
			c.Next = makeSet(t, upTo(3), 2, 0, quorum.Tier{MaxScopeSize: 1<<32 - 1, Threshold: 1})
		}, []review.Rule{review.SetWeaker}},
		"a higher cap":  {func(c *approvers.Change) { c.Next = makeSet(t, []int{0, 1, 3}, 2, 1) }, []review.Rule{review.SetWeaker}},
		"a lower cap":   {func(c *approvers.Change) { c.Current = makeSet(t, upTo(3), 2, 1) }, nil},
		"removal":       {func(c *approvers.Change) { c.Next = makeSet(t, nil, 0, 0) }, []review.Rule{review.SetRemoval}},
		"blind removal": {func(c *approvers.Change) { c.Current, c.Next = nil, makeSet(t, nil, 0, 0) }, []review.Rule{review.SetRemoval}},
		"the file's trust domain": {func(c *approvers.Change) { c.TrustDomain, c.FileTrustDomain = "", trustDomain },
			[]review.Rule{review.TrustDomainUnpinned}},
		"the same trust domain twice": {func(c *approvers.Change) { c.FileTrustDomain = trustDomain }, nil},
		"a time by hand":              {func(c *approvers.Change) { c.Time.ByHand = true }, []review.Rule{review.ClockByHand}},
		"before this release":         {func(c *approvers.Change) { c.Time.Now = review.ReleaseDate.Add(-1) }, []review.Rule{review.Clock}},
		"others": {func(c *approvers.Change) {
			c.Other = []review.Finding{review.NewFinding(review.NoLedger, review.Escape("no ledger"))}
		}, []review.Rule{review.NoLedger}},
	} {
		t.Run(name, func(t *testing.T) {
			change := made(t)
			c.change(&change)
			require.Equal(t, c.rules, findings(reviewed(t, change)))
		})
	}
}

// What the own key's signature is worth, in the words of the platform's own command where it has any.
func TestOwnKey(t *testing.T) {
	removed := makeSet(t, nil, 0, 0)
	for name, c := range map[string]struct {
		change func(*approvers.Change)
		says   string
	}{
		"both":            {func(*approvers.Change) {}, "in the current set and the new one: its signature counts"},
		"current alone":   {func(c *approvers.Change) { c.Key = kid(2) }, "NOT IN THE NEW SET: it counts only as a current approver"},
		"new alone":       {func(c *approvers.Change) { c.Key = kid(3) }, "only in the new set: its signature does not count for the change; it moves machines that hold the new set already"},
		"neither":         {func(c *approvers.Change) { c.Key = kid(9) }, "IN NEITHER SET: a signature by it is USELESS"},
		"new, unknown":    {func(c *approvers.Change) { c.Current = nil }, "in the new set; whether it is in the current one is not known"},
		"not in new":      {func(c *approvers.Change) { c.Current, c.Key = nil, kid(2) }, "NOT IN THE NEW SET: its signature counts only if it is in the current one, which is not known"},
		"after a removal": {func(c *approvers.Change) { c.Current = removed }, "in the new set; after a removal no signature counts for the change, but it moves machines that hold the new set already"},
	} {
		t.Run(name, func(t *testing.T) {
			change := made(t)
			c.change(&change)
			f := fact(reviewed(t, change), "key")
			require.Equal(t, c.says, f.Note)
			require.Contains(t, f.Value[0].String(), change.Key.String())
		})
	}
	c := made(t)
	c.Key = quorum.KID{}
	require.Contains(t, fact(reviewed(t, c), "key").Note, "CANNOT BE SHOWN")
}

// A key replaces another only where no third key has the label too.
func TestReplacedByLabel(t *testing.T) {
	for name, c := range map[string]struct {
		next, after string // labels of carol (leaves), dave and erin (join)
		carol       string
		titles      []string
	}{
		"the same label":       {"carol.pub", "erin.pub", "carol.pub", []string{"a key replaces another", "a key joins", "the epoch rises"}},
		"two have it":          {"carol.pub", "carol.pub", "carol.pub", []string{"a key joins", "a key joins", "a key leaves", "the epoch rises"}},
		"no labels":            {"", "", "", []string{"a key joins", "a key joins", "a key leaves", "the epoch rises"}},
		"another letter case":  {"Carol.pub", "erin.pub", "carol.pub", []string{"a key joins", "a key joins", "a key leaves", "the epoch rises"}},
		"one that stays, too":  {"alice.pub", "erin.pub", "carol.pub", []string{"a key joins", "a key joins", "a key leaves", "the epoch rises"}},
		"one that stays alone": {"carol.pub", "alice.pub", "carol.pub", []string{"a key replaces another", "a key joins", "the epoch rises"}},
	} {
		t.Run(name, func(t *testing.T) {
			change := made(t)
			change.Next = makeSet(t, []int{0, 1, 3, 4}, 2, 0)
			change.Labels[kid(2)], change.Labels[kid(3)], change.Labels[kid(4)] = c.carol, c.next, c.after
			d := reviewed(t, change)
			var titles []string
			for i := range d.Operations {
				titles = append(titles, d.Operations[i].Title.String())
			}
			require.Equal(t, c.titles, titles)
		})
	}
}

// Signatures are told apart by what they are worth; a copy and a forgery count for nothing.
func TestSignaturesSoFar(t *testing.T) {
	c := made(t)
	forged := setSignature(t, 0, c.Next, 2, trustDomain)
	forged.Signature.Sig = setSignature(t, 9, c.Next, 2, trustDomain).Signature.Sig
	again := setSignature(t, 1, c.Next, 2, trustDomain)
	c.Signatures = []*quorum.SetSignatureFile{setSignature(t, 1, c.Next, 2, trustDomain), again, forged,
		setSignature(t, 3, c.Next, 2, trustDomain), setSignature(t, 9, c.Next, 2, trustDomain)}
	says := func(c approvers.Change) (lines []string, note string) {
		f := fact(reviewed(t, c), "signatures")
		for i, v := range f.Value {
			lines = append(lines, v.String()[len(c.Signatures[i].Signature.KID.String())+1:])
		}
		return lines, f.Note
	}
	lines, note := says(c)
	require.Equal(t, []string{"verified, counts", "the key is counted once", "the signature does not verify", "verified, a key of the new set", "of no key that is known here"}, lines)
	require.Equal(t, "1 of the 2 that the current set needs", note)

	c.Current = nil
	lines, note = says(c)
	require.Equal(t, []string{"verified, a key of the new set", "verified, a key of the new set", "the signature does not verify", "verified, a key of the new set", "of no key that is known here"}, lines)
	require.Empty(t, note)
}

// A first set above 2^32 would be taken by nobody, and whoever cannot know whether it is one is told.
func TestEpochTooHighForAFirstSet(t *testing.T) {
	c := made(t)
	c.Current, c.Epoch = nil, 1<<32
	require.Empty(t, fact(reviewed(t, c), "epoch").Note)
	c.Epoch++
	require.Contains(t, fact(reviewed(t, c), "epoch").Note, "no machine would take it as its first set")
}

// Sets count their changes, and each change is about one thing.
func TestDocumentsOfChangesAreHeldTogether(t *testing.T) {
	c := made(t)
	r, err := c.Review()
	require.NoError(t, err)
	d := *r.Document()
	d.Operations = append([]review.Operation{}, d.Operations...)
	d.Operations[0].Subjects = append(d.Operations[0].Subjects, review.Escape("another key"))
	d.Size++
	_, err = review.New(r.Statement(), d)
	require.Equal(t, wire.InvalidInput, wire.CodeOf(err))
	d = *r.Document()
	d.Root = make([]byte, 32)
	_, err = review.New(r.Statement(), d)
	require.ErrorContains(t, err, "the statement is about")
	d = *r.Document()
	d.Counts = review.Parts + 1
	_, err = review.New(r.Statement(), d)
	require.Equal(t, wire.InvalidInput, wire.CodeOf(err))
}
