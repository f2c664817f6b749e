package tui

import (
	"context"
	"time"

	"github.com/better-compute/approver/core/ceremony"
	"github.com/better-compute/approver/core/merkle"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
)

// A Road is what the program can have done for it: all that reads, asks a token or writes. Every function blocks, ends with
// its context, and is called beside the screens, never by them.
type Road struct {
	// Open reads the file at a path and reviews it; progress may be called with a number of bytes of all.
	Open func(ctx context.Context, path string, progress func(done, all int64)) (*Opened, error)
	// Sign walks the rest of the road with what was accepted: the file unchanged, the record, the key, the signature, the file.
	// It can be called again after an error.
	Sign func(ctx context.Context, o *Opened, accepted *ceremony.Accepted, asks Asks) (*Done, error)
	// Places gives the folders where files may be: the media that are plugged in first.
	Places func(ctx context.Context) ([]Entry, error)
	// List gives what is in a folder, the one above it first.
	List func(ctx context.Context, folder string) ([]Entry, error)
	// Watch waits until a folder, or one right below it, holds something to review, and gives all that does. absent is told when
	// the folder is not there, or there again.
	Watch func(ctx context.Context, folder string, absent func(bool)) ([]Entry, error)
	// Hint gives what to try after a refusal, or "".
	Hint func(err error) string
}

// An Entry is a folder or a file in one.
type Entry struct {
	Path    string
	Name    review.Text // as it is listed
	Folder  bool
	Plugged bool  // a medium that was plugged in, or a folder on one
	Told          // of a file
	Bytes   int64 // of a file
	Changed time.Time
	Trouble string // why it cannot be told what it is, in the program's own words; or ""
}

// Asks is what Sign wants of a person meanwhile. Its functions block until there is an answer.
type Asks struct {
	PIN   func(ctx context.Context, t Token) (pin []byte, err error) // the caller of PIN wipes it
	Touch func(t Token)                                              // the token works, and may wait to be touched
}

// A Token is what a person is told of the token whose PIN is asked for, or of the key file whose passphrase is. Texts of a
// token are texts from outside.
type Token struct {
	Label, Serial review.Text // of a key file its path, and nothing
	File          bool        // a key file, which has a passphrase
	State         string      // of the PIN, in words: "one try left before the PIN locks"; empty where nothing is known
	Wrong         bool        // what was given last was wrong
	Keypad        bool        // the PIN is entered at the token
}

// Opened is a file that was read and may be signed or declined.
type Opened struct {
	Path     review.Text
	Folder   string   // that the file is in, for the picker; may be empty
	SHA256   [32]byte // of the file, as it was read
	Review   *review.Review
	RootSays string                                      // what was done about the root, in the program's own words; may be empty
	NotAfter time.Time                                   // zero where no window ends
	Decline  func(reason string) (*review.Review, error) // nil where it cannot be declined
	Leaf     func(operation, subject int) (Leaf, error)  // by their indexes in the document; nil where there are no leaves
	Key      string                                      // the key that would sign, in the program's own words; may be empty
	Out      review.Text                                 // where the signature would go
	Bar      review.Text                                 // why it can be read here and not be approved; empty where it can
	Holder   any                                         // what the road keeps for itself
}

// A Leaf is where a subject stands in the tree under the root.
type Leaf struct {
	Hash  merkle.Hash
	Size  int          // leaves of the tree
	Proof merkle.Proof // verified under the root
}

// Done is what became of what was accepted.
type Done struct {
	Written  review.Text // where the signature is
	Stdout   bool        // it went to standard output
	KID      quorum.KID
	Root     [32]byte
	Declined bool
	Record   uint64      // number in the ledger; 0 where nothing is recorded
	Ledger   review.Text // the folder
	Head     [32]byte    // of the ledger after the record
	File     []byte      // the signature file, for a QR code
}
