package main

import (
	"io"

	"github.com/better-compute/approver/core/ceremony"
	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/ledger"
	"github.com/better-compute/approver/core/wire"
)

// A signatureOutput is where a signature goes: the file of --out or standard output, the picture of --qr-png, and the
// receipt. They have their places before anybody reviews anything, and get their names together or not at all.
type signatureOutput struct {
	file    *durable.Pending // nil is standard output
	picture *stream
	receipt *stream
	written bool
}

func (a *app) beginSignature(f *signatureFlags) (o *signatureOutput, err error) {
	if f.out == "" && a.stdoutClosed {
		return nil, wire.Errorf(wire.IOError, "", "standard output is closed, and --out is not given: the signature would be lost")
	}
	o = new(signatureOutput)
	if f.out != "" {
		if o.file, err = durable.Create(f.out, 0o644); err != nil {
			return nil, err
		}
	}
	if o.picture, err = beginPicture(f.qrPNG); err == nil {
		o.receipt, err = beginStream(f.receipt, func(io.Writer) error { return nil }, nil)
	}
	if err != nil {
		o.abandon()
		return nil, err
	}
	return o, nil
}

// abandon removes whatever there is of an output that was not written whole.
func (o *signatureOutput) abandon() {
	if o.written {
		return
	}
	if o.file != nil {
		o.file.Abandon()
	}
	o.picture.undo()
	o.receipt.undo()
}

// write writes picture and receipt and then the signature: whoever has the signature has all of them.
func (o *signatureOutput) write(stdout io.Writer, signed *ceremony.Signed, receipt *ledger.Receipt) error {
	err := drawPicture(o.picture, signed.Encode())
	if err == nil && o.receipt != nil {
		err = o.receipt.fill(receipt.Encode())
	}
	switch {
	case err != nil:
	case o.file == nil && isTerminal(stdout): // a reason may hold what moves the cursor; a reader takes the escapes
		_, err = io.WriteString(stdout, ascii(string(signed.Encode())))
		err = written(err)
	case o.file == nil:
		_, err = signed.WriteTo(stdout)
	default:
		err = signed.WriteFile(o.file)
	}
	o.written = err == nil
	return err
}
