package main

import (
	"encoding/json"

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
		Short: "Draw a signature file or a decline as a QR code",
		Long: `qr draws the file of a signature, of a decline, or of a signature over an approver set as the QR code that the command which
made it draws with --qr: what a scanner reads is the file, byte for byte. A signature over a set of many keys does not fit.
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

// checkSigned refuses a file that no command of ours signed.
func checkSigned(path string, data []byte) (err error) {
	var members struct {
		SetSHA256 *string `json:"setSha256"`
	}
	switch {
	case quorum.IsDeclineFile(data):
		_, err = quorum.ParseDeclineFile(data)
	case json.Unmarshal(data, &members) == nil && members.SetSHA256 != nil:
		_, err = quorum.ParseSetSignatureFile(data)
	default:
		if _, err = quorum.ParseSignatureFile(data); err != nil {
			return mistaken(path, data, "better-compute-batch-signature", "the signature of a batch or of an approver set, or a decline", err)
		}
	}
	if err != nil {
		return inFile(path, err)
	}
	return nil
}

func (a *app) drawSignature(path, png string) error {
	data, err := durable.ReadFile(path, wire.MaxFileBytes)
	if err != nil {
		return err
	}
	if err := checkSigned(path, data); err != nil {
		return err
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
