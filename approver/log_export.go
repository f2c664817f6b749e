package main

import (
	"bytes"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/ledger"
	"github.com/better-compute/approver/core/merkle"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

func (a *app) logExportCommand() *cobra.Command {
	var state, out string
	c := &cobra.Command{
		Use:   "export",
		Short: "Write the whole ledger as lines of JSON",
		Long: `export writes every record of the ledger, one a line, for whoever audits it: 'log verify FILE' verifies it, and so does any
program that follows the page of the format. It holds which machines were acted on only as digests.`,
		Example: "  approver log export --out alice.ledger",
		Args:    noArguments,
		RunE:    func(*cobra.Command, []string) error { return a.exportLog(state, out) },
	}
	registerState(c, &state)
	c.Flags().StringVar(&out, "out", "", "write it to `FILE` (default: standard output); nothing is overwritten")
	return c
}

func (a *app) exportLog(state, out string) (err error) {
	if err := probe(out); err != nil {
		return err
	}
	l, err := a.readLedger(state)
	if err != nil {
		return err
	}
	defer l.Close()
	if out == "" {
		var b bytes.Buffer
		if err := l.Export(&b); err != nil {
			return err
		}
		return a.print(b.Bytes())
	}
	stream, err := beginStream(out, l.Export, func(r io.Reader) error {
		_, err := ledger.VerifyExport(r)
		return err
	})
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			stream.undo()
		}
	}()
	if err = stream.commit(); err != nil {
		return err
	}
	a.tellWritten(out)
	return nil
}

func (a *app) logSignatureCommand() *cobra.Command {
	var state, out, set string
	c := &cobra.Command{
		Use:   "signature SEQ",
		Short: "Write the signature of a record once more",
		Long: `signature writes the file of a signature or decline that the ledger holds, as the command that made it wrote it, or should have:
where the power went between the record and the file, this gets it. Nothing is signed. For a change of the approver set it
needs the set itself, --set; the record has its digest.`,
		Example: "  approver log signature 12 --out sig.json\n  approver log signature 13 --set next.json --out alice.set-sig.json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("the number of one record is wanted; 'log show' has them")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			seq, err := strconv.ParseUint(args[0], 10, 64)
			if err != nil || seq == 0 || !isDecimal(args[0]) {
				return usage("the number of a record is wanted; 'log show' has them")
			}
			return a.logSignature(state, seq, set, out)
		},
	}
	registerState(c, &state)
	c.Flags().StringVar(&set, "set", "", "`FILE` of the set that was signed, for a change of the approver set")
	c.Flags().StringVar(&out, "out", "", "write it to `FILE` (default: standard output); nothing is overwritten")
	return c
}

func (a *app) logSignature(state string, seq uint64, setPath, out string) error {
	if err := probe(out); err != nil {
		return err
	}
	l, err := a.readLedger(state)
	if err != nil {
		return err
	}
	defer l.Close()
	record, err := recordAt(l, seq)
	if err != nil {
		return err
	}
	file, err := signedFile(record, setPath)
	if err != nil {
		return err
	}
	if out == "" {
		return a.print(file.Encode())
	}
	if err := durable.WriteFile(out, file.Encode(), 0o644); err != nil {
		return err
	}
	a.tellWritten(out)
	return nil
}

func recordAt(l *ledger.Ledger, seq uint64) (*ledger.Record, error) {
	head, err := l.Head()
	if err != nil {
		return nil, err
	}
	if seq <= head.Seq {
		for record, err := range l.Records(seq) {
			return record, err
		}
	}
	return nil, wire.Errorf(wire.NotFound, "", "the ledger has no record %d; its newest is %d", seq, head.Seq)
}

// signedFile makes the file of a record's signature again.
func signedFile(r *ledger.Record, setPath string) (quorum.SignedFile, error) {
	if r.Signature == nil {
		return nil, wire.Errorf(wire.NotFound, "", "record %d has no signature: it is of a review that was refused", r.Seq)
	}
	if r.What == ledger.WhatSet {
		return setSignature(r, setPath)
	}
	if setPath != "" {
		return nil, usage("--set goes with a change of the approver set; record " + strconv.FormatUint(r.Seq, 10) + " is of a batch")
	}
	b := r.Batch
	if r.Outcome == ledger.Declined {
		return &quorum.DeclineFile{KID: r.Key.KID, Sig: *r.Signature, BatchID: b.ID, ScopeRoot: merkle.Hash(b.Root), ScopeSize: b.Size,
			NotAfter: b.NotAfter, TrustDomain: b.TrustDomain, Reason: r.Reason}, nil
	}
	return &quorum.SignatureFile{KID: r.Key.KID, Sig: *r.Signature, BatchID: b.ID, ScopeRoot: merkle.Hash(b.Root), ScopeSize: b.Size,
		NotAfter: b.NotAfter, TrustDomain: b.TrustDomain, Unchecked: b.Unchecked}, nil
}

func setSignature(r *ledger.Record, path string) (quorum.SignedFile, error) {
	if path == "" {
		return nil, usage("the record has only the digest of the set, " + r.Set.Digest.String() + ": give its file, --set FILE")
	}
	f, err := readSetFile(path)
	if err != nil {
		return nil, err
	}
	if digest := ledger.Hash(f.set.Digest()); digest != r.Set.Digest {
		return nil, wire.Errorf(wire.InvalidInput, "", "%s holds set %s, record %d signed %s", path, digest, r.Seq, r.Set.Digest)
	}
	return &quorum.SetSignatureFile{Epoch: r.Set.Epoch, TrustDomain: r.Set.TrustDomain, Set: f.set,
		Signature: quorum.Signature{KID: r.Key.KID, Sig: *r.Signature}}, nil
}
