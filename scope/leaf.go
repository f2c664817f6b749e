package scope

import (
	"crypto/sha256"
	"io"

	"github.com/better-compute/approver/core/wire"
)

// A leaf is one leaf of the file as it was read. Its byte slices are views of an arena.
type leaf struct {
	subject []byte
	payload []byte   // the decoded value; hasPayload tells an empty one from none
	digest  [32]byte // as the file gives it, and from Verify on the one that is bound
	kind    uint32   // in Parsed.kinds
	typeURL uint32   // in Parsed.types
	index   int64    // leafIndex, or -1
	flags   leafFlags
}

type leafFlags uint8

const (
	hasPayload leafFlags = 1 << iota // payload and its type are there
	hasDigest                        // payloadSha256 is 64 digits
	hasEmpty                         // payloadSha256 is there and empty
)

// bound tells whether the leaf admits one payload only.
func (l *leaf) bound() bool { return l.flags&(hasPayload|hasDigest) != 0 }

// boundDigest gives the digest as a leaf hash covers it.
func (l *leaf) boundDigest() []byte {
	if !l.bound() {
		return nil
	}
	return l.digest[:]
}

var leafNames = []string{"subject", "kind", "payloadSha256", "payload", "leafIndex"}

const (
	lSubject = iota
	lKind
	lPayloadSHA256
	lPayload
	lLeafIndex
)

var payloadNames = []string{"typeUrl", "value"}

// leaves takes the array of leaves. Past the limit, or once one was not of its form, they are read for their syntax only:
// the file is refused, and nothing of them is kept.
func (p *parser) leaves() error {
	out := p.out
	out.leaves = make([]leaf, 0, min(max(int(min(out.header.Size, 1<<20)), 16), out.limits.leaves))
	return p.list("leaves", func() error {
		var l leaf
		if err := p.leaf(&l); err != nil {
			return err
		}
		if out.count < out.limits.leaves && out.badForm == nil {
			out.leaves = append(out.leaves, l)
			out.digests.read(out.leaves)
		}
		out.count++
		return nil
	})
}

// keep tells whether what is read of this leaf is still wanted.
func (p *parser) keep() bool { return p.out.badForm == nil && p.out.count < p.out.limits.leaves }

// malformed notes the first leaf that is not of its form.
func (p *parser) malformed(format string, args ...any) {
	if p.out.badForm == nil {
		p.out.badLeaf = p.out.count
		p.out.badForm = leafError(p.out.count, "", format, args...)
	}
}

func (p *parser) leaf(l *leaf) error {
	if err := p.s.expect('{'); err != nil {
		return err
	}
	l.index = -1
	members := leafNames
	if p.draft != nil {
		members = leafNames[:lLeafIndex] // which is not known before there is a batch
	}
	var names, present uint32
	for {
		member, more, err := p.s.member(members, &names)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		absent, err := p.s.null()
		switch {
		case err != nil:
			return err
		case absent && (member == lSubject || member == lKind):
			return p.s.syntaxError("member %q is null", leafNames[member])
		case absent:
			continue
		}
		present |= 1 << member
		if err := p.leafMember(l, member); err != nil {
			return err
		}
	}
	switch {
	case present&(1<<lSubject) == 0:
		p.malformed("member %q is missing", "subject")
	case present&(1<<lKind) == 0:
		p.malformed("member %q is missing", "kind")
	}
	if p.draft != nil {
		p.encode(l)
	}
	return nil
}

func (p *parser) leafMember(l *leaf, member int) error {
	switch member {
	case lPayload:
		return p.payload(l)
	case lLeafIndex:
		n, err := p.s.integer("leafIndex")
		l.index, p.out.placed = int64(n), true
		return err
	}
	raw, err := p.s.str(leafNames[member])
	if err != nil {
		return err
	}
	switch {
	case member == lSubject:
		if _, ok := wire.ParseSubject(raw); !ok {
			return p.badString(raw, "subject", "a node id, bmc:<site agent node id>/<address> or node:<target node id>")
		}
		if p.keep() {
			l.subject = p.arena.copy(raw)
		}
	case member == lKind:
		return p.kind(l, raw)
	case len(raw) == 0:
		l.flags |= hasEmpty
	case !decodeHex(&l.digest, raw):
		return p.badString(raw, "payloadSha256", "64 lower-case hex digits, or none")
	default:
		l.flags |= hasDigest
	}
	return nil
}

// badString is for a string that is not of its form: it may be no JSON string at all, which comes first.
func (p *parser) badString(raw []byte, member, wanted string) error {
	if err := p.s.checkIdentifier(raw); err != nil {
		return err
	}
	p.malformed("%s is %q; wanted: %s", member, shorten(raw), wanted)
	return nil
}

