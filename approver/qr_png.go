package main

import (
	"rsc.io/qr"

	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/wire"
)

// leastPixels is the side that a picture has at least, so that a phone reads it off a screen or a print.
const leastPixels = 600

// beginPicture gives the file of a picture its place; what is in it is not known yet.
func beginPicture(path string) (*stream, error) {
	if path == "" {
		return nil, nil
	}
	out, err := durable.Create(path, 0o644)
	if err != nil {
		return nil, err
	}
	return &stream{out: out}, nil
}

// drawPicture writes data as a QR code to the file of a picture and names it. The nil stream is no picture.
func drawPicture(s *stream, data []byte) error {
	if s == nil {
		return nil
	}
	png, err := qrPNG(data)
	if err != nil {
		return err
	}
	return s.fill(png)
}

// qrPNG gives the QR code of data, with its quiet zone of four modules, in black on white.
func qrPNG(data []byte) ([]byte, error) {
	code, err := qr.Encode(string(data), qr.L)
	if err != nil {
		return nil, wire.Errorf(wire.InvalidInput, "", "%d bytes do not fit a QR code: %w", len(data), err)
	}
	modules := code.Size + 2*quietZone
	code.Scale = (leastPixels + modules - 1) / modules
	return code.PNG(), nil
}
