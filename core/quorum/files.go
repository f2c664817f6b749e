package quorum

import (
	"bytes"

	"github.com/go-json-experiment/json"

	"github.com/better-compute/approver/core/wire"
)

// The formats of the files of this package, each in its first version (WIRE.md §5).
const (
	FormatBatchSignature = "better-compute-batch-signature"
	FormatBatchDecline   = "better-compute-batch-decline"
	FormatBatchApproval  = "better-compute-batch-approval"
	FormatBatchProof     = "better-compute-batch-proof"
	FormatApproverKey    = "better-compute-approver-key"
	FormatApproverSet    = "better-compute-approver-set"
	fileVersion          = 1
)

// Missing says that a member which must be there is not.
func missing(what, member string) error {
	return wire.Errorf(wire.InvalidInput, "", "%s: member %q is missing", what, member)
}

func checkHeader(what, wantFormat string, format *string, version *uint64) error {
	switch {
	case format == nil:
		return missing(what, "format")
	case *format != wantFormat:
		return wire.Errorf(wire.InvalidInput, "", "%s: format is %q, wanted: %q", what, *format, wantFormat)
	case version == nil:
		return missing(what, "version")
	case *version != fileVersion:
		return wire.Errorf(wire.InvalidInput, "", "%s: version %d; this build reads version %d", what, *version, fileVersion)
	}
	return nil
}

func encodeLine(v any) []byte {
	line, err := json.Marshal(v)
	if err != nil {
		panic("quorum: a file of ours does not encode: " + err.Error())
	}
	return append(line, '\n')
}

// encodeList gives compact JSON members with the elements of an array one a line; it is how the files of WIRE.md §5 are
// laid out.
func encodeList[T any](elements []T) []byte {
	if len(elements) == 0 {
		return []byte("[]")
	}
	b := []byte("[")
	for i, e := range elements {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '\n')
		b = append(b, bytes.TrimSuffix(encodeLine(e), []byte("\n"))...)
	}
	return append(b, "\n]"...)
}

// closeWithList adds a last member, a list that encodeList gave, to an object that encodeLine gave.
func closeWithList(object []byte, member string, list []byte) []byte {
	b := append(bytes.TrimSuffix(object, []byte("}\n")), `,"`+member+`":`...)
	return append(append(b, list...), "}\n"...)
}