func (p *parser) kind(l *leaf, raw []byte) error {
	if id, ok := p.out.kinds.known(raw); ok { // read and found good before
		l.kind = id
		return nil
	}
	if !wire.IsKind(raw) {
		return p.badString(raw, "kind", `two or more parts [a-z][A-Za-z0-9_-]* joined by ".", at most 64 bytes`)
	}
	if p.keep() {
		l.kind = p.out.kinds.intern(raw)
	}
	return nil
}

// hexValues gives the value of each lower-case hex digit, and notHex of every other byte.
var hexValues = func() (t [256]byte) {
	for i := range t {
		t[i] = notHex
	}
	for i, digit := range []byte("0123456789abcdef") {
		t[digit] = byte(i)
	}
	return t
}()

const notHex = 1 << 4

func decodeHex(digest *[sha256.Size]byte, raw []byte) bool {
	if len(raw) != 2*len(digest) {
		return false
	}
	bad := byte(0)
	for i := range digest {
		high, low := hexValues[raw[2*i]], hexValues[raw[2*i+1]]
		bad |= high | low
		digest[i] = high<<4 | low
	}
	return bad < notHex
}

func (p *parser) payload(l *leaf) error {
	c, err := p.s.next()
	if err != nil && err != io.ErrUnexpectedEOF {
		return err
	}
	if err != nil || c != '{' {
		return p.s.syntaxError("member %q is not an object", "payload")
	}
	p.s.pos++
	if p.draft != nil {
		return p.draftPayload(l)
	}
	l.flags |= hasPayload
	var names uint32
	for {
		member, more, err := p.s.member(payloadNames, &names)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if err := p.payloadMember(l, member); err != nil {
			return err
		}
	}
	if names != 0b11 {
		p.malformed("payload wants both typeUrl and value")
	}
	return nil
}

func (p *parser) payloadMember(l *leaf, member int) error {
	raw, err := p.s.str(payloadNames[member])
	switch {
	case err != nil:
		return err
	case member == 0:
		return p.typeURL(l, raw)
	}
	return p.value(l, raw)
}

func (p *parser) typeURL(l *leaf, raw []byte) error {
	if id, ok := p.out.types.known(raw); ok { // read and found good before
		l.typeURL = id
		return nil
	}
	if err := p.s.checkIdentifier(raw); err != nil {
		return err
	}
	if p.keep() {
		l.typeURL = p.out.types.intern(raw)
	}
	return nil
}

func (p *parser) value(l *leaf, raw []byte) error {
	if !p.keep() {
		if _, ok := appendBase64(make([]byte, 0, len(raw)), raw); !ok {
			return p.badString(raw, "payload value", "canonical padded base64")
		}
		return nil
	}
	decoded, ok := appendBase64(p.arena.room(len(raw)/4*3), raw)
	if !ok {
		return p.badString(raw, "payload value", "canonical padded base64")
	}
	l.payload = p.arena.take(len(decoded))
	p.out.bytes += len(decoded)
	return nil
}

// An interned is a list of distinct strings, each named by its position. Few kinds and types stand in many leaves.
type interned struct {
	list []string
	ids  map[string]uint32
	last uint32 // the one that was asked for last
}

func (n *interned) known(raw []byte) (uint32, bool) {
	if int(n.last) < len(n.list) && string(raw) == n.list[n.last] {
		return n.last, true
	}
	id, ok := n.ids[string(raw)]
	if ok {
		n.last = id
	}
	return id, ok
}

func (n *interned) intern(raw []byte) uint32 {
	if n.ids == nil {
		n.ids = make(map[string]uint32)
	}
	id, text := uint32(len(n.list)), string(raw)
	n.list = append(n.list, text)
	n.ids[text] = id
	n.last = id
	return id
}

// An arena holds the bytes of many leaves in few allocations.
type arena struct{ chunk []byte }

// chunkBytes is the size of a full chunk; the first ones are smaller, for small files.
const (
	firstChunkBytes = 16 << 10
	chunkBytes      = 256 << 10
)

// room gives an empty slice with room for n bytes, which take then keeps.
func (a *arena) room(n int) []byte {
	if cap(a.chunk)-len(a.chunk) < n {
		a.chunk = make([]byte, 0, max(n, min(chunkBytes, max(2*cap(a.chunk), firstChunkBytes))))
	}
	return a.chunk[len(a.chunk):len(a.chunk):cap(a.chunk)]
}

func (a *arena) take(n int) []byte {
	from := len(a.chunk)
	a.chunk = a.chunk[:from+n]
	return a.chunk[from : from+n : from+n]
}

func (a *arena) copy(b []byte) []byte {
	copy(a.room(len(b))[:len(b)], b)
	return a.take(len(b))
}
