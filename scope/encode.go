package scope

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/better-compute/approver/core/wire"
)

// Verified gives the stage before.
func (d *Decoded) Verified() *Verified { return d.verified }

// Encode writes the scope in the form of WIRE.md §5: compact, one leaf a line, in hash order, with the trust domain and
// the end of the window that the policy settled. Errors are those of Review about these two, and the writer's.
func (d *Decoded) Encode(w io.Writer, p Policy) error {
	v := d.verified
	t, err := v.terms(&p)
	if err != nil {
		return err
	}
	h := &v.header
	var b strings.Builder
	fmt.Fprintf(&b, `{"format":"%s","version":%d,"batchId":"%s","scopeRoot":"%s","scopeSize":%d,"notAfter":%d,"trustDomain":"%s"`,
		Format, Version, h.BatchID, v.scope.Root(), v.scope.Size(), t.notAfter, t.trustDomain)
	for _, text := range []struct{ name, value string }{
		{"reason", h.Reason}, {"createdBy", h.CreatedBy}, {"createdByAgent", h.CreatedByAgent}, {"delegationId", h.DelegationID},
	} {
		if text.value == "" {
			continue
		}
		quoted, err := json.Marshal(text.value)
		if err != nil {
			return wire.Errorf(wire.InvalidInput, "", "%s: %w", text.name, err)
		}
		fmt.Fprintf(&b, `,"%s":%s`, text.name, quoted)
	}
	if h.Required > 0 {
		fmt.Fprintf(&b, `,"required":%d`, h.Required)
	}
	encodeApprovals(&b, h)
	b.WriteString(`,"leaves":[`)
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	return d.encodeLeaves(w)
}

func encodeApprovals(b *strings.Builder, h *Header) {
	list := func(name string, n int, element func(i int)) {
		fmt.Fprintf(b, `,"%s":[`, name)
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteByte('\n')
			element(i)
		}
		if n > 0 {
			b.WriteByte('\n')
		}
		b.WriteByte(']')
	}
	list("approvals", len(h.Approvals), func(i int) { fmt.Fprintf(b, `"%s"`, h.Approvals[i]) })
	if len(h.Signatures) > 0 {
		list("signatures", len(h.Signatures), func(i int) {
			fmt.Fprintf(b, `{"kid":"%s","sig":"%s"}`, h.Signatures[i].KID, h.Signatures[i].Sig)
		})
	}
}

// encodeLeaves writes what was checked to be plain identifiers, hex and base64; a type URL of an unknown kind alone may
// hold more, and is quoted.
func (d *Decoded) encodeLeaves(w io.Writer) error {
	v := d.verified
	var line []byte
	for index := range v.scope.Size() {
		l := v.at(index)
		line = line[:0]
		if index > 0 {
			line = append(line, ',')
		}
		line = fmt.Appendf(line, "\n"+`{"leafIndex":%d,"subject":"%s","kind":"%s","payloadSha256":"%s"`,
			index, l.subject, v.names[l.kind], hex.EncodeToString(l.boundDigest()))
		if l.flags&hasPayload != 0 {
			typeURL, err := json.Marshal(v.types[l.typeURL])
			if err != nil {
				return wire.Errorf(wire.InvalidInput, "", "typeUrl: %w", err)
			}
			line = append(append(line, `,"payload":{"typeUrl":`...), typeURL...)
			line = append(base64.StdEncoding.AppendEncode(append(line, `,"value":"`...), l.payload), `"}`...)
		}
		line = append(line, '}')
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, "\n]}\n")
	return err
}
