package hsm

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/better-compute/approver/core/wire"
)

// TokenURI names a token by its label, its serial or both; one may be "". The error is INVALID_INPUT where both are, and
// where one cannot be a token's.
func TokenURI(label, serial string) (URI, error) {
	u := URI{path: make(map[string]string), query: make(map[string]string)}
	for _, a := range []struct{ name, value string }{{"token", label}, {"serial", serial}} {
		if a.value == "" {
			continue
		}
		var err error
		if u, err = u.with(a.name, a.value); err != nil {
			return URI{}, err
		}
	}
	if u.IsZero() {
		return URI{}, wire.Errorf(wire.InvalidInput, "", "no token is named; wanted: its label or its serial")
	}
	return u, nil
}

// WithObject gives u with the label of a key, in the place of one it had. The error is INVALID_INPUT.
func (u URI) WithObject(label string) (URI, error) { return u.with("object", label) }

// with gives u with one path attribute, read as ParseURI reads it.
func (u URI) with(name, value string) (URI, error) {
	at := slices.IndexFunc(pathAttributes, func(a uriAttribute) bool { return a.name == name })
	value, err := pathAttributes[at].read(value)
	if err != nil {
		return URI{}, wire.Errorf(wire.InvalidInput, "", "%s of the pkcs11: URI: %w", name, err)
	}
	made := URI{path: map[string]string{name: value}, query: make(map[string]string), warnings: slices.Clone(u.warnings)}
	for k, v := range u.path {
		if k != name {
			made.path[k] = v
		}
	}
	maps.Copy(made.query, u.query)
	if len(made.String()) > MaxURIBytes {
		return URI{}, wire.Errorf(wire.InvalidInput, "", "the pkcs11: URI would be longer than %d bytes", MaxURIBytes)
	}
	return made, nil
}

// URI names the token by label and serial. A text that no URI can hold (one that is not UTF-8) is left out; where that is
// both, the slot stands for them.
func (i TokenInfo) URI() URI {
	u := i.named()
	if u.IsZero() {
		return i.SlotURI()
	}
	return u
}

// SlotURI names the token by label, serial and slot, so that it is this one and not its twin. Slots change: it is nothing
// to keep.
func (i TokenInfo) SlotURI() URI {
	u, err := i.named().with("slot-id", strconv.FormatUint(uint64(i.Slot), 10))
	if err != nil {
		panic("hsm: a slot has no URI: " + err.Error())
	}
	return u
}

func (i TokenInfo) named() (u URI) {
	for _, a := range []struct{ name, value string }{{"token", i.Label}, {"serial", i.Serial}} {
		if made, err := u.with(a.name, a.value); err == nil {
			u = made
		}
	}
	return u
}

// objectURI names an object on the token by id and label, each as far as it has one and it fits; the zero URI is one that
// would name no object.
func (i TokenInfo) objectURI(id []byte, label string) URI {
	u, names := i.URI(), false
	for _, a := range []struct{ name, value string }{{"id", string(id)}, {"object", label}} {
		if made, err := u.with(a.name, a.value); err == nil {
			u, names = made, true
		}
	}
	if !names {
		return URI{}
	}
	return u
}

func quoted(s string) string { return fmt.Sprintf("%q", s) }
