package tui

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/scope"
)

// HeadBytes is how much of a file is read to tell what it is: all headers of files of ours fit in.
const HeadBytes = 4 << 10

// A FileKind is what a file is, as far as its beginning tells. It is a guess that costs nothing: what is opened is read by
// its own strict reader.
type FileKind uint8

// The kinds of files.
const (
	UnknownFile FileKind = iota
	ScopeFile
	SetFile
	SetSignatureFile
	BatchSignatureFile
	DeclineFile
	ApprovalFile
	ProofFile
	ExpectedFile // or a bare array of leaves, which looks alike
	PublicKeyFile
	PrivateKeyFile
)

var kindWords = [...]string{"unknown", "scope", "approver set", "approver-set signature", "batch signature", "decline", "batch approval",
	"inclusion proof", "list (expected, or bare leaves)", "public key", "private key"}

// String says in words what the file is.
func (k FileKind) String() string { return kindWords[min(int(k), len(kindWords)-1)] }

// shortKinds are the same where there is little room.
var shortKinds = [...]string{"unknown", "scope", "set", "set signature", "batch sig.", "decline", "approval", "proof", "list", "public key", "private key"}

// Reviewable tells whether there is anything to sign about such a file.
func (k FileKind) Reviewable() bool {
	return k == ScopeFile || k == SetFile || k == SetSignatureFile
}

// A Told is what a file says of itself in its head: nothing of it is proven before the file is opened.
type Told struct {
	Kind       FileKind
	Batch      review.Text // of a scope its batch id, empty where the head does not have it
	Operations uint64      // of a scope, 0 where the head does not say
	Epoch      uint64      // of a signature over a set, 0 where the head does not say
}

// Tell tells what a file is from its first bytes, at most HeadBytes of them, and what else its head says.
func Tell(head []byte) Told {
	t := Told{Kind: KindOf(head)}
	if t.Kind != ScopeFile && t.Kind != SetSignatureFile {
		return t
	}
	h := header(head[bytes.IndexByte(head, '{'):])
	if t.Kind == ScopeFile {
		t.Batch = review.Escape(h.batch)
		t.Operations = h.numbers["scopeSize"]
		return t
	}
	t.Epoch = h.numbers["epoch"]
	return t
}

// KindOf tells what a file is from its first bytes, at most HeadBytes of them.
func KindOf(head []byte) FileKind {
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	switch {
	case len(text) == 0:
		return UnknownFile
	case text[0] == '{':
		return objectKind(text)
	case text[0] == '[':
		return arrayKind(text)
	case bytes.HasPrefix(text, []byte("-----BEGIN PUBLIC KEY")):
		return PublicKeyFile
	case bytes.HasPrefix(text, []byte("-----BEGIN ")) && bytes.Contains(text[:min(len(text), 64)], []byte("PRIVATE KEY")):
		return PrivateKeyFile
	case isSubjectList(text):
		return ExpectedFile
	}
	return UnknownFile
}

// objectKind goes by the format of an object, and what else stands in its head.
func objectKind(text []byte) FileKind {
	h := header(text)
	switch h.format {
	case scope.Format:
		return ScopeFile
	case quorum.FormatBatchSignature:
		return BatchSignatureFile
	case quorum.FormatBatchDecline:
		return DeclineFile
	case quorum.FormatBatchApproval:
		return ApprovalFile
	case quorum.FormatBatchProof:
		return ProofFile
	case quorum.FormatApproverSet:
		return SetFile
	case "": // WIRE.md §5 gives a signature over a set none
		if h.members["epoch"] && h.members["trustDomain"] && h.members["setSha256"] {
			return SetSignatureFile
		}
	}
	return UnknownFile
}

// A head is what stands in the head of an object.
type head struct {
	format, batch string
	members       map[string]bool   // their names
	numbers       map[string]uint64 // those whose values are whole numbers
}

// header reads an object as far as its text goes.
func header(text []byte) head {
	h := head{members: make(map[string]bool), numbers: make(map[string]uint64)}
	d := jsontext.NewDecoder(bytes.NewReader(text))
	if _, err := d.ReadToken(); err != nil {
		return h
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			break
		}
		member := name.String()
		h.members[member] = true
		if d.PeekKind() != '"' && d.PeekKind() != '0' {
			if d.SkipValue() != nil {
				break
			}
			continue
		}
		value, err := d.ReadToken()
		if err != nil {
			break
		}
		h.take(member, value)
	}
	return h
}

func (h *head) take(member string, value jsontext.Token) {
	switch {
	case value.Kind() == '0':
		if n, err := strconv.ParseUint(value.String(), 10, 64); err == nil {
			h.numbers[member] = n
		}
	case member == "format":
		h.format = value.String()
	case member == "batchId":
		h.batch = value.String()
	}
}

// arrayKind takes an array of subjects or of objects that name one.
func arrayKind(text []byte) FileKind {
	rest := bytes.TrimLeft(text[1:], " \t\r\n")
	switch {
	case len(rest) == 0:
	case rest[0] == '"':
		return ExpectedFile
	case rest[0] == '{':
		if header(rest).members["subject"] {
			return ExpectedFile
		}
	}
	return UnknownFile
}

// isSubjectList tells whether the text is subjects, one a line. The last may have been cut short.
func isSubjectList(text []byte) bool {
	subjects := 0
	for line := range bytes.Lines(text) {
		name := bytes.Trim(line, " \t\r\n")
		if len(name) == 0 || name[0] == '#' {
			continue
		}
		if _, ok := wire.ParseSubject(name); !ok {
			return subjects > 0 && len(text) == HeadBytes && !bytes.HasSuffix(line, []byte("\n"))
		}
		subjects++
	}
	return subjects > 0
}
