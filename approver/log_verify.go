package main

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/ledger"
	"github.com/better-compute/approver/core/wire"
)

type logVerifyFlags struct{ state, head, receipt string }

func (a *app) logVerifyCommand() *cobra.Command {
	var f logVerifyFlags
	c := &cobra.Command{
		Use:   "verify [FILE]",
		Short: "Verify the ledger, or an export of one",
		Long: `verify reads every record of the ledger, or of the FILE that 'log export' wrote, and ends with AUDIT_TAMPERED where one was
changed, dropped, reordered or put in. What a whole ledger cannot show of itself, that it was cut short or replaced, shows
against what was written down: --head, in hex or its 32 words, or --receipt.`,
		Example: `  approver log verify --head "$(cat head)"
  approver log verify alice.ledger --receipt alice.receipt`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("one export is verified at a time")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 && f.state != "" {
				return usage("--state is of a ledger; the file is an export")
			}
			return a.verifyLog(&f, args)
		},
	}
	registerState(c, &f.state)
	c.Flags().StringVar(&f.head, "head", "", "a head that was written down, `HEX` or words")
	c.Flags().StringVar(&f.receipt, "receipt", "", "`FILE` of a receipt")
	return c
}

func (a *app) verifyLog(f *logVerifyFlags, args []string) error {
	head, receipt, err := f.read()
	if err != nil {
		return err
	}
	chain, err := a.chain(f.state, args)
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
	if a.json {
		return a.printJSON(shown)
	}
	fmt.Fprintf(&b, "VERIFIED: %s\n", counted(int(chain.Head().Seq), "record", "records"))
	writeHead(&b, chain.Head())
	return a.print(b.Bytes())
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

// chain verifies the ledger, or the export that is named.
func (a *app) chain(state string, args []string) (*ledger.Chain, error) {
	if len(args) == 1 {
		f, err := durable.Open(args[0])
		if err != nil {
			return nil, err
		}
		defer f.Close()
		chain, err := ledger.VerifyExport(f)
		if err != nil {
			return nil, inFile(args[0], err)
		}
		return chain, nil
	}
	l, err := a.readLedger(state)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	return l.Verify()
}
