package intent_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"fmt"

	"github.com/better-compute/approver/core/intent"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/golden"
)

// A bundle through its life: published, signed, sent, verified, taken. The machine holds a set, so it refuses the new one,
// which nobody signed, and still applies the rest.
func Example() {
	ctx := context.Background()
	join := check(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) // or a token's, by hsm's NonApproverSigner
	alice, bob := approver("alice"), approver("bob")
	root := check(intent.ParseRoot(golden.Base64(golden.TrustBundles().Roots[0].DER)))

	// The control plane.
	var history intent.History
	publish := func(keys ...quorum.PublicKey) []byte {
		set := check(quorum.NewSet(quorum.SetDraft{Keys: keys, Threshold: 1}))
		epoch := uint64(len(keys))
		bundle := check(intent.NewTrustBundle(1, []intent.Root{root}, quorum.Offer{Set: set, Epoch: epoch}))
		publication, next, err := history.Publish(bundle.ContentDigest(), 0)
		check(publication, err)
		history = next // recorded, before the bundle is served
		bundle = check(bundle.WithVersion(publication.Version))
		return check(intent.Sign(ctx, bundle, "compute.example.com", join)).Encode()
	}

	// A machine.
	joinKey := check(quorum.NewPublicKey(&join.PublicKey)) // as it was pinned
	own := check(quorum.NewHolder(quorum.HolderDraft{TrustDomain: "compute.example.com"}))
	machine := intent.NewBundleHolder(nil, own)
	take := func(received []byte) {
		signed := check(intent.ParseSignedTrustBundle(received))
		var judgement intent.Judgement
		machine, judgement = machine.Take(check(signed.Verify(joinKey, "compute.example.com")))
		fmt.Printf("version %d: bundle %s, quorum %s %q\n", machine.Version(), judgement.Bundle.Outcome, judgement.Quorum.Outcome, wire.ReasonOf(judgement.Quorum.Err))
	}

	take(publish(alice))
	take(publish(alice, bob))
	take(publish(alice)) // a replica with the old configuration
	// Output:
	// version 1: bundle taken, quorum taken ""
	// version 2: bundle taken, quorum refused "approver-set-unsigned"
	// version 2: bundle refused, quorum kept ""
}

func approver(name string) quorum.PublicKey {
	for _, k := range golden.Keys() {
		if k.Name == name {
			return check(quorum.ParsePublicKey(golden.Base64(k.SPKI)))
		}
	}
	panic("no key of that name")
}

func check[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
