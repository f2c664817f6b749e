package main

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/ledger"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

type logVerifyFlags struct {
	from          logSource
	head, receipt string
	approvers     []string
}

func (a *app) logVerifyCommand() *cobra.Command {
	var f logVerifyFlags
	c := &cobra.Command{
		Use:   "verify [FILE]",
		Short: "Verify the ledger, or an export of one",
		Long: `verify reads every record of the ledger, or of the FILE that 'log export' wrote, and ends with AUDIT_TAMPERED where one was
changed, dropped, reordered or put in. What a whole ledger cannot show of itself, that it was cut short, replaced, or written
anew with other records, shows against what was written down: --head, in hex or its 32 words, or --receipt. With --approvers
the signature of each record is verified as well, by the keys that are given; what another key made is counted.`,
		Example: `  approver log verify --head "$(cat head)"
  approver log verify alice.ledger --receipt alice.receipt --approvers set.json`,
		Args: func(_ *cobra.Command, args []string) error { _, err := logSource{}.or(args); return err },
		RunE: func(_ *cobra.Command, args []string) (err error) {
			if f.from, err = f.from.or(args); err != nil {
				return err
			}
			return a.verifyLog(&f)
		},
	}
	registerState(c, &f.from.state)
	c.Flags().StringVar(&f.head, "head", "", "a head that was written down, `HEX` or words")
	c.Flags().StringVar(&f.receipt, "receipt", "", "`FILE` of a receipt")
	c.Flags().StringArrayVar(&f.approvers, "approvers", nil, "`FILE` of the set whose keys made the signatures, or their .pub files, comma-separated")
	return c
}

func (a *app) verifyLog(f *logVerifyFlags) error {
	head, receipt, err := f.read()
	if err != nil {
		return err
	}
	signatures, err := newSignatureCheck(f.approvers)
	if err != nil {
		return err
	}
	chain, err := a.chain(f.from, signatures.record)
	if err != nil {
		return err
	}
	shown := map[string]any{"verified": true, "ledger": newShownHead(chain.Head())}
	var b bytes.Buffer
	if f.head != "" {
		seq, err := chain.VerifyHead(head)
		if err != nil {
			return err
		}
		shown["headAfter"] = seq
		if fmt.Fprintf(&b, "the head that was written down stood after record %d\n", seq); seq == 0 {
			b.Reset()
			b.WriteString("the head that was written down is that of a ledger without records\n")
		}
	}
	if receipt != nil {
		if err := chain.VerifyReceipt(receipt); err != nil {
			return err
		}
		shown["receiptOf"] = receipt.Record().Seq
		fmt.Fprintf(&b, "the receipt is of record %d\n", receipt.Record().Seq)
	}
	signatures.tell(&b, shown)
	if a.json {
		return a.printJSON(shown)
	}
	fmt.Fprintf(&b, "VERIFIED%s: %s\n", asChain(f), counted(int(chain.Head().Seq), "record", "records"))
	writeHead(&b, chain.Head())
	return a.print(b.Bytes())
}

// asChain says how far the answer goes where nothing was given that was written down.
func asChain(f *logVerifyFlags) string {
	if f.head == "" && f.receipt == "" {
		return " as a chain; no head was given"
	}
	return ""
}

// read reads what was written down.
func (f *logVerifyFlags) read() (head ledger.Hash, receipt *ledger.Receipt, err error) {
	if f.head != "" {
		if head, err = ledger.ParseHash(f.head); err != nil {
			return head, nil, err
		}
	}
	if f.receipt == "" {
		return head, nil, nil
	}
	data, err := durable.ReadFile(f.receipt, wire.MaxFileBytes)
	if err != nil {
		return head, nil, err
	}
	if receipt, err = ledger.ParseReceipt(data); err != nil {
		return head, nil, inFile(f.receipt, err)
	}
	return head, receipt, nil
}

// chain verifies the ledger, or the export that is named, and then each record.
func (a *app) chain(from logSource, each func(*ledger.Record) error) (*ledger.Chain, error) {
	if from.file != "" {
		return readExport(from.file, each)
	}
	l, err := a.readLedger(from.state)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	chain, err := l.Verify()
	if err != nil {
		return nil, err
	}
	for r, err := range l.Records(1) {
		if err == nil {
			err = each(r)
		}
		if err != nil {
			return nil, err
		}
	}
	return chain, nil
}

// A signatureCheck verifies the signatures of records by the keys of a set, nil where none is given.
type signatureCheck struct {
	set       *quorum.Set
	ofChanges map[ledger.Hash]*quorum.Set // by digest: a record has only that of the set that was signed

	verified, byOthers, unseen int
}

func newSignatureCheck(given []string) (*signatureCheck, error) {
	c := &signatureCheck{ofChanges: make(map[ledger.Hash]*quorum.Set)}
	if len(given) == 0 {
		return c, nil
	}
	set, _, err := readApprovers(given)
	if err != nil {
		return nil, err
	}
	c.set, c.ofChanges[set.Digest()] = set, set
	return c, nil
}

// record verifies the signature of a record. One that its key did not make was put there by something else than this program.
func (c *signatureCheck) record(r *ledger.Record) error {
	if c.set == nil || r.Signature == nil {
		return nil
	}
	key, ok := c.set.Key(r.Key.KID)
	if !ok {
		c.byOthers++
		return nil
	}
	var file interface{ Verifies(quorum.PublicKey) bool }
	switch b := r.Batch; {
	case r.What == ledger.WhatSet:
		set := c.ofChanges[r.Set.Digest]
		if set == nil {
			c.unseen++
			return nil
		}
		file = &quorum.SetSignatureFile{Epoch: r.Set.Epoch, TrustDomain: r.Set.TrustDomain, Set: set,
			Signature: quorum.Signature{KID: r.Key.KID, Sig: *r.Signature}}
	case r.Outcome == ledger.Declined:
		file = declineOf(r, b)
	default:
		file = approvalOf(r, b)
	}
	if !file.Verifies(key) {
		return wire.Errorf(wire.AuditTampered, "", "record %d: key %s did not make its signature over what it says was signed", r.Seq, r.Key.KID).
			With("seq", r.Seq).With("differs", "signature")
	}
	c.verified++
	return nil
}

// tell says what was verified.
func (c *signatureCheck) tell(b *bytes.Buffer, shown map[string]any) {
	if c.set == nil {
		return
	}
	shown["signatures"] = map[string]int{"verified": c.verified, "byOtherKeys": c.byOthers, "ofOtherSets": c.unseen}
	fmt.Fprintf(b, "signatures: %d verified", c.verified)
	if c.byOthers > 0 {
		fmt.Fprintf(b, ", %d by keys that are not in the set", c.byOthers)
	}
	if c.unseen > 0 {
		fmt.Fprintf(b, ", %d over other sets than this one", c.unseen)
	}
	b.WriteString("\n")
}
