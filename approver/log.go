package main

import (
	"bytes"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/ledger"
	"github.com/better-compute/approver/core/wire"
)

func (a *app) logCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "log",
		Short: "Look at the ledger of what was signed, declined and refused here",
		Args:  noArguments,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	for _, sub := range []*cobra.Command{a.logShowCommand(), a.logVerifyCommand(), a.logExportCommand(), a.logSignatureCommand(), a.logReceiptCommand()} {
		strictFlags(sub)
		c.AddCommand(sub)
	}
	return c
}

// readLedger opens the ledger to read it. Close what it gives.
func (a *app) readLedger(state string) (*ledger.Ledger, error) {
	folder, _, err := a.stateFolder(state)
	if err != nil {
		return nil, err
	}
	return ledger.OpenReadOnly(folder)
}

// logSource says where records are read from: the ledger, or the export in a file.
type logSource struct{ state, file string }

// or takes the export that the arguments name.
func (s logSource) or(args []string) (logSource, error) {
	switch {
	case len(args) > 1:
		return s, usage("one export is read at a time")
	case len(args) == 1 && s.state != "":
		return s, usage("--state is of a ledger; the file is an export")
	case len(args) == 1:
		s.file = args[0]
	}
	return s, nil
}

// records gives the records, oldest first, and the head after them; of a ledger the last ones, where last is not 0. Those of an
// export are verified on the way.
func (a *app) records(s logSource, last uint64, each func(*ledger.Record) error) (ledger.Head, error) {
	if s.file != "" {
		chain, err := readExport(s.file, each)
		if err != nil {
			return ledger.Head{}, err
		}
		return chain.Head(), nil
	}
	l, err := a.readLedger(s.state)
	if err != nil {
		return ledger.Head{}, err
	}
	defer l.Close()
	head, err := l.Head()
	if err != nil {
		return head, err
	}
	from := uint64(1)
	if last != 0 && head.Seq > last {
		from = head.Seq - last + 1
	}
	for r, err := range l.Records(from) {
		if err == nil {
			err = each(r)
		}
		if err != nil {
			return ledger.Head{}, err
		}
	}
	return head, nil
}

// readExport verifies an export, and gives each record that was verified.
func readExport(path string, each func(*ledger.Record) error) (*ledger.Chain, error) {
	f, err := durable.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	chain, err := ledger.VerifyExport(f, each)
	if err != nil {
		return nil, inFile(path, err)
	}
	return chain, nil
}

// record gives the record of a seq.
func (a *app) record(s logSource, seq uint64) (*ledger.Record, error) {
	if s.file == "" {
		l, err := a.readLedger(s.state)
		if err != nil {
			return nil, err
		}
		defer l.Close()
		return recordAt(l, seq)
	}
	var found *ledger.Record
	head, err := a.records(s, 0, func(r *ledger.Record) error {
		if r.Seq == seq {
			found = r
		}
		return nil
	})
	if err == nil && found == nil {
		err = noRecord(seq, head)
	}
	return found, err
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
	return nil, noRecord(seq, head)
}

func noRecord(seq uint64, head ledger.Head) error {
	return wire.Errorf(wire.NotFound, "", "the ledger has no record %d; its newest is %d", seq, head.Seq)
}

// seqArgument reads the number of a record.
func seqArgument(arg string) (uint64, error) {
	seq, err := strconv.ParseUint(arg, 10, 64)
	if err != nil || seq == 0 || !isDecimal(arg) {
		return 0, usage("the number of a record is wanted; 'log show' has them")
	}
	return seq, nil
}

// toTerminal refuses to write to a terminal what holds texts of other people as they came, and is not to be changed.
func (a *app) toTerminal(data []byte) error {
	foreign := func(c rune) bool { return c != '\n' && (c < ' ' || c > '~') }
	if isTerminal(a.stdout) && bytes.ContainsFunc(data, foreign) {
		return usage("this is for a file, not for a terminal: it holds what others wrote, as they wrote it; give --out FILE, or 'log show'")
	}
	return nil
}

// isTerminal tells whether a stream is a terminal.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
