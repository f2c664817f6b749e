package wire

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

var (
	stdStrict = base64.StdEncoding.Strict()
	urlStrict = base64.RawURLEncoding.Strict()
)

// ParseHex decodes lower-case hex of exactly size bytes. what names the field in the error, which says so where upper
// case or a 0x prefix is the trouble. The error is INVALID_INPUT.
func ParseHex(what, s string, size int) ([]byte, error) {
	switch {
	case strings.HasPrefix(s, "0x"), strings.HasPrefix(s, "0X"):
		return nil, Errorf(InvalidInput, "", "%s begins with %q; give the %d hex digits alone", what, s[:2], 2*size)
	case len(s) != 2*size:
		return nil, Errorf(InvalidInput, "", "%s has %d characters; %d lower-case hex digits are wanted", what, len(s), 2*size)
	case strings.ToLower(s) != s:
		return nil, Errorf(InvalidInput, "", "%s has upper-case digits; lower-case hex is wanted", what)
	}
	b, err := hex.DecodeString(s)
	if err != nil {
		return nil, Errorf(InvalidInput, "", "%s is not hex", what)
	}
	return b, nil
}

// ParseBase64 decodes standard base64, padded and canonical. The error is INVALID_INPUT.
func ParseBase64(what, s string) ([]byte, error) {
	return parseBase64(stdStrict, what, "padded base64", s)
}

// ParseBase64URL decodes base64url, unpadded and canonical. The error is INVALID_INPUT.
func ParseBase64URL(what, s string) ([]byte, error) {
	return parseBase64(urlStrict, what, "unpadded base64url", s)
}

func parseBase64(enc *base64.Encoding, what, form, s string) ([]byte, error) {
	if strings.ContainsAny(s, "\r\n") { // encoding/base64 passes over them even when strict
		return nil, Errorf(InvalidInput, "", "%s has a line break; canonical %s is wanted", what, form)
	}
	b, err := enc.DecodeString(s)
	if err != nil {
		return nil, Errorf(InvalidInput, "", "%s is not canonical %s", what, form)
	}
	return b, nil
}

// EncodeBase64URL encodes as base64url without padding.
func EncodeBase64URL(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// Pin gives the pin of a public key, "sha256/" and the base64 of the SHA-256 of its SPKI DER (WIRE.md §1).
func Pin(spkiDER []byte) string {
	sum := sha256.Sum256(spkiDER)
	return "sha256/" + base64.StdEncoding.EncodeToString(sum[:])
}

// Stamp gives a time in Unix milliseconds as a person and a program read it: "2100-01-01 00:00:00 UTC (4102444800000)".
func Stamp(ms uint64) string {
	return time.UnixMilli(int64(min(ms, MaxInteger))).UTC().Format("2006-01-02 15:04:05 UTC") + " (" + strconv.FormatUint(ms, 10) + ")"
}

// CheckReason checks a reason that is to be signed or written: UTF-8 of 1 to 500 UTF-16 units (WIRE.md §5). The error is
// INVALID_INPUT.
func CheckReason(reason string) error {
	if !utf8.ValidString(reason) {
		return Errorf(InvalidInput, "", "the reason is not UTF-8")
	}
	if units := len(utf16.Encode([]rune(reason))); units < 1 || units > MaxReasonUnits {
		return Errorf(InvalidInput, "", "the reason has %d UTF-16 units; wanted: 1 to %d", units, MaxReasonUnits)
	}
	return nil
}
