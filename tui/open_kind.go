package tui

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/better-compute/approver/core/quorum"
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

// Reviewable tells whether there is anything to sign about such a file.
func (k FileKind) Reviewable() bool {
	return k == ScopeFile || k == SetFile || k == SetSignatureFile
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
	format, members := header(text)
	switch format {
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
		if members["epoch"] && members["trustDomain"] && members["setSha256"] {
			return SetSignatureFile
		}
	}
	return UnknownFile
}

// header gives the format of an object and the names of its members, as far as the text goes.
func header(text []byte) (format string, members map[string]bool) {
	members = make(map[string]bool)
	d := jsontext.NewDecoder(bytes.NewReader(text))
	if _, err := d.ReadToken(); err != nil {
		return "", members
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			break
		}
		member := name.String()
		members[member] = true
		if member != "format" || d.PeekKind() != '"' {
			if d.SkipValue() != nil {
				break
			}
			continue
		}
		value, err := d.ReadToken()
		if err != nil {
			break
		}
		format = value.String()
	}
	return format, members
}

// arrayKind takes an array of subjects or of objects that name one.
func arrayKind(text []byte) FileKind {
	rest := bytes.TrimLeft(text[1:], " \t\r\n")
	switch {
	case len(rest) == 0:
	case rest[0] == '"':
		return ExpectedFile
	case rest[0] == '{':
		if _, members := header(rest); members["subject"] {
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
