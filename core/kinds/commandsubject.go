package kinds

import "github.com/better-compute/approver/core/wire"

// Subject gives what a command acts on, read off the command itself (the batchSubject of the platform's own primitives,
// WIRE.md §2): the node it is for, or for a relayed kind the site agent and the address, or the target, that its payload
// names. nodeID is the command's own node id, payload its value as sent. A kind that the table does not know relays
// nothing. The error is INVALID_INPUT: a node id not of its form, and for a relayed kind a payload that is not its canonical
// request (payload-unknown-fields) or names no address or target of its form (payload-subject).
func (t *Table) Subject(kind, nodeID string, payload []byte) (string, error) {
	if err := wire.CheckID("node id", nodeID); err != nil {
		return "", err
	}
	k := t.Lookup([]byte(kind))
	if k == nil || k.relayed == nil {
		return nodeID, nil
	}
	var w Walked
	if err := k.Walk(payload, &w); err != nil {
		return "", err
	}
	subject := "node:" + string(w.Relayed)
	if k.form == wire.SubjectBMC {
		subject = "bmc:" + nodeID + "/" + string(w.Relayed)
	}
	parsed, ok := wire.ParseSubject([]byte(subject))
	if !ok {
		return "", wire.Errorf(wire.InvalidInput, reasonSubject, "%s.%s of a %s is %q, which gives no subject of the form %s",
			k.plan.name, k.relayed.name, kind, w.Relayed, k.form).With("kind", kind).With("found", string(w.Relayed))
	}
	if err := k.CheckSubject(parsed, &w); err != nil {
		return "", err
	}
	return subject, nil
}
