package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// chainContext begins what a head of the chain covers, so that a head is the SHA-256 of nothing else in the system.
const chainContext = "better-compute/approver-ledger/v1"

// A Hash is a SHA-256: a head of the chain, the digest of a file, of a set or of a binary, or a root.
type Hash [sha256.Size]byte

// String gives 64 digits of lower-case hex.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText gives the hex.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// A Head is where a ledger stands: the seq of its newest record and the hash over all of them. The zero Head is that of a
// ledger without records.
type Head struct {
	Seq  uint64 `json:"seq"`
	Hash Hash   `json:"hash"`
}

// Words gives the hash in 32 words, to be read aloud and written down (review.Words).
func (h Head) Words() []string { return review.Words(h.Hash[:]) }

// after gives the head after a record: SHA-256(lp(context) ‖ head before ‖ lp(record bytes)).
func (h Head) after(record []byte) Head {
	b := make([]byte, 0, 4+len(chainContext)+len(h.Hash)+4+len(record))
	b = append(wire.AppendLP(b, chainContext), h.Hash[:]...)
	return Head{h.Seq + 1, sha256.Sum256(wire.AppendLP(b, record))}
}

// ParseHash reads a head as a person wrote it down: 64 digits of lower-case hex, or its 32 words in any letter case, with
// white space or commas between. The error is INVALID_INPUT and names the word that is none.
func ParseHash(text string) (Hash, error) {
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n,", r) })
	if len(words) == 1 {
		b, err := wire.ParseHex("the head", words[0], sha256.Size)
		if err != nil {
			return Hash{}, err
		}
		return Hash(b), nil
	}
	if len(words) != sha256.Size {
		return Hash{}, wire.Errorf(wire.InvalidInput, "", "the head has %d words; 32 are wanted, or 64 hex digits", len(words))
	}
	var h Hash
	for i, word := range words {
		c, ok := byteOf(i, word)
		if !ok {
			return Hash{}, wire.Errorf(wire.InvalidInput, "", "word %d of the head, %q, is none that can stand there", i+1, word)
		}
		h[i] = c
	}
	return h, nil
}

// byteOf finds the byte whose word at a position this is.
func byteOf(position int, word string) (byte, bool) {
	list := make([]byte, 0, 512)
	for c := range 256 {
		list = append(list, byte(c), byte(c)) // an even and an odd position each
	}
	words := review.Words(list)
	for c := range 256 {
		if strings.EqualFold(words[2*c+position%2], word) {
			return byte(c), true
		}
	}
	return 0, false
}
