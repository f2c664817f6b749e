package kinds

import "google.golang.org/protobuf/encoding/protowire"

// RelayedField gives the number of the field that names the machine a relayed command is for (WIRE.md §2), or 0 where the
// kind relays nothing. CheckSubject holds that field against the subject, so operations are compared without it.
func (k *Kind) RelayedField() protowire.Number {
	if k.relayed == nil {
		return 0
	}
	return k.relayed.number
}

// HasMaps tells whether the kind's message, or one within it, has a map: only then are there two payloads that differ in
// nothing but the order of entries.
func (k *Kind) HasMaps() bool { return k.hasMap }
