package main

import (
	"bytes"
	"encoding/json"

	"github.com/better-compute/approver/core/wire"
)

// kindsOfFiles names the files that people take for each other, by their member "format".
var kindsOfFiles = map[string]string{
	"better-compute-batch-scope":      "a batch scope: 'approver batch show' shows it",
	"better-compute-batch-signature":  "the signature of a batch: 'approver batch verify' judges it",
	"better-compute-batch-decline":    "a decline of a batch: 'approver batch verify' shows it",
	"better-compute-batch-approval":   "a combined approval of a batch: 'approver batch verify' judges it",
	"better-compute-approver-key":     "the proof of a key: --proof takes it",
	"better-compute-approver-set":     "an approver set file: 'approver set show' shows it",
	"better-compute-approver-ledger":  "an export of a ledger: 'approver log verify' verifies it",
	"better-compute-approver-receipt": "a receipt: 'approver log verify --receipt' takes it",
}

// mistaken replaces what a parser says of a file that is of another kind altogether: what it is helps more than the first byte
// that does not fit. wanted names what the command takes, and format is that of the parser: what is wrong within a file of that, it
// knows best.
func mistaken(path string, data []byte, format, wanted string, err error) error {
	is := ""
	var members struct {
		Format    string
		SetSHA256 *string `json:"setSha256"`
	}
	switch trimmed := bytes.TrimSpace(data); {
	case bytes.HasPrefix(trimmed, []byte("-----BEGIN PUBLIC KEY")):
		is = "a public key: --approvers and --names take it"
	case bytes.HasPrefix(trimmed, []byte("-----BEGIN")):
		is = "a PEM file, perhaps a private key"
	case json.Unmarshal(firstValue(trimmed), &members) != nil || members.Format == format:
	case kindsOfFiles[members.Format] != "":
		is = kindsOfFiles[members.Format]
	case members.Format == "" && members.SetSHA256 != nil:
		is = "a signature over an approver set: 'approver batch verify-approvers' judges it"
	}
	if is == "" || wire.CodeOf(err) != wire.InvalidInput {
		return inFile(path, err)
	}
	return wire.Errorf(wire.InvalidInput, "", "%s: it is %s; wanted: %s", path, is, wanted).With("file", path)
}

// firstValue gives the first line of what is a value a line.
func firstValue(data []byte) []byte {
	line, _, more := bytes.Cut(data, []byte("\n"))
	if more && json.Valid(line) {
		return line
	}
	return data
}
