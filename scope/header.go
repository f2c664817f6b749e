package scope

import (
	"github.com/better-compute/approver/core/merkle"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// checkHeader holds the header against its form once the whole file has been read.
func (p *parser) checkHeader() error {
	if p.out.count == 0 && (p.out.header.Bare || p.seen&(1<<hLeaves) != 0) {
		return wire.Errorf(wire.InvalidInput, "", "the scope has no leaves")
	}
	if p.out.header.Bare {
		return nil
	}
	for i, name := range headerNames {
		if bit := uint32(1 << i); headerRequired&bit != 0 && p.seen&bit == 0 {
			return wire.Errorf(wire.InvalidInput, "", "member %q is missing", name)
		}
	}
	h := &p.out.header
	switch {
	case p.format != Format:
		return wire.Errorf(wire.InvalidInput, "", "format is %q; wanted: %q", p.format, Format)
	case p.version != Version:
		return wire.Errorf(wire.InvalidInput, "", "version is %d; this build reads version %d", p.version, Version)
	case h.Size < 1 || h.Size > uint64(p.out.limits.leaves):
		return wire.Errorf(wire.InvalidInput, "", "scopeSize is %d; wanted: 1 to %d", h.Size, p.out.limits.leaves)
	}
	if err := wire.CheckID("batchId", h.BatchID); err != nil {
		return err
	}
	root, err := wire.ParseHex("scopeRoot", p.rootText, len(merkle.Hash{}))
	if err != nil {
		return err
	}
	h.Root = merkle.Hash(root)
	if p.seen&(1<<hTrustDomain) != 0 {
		if err := wire.CheckTrustDomain("trustDomain", h.TrustDomain); err != nil {
			return err
		}
	}
	if p.seen&(1<<hNotAfter) != 0 && h.NotAfter == 0 {
		return wire.Errorf(wire.InvalidInput, "", "notAfter is 0; wanted: Unix milliseconds")
	}
	if p.headerErr != nil {
		return p.headerErr
	}
	return p.checkApprovals()
}

func (p *parser) checkApprovals() error {
	if len(p.approvals) > wire.MaxSignatures || len(p.signatures) > wire.MaxSignatures {
		return wire.Errorf(wire.InvalidInput, "", "approvals and signatures have at most %d entries", wire.MaxSignatures)
	}
	h := &p.out.header
	for _, text := range p.approvals {
		kid, err := quorum.ParseKID(text)
		if err != nil {
			return err
		}
		h.Approvals = append(h.Approvals, kid)
	}
	for _, text := range p.signatures {
		kid, err := quorum.ParseKID(text[0])
		if err != nil {
			return err
		}
		sig, err := quorum.ParseSig(text[1])
		if err != nil {
			return err
		}
		h.Signatures = append(h.Signatures, quorum.Signature{KID: kid, Sig: sig})
	}
	return nil
}
