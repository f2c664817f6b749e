package wire

import (
	"bytes"
	"net/netip"
)

const idForm = `1 to 128 of A-Z a-z 0-9 _ - ., the first a letter or digit`

// IsID tells whether s has the form of a batch id, command id or node id (WIRE.md §2).
func IsID[T ~string | ~[]byte](s T) bool {
	if len(s) == 0 || len(s) > MaxIDBytes || !isAlnum(s[0]) {
		return false
	}
	for i := 1; i < len(s); i++ {
		if c := s[i]; !isAlnum(c) && c != '_' && c != '-' && c != '.' {
			return false
		}
	}
	return true
}

// CheckID is IsID as an INVALID_INPUT that names the field and the wanted form.
func CheckID(what, s string) error {
	if IsID(s) {
		return nil
	}
	return Errorf(InvalidInput, "", "%s is %q; wanted: %s", what, s, idForm)
}

// IsKind tells whether s has the form of a kind: parts [a-z][A-Za-z0-9_-]* joined by ".", at least two, at most 64 bytes.
func IsKind[T ~string | ~[]byte](s T) bool {
	if len(s) == 0 || len(s) > MaxKindBytes {
		return false
	}
	parts, start := 1, true
	for i := range len(s) {
		switch c := s[i]; {
		case start:
			if c < 'a' || c > 'z' {
				return false
			}
			start = false
		case c == '.':
			parts++
			start = true
		case !isAlnum(c) && c != '_' && c != '-':
			return false
		}
	}
	return parts >= 2 && !start
}

// IsTrustDomain tells whether s has the form of a trust domain: a-z 0-9 . - _, 1 to 255 bytes.
func IsTrustDomain[T ~string | ~[]byte](s T) bool {
	if len(s) == 0 || len(s) > MaxDomainBytes {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '.' && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// CheckTrustDomain is IsTrustDomain as an INVALID_INPUT.
func CheckTrustDomain(what, s string) error {
	if IsTrustDomain(s) {
		return nil
	}
	return Errorf(InvalidInput, "", "%s is %q; wanted: 1 to 255 of a-z 0-9 . - _", what, s)
}

// A SubjectForm is one of the three forms a subject takes (WIRE.md §2).
type SubjectForm uint8

// The forms; a SubjectForm of zero is none.
const (
	SubjectNode   SubjectForm = iota + 1 // a node id
	SubjectBMC                           // bmc:<site agent node id>/<address>
	SubjectTarget                        // node:<target node id>
)

// String gives the form as a person would write it.
func (f SubjectForm) String() string {
	switch f {
	case SubjectNode:
		return "<node id>"
	case SubjectBMC:
		return "bmc:<site agent node id>/<address>"
	case SubjectTarget:
		return "node:<target node id>"
	}
	return "none"
}

// A Subject is what a command acts on, taken apart. Its parts are views of the text it was read from.
type Subject struct {
	Form   SubjectForm
	Node   []byte // the node itself, the site agent, or the target
	Target []byte // the address of a BMC, or the target node id; nil for a plain node
}

// ParseSubject takes a subject apart. ok is false where it has none of the three forms or is over 512 bytes. It
// allocates only for a bare or bracketed IPv6 address.
func ParseSubject(b []byte) (s Subject, ok bool) {
	if len(b) > MaxSubjectBytes {
		return Subject{}, false
	}
	if rest, found := bytes.CutPrefix(b, []byte("bmc:")); found {
		agent, address, found := bytes.Cut(rest, []byte("/"))
		if !found || !IsID(agent) || !IsAddress(address) {
			return Subject{}, false
		}
		return Subject{SubjectBMC, agent, address}, true
	}
	if target, found := bytes.CutPrefix(b, []byte("node:")); found {
		return Subject{SubjectTarget, target, target}, IsID(target)
	}
	return Subject{SubjectNode, b, nil}, IsID(b)
}

// IsAddress tells whether b has the form of a BMC address (WIRE.md §2): dotted IPv4 without leading zeros, IPv6 in RFC
// 5952 form (bracketed, or bare without a port), or a DNS name; each but a bare IPv6 may end in ":" and a port.
func IsAddress(b []byte) bool {
	if len(b) == 0 {
		return false
	}
	if b[0] == '[' {
		end := bytes.IndexByte(b, ']')
		return end > 0 && isIPv6(b[1:end]) && (end+1 == len(b) || b[end+1] == ':' && isPort(b[end+2:]))
	}
	host, port, hasPort := bytes.Cut(b, []byte(":"))
	if hasPort && bytes.IndexByte(port, ':') >= 0 || bytes.HasPrefix(b, []byte("::")) {
		return isIPv6(b)
	}
	if hasPort && !isPort(port) {
		return false
	}
	return isIPv4(host) || isDNSName(host)
}

// isIPv6 tells whether b is an IPv6 address exactly as RFC 5952 writes it; no zone, not IPv4-mapped.
func isIPv6(b []byte) bool {
	if len(b) > 39 {
		return false
	}
	a, err := netip.ParseAddr(string(b))
	return err == nil && a.Is6() && !a.Is4In6() && a.Zone() == "" && a.String() == string(b)
}

func isIPv4(b []byte) bool {
	octets := 0
	for {
		octet, rest, more := bytes.Cut(b, []byte("."))
		if n, ok := smallNumber(octet, 3); !ok || n > 255 {
			return false
		}
		octets++
		if !more {
			return octets == 4
		}
		b = rest
	}
}

func isPort(b []byte) bool {
	n, ok := smallNumber(b, 5)
	return ok && n >= 1 && n <= 65535
}

// smallNumber reads 1 to digits decimal digits without a leading zero.
func smallNumber(b []byte, digits int) (n int, ok bool) {
	if len(b) == 0 || len(b) > digits || b[0] == '0' && len(b) > 1 {
		return 0, false
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return n, true
}

func isDNSName(b []byte) bool {
	if len(b) > MaxDNSNameBytes {
		return false
	}
	for {
		label, rest, more := bytes.Cut(b, []byte("."))
		if !isDNSLabel(label) {
			return false
		}
		if !more { // the last label begins with a letter, so no IPv4 address in disguise
			return isLetter(label[0])
		}
		b = rest
	}
}

func isDNSLabel(b []byte) bool {
	if len(b) == 0 || len(b) > 63 || b[0] == '-' || b[len(b)-1] == '-' {
		return false
	}
	for _, c := range b {
		if !isAlnum(c) && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isAlnum(c byte) bool  { return isLetter(c) || c >= '0' && c <= '9' }
