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
		if err := a.toTerminal(b.Bytes()); err != nil {
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
	var from logSource
	var out, set string
	c := &cobra.Command{
		Use:   "signature SEQ [FILE]",
		Short: "Write the signature of a record once more",
		Long: `signature writes the file of a signature or decline that the ledger holds, or the export FILE, as the command that made it
wrote it, or should have: where the power went between the record and the file, this gets it. Nothing is signed. For a change
of the approver set it needs the set itself, --set; the record has its digest.`,
		Example: "  approver log signature 12 --out sig.json\n  approver log signature 13 --set next.json --out alice.set-sig.json",
		Args:    seqAndFile,
		RunE: func(_ *cobra.Command, args []string) error {
			return a.writeOfRecord(from, args, out, func(r *ledger.Record) ([]byte, error) {
				file, err := signedFile(r, set)
				if err != nil {
					return nil, err
				}
				return file.Encode(), nil
			})
		},
	}
	registerState(c, &from.state)
	c.Flags().StringVar(&set, "set", "", "`FILE` of the set that was signed, for a change of the approver set")
	c.Flags().StringVar(&out, "out", "", "write it to `FILE` (default: standard output); nothing is overwritten")
	return c
}

func (a *app) logReceiptCommand() *cobra.Command {
	var from logSource
	var out string
	c := &cobra.Command{
		Use:   "receipt SEQ [FILE]",
		Short: "Write the receipt of a record",
		Long: `receipt writes a record of the ledger, or of the export FILE, and the head after it, as --receipt does when it is made. Whoever
has it can show later that a ledger is the one that held it: 'log verify --receipt'.`,
		Example: "  approver log receipt 12 --out alice.receipt",
		Args:    seqAndFile,
		RunE: func(_ *cobra.Command, args []string) error {
			return a.writeOfRecord(from, args, out, func(r *ledger.Record) ([]byte, error) { return r.Receipt().Encode(), nil })
		},
	}
	registerState(c, &from.state)
	c.Flags().StringVar(&out, "out", "", "write it to `FILE` (default: standard output); nothing is overwritten")
	return c
}

func seqAndFile(_ *cobra.Command, args []string) error {
	if len(args) < 1 || len(args) > 2 {
		return usage("the number of one record is wanted, 'log show' has them; and after it an export, where it is of one")
	}
	return nil
}

// writeOfRecord writes what is made of one record.
func (a *app) writeOfRecord(from logSource, args []string, out string, of func(*ledger.Record) ([]byte, error)) error {
	seq, err := seqArgument(args[0])
	if err != nil {
		return err
	}
	if from, err = from.or(args[1:]); err != nil {
		return err
	}
	if err := probe(out); err != nil {
		return err
	}
	record, err := a.record(from, seq)
	if err != nil {
		return err
	}
	data, err := of(record)
	if err != nil {
		return err
	}
	if out == "" {
		if err := a.toTerminal(data); err != nil {
			return err
		}
		return a.print(data)
	}
	if err := durable.WriteFile(out, data, 0o644); err != nil {
		return err
	}
	a.tellWritten(out)
	return nil
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
	if r.Outcome == ledger.Declined {
		return declineOf(r, r.Batch), nil
	}
	return approvalOf(r, r.Batch), nil
}

func declineOf(r *ledger.Record, b *ledger.Batch) *quorum.DeclineFile {
	return &quorum.DeclineFile{KID: r.Key.KID, Sig: *r.Signature, BatchID: b.ID, ScopeRoot: merkle.Hash(b.Root), ScopeSize: b.Size,
		NotAfter: b.NotAfter, TrustDomain: b.TrustDomain, Reason: r.Reason}
}

func approvalOf(r *ledger.Record, b *ledger.Batch) *quorum.SignatureFile {
	return &quorum.SignatureFile{KID: r.Key.KID, Sig: *r.Signature, BatchID: b.ID, ScopeRoot: merkle.Hash(b.Root), ScopeSize: b.Size,
		NotAfter: b.NotAfter, TrustDomain: b.TrustDomain, Unchecked: b.Unchecked}
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
