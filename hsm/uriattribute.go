package hsm

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/better-compute/approver/core/wire"
)

// A uriAttribute is one attribute of RFC 7512, section 2.3: how its decoded value is checked and brought to one form.
type uriAttribute struct {
	name   string
	prefix string // what String writes before the value
	read   func(value string) (string, error)
}

// The bounds of texts are those of the fields of CK_INFO, CK_SLOT_INFO and CK_TOKEN_INFO that they are compared with.
var pathAttributes = []uriAttribute{
	{name: "token", read: upTo(32)},
	{name: "manufacturer", read: upTo(32)},
	{name: "serial", read: upTo(16)},
	{name: "model", read: upTo(16)},
	{name: "library-manufacturer", read: upTo(32)},
	{name: "library-description", read: upTo(32)},
	{name: "library-version", read: readVersion},
	{name: "slot-id", read: readSlotID},
	{name: "slot-description", read: upTo(64)},
	{name: "slot-manufacturer", read: upTo(32)},
	{name: "object", read: readObject},
	{name: "type", read: readType},
	{name: "id", read: readID},
}

var queryAttributes = []uriAttribute{
	{name: "pin-source", prefix: "file://", read: readPINSource},
	{name: "module-path", read: readModulePath},
	{name: "pin-value", read: func(string) (string, error) {
		return "", errors.New("a PIN in an argument is a PIN that others can see; use a PIN file, a descriptor or the prompt")
	}},
	{name: "module-name", read: func(string) (string, error) {
		return "", wire.Errorf(wire.Unsupported, "", "only module-path, an absolute path, is read")
	}},
}

func upTo(n int) func(string) (string, error) {
	return func(value string) (string, error) {
		if len(value) > n || !utf8.ValidString(value) {
			return "", fmt.Errorf("wanted: UTF-8 of at most %d bytes", n)
		}
		return value, nil
	}
}

func readObject(value string) (string, error) {
	if value == "" {
		return "", errors.New("it is empty")
	}
	return upTo(MaxURIBytes)(value)
}

func readID(value string) (string, error) {
	if value == "" {
		return "", errors.New("it is empty")
	}
	return value, nil
}

func readType(value string) (string, error) {
	if value != "private" {
		return "", errors.New(`only "private" can sign`)
	}
	return value, nil
}

func readSlotID(value string) (string, error) {
	n, err := strconv.ParseUint(value, 10, strconv.IntSize)
	if err != nil {
		return "", errors.New("wanted: decimal digits")
	}
	return strconv.FormatUint(n, 10), nil
}

func readVersion(value string) (string, error) {
	major, minor, found := strings.Cut(value, ".")
	if !found {
		minor = "0"
	}
	m, err := strconv.ParseUint(major, 10, 8)
	n, err2 := strconv.ParseUint(minor, 10, 8)
	if err != nil || err2 != nil {
		return "", errors.New("wanted: major.minor, each up to 255")
	}
	return fmt.Sprintf("%d.%d", m, n), nil
}

// readPINSource takes file:/path and file:///path. A "%" that is left after the URI's own decoding could be a second
// encoding or a character of the name, so it is refused.
func readPINSource(value string) (string, error) {
	path, found := strings.CutPrefix(value, "file:")
	if rest, authority := strings.CutPrefix(path, "//"); authority {
		path = rest
	}
	if !found || strings.ContainsAny(path, "%\x00") || !filepath.IsAbs(path) {
		return "", errors.New("wanted: file: and an absolute path; programs are not run for a PIN")
	}
	return path, nil
}

func readModulePath(value string) (string, error) {
	if strings.ContainsRune(value, 0) || !filepath.IsAbs(value) {
		return "", errors.New("wanted: an absolute path")
	}
	return value, nil
}

// Characters that may stand for themselves beside the unreserved ones (RFC 7512, section 2.3: pk11-path-res-avail and
// pk11-query-res-avail).
const (
	resAvail      = ":[]@!$'()*+,="
	pathReserved  = resAvail + "&"
	queryReserved = resAvail + "/?|"
)

func isUnreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
}

// unescape decodes a value, in which only unreserved characters and those of reserved stand for themselves.
func unescape(s, reserved string) (string, error) {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case isUnreserved(c) || strings.IndexByte(reserved, c) >= 0:
			b = append(b, c)
		case c == '%' && i+2 < len(s):
			n, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
			if err != nil {
				return "", errors.New(`"%" without two hex digits`)
			}
			b = append(b, byte(n))
			i += 2
		default:
			return "", fmt.Errorf("byte %d of the value has to be written as %% and two hex digits", i+1)
		}
	}
	return string(b), nil
}

func escape(b *strings.Builder, value string, every bool) {
	for i := range len(value) {
		if c := value[i]; isUnreserved(c) && !every {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(b, "%%%02X", c)
		}
	}
}
