package tui

import (
	"encoding/hex"
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"rsc.io/qr"

	"github.com/better-compute/approver/core/review"
)

// doneScreen says what was made and where it is.
type doneScreen struct {
	done   *Done
	did    review.Text // what the signature says: APPROVED 415 operations
	rootOf string      // what the root is the digest of, or ""
	code   *qr.Code    // of the signature file; nil where none can hold it
	sheet  sheet
	height int // that it was laid out for
	scroll scroll
}

func newDone(d *Done, did review.Text, rootOf string) *doneScreen {
	code, err := qr.Encode(string(d.File), qr.L)
	if err != nil {
		code = nil
	}
	return &doneScreen{done: d, did: did, rootOf: rootOf, code: code}
}

func (d *doneScreen) title(*session) string { return "Done" }

func (d *doneScreen) commands(*session) []command { return []command{quit, pageDown, pageUp} }

// guarded: an Enter too many must not leave before this was read.
func (d *doneScreen) guarded() {}

func (d *doneScreen) update(_ *session, msg tea.Msg) step {
	if k, ok := msg.(tea.KeyMsg); ok {
		d.scroll.move(commandOf(k))
	}
	return step{}
}

func (d *doneScreen) place(_ *session, width, height int) {
	if d.sheet.width != width || d.height != height {
		d.sheet, d.height = d.lay(width, height), height
	}
	d.scroll.set(len(d.sheet.rows), height)
}

func (d *doneScreen) below() bool { return d.scroll.below() }

func (d *doneScreen) view(*session, int, int) []row {
	return d.sheet.rows[d.scroll.offset:d.scroll.end()]
}

func (d *doneScreen) lay(width, height int) sheet {
	p := sheet{width: width}
	root := "Root that was signed"
	switch {
	case d.done.Declined:
		root = "Root that was DECLINED"
	case d.rootOf != "":
		root = "SHA-256 that was signed,"
	}
	p.sentence(good, d.did)
	p.say(0, good, "The signature is verified, and written.")
	p.text("written ", 10, plain, d.done.Written)
	p.lead("by key ", 10, plain, d.done.KID.String())
	if d.done.Record == 0 {
		p.lead("recorded ", 10, warn, "nowhere: no ledger was kept")
	} else {
		p.lead("recorded ", 10, plain, "number "+review.Number(int(d.done.Record))+", in the ledger")
		p.text("", 10, plain, d.done.Ledger)
	}
	p.heading("What to do next")
	p.say(2, plain, d.next())
	layRoot(&p, root, d.done.Root[:], d.rootOf)
	if d.done.Record != 0 {
		p.heading("Head of the ledger, to be written down")
		p.hex(hex.EncodeToString(d.done.Head[:]))
		rootWords(&p, d.done.Head[:])
	}
	d.layCode(&p, width, height)
	return p
}

// next says what to do with the signature, and with the ledger.
func (d *doneScreen) next() string {
	words := "Carry this file back to who asked for it, or let a camera read the code below. It is public."
	if d.done.Stdout {
		words = "Hand on what went to standard output to who asked for it, or let a camera read the code below. It is public."
	}
	if d.done.Record != 0 {
		words += " Write the words of the ledger's head on the paper of the ceremony."
	}
	return words + " Then q leaves."
}

// quietZone is the white border that a scanner needs around a code, in modules.
const quietZone = 4

// layCode draws the signature as a QR code, or says which size it needs.
func (d *doneScreen) layCode(p *sheet, width, height int) {
	p.heading("QR code of the signature")
	if d.code == nil {
		p.say(2, plain, "The signature does not fit a QR code.")
		return
	}
	columns := d.code.Size + 2*quietZone
	lines := (columns + 1) / 2
	if width < columns || height < lines { // the head and the foot take a row each
		p.say(2, plain, fmt.Sprintf("It needs a terminal of %d columns and %d rows. Make this one larger, or draw it later: approver batch qr FILE --png PICTURE",
			columns, lines+2))
		return
	}
	for y := -quietZone; y < d.code.Size+quietZone; y += 2 {
		var b strings.Builder
		for x := -quietZone; x < d.code.Size+quietZone; x++ {
			at := 0
			if d.code.Black(x, y) {
				at += 2
			}
			if d.code.Black(x, y+1) {
				at++
			}
			b.WriteString([]string{" ", "▄", "▀", "█"}[at])
		}
		p.add(row{text: b.String(), ink: paper})
	}
}
