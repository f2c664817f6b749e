package main

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/better-compute/approver/core/approvers"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// checkReviewedSet refuses another set than the one that was reviewed: between two calls files may change.
func checkReviewedSet(reviewed string, set *quorum.Set) error {
	if reviewed == "" {
		return nil
	}
	wanted, err := wire.ParseHex("--digest", reviewed, 32)
	if err != nil {
		return err
	}
	if digest := set.Digest(); !bytes.Equal(wanted, digest[:]) {
		return wire.Errorf(wire.ScopeChanged, "", "the new set is %x, the one that was reviewed is %x", digest, wanted).
			With("computed", fmt.Sprintf("%x", digest)).With("reviewed", reviewed)
	}
	return nil
}

// inFile puts the name of the file that a refusal is about before it: what a change counts, the command read from somewhere.
func (f *approversFlags) inFile(err error) error {
	e, ok := errors.AsType[*wire.Error](err)
	if !ok {
		return err
	}
	for detail, paths := range map[string][]string{"signature": f.from, "proof": f.next.proven} {
		if i, ok := e.Details[detail].(int); ok && i < len(paths) {
			return inFile(paths[i], err)
		}
	}
	return err
}

// again adds to the refusal of what was signed already which set file gives the signature back.
func (f *approversFlags) again(err error) error {
	e, ok := errors.AsType[*wire.Error](err)
	if !ok || e.Reason != "already-approved" {
		return err
	}
	if e = e.With("set", "FILE"); f.next.file {
		e = e.With("set", f.next.paths[0])
	}
	if f.state != "" {
		e = e.With("state", f.state)
	}
	return e
}

// checkSigner refuses a key whose signature nobody would count: one of neither set. What is not known passes.
func checkSigner(c *approvers.Change, key quorum.PublicKey) error {
	if c.Current == nil || key.IsZero() {
		return nil
	}
	for _, set := range []*quorum.Set{c.Current, c.Next} {
		if _, ok := set.Key(key.KID()); ok {
			return nil
		}
	}
	return wire.Errorf(wire.KeyUnavailable, "key-mismatch", "key %s is in neither set: its signature would count nowhere", key.KID())
}
