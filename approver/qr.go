package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
	"rsc.io/qr"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// quietZone is the white border that a scanner needs around a code, in modules.
const quietZone = 4

// drawQR shows data as a QR code in half blocks on standard error, light on dark terminals and dark on light ones alike: the
// code brings its own colours. A terminal that is too small is told the size it needs; the data is written already.
func (a *app) drawQR(data []byte) {
	code, err := qr.Encode(string(data), qr.L)
	if err != nil {
		fmt.Fprintf(a.stderr, "the signature does not fit a QR code: %v\n", err)
		return
	}
	if trouble := roomFor(code.Size, a.stderr); trouble != "" {
		a.tellNoRoom(trouble)
		return
	}
	a.stderr.Write(halfBlocks(code))
}

func (a *app) tellNoRoom(trouble string) {
	fmt.Fprintf(a.stderr, "%s\n--qr-png FILE writes it as a picture, of any size of terminal; 'approver batch qr' draws a signature that is there\n", trouble)
}

// roomFor says what a code of so many modules needs, where w is a terminal without room for it. What is no terminal has room
// for everything.
func roomFor(modules int, w io.Writer) (trouble string) {
	columns, rows := modules+2*quietZone, (modules+2*quietZone+1)/2+1
	file, ok := w.(*os.File)
	if !ok {
		return ""
	}
	width, height, err := term.GetSize(int(file.Fd()))
	if err != nil || width >= columns && height >= rows {
		return ""
	}
	return fmt.Sprintf("the QR code needs a terminal of %d columns and %d rows; this one has %d and %d", columns, rows, width, height)
}

// announceQR tells before the question what the code will need, while the terminal can still be made larger. What fits no code
// at all, a signature over a large set, is refused where a code is asked for.
func (a *app) announceQR(f *signatureFlags, s quorum.Statement) error {
	if !f.qr && f.qrPNG == "" {
		return nil
	}
	blank := s.File(quorum.Signature{}).Encode()
	code, err := qr.Encode(string(blank)+strings.Repeat("A", kidCharacters), qr.L)
	if err != nil {
		return wire.Errorf(wire.InvalidInput, "", "the signature, %d bytes, does not fit a QR code: leave --qr and --qr-png out", len(blank)+kidCharacters)
	}
	if trouble := roomFor(code.Size, a.stderr); f.qr && trouble != "" {
		a.tellNoRoom(trouble)
	}
	return nil
}

const kidCharacters = 43

// halfBlocks draws two rows of modules in one row of text.
func halfBlocks(code *qr.Code) []byte {
	const blackOnWhite, reset = "\x1b[30;47m", "\x1b[0m"
	var b bytes.Buffer
	for y := -quietZone; y < code.Size+quietZone; y += 2 {
		b.WriteString(blackOnWhite)
		for x := -quietZone; x < code.Size+quietZone; x++ {
			upper, lower := code.Black(x, y), code.Black(x, y+1)
			b.WriteString(strings.Split(" ▄▀█", "")[boolInt(lower)+2*boolInt(upper)])
		}
		b.WriteString(reset + "\n")
	}
	return b.Bytes()
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
