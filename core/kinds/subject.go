package kinds

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/better-compute/approver/core/wire"
)

const reasonSubject = "payload-subject"

// CheckSubjectForm checks that a subject has the form of the kind (WIRE.md §2). It is the whole check for a leaf without
// a payload. The error is INVALID_INPUT with the reason payload-subject, and names the wanted form.
func (k *Kind) CheckSubjectForm(s wire.Subject) error {
	if s.Form == k.form {
		return nil
	}
	return wire.Errorf(wire.InvalidInput, reasonSubject, "the subject of a %s has the form %s; wanted: %s", k.name, s.Form, k.form).
		With("kind", k.name).With("wanted", k.form.String())
}

// CheckSubject checks a payload that Walk accepted against its subject (WIRE.md §2 and §7): the subject has the form of
// the kind, a relayed address or target is the one the subject names, and a bmc.* payload carries the operation of its
// kind. The error is INVALID_INPUT with the reason payload-subject, and names the wanted form, address or operation.
func (k *Kind) CheckSubject(s wire.Subject, w *Walked) error {
	if err := k.CheckSubjectForm(s); err != nil {
		return err
	}
	if k.relayed != nil && !bytes.Equal(w.Relayed, s.Target) {
		return wire.Errorf(wire.InvalidInput, reasonSubject, "%s.%s of a %s is %q, but its subject (%s) names %q",
			k.plan.name, k.relayed.name, k.name, w.Relayed, k.form, s.Target).
			With("kind", k.name).With("wanted", string(s.Target)).With("found", string(w.Relayed))
	}
	if k.operation != nil && w.Operation != k.operation.number {
		found := k.operationName(w.Operation)
		return wire.Errorf(wire.InvalidInput, reasonSubject, "the payload of a %s carries the operation %s; wanted: %s",
			k.name, found, k.operation.name).
			With("kind", k.name).With("wanted", k.operation.name).With("found", found)
	}
	return nil
}

func (k *Kind) operationName(n protowire.Number) string {
	if f := k.plan.byNumber(n); f != nil {
		return f.name
	}
	return "none"
}
