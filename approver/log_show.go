package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/ledger"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

func (a *app) logShowCommand() *cobra.Command {
	var from logSource
	var last uint64
	c := &cobra.Command{
		Use:   "show [FILE]",
		Short: "Show the records of the ledger, oldest first, and its head",
		Long: `show prints a line for each review that ended here, or in the export FILE: when, how, and what it was about; and at the end
the head, in hex and in words. With --json it prints the records themselves, one a line, and the head. It writes nothing, and
does not verify the ledger: that is 'log verify'.`,
		Example: "  approver log show\n  approver log show --last 1 --json",
		Args:    func(_ *cobra.Command, args []string) error { _, err := logSource{}.or(args); return err },
		RunE: func(_ *cobra.Command, args []string) (err error) {
			if from, err = from.or(args); err != nil {
				return err
			}
			return a.showLog(from, last)
		},
	}
	registerState(c, &from.state)
	c.Flags().Uint64Var(&last, "last", 0, "show only the newest `N` records")
	return c
}

func (a *app) showLog(from logSource, last uint64) error {
	var records []*ledger.Record
	head, err := a.records(from, last, func(r *ledger.Record) error {
		if records = append(records, r); last != 0 && uint64(len(records)) > last {
			records = records[1:]
		}
		return nil
	})
	if err != nil {
		return err
	}
	var b bytes.Buffer
	for _, r := range records {
		if a.json {
			b.WriteString(ascii(string(r.Encode())) + "\n")
		} else {
			writeRecord(&b, r)
		}
	}
	if !a.json {
		writeHead(&b, head)
		return a.print(b.Bytes())
	}
	line, err := json.Marshal(newShownHead(head))
	if err != nil {
		return err
	}
	return a.print(append(b.Bytes(), append(line, '\n')...))
}

// writeHead writes where the ledger stands.
func writeHead(b *bytes.Buffer, head ledger.Head) {
	if head.Seq == 0 {
		b.WriteString("no record yet\n")
		return
	}
	fmt.Fprintf(b, "head      after record %d\n          %s\n", head.Seq, head.Hash)
	writeWords(b, head.Words())
}

// writeRecord writes what a person looks a record up for.
func writeRecord(b *bytes.Buffer, r *ledger.Record) {
	clock := ""
	if r.Clock == ledger.ClockByHand {
		clock = ", by hand"
	}
	outcome := string(r.Outcome)
	if r.Refusal != nil {
		outcome += " " + string(r.Refusal.Code)
		if r.Refusal.Reason != "" {
			outcome += " " + r.Refusal.Reason
		}
	}
	fmt.Fprintf(b, "%d  %s: %s\n   %s%s\n", r.Seq, review.Escape(r.Command), review.Escape(outcome), wire.Stamp(r.At), clock)
	if batch := r.Batch; batch != nil {
		unchecked := ""
		if batch.Unchecked {
			unchecked = ", UNCHECKED"
		}
		fmt.Fprintf(b, "   batch %s, %d leaves%s\n   trust domain %s\n   root %s\n", review.Escape(batch.ID), batch.Size, unchecked, review.Escape(batch.TrustDomain), batch.Root)
	}
	if set := r.Set; set != nil {
		fmt.Fprintf(b, "   set %s\n   epoch %d, trust domain %s\n", set.Digest, set.Epoch, review.Escape(set.TrustDomain))
	}
	if r.Key != nil {
		fmt.Fprintf(b, "   key %s\n", r.Key.KID)
		if r.Key.TokenLabel != "" || r.Key.TokenSerial != "" {
			fmt.Fprintf(b, "   on token %s, serial %s\n", review.Escape(r.Key.TokenLabel), review.Escape(r.Key.TokenSerial))
		}
	}
	if r.Reason != "" {
		fmt.Fprintf(b, "   reason %s\n", review.Escape(r.Reason))
	}
}
