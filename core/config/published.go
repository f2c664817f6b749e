package config

import (
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// A publishedDraft is an approver set to publish, before its rules are checked, from the file or the environment.
type publishedDraft struct {
	quorum.SetDraft
	paths      []string // of the keys
	epoch      uint64   // 0: the one that the signatures sign
	signatures []string // paths
}

// A SetSignature is a configured signature over the approver set for its epoch. Whether it counts is for each machine to
// say, by the set it holds: one by a key that the new set no longer has may be the one that counts.
type SetSignature struct {
	Path   string
	KID    quorum.KID
	Member bool // a key of the set made it, and it verified; else the key is not in the set
}

// publish checks the rules of "Publishing the keys": a root of command signing and a trust domain are configured, the set
// holds together, and its signatures are over exactly this set, epoch and trust domain. refuse makes the error about a part
// of the set: "", ".keys" and so on.
func (l *loader) publish(d *publishedDraft, o Origin, refuse func(part, format string, args ...any) error) (s Setting[*ApproverSet], err error) {
	switch {
	case !l.s.CommandSigning.IsSet():
		return s, refuse("", "pki.command_signing is missing: approvers are published together with the root of command signing")
	case !l.s.TrustDomain.IsSet():
		return s, refuse("", "trust_domain is missing: approvals are signed for one")
	case len(d.Keys) == 0:
		return s, refuse(".keys", "no key; wanted: at least one")
	case len(d.signatures) > wire.MaxSignatures:
		return s, refuse(".set_signatures", "%d; at most %d are read", len(d.signatures), wire.MaxSignatures)
	}
	set, err := quorum.NewSet(d.SetDraft)
	if err != nil {
		return s, refuse("", "%s", wire.MessageOf(err))
	}
	a := &ApproverSet{Paths: d.paths, Set: set, Epoch: d.epoch}
	for _, path := range d.signatures {
		if err := a.addSignature(path, l.s.TrustDomain.Value); err != nil {
			return s, refuse(".set_signatures", "%s", wire.MessageOf(err))
		}
	}
	a.Epoch = max(1, a.Epoch)
	return Setting[*ApproverSet]{a, o}, nil
}

// addSignature reads an approver-set signature file and holds it against the set. An epoch of 0 becomes its.
func (a *ApproverSet) addSignature(path, trustDomain string) error {
	if path == "" {
		return wire.Errorf(wire.InvalidConfig, "", "a file name in the list is empty")
	}
	data, err := ReadTrusted(path, wire.MaxFileBytes)
	if err != nil {
		return err
	}
	f, err := quorum.ParseSetSignatureFile(data)
	if err != nil {
		return wire.Errorf(wire.InvalidConfig, "", "%s: %s", path, wire.MessageOf(err))
	}
	if a.Epoch == 0 {
		a.Epoch = f.Epoch
	}
	kid := f.Signature.KID
	key, member := a.Set.Key(kid)
	trouble := ""
	switch {
	case f.TrustDomain != trustDomain:
		return wire.Errorf(wire.InvalidConfig, "", "%s is for trust domain %q, yours is %q", path, f.TrustDomain, trustDomain)
	case f.Epoch != a.Epoch:
		return wire.Errorf(wire.InvalidConfig, "", "%s signs epoch %d; wanted: %d", path, f.Epoch, a.Epoch)
	case f.Set.Digest() != a.Set.Digest():
		return wire.Errorf(wire.InvalidConfig, "", "%s signs set %x; configured is %x", path, f.Set.Digest(), a.Set.Digest())
	case a.signedBy(kid):
		trouble = "is the second by key"
	case member && !f.Verifies(key):
		trouble = "does not verify for key"
	}
	if trouble != "" {
		return wire.Errorf(wire.InvalidConfig, "", "%s %s %s", path, trouble, kid)
	}
	a.Signatures = append(a.Signatures, SetSignature{Path: path, KID: kid, Member: member})
	return nil
}

func (a *ApproverSet) signedBy(kid quorum.KID) bool {
	for _, s := range a.Signatures {
		if s.KID == kid {
			return true
		}
	}
	return false
}

// checkOneSet holds the set of the key "approvers" against the published one, whose files and signatures then belong to it.
func (l *loader) checkOneSet() error {
	file, published := l.s.SetFile, l.s.Published
	if !file.IsSet() || !published.IsSet() {
		return nil
	}
	a, b := file.Value, published.Value
	if a.Set.Digest() != b.Set.Digest() || a.Epoch != b.Epoch {
		return l.refuse("approvers", "set %x, epoch %d, is another than that of %s: set %x, epoch %d",
			a.Set.Digest(), a.Epoch, published.Origin, b.Set.Digest(), b.Epoch)
	}
	a.Paths, a.Signatures = append(a.Paths, b.Paths...), b.Signatures
	return nil
}
