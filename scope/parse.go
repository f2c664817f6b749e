package scope

import (
	"errors"
	"io"

	"github.com/better-compute/approver/core/merkle"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// Format and Version are those of the one scope file this build reads and writes (WIRE.md §5).
const (
	Format  = "better-compute-batch-scope"
	Version = 1
)

// A Parsed is a scope file of which the syntax and the form of the header hold, and nothing else: what its leaves say has
// not been looked at beyond their own form. Verify is the only way on.
type Parsed struct {
	header Header
	leaves []leaf
	kinds  interned
	types  interned // type URLs
	count  int      // leaves in the file, also those over the limit, which are not kept
	bytes  int      // payload bytes of the leaves that are kept
	placed bool     // a leaf says where it stands in hash order

	badLeaf int   // the first leaf not of its form, when badForm is not nil
	badForm error // an INVALID_INPUT
	limits  limits
	digests digester
}

// A Header is what a scope file says of itself beside its leaves. Nothing of it is verified: the root and size are
// claims until Verify computes them, the approvals until a set verifies their signatures.
type Header struct {
	Bare           bool // the file is an array of leaves; every other field is unset
	BatchID        string
	Root           merkle.Hash
	Size           uint64
	NotAfter       uint64 // Unix milliseconds; 0 where the file has none
	TrustDomain    string // "" where the file has none
	Reason         string // free text, as are the next three
	CreatedBy      string
	CreatedByAgent string
	DelegationID   string
	Required       uint64
	Approvals      []quorum.KID
	Signatures     []quorum.Signature
}

// limits are the bounds of one parse; a benchmark lifts them.
type limits struct {
	fileBytes  int64
	leaves     int
	batchBytes int
}

var standardLimits = limits{wire.MaxFileBytes, wire.MaxLeaves, wire.MaxBatchBytes}

// Parse reads a scope file, or a bare array of leaves, strictly (WIRE.md §5). It takes at most 64 MiB and holds no more
// than what it keeps of the leaves. With two workers payloads are hashed beside the reading. Errors are INVALID_INPUT for
// the file and IO_ERROR for the reader; the first failure in the order of checks is reported: syntax of the whole file,
// then the header.
func Parse(r io.Reader, workers int) (*Parsed, error) { return parse(r, workers, standardLimits) }

func parse(r io.Reader, workers int, l limits) (*Parsed, error) {
	p := parser{what: "scope file", out: &Parsed{limits: l}}
	return p.run(r, workers, p.file)
}

// run has read take the one value of a file, with payloads hashed beside it, and holds the header against its form.
func (p *parser) run(r io.Reader, workers int, read func() error) (*Parsed, error) {
	a := newAssistant(workers)
	p.s = scanner{source: newSource(r, a), most: p.out.limits.fileBytes}
	p.out.digests.assistant = a
	err := read()
	if err == nil {
		err = p.s.finish()
	}
	p.out.digests.finish(p.out.leaves)
	a.finish()
	switch {
	case errors.Is(err, errTooLarge):
		return nil, wire.Errorf(wire.InvalidInput, "", "the %s is over %d bytes", p.what, p.out.limits.fileBytes)
	case err != nil && wire.CodeOf(err) == "":
		refused := wire.Errorf(wire.InvalidInput, "", "not a %s: %w", p.what, err)
		if member, ok := errors.AsType[unknownMember](err); ok {
			return nil, refused.With("member", string(member))
		}
		return nil, refused
	case err != nil:
		return nil, err
	}
	if err := p.checkHeader(); err != nil {
		return nil, err
	}
	return p.out, nil
}

// A parser fills one Parsed.
type parser struct {
	what       string // what is read: "scope file"
	s          scanner
	draft      *encoder // where leaves are a draft's, else nil
	out        *Parsed
	arena      arena
	seen       uint32 // a bit for each member of the header that is there and not null
	format     string
	version    uint64
	rootText   string
	approvals  []string
	signatures [][2]string
	headerErr  error // the first header field not of its form
}

// The members of the header, in the order in which a file of ours has them.
var headerNames = []string{
	"format", "version", "batchId", "scopeRoot", "scopeSize", "notAfter", "trustDomain", "reason", "createdBy",
	"createdByAgent", "delegationId", "required", "approvals", "signatures", "leaves",
}

const (
	hFormat = iota
	hVersion
	hBatchID
	hScopeRoot
	hScopeSize
	hNotAfter
	hTrustDomain
	hReason
	hCreatedBy
	hCreatedByAgent
	hDelegationID
	hRequired
	hApprovals
	hSignatures
	hLeaves
)

// headerRequired are the members that must be there; null is no value for them.
const headerRequired = 1<<hFormat | 1<<hVersion | 1<<hBatchID | 1<<hScopeRoot | 1<<hScopeSize | 1<<hLeaves

func (p *parser) file() error {
	c, err := p.s.next()
	switch {
	case err == io.ErrUnexpectedEOF:
		return p.s.syntaxError("the file is empty")
	case err != nil:
		return err
	case c == '[':
		p.out.header.Bare = true
		return p.leaves()
	case c == '{':
		return p.header()
	case c == 0xEF:
		return p.s.syntaxError("the file begins with a byte order mark or no JSON value")
	}
	return p.s.syntaxError("neither an object nor an array of leaves begins")
}

func (p *parser) header() error {
	p.s.pos++
	for names := uint32(0); ; {
		member, more, err := p.s.member(headerNames, &names)
		if err != nil || !more {
			return err
		}
		absent, err := p.s.null()
		switch {
		case err != nil:
			return err
		case absent && headerRequired&(1<<member) != 0:
			return p.s.syntaxError("member %q is null", headerNames[member])
		case absent:
			continue
		}
		p.seen |= 1 << member
		if err := p.member(member); err != nil {
			return err
		}
	}
}

func (p *parser) member(member int) (err error) {
	h, name := &p.out.header, headerNames[member]
	switch member {
	case hFormat:
		p.format, err = p.identifier(name)
	case hVersion:
		p.version, err = p.s.integer(name)
	case hBatchID:
		h.BatchID, err = p.identifier(name)
	case hScopeRoot:
		p.rootText, err = p.identifier(name)
	case hScopeSize:
		h.Size, err = p.s.integer(name)
	case hNotAfter:
		h.NotAfter, err = p.s.integer(name)
	case hTrustDomain:
		h.TrustDomain, err = p.identifier(name)
	case hReason:
		h.Reason, err = p.text(name, wire.MaxReasonUnits)
	case hCreatedBy:
		h.CreatedBy, err = p.text(name, wire.MaxTextUnits)
	case hCreatedByAgent:
		h.CreatedByAgent, err = p.text(name, wire.MaxTextUnits)
	case hDelegationID:
		h.DelegationID, err = p.text(name, wire.MaxTextUnits)
	case hRequired:
		h.Required, err = p.s.integer(name)
	case hApprovals:
		err = p.list(name, func() error {
			kid, err := p.identifier(name)
			p.approvals = appendBounded(p.approvals, kid)
			return err
		})
	case hSignatures:
		err = p.list(name, p.signature)
	case hLeaves:
		err = p.leaves()
	}
	return err
}

// appendBounded keeps one element more than is allowed, enough to refuse the list.
func appendBounded[T any](list []T, element T) []T {
	if len(list) > wire.MaxSignatures {
		return list
	}
	return append(list, element)
}

func (p *parser) identifier(member string) (string, error) {
	raw, err := p.s.str(member)
	if err != nil {
		return "", err
	}
	return string(raw), p.s.checkIdentifier(raw)
}

func (p *parser) text(member string, most int) (string, error) {
	text, units, err := p.s.freeText(member)
	if units > most && p.headerErr == nil {
		p.headerErr = wire.Errorf(wire.InvalidInput, "", "%s has %d UTF-16 units; at most %d are taken", member, units, most)
	}
	return text, err
}

func (p *parser) list(member string, element func() error) error {
	c, err := p.s.next()
	if err != nil && err != io.ErrUnexpectedEOF {
		return err
	}
	if err != nil || c != '[' {
		return p.s.syntaxError("member %q is not an array", member)
	}
	p.s.pos++
	for first := true; ; first = false {
		more, err := p.s.more(first, ']')
		if err != nil || !more {
			return err
		}
		if err := element(); err != nil {
			return err
		}
	}
}

var signatureNames = []string{"kid", "sig"}

func (p *parser) signature() error {
	if err := p.s.expect('{'); err != nil {
		return err
	}
	var signature [2]string
	for names := uint32(0); ; {
		member, more, err := p.s.member(signatureNames, &names)
		if err != nil {
			return err
		}
		if !more {
			p.signatures = appendBounded(p.signatures, signature)
			return nil
		}
		if signature[member], err = p.identifier(signatureNames[member]); err != nil {
			return err
		}
	}
}

// Header gives what the file says of itself. None of it is verified.
func (p *Parsed) Header() Header { return p.header }
