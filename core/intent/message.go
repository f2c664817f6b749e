package intent

import (
	"bytes"

	"google.golang.org/protobuf/proto"

	"github.com/better-compute/approver/core/wire"
)

// readMessage reads a message of at most limit bytes in its one canonical encoding (WIRE.md §7): these messages have no
// oneof and no map, so they are canonical exactly when the fields we know, written in order, give the bytes back.
func readMessage(what string, limit int, binpb []byte, m proto.Message) error {
	if len(binpb) > limit {
		return wire.Errorf(wire.InvalidInput, "", "%s: %d bytes; at most %d are read", what, len(binpb), limit)
	}
	// An unknown field is dropped, so that it is missing from what is written, wherever it stood.
	err := proto.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(binpb, m)
	if err != nil || !bytes.Equal(writeMessage(m), binpb) {
		return wire.Errorf(wire.InvalidInput, "", "%s: the bytes are not the one encoding of a message", what)
	}
	return nil
}

// writeMessage gives the canonical encoding. What could fail is a string that is not UTF-8, and none is let in.
func writeMessage(m proto.Message) []byte {
	binpb, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		panic("intent: a message that was read or checked is not written: " + err.Error())
	}
	return binpb
}
