package config

import (
	"fmt"
	"strconv"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// maxWord is the largest number of the fields that the wire holds in 32 bits.
const maxWord = 1<<32 - 1

// pki settles what is published to the machines: the roots, the trust version and the approver set, of the file and of the
// environment, and holds the set against the one of the key "approvers".
func (l *loader) pki() error {
	if p := l.file.PKI; p != nil {
		for _, step := range []func(*filePKI) error{l.commandSigning, l.trustVersion, l.published} {
			if err := step(p); err != nil {
				return err
			}
		}
	}
	if err := l.environment(); err != nil {
		return err
	}
	return l.checkOneSet()
}

func (l *loader) commandSigning(p *filePKI) error {
	const key = "pki.command_signing"
	path, o, ok, err := l.path(key, p.CommandSigning)
	if !ok || err != nil {
		return err
	}
	data, err := ReadTrusted(path, wire.MaxFileBytes)
	if err != nil {
		return l.refuse(key, "%s", wire.MessageOf(err))
	}
	roots, err := parseRoots(data)
	if err != nil {
		return l.refuse(key, "%s: %s", path, err)
	}
	l.s.CommandSigning.Value, l.s.CommandSigning.Origin = roots, o
	return nil
}

func (l *loader) trustVersion(p *filePKI) error {
	if p.TrustVersion == nil {
		return nil
	}
	const key = "pki.trust_version"
	o := l.origin(key)
	l.s.written[key] = Written{*p.TrustVersion, o}
	n, err := inRange(*p.TrustVersion, 1, wire.MaxInteger)
	if err != nil {
		return l.refuse(key, "%s", err)
	}
	l.s.TrustVersion = Setting[uint64]{n, o}
	return nil
}

// inRange takes a whole number of the file within its bounds.
func inRange(n int64, least, most uint64) (uint64, error) {
	if n < 0 || uint64(n) < least || uint64(n) > most {
		return 0, fmt.Errorf("%d; wanted: %d to %d", n, least, most)
	}
	return uint64(n), nil
}

const approversTable = "pki.approvers"

// published reads [pki.approvers].
func (l *loader) published(p *filePKI) error {
	a := p.Approvers
	if a == nil {
		return nil
	}
	for _, list := range []struct {
		name  string
		paths []string
	}{{"keys", a.Keys}, {"set_signatures", a.SetSignatures}} {
		for _, path := range list.paths {
			if err := l.checkPath(approversTable+"."+list.name, path, false); err != nil {
				return err
			}
		}
	}
	l.note("keys", a.Keys != nil, a.Keys)
	l.note("tiers", a.Tiers != nil, shownTiers(a.Tiers))
	l.note("set_signatures", a.SetSignatures != nil, a.SetSignatures)
	for name, n := range map[string]*int64{"threshold": a.Threshold, "unbatched_destructive_per_hour": a.Unbatched, "epoch": a.Epoch} {
		if n != nil {
			l.note(name, true, *n)
		}
	}
	switch {
	case a.Keys == nil:
		return l.refuse(approversTable, "keys is missing")
	case a.Threshold == nil:
		return l.refuse(approversTable, "threshold is missing")
	}
	draft, err := l.draft(a)
	if err != nil {
		return err
	}
	epoch := uint64(1)
	if a.Epoch != nil {
		if epoch, err = l.number("epoch", *a.Epoch, 1, wire.MaxInteger); err != nil {
			return err
		}
	}
	set := &publishedDraft{SetDraft: draft, paths: l.resolveAll(a.Keys), epoch: epoch, signatures: l.resolveAll(a.SetSignatures)}
	if len(a.SetSignatures) > 0 && a.Epoch == nil {
		return l.refuse(approversTable+".set_signatures", "epoch is missing: it is what they sign")
	}
	l.s.Published, err = l.publish(set, l.origin(approversTable), func(name, format string, args ...any) error {
		return l.refuse(approversTable+name, format, args...)
	})
	return err
}

// note keeps a key of [pki.approvers] as it is written.
func (l *loader) note(name string, written bool, value any) {
	if key := approversTable + "." + name; written {
		l.s.written[key] = Written{value, l.origin(key)}
	}
}

func shownTiers(tiers []fileTier) (shown []string) {
	number := func(n *int64) string {
		if n == nil {
			return "?"
		}
		return strconv.FormatInt(*n, 10)
	}
	for _, t := range tiers {
		shown = append(shown, number(t.MaxScopeSize)+":"+number(t.Threshold))
	}
	return shown
}

func (l *loader) number(name string, n int64, least, most uint64) (uint64, error) {
	got, err := inRange(n, least, most)
	if err != nil {
		return 0, l.refuse(approversTable+"."+name, "%s", err)
	}
	return got, nil
}

func (l *loader) resolveAll(paths []string) (resolved []string) {
	for _, path := range paths {
		resolved = append(resolved, l.s.Resolve(path))
	}
	return resolved
}

// draft reads the keys and numbers of [pki.approvers]; the rules of a set are NewSet's.
func (l *loader) draft(a *fileApprovers) (d quorum.SetDraft, err error) {
	for i, path := range a.Keys {
		at := "keys[" + strconv.Itoa(i) + "]"
		if path == "" {
			return d, l.refuse(approversTable+"."+at, "it is empty")
		}
		key, err := readPublicKey(l.s.Resolve(path))
		if err != nil {
			return d, l.refuse(approversTable+"."+at, "%s", wire.MessageOf(err))
		}
		d.Keys = append(d.Keys, key)
	}
	threshold, err := l.number("threshold", *a.Threshold, 1, maxWord)
	if err != nil {
		return d, err
	}
	d.Threshold = uint32(threshold)
	if a.Unbatched != nil {
		unbatched, err := l.number("unbatched_destructive_per_hour", *a.Unbatched, 0, maxWord)
		if err != nil {
			return d, err
		}
		d.UnbatchedPerHour = uint32(unbatched)
	}
	d.Tiers, err = l.tiers(a.Tiers)
	return d, err
}

func (l *loader) tiers(written []fileTier) (tiers []quorum.Tier, err error) {
	for i, t := range written {
		at := "tiers[" + strconv.Itoa(i) + "]"
		if t.MaxScopeSize == nil || t.Threshold == nil {
			return nil, l.refuse(approversTable+"."+at, "wanted: max_scope_size and threshold")
		}
		size, err := l.number(at+".max_scope_size", *t.MaxScopeSize, 1, maxWord)
		if err != nil {
			return nil, err
		}
		threshold, err := l.number(at+".threshold", *t.Threshold, 1, maxWord)
		if err != nil {
			return nil, err
		}
		tiers = append(tiers, quorum.Tier{MaxScopeSize: uint32(size), Threshold: uint32(threshold)})
	}
	return tiers, nil
}
