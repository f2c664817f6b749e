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
	var state string
	var last uint64
	c := &cobra.Command{
		Use:   "show",
		Short: "Show the records of the ledger, oldest first, and its head",
		Long: `show prints a line for each review that ended here: when, how, and what it was about; and at the end the head, in hex and in
words. With --json it prints the records themselves, one a line, and the head. It writes nothing, and does not verify: that
is 'log verify'.`,
		Example: "  approver log show\n  approver log show --last 1 --json",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			l, err := a.readLedger(state)
			if err != nil {
				return err
			}
			defer l.Close()
			return a.showLog(l, last)
		},
	}
	registerState(c, &state)
	c.Flags().Uint64Var(&last, "last", 0, "show only the newest `N` records")
	return c
}

func (a *app) showLog(l *ledger.Ledger, last uint64) error {
	head, err := l.Head()
	if err != nil {
		return err
	}
	from := uint64(1)
	if last != 0 && head.Seq > last {
		from = head.Seq - last + 1
	}
	var b bytes.Buffer
	for r, err := range l.Records(from) {
		switch {
		case err != nil:
			return err
		case a.json:
			b.WriteString(ascii(string(r.Encode())) + "\n")
		default:
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
	fmt.Fprintf(b, "head      %s, after record %d\n", head.Hash, head.Seq)
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
	fmt.Fprintf(b, "%d  %s%s  %s: %s\n", r.Seq, wire.Stamp(r.At), clock, review.Escape(r.Command), review.Escape(outcome))
	if batch := r.Batch; batch != nil {
		unchecked := ""
		if batch.Unchecked {
			unchecked = ", UNCHECKED"
		}
		fmt.Fprintf(b, "   batch %s, %d leaves, trust domain %s%s\n   root %s\n", review.Escape(batch.ID), batch.Size, review.Escape(batch.TrustDomain), unchecked, batch.Root)
	}
	if set := r.Set; set != nil {
		fmt.Fprintf(b, "   set %s, epoch %d, trust domain %s\n", set.Digest, set.Epoch, review.Escape(set.TrustDomain))
	}
	if r.Key != nil {
		token := ""
		if r.Key.TokenLabel != "" || r.Key.TokenSerial != "" {
			token = fmt.Sprintf(" on token %s, serial %s", review.Escape(r.Key.TokenLabel), review.Escape(r.Key.TokenSerial))
		}
		fmt.Fprintf(b, "   key %s%s\n", r.Key.KID, token)
	}
	if r.Reason != "" {
		fmt.Fprintf(b, "   reason %s\n", review.Escape(r.Reason))
	}
}
