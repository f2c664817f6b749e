package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"
	"rsc.io/qr"
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
	columns, rows := code.Size+2*quietZone, (code.Size+2*quietZone+1)/2
	if file, ok := a.stderr.(*os.File); ok {
		if width, height, err := term.GetSize(int(file.Fd())); err == nil && (width < columns || height < rows+1) {
			fmt.Fprintf(a.stderr, "the QR code needs a terminal of %d columns and %d rows; this one has %d and %d\n", columns, rows+1, width, height)
			return
		}
	}
	a.stderr.Write(halfBlocks(code))
}

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
