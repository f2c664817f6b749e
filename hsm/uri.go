package hsm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/better-compute/approver/core/wire"
)

// MaxURIBytes is the length of the longest pkcs11: URI that is read.
const MaxURIBytes = 4096

// A URI names a key on a token, as RFC 7512 writes it. Only ParseURI makes one that names anything.
//
//	pkcs11:token=approver;serial=0a1b;object=k256;type=private?pin-source=file:/run/pin&module-path=/usr/lib/p11.so
//
// Path attributes narrow the search and join with ";", query attributes say how and join with "&". A value is printable
// ASCII with every other byte as % and two hex digits; "+" is a plus. Read are, from the path: token, manufacturer,
// serial, model, library-manufacturer, library-description, library-version, slot-id, slot-description,
// slot-manufacturer, object, type (which can only be "private") and id; from the query: pin-source (file: with an
// absolute path) and module-path (absolute). Everything else is refused: an attribute nobody acts on may be the one that
// told two keys apart.
type URI struct {
	path, query map[string]string // decoded values by attribute name, in canonical form
	warnings    []string
}

// IsURI tells whether s is a pkcs11: URI, good or bad, rather than the path of a key file. The scheme's letters may have
// either case (RFC 3986, section 3.1).
func IsURI(s string) bool { return len(s) >= len(scheme) && strings.EqualFold(s[:len(scheme)], scheme) }

const scheme = "pkcs11:"

// ParseURI reads a pkcs11: URI of at most MaxURIBytes with at least one path attribute. Errors are INVALID_INPUT (or
// UNSUPPORTED for module-name) and never repeat a value, which may be a PIN in the wrong place.
func ParseURI(s string) (URI, error) {
	if !IsURI(s) || len(s) > MaxURIBytes {
		return URI{}, wire.Errorf(wire.InvalidInput, "", "not a pkcs11: URI of at most %d bytes", MaxURIBytes)
	}
	pathText, queryText, hasQuery := strings.Cut(s[len(scheme):], "?")
	u := URI{path: make(map[string]string), query: make(map[string]string)}
	if pathText == "" {
		return URI{}, wire.Errorf(wire.InvalidInput, "", "the pkcs11: URI names nothing; wanted: at least a token or an object")
	}
	for i, part := range strings.Split(pathText, ";") {
		if err := u.add(u.path, pathAttributes, pathReserved, i, part); err != nil {
			return URI{}, err
		}
	}
	if !hasQuery {
		return u, nil
	}
	for i, part := range strings.Split(queryText, "&") {
		if err := u.add(u.query, queryAttributes, queryReserved, i, part); err != nil {
			return URI{}, err
		}
	}
	return u, nil
}

// add reads one name=value, the i-th of its component, into values.
func (u *URI) add(values map[string]string, known []uriAttribute, reserved string, i int, part string) error {
	name, raw, found := strings.Cut(part, "=")
	if !found {
		return wire.Errorf(wire.InvalidInput, "", "attribute %d of the pkcs11: URI is not of the form name=value", i+1)
	}
	at := slices.IndexFunc(known, func(a uriAttribute) bool { return a.name == name })
	if at < 0 {
		return wire.Errorf(wire.InvalidInput, "", "the pkcs11: URI has %q, which is no attribute that is read there", name)
	}
	if _, doubled := values[name]; doubled {
		return wire.Errorf(wire.InvalidInput, "", "the pkcs11: URI has %q twice", name)
	}
	value, err := unescape(raw, reserved)
	if err == nil {
		value, err = known[at].read(value)
	}
	if err != nil {
		code := wire.CodeOf(err)
		if code == "" {
			code = wire.InvalidInput
		}
		return wire.Errorf(code, "", "%s in the pkcs11: URI: %w", name, err)
	}
	values[name] = value
	if name == "id" && strings.Count(raw, "%")*3 != len(raw) {
		u.warnings = append(u.warnings, fmt.Sprintf(
			"id in the pkcs11: URI has characters without %%, which stand for themselves: it is the bytes %x; "+
				"for a byte in hex write %% before it, as in id=%%01", value))
	}
	return nil
}

// IsZero tells whether u names nothing.
func (u URI) IsZero() bool { return len(u.path) == 0 }

// Object gives the label of the key that the URI names (RFC 7512, object), or "".
func (u URI) Object() string { return u.path["object"] }

// ModulePath gives the absolute path of the PKCS#11 library, or "" where the URI has none.
func (u URI) ModulePath() string { return u.query["module-path"] }

// PINFile gives the absolute path of the PIN file, or "" where the URI has none. It is read by PINFile like any other.
func (u URI) PINFile() string { return u.query["pin-source"] }

// Warnings gives what is well formed but hardly what was meant, each a sentence for a person.
func (u URI) Warnings() []string { return slices.Clone(u.warnings) }

// String gives the URI in one form whatever it was read from: attributes in the order of the table, all but unreserved
// characters as % and upper-case hex, and every byte of an id so.
func (u URI) String() string {
	var b strings.Builder
	b.WriteString(scheme)
	join := func(values map[string]string, known []uriAttribute, separator string, first string) {
		for _, a := range known {
			value, given := values[a.name]
			if !given {
				continue
			}
			b.WriteString(first)
			first = separator
			b.WriteString(a.name + "=" + a.prefix)
			escape(&b, value, a.name == "id")
		}
	}
	join(u.path, pathAttributes, ";", "")
	join(u.query, queryAttributes, "&", "?")
	return b.String()
}

// matchesToken tells whether the token is the one the URI names, as far as CK_TOKEN_INFO says.
func (u URI) matchesToken(slot SlotID, r TokenRecord) bool {
	return u.is("token", r.Label) && u.is("manufacturer", r.Manufacturer) && u.is("serial", r.Serial) &&
		u.is("model", r.Model) && u.is("slot-id", fmt.Sprint(uint(slot)))
}

// namesSlot and namesLibrary tell whether CK_SLOT_INFO and CK_INFO have to be looked at.
func (u URI) namesSlot() bool { return u.has("slot-description") || u.has("slot-manufacturer") }
func (u URI) namesLibrary() bool {
	return u.has("library-manufacturer") || u.has("library-description") || u.has("library-version")
}

func (u URI) matchesSlot(i SlotInfo) bool {
	return u.is("slot-description", i.Description) && u.is("slot-manufacturer", i.Manufacturer)
}

func (u URI) matchesLibrary(i LibraryInfo) bool {
	return u.is("library-manufacturer", i.Manufacturer) && u.is("library-description", i.Description) &&
		u.is("library-version", fmt.Sprintf("%d.%d", i.Major, i.Minor))
}

func (u URI) has(name string) bool {
	_, given := u.path[name]
	return given
}

// is tells whether the URI leaves the attribute open or gives it this value.
func (u URI) is(name, value string) bool {
	want, given := u.path[name]
	return !given || want == value
}
