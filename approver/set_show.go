package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// A setFile is what a set file or an approver-set signature holds.
type setFile struct {
	path      string
	set       *quorum.Set
	epoch     uint64
	signature *quorum.SetSignatureFile // nil for a set file
}

// readSetFile reads a set file or an approver-set signature; which of them it is, its members say.
func readSetFile(path string) (*setFile, error) {
	data, err := durable.ReadFile(path, wire.MaxFileBytes)
	if err != nil {
		return nil, err
	}
	f := &setFile{path: path}
	var members struct{ Signature json.RawMessage }
	if json.Unmarshal(data, &members) == nil && members.Signature != nil {
		if f.signature, err = quorum.ParseSetSignatureFile(data); err == nil {
			f.set, f.epoch = f.signature.Set, f.signature.Epoch
		}
	} else {
		f.set, f.epoch, err = quorum.ParseSetFile(data)
	}
	if err != nil {
		return nil, inFile(path, err)
	}
	return f, nil
}

// checkInForce refuses a signature as the file of the set in force where it is for another deployment, or does not verify
// though the set has its key. One by a key of the set before it is taken: who that was is not known here.
func (f *setFile) checkInForce(domain string) error {
	switch {
	case f.signature == nil:
		return nil
	case domain != "" && f.signature.TrustDomain != domain:
		return wire.Errorf(wire.TrustDomainMismatch, "", "%s is for trust domain %q, yours is %q", f.path, f.signature.TrustDomain, domain).
			With("file", f.signature.TrustDomain).With("own", domain)
	}
	if key, member := f.set.Key(f.signature.Signature.KID); member && !f.signature.Verifies(key) {
		return wire.Errorf(wire.AccessDenied, "bad-signature", "%s: the signature by key %s does not verify", f.path, key.KID()).With("file", f.path)
	}
	return nil
}

func (a *app) setShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show FILE",
		Short: "Show an approver set file, or the set of an approver-set signature",
		Long: `show prints what is in an approver set: its digest, also in words to compare by voice, the epoch, how many of how many must
sign, the tiers, the cap of unbatched commands and the keys. Of an approver-set signature it says as well for which trust
domain it is, and whether it verifies where its key is in the set itself; whether it counts, 'batch verify-approvers' says.`,
		Example: "  approver set show set.json",
		Args:    oneFile,
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := readSetFile(args[0])
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(f.json())
			}
			var b bytes.Buffer
			f.text(&b)
			return a.print(b.Bytes())
		},
	}
}

func (a *app) setDigestCommand() *cobra.Command {
	var words bool
	c := &cobra.Command{
		Use:   "digest FILE",
		Short: "Print the digest of an approver set",
		Long: `digest prints the SHA-256 of the set in a set file or approver-set signature: 64 hex digits and nothing else, as machines are
pinned to it. With --words it prints the 32 words of it, to compare by voice.`,
		Example: "  approver set digest set.json\n  approver set digest set.json --words",
		Args:    oneFile,
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := readSetFile(args[0])
			if err != nil {
				return err
			}
			digest := f.set.Digest()
			switch {
			case a.json:
				return a.printJSON(map[string]any{"setSha256": fmt.Sprintf("%x", digest), "words": review.Words(digest[:])})
			case words:
				return a.print([]byte(strings.Join(review.Words(digest[:]), " ") + "\n"))
			}
			return a.print(fmt.Appendf(nil, "%x\n", digest))
		},
	}
	c.Flags().BoolVar(&words, "words", false, "print it as 32 words")
	return c
}

func oneFile(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usage("one file is wanted")
	}
	return nil
}

// signer says what its own set makes of the signature.
func (f *setFile) signer() string {
	key, member := f.set.Key(f.signature.Signature.KID)
	switch {
	case !member:
		return "of no key of this set"
	case f.signature.Verifies(key):
		return "verifies"
	}
	return "does not verify"
}

func (f *setFile) json() map[string]any {
	digest := f.set.Digest()
	shown := map[string]any{
		"setSha256": fmt.Sprintf("%x", digest), "words": review.Words(digest[:]), "epoch": f.epoch, "threshold": f.set.Threshold(),
		"tiers": list(f.set.Tiers()), "unbatchedDestructivePerHour": f.set.UnbatchedPerHour(), "keys": list(kids(f.set)), "removal": f.set.IsRemoval(),
	}
	if s := f.signature; s != nil {
		shown["trustDomain"], shown["signature"] = s.TrustDomain, map[string]any{"kid": s.Signature.KID, "says": f.signer()}
	}
	return shown
}

func (f *setFile) text(b *bytes.Buffer) {
	digest := f.set.Digest()
	fmt.Fprintf(b, "set         %x\n", digest)
	words := review.Words(digest[:])
	for i := 0; i < len(words); i += 8 {
		fmt.Fprintf(b, "%-12s%s\n", map[bool]string{true: "words"}[i == 0], strings.Join(words[i:i+8], " "))
	}
	fmt.Fprintf(b, "epoch       %d\n", f.epoch)
	if f.signature != nil {
		fmt.Fprintf(b, "domain      %s, the file's word\n", f.signature.TrustDomain)
	}
	if f.set.IsRemoval() {
		b.WriteString("REMOVAL     no keys: the quorum ends with this set\n")
	} else {
		fmt.Fprintf(b, "threshold   %d of %d keys\n", f.set.Threshold(), len(f.set.Keys()))
		for _, t := range f.set.Tiers() {
			fmt.Fprintf(b, "tier        %d for up to %d leaves\n", t.Threshold, t.MaxScopeSize)
		}
		fmt.Fprintf(b, "unbatched   %d an hour\n", f.set.UnbatchedPerHour())
	}
	for _, kid := range kids(f.set) {
		fmt.Fprintf(b, "key         %s\n", kid)
	}
	if f.signature != nil {
		fmt.Fprintf(b, "signature   by %s: %s\n", f.signature.Signature.KID, f.signer())
	}
}

// kids gives the kids of a set, ascending.
func kids(set *quorum.Set) (kids []quorum.KID) {
	for _, key := range set.Keys() {
		kids = append(kids, key.KID())
	}
	return kids
}
