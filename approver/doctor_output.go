package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"os"
	"strings"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
	"rsc.io/qr"

	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// onTerminal runs a check that needs the controlling terminal.
func (d *doctor) onTerminal(check func(*terminal) outcome, without outcome) outcome {
	t := d.app.terminal()
	if t == nil {
		return without
	}
	defer t.close()
	return check(t)
}

func (d *doctor) controls(context.Context) outcome {
	return d.onTerminal(func(*terminal) outcome { return fine("there is one to ask on") }, warn("no terminal controls this program"))
}

// The least terminal that a review is read on: its lines are drawn for so many columns, and a question needs its rows.
const (
	reviewColumns = 80
	reviewRows    = 24
)

func (d *doctor) terminalSize(context.Context) outcome {
	return d.onTerminal(func(t *terminal) outcome {
		columns, rows, err := term.GetSize(int(t.tty.Fd()))
		switch {
		case err != nil:
			return warn("the terminal does not say: %s", err)
		case columns < reviewColumns:
			return bad("%d columns and %d rows; the review takes %d columns", columns, rows, reviewColumns)
		case rows < reviewRows:
			return warn("%d columns and %d rows; fewer than %d rows show little at a time", columns, rows, reviewRows).
				do("make the terminal larger: a long review scrolls away")
		}
		return fine("%d columns and %d rows", columns, rows)
	}, aside("there is no terminal"))
}

// idCharacters is the length of a batch id that the QR code has room for here: a prefix and a ULID.
const idCharacters = 32

// qrCode tells whether the signature of a batch has room on the terminal as a QR code.
func (d *doctor) qrCode(context.Context) outcome {
	return d.onTerminal(func(t *terminal) outcome {
		name := "compute.example.com"
		if s, err := d.app.settings(); err == nil && s.TrustDomain.IsSet() {
			name = s.TrustDomain.Value
		}
		blank := &quorum.SignatureFile{BatchID: strings.Repeat("x", idCharacters), ScopeSize: wire.MaxLeaves, NotAfter: wire.MaxInteger, TrustDomain: name}
		code, err := qr.Encode(string(blank.Encode())+strings.Repeat("A", kidCharacters), qr.L)
		if err != nil {
			return warn("a signature for %s does not fit: %s", name, err)
		}
		if trouble := roomFor(code.Size, t.tty); trouble != "" {
			return warn("%s", trouble)
		}
		return fine("a signature fits on the screen, for batch ids of up to %d characters", idCharacters)
	}, aside("there is no terminal"))
}

// trialBytes is what is written to the output folder: more than a signature and its picture have.
const trialBytes = 32 << 10

// outputFolder writes an output as sign does, reads it back and removes it.
func (d *doctor) outputFolder(context.Context) outcome {
	path := d.flags.outDir + "/approver-doctor-" + rand.Text()[:8]
	if err := durable.WriteFile(path, bytes.Repeat([]byte("a trial of approver doctor\n"), trialBytes/27), 0o644); err != nil {
		return failed(err)
	}
	if err := os.Remove(path); err != nil {
		return bad("what was written cannot be removed: %s", err)
	}
	return fine("%s takes a file, and gives back what was written", d.flags.outDir)
}

const (
	// leastSpace is a signature, its picture and what a file system needs around them.
	leastSpace = 1 << 20
	// amplestSpace is what --operations-out may write of the largest batch.
	amplestSpace = 256 << 20
)

func (d *doctor) freeSpace(context.Context) outcome {
	var stat unix.Statfs_t
	switch err := unix.Statfs(d.flags.outDir, &stat); {
	case err == unix.ENOENT || err == unix.ENOTDIR:
		return unseen("there is no such folder")
	case err != nil:
		return bad("how much there is in %s cannot be told: %s", d.flags.outDir, err)
	}
	free := uint64(stat.Bavail) * uint64(stat.Bsize)
	switch mebibytes := free >> 20; {
	case free < leastSpace:
		return bad("%d KiB in %s", free>>10, d.flags.outDir).note("bytes", free)
	case free < amplestSpace:
		return warn("%d MiB in %s: enough for signatures, too little for --operations-out of a large batch", mebibytes, d.flags.outDir).note("bytes", free)
	default:
		return fine("%d MiB in %s", mebibytes, d.flags.outDir).note("bytes", free)
	}
}
