package ledger

import (
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// An Outcome is how a review ended.
type Outcome string

// The outcomes.
const (
	Signed   Outcome = "signed"
	Declined Outcome = "declined" // by a signature for batch-decline
	Refused  Outcome = "refused"  // by the program: an error, or a stop
)

// What is the kind of thing that was reviewed.
type What string

// The kinds of things.
const (
	WhatBatch What = "batch"
	WhatSet   What = "approver-set"
)

// ticks tells whether the time of an entry is one that later ones may not be before: that of the system's clock, for what was
// signed or declined. A refusal has whatever the clock showed, since it may be why; a time by hand is no clock.
func (e *Entry) ticks() bool { return e.Outcome != Refused && e.Clock == ClockSystem }

// A Clock says where a time came from.
type Clock string

// The clocks.
const (
	ClockSystem Clock = "system"
	ClockByHand Clock = "by-hand" // --now
)

// An Entry is what the caller knows of a review that ended. Texts may hold anything: they are data, and whoever shows them
// escapes them. Bytes of them that are not UTF-8 are recorded as U+FFFD.
type Entry struct {
	At       uint64 // Unix milliseconds, at most 2^53-1
	Clock    Clock
	Outcome  Outcome
	What     What
	Command  string            // such as "batch sign": a-z, hyphens and spaces, at most 64 bytes
	Refusal  *Refusal          // of Refused and only there
	File     *File             // nil where no file was read
	Batch    *Batch            // of WhatBatch; nil only where a refused file did not say it in form
	Set      *SetChange        // of WhatSet; nil only where a refused file did not say it in form
	Findings []string          // rule ids in the order they were shown, at most 256
	Policy   map[string]string // the settings in force, by name ([a-z][a-zA-Z0-9._-]*, at most 64 bytes), at most 256
	Key      *Key              // of Signed and Declined; of Refused where a key was known
	Program  Program
	Reason   string // of Declined and only there, 1 to 500 UTF-16 units
}

// A Refusal is the code and the reason of the error that ended a review; the reason may be empty.
type Refusal struct {
	Code   wire.Code
	Reason string
}

// RefusalOf takes code and reason of an error. One without a code is an IO_ERROR, as the command shows it.
func RefusalOf(err error) *Refusal {
	code := wire.CodeOf(err)
	if code == "" {
		code = wire.IOError
	}
	return &Refusal{code, wire.ReasonOf(err)}
}

// A File is the file that was reviewed, by what was read of it.
type File struct {
	SHA256 Hash
	Size   uint64 // bytes
}

// A Batch is the batch that was reviewed. Of a Refused these are the file's claims, and TrustDomain may be empty.
type Batch struct {
	ID          string
	Root        Hash
	Size        uint64 // leaves, 1 to 50,000
	NotAfter    uint64 // Unix milliseconds
	TrustDomain string
	Unchecked   bool // a bare root that nobody reviewed
}

// A SetChange is the approver-set change that was reviewed. Of a Refused these are claims, and TrustDomain may be empty.
type SetChange struct {
	Epoch       uint64 // 1 to 2^53-1
	Digest      Hash
	TrustDomain string
}

// A Key is the approver's key, and the token it is on. Label and serial are empty, and Module nil, for a key in a file.
type Key struct {
	KID         quorum.KID
	TokenLabel  string
	TokenSerial string
	Module      *Hash // SHA-256 of the PKCS#11 module
}

// A Program is the program that made a record.
type Program struct {
	Version string
	SHA256  Hash // of its binary
}
