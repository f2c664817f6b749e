package main

import (
	"github.com/spf13/cobra"
	"rsc.io/qr"

	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

func (a *app) qrCommand() *cobra.Command {
	var png string
	c := &cobra.Command{
		Use:   "qr SIGNATURE",
		Short: "Draw a signature file as a QR code",
		Long: `qr draws a signature file as the QR code that sign draws with --qr: what a scanner reads is the file, byte for byte.
It signs nothing and judges nothing.`,
		Example: "  approver batch qr sig.json\n  approver batch qr sig.json --png sig.png",
		Args:    oneArgument("signature file"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.drawSignature(args[0], png)
		},
	}
	c.Flags().StringVar(&png, "png", "", "write it to `FILE` as a picture instead; nothing is overwritten")
	return c
}

func (a *app) drawSignature(path, png string) error {
	data, err := durable.ReadFile(path, wire.MaxFileBytes)
	if err != nil {
		return err
	}
	if _, err := quorum.ParseSignatureFile(data); err != nil {
		return inFile(path, err)
	}
	code, err := qr.Encode(string(data), qr.L)
	if err != nil {
		return wire.Errorf(wire.InvalidInput, "", "%s: %d bytes do not fit a QR code: %w", path, len(data), err)
	}
	if png == "" {
		if trouble := roomFor(code.Size, a.stdout); trouble != "" {
			return wire.Errorf(wire.Unsupported, "terminal", "%s", trouble)
		}
		return a.print(halfBlocks(code))
	}
	picture, err := beginPicture(png)
	if err != nil {
		return err
	}
	if err := drawPicture(picture, data); err != nil {
		picture.undo()
		return err
	}
	a.tellWritten(png)
	return nil
}
