//go:build cgo

// Crypto11 signs a batch with a key that another library opened: any crypto.Signer with a P-256 key becomes an approver's
// key by hsm.FromSigner, which demands the expected public key and verifies each signature before it is given out.
//
//	go run ./examples/crypto11 SCOPE TRUST-DOMAIN ROOT MODULE TOKEN KEY-LABEL PUB PIN-FILE OUT [NOW]
//
// ROOT is the root that a person reviewed before ('approver batch show' prints it): a program has no eyes, so this one signs
// that root or nothing. The command itself opens tokens by hsm.OpenToken, which knows more of what tokens do:
// a library's own word is taken here for timeouts, PIN counters and sessions.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ThalesIgnite/crypto11"

	"github.com/better-compute/approver/core/ceremony"
	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/kinds"
	"github.com/better-compute/approver/core/merkle"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
	"github.com/better-compute/approver/scope"
)

func main() {
	a := os.Args
	now, err := review.Time{Now: time.Now()}, error(nil)
	if len(a) == 11 { // for the examples, which end with the century
		now.ByHand = true
		now.Now, err = time.Parse(time.RFC3339, a[10])
	}
	if err != nil || len(a) != 10 && len(a) != 11 {
		fmt.Fprintln(os.Stderr, "usage: crypto11 SCOPE TRUST-DOMAIN ROOT MODULE TOKEN KEY-LABEL PUB PIN-FILE OUT [NOW]")
		os.Exit(2)
	}
	err = run(context.Background(), &order{a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], now})
	if err != nil {
		fmt.Fprintln(os.Stderr, review.Escape(err.Error()))
		os.Exit(1)
	}
}

// An order says what is to be signed, with which key, into which file.
type order struct {
	scope, trustDomain, root, module, token, label, pub, pinFile, out string
	now                                                               review.Time
}

func run(ctx context.Context, o *order) error {
	accepted, err := accept(o)
	if err != nil {
		return err
	}
	// The output has its place before the PIN is used: what can't be written is told before anything is signed.
	out, err := durable.Create(o.out, 0o644)
	if err != nil {
		return err
	}
	defer out.Abandon()
	signer, closeToken, err := open(ctx, o)
	if err != nil {
		return err
	}
	defer closeToken()
	signed, err := accepted.Sign(ctx, signer)
	if err != nil {
		return err
	}
	if err := signed.WriteFile(out); err != nil {
		return err
	}
	fmt.Println("signed by", signed.Signature().KID)
	return nil
}

// accept reviews the scope, and accepts it unattended only where its root is the one that was reviewed.
func accept(o *order) (*ceremony.Accepted, error) {
	root, err := wire.ParseHex("ROOT", o.root, len(merkle.Hash{}))
	if err != nil {
		return nil, err
	}
	file, err := durable.Open(o.scope)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	parsed, err := scope.Parse(file, 2)
	if err != nil {
		return nil, err
	}
	verified, err := parsed.Verify(scope.VerifyOptions{Kinds: kinds.Builtin(), Workers: 2})
	if err != nil {
		return nil, err
	}
	reviewed := merkle.Hash(root)
	r, err := verified.Decode().Review(scope.Policy{Root: &reviewed, TrustDomain: o.trustDomain, Time: o.now})
	if err != nil {
		return nil, err
	}
	return ceremony.AcceptUnattended(r)
}

// open finds the key with crypto11 and puts it behind the rules of this module. Close the token when the key has signed.
func open(ctx context.Context, o *order) (_ quorum.Signer, closeToken func() error, err error) {
	data, err := durable.ReadFile(o.pub, wire.MaxFileBytes)
	if err != nil {
		return nil, nil, err
	}
	expected, err := quorum.ParsePublicPEM(data)
	if err != nil {
		return nil, nil, err
	}
	pin, err := hsm.PINFile(o.pinFile).PIN(ctx, hsm.TokenInfo{})
	if err != nil {
		return nil, nil, err
	}
	// crypto11 takes the PIN as a string, which nobody can wipe; the process ends soon.
	library, err := crypto11.Configure(&crypto11.Config{Path: o.module, TokenLabel: o.token, Pin: string(pin)})
	clear(pin)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			library.Close()
		}
	}()
	key, err := library.FindKeyPair(nil, []byte(o.label))
	if err == nil && key == nil { // crypto11 says so without an error
		err = errors.New("the token has no key pair labelled " + o.label)
	}
	if err != nil {
		return nil, nil, err
	}
	signer, err := hsm.FromSigner(key, expected)
	return signer, library.Close, err
}
