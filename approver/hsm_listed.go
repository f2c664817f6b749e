package main

import (
	"bytes"
	"encoding/hex"
	"fmt"

	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
)

// What list prints, as JSON and as text. Texts of a token are escaped where they come in.

type listedModule struct {
	Path    review.Text    `json:"path"`
	Library *listedLibrary `json:"library"` // null where the module did not work
	Trouble review.Text    `json:"trouble,omitzero"`
	Slots   []listedSlot   `json:"slots"`

	module hsm.Module
}

type listedLibrary struct {
	Description  review.Text `json:"description"`
	Manufacturer review.Text `json:"manufacturer"`
	Version      string      `json:"version"`
}

type listedSlot struct {
	Slot        uint         `json:"slot"`
	Description review.Text  `json:"description"`
	Trouble     review.Text  `json:"trouble,omitzero"`
	Token       *listedToken `json:"token"` // null where the slot did not answer

	info hsm.TokenInfo
}

type listedToken struct {
	Label        review.Text    `json:"label"`
	Serial       review.Text    `json:"serial"`
	Model        review.Text    `json:"model"`
	Manufacturer review.Text    `json:"manufacturer"`
	Hardware     string         `json:"hardware"`
	Firmware     string         `json:"firmware"`
	Initialized  bool           `json:"initialized"`
	PIN          string         `json:"pin"`
	SOPIN        string         `json:"soPin"`
	PINPad       bool           `json:"pinPad"`
	MinPIN       int            `json:"minPin"`
	MaxPIN       int            `json:"maxPin"`
	Flags        []string       `json:"flags"`
	URI          string         `json:"uri,omitempty"`
	Objects      []listedObject `json:"objects"`
}

type listedObject struct {
	Class string       `json:"class"`
	Type  review.Text  `json:"type"`
	ID    *string      `json:"id"`    // hex; null where the token does not show it
	Label *review.Text `json:"label"` // likewise
	KID   string       `json:"kid,omitempty"`
	URI   string       `json:"uri,omitempty"`
}

func newListedLibrary(l hsm.LibraryInfo) *listedLibrary {
	return &listedLibrary{review.Escape(l.Description), review.Escape(l.Manufacturer), fmt.Sprintf("%d.%d", l.Major, l.Minor)}
}

func newListedSlot(s hsm.SlotListing) listedSlot {
	out := listedSlot{Slot: uint(s.Slot), Description: review.Escape(s.Description), info: s.Token}
	if s.Trouble != nil {
		out.Trouble = review.Escape(wire.MessageOf(s.Trouble))
		return out
	}
	i := s.Token
	out.Token = &listedToken{
		Label: review.Escape(i.Label), Serial: review.Escape(i.Serial), Model: review.Escape(i.Model), Manufacturer: review.Escape(i.Manufacturer),
		Hardware: i.Hardware.String(), Firmware: i.Firmware.String(), Initialized: i.Initialized(), PIN: i.PIN.String(), SOPIN: i.SOPIN.String(),
		PINPad: i.PINPad, MinPIN: i.MinPIN, MaxPIN: i.MaxPIN, Flags: list(i.FlagNames()), Objects: []listedObject{},
	}
	if i.Initialized() {
		out.Token.URI = i.URI().String()
	}
	return out
}

func newListedObject(o hsm.KeyObject) listedObject {
	out := listedObject{Class: o.Class.String(), Type: review.Escape(string(o.Algorithm)), KID: o.KID()}
	if o.ID != nil {
		id := hex.EncodeToString(o.ID)
		out.ID = &id
	}
	if o.Label != nil {
		label := review.Escape(*o.Label)
		out.Label = &label
	}
	if !o.URI.IsZero() {
		out.URI = o.URI.String()
	}
	return out
}

func (a *app) printListed(listed []*listedModule, f *listFlags) error {
	if a.json {
		return a.printJSON(struct {
			Modules []*listedModule `json:"modules"`
		}{append([]*listedModule{}, listed...)})
	}
	var b bytes.Buffer
	for _, m := range listed {
		drawModule(&b, m, f.token != "" || f.serial != "")
	}
	if len(listed) == 0 {
		b.WriteString("no PKCS#11 module was found; name one with --module\n")
	}
	if !f.login && b.Len() > 0 {
		b.WriteString("\nnot logged in: most tokens show private keys only with --login\n")
	}
	_, err := a.stdout.Write(b.Bytes())
	return written(err)
}

// drawModule draws what a module has; named tells that only some of its tokens were asked for.
func drawModule(b *bytes.Buffer, m *listedModule, named bool) {
	fmt.Fprintf(b, "module %s\n", m.Path)
	if m.Library == nil {
		b.WriteString(drawRow(widestRow, "  cannot be used: ", m.Trouble.String()))
		return
	}
	fmt.Fprintf(b, "  %s, version %s, of %s\n", m.Library.Description, m.Library.Version, m.Library.Manufacturer)
	switch {
	case len(m.Slots) == 0 && named:
		b.WriteString("  no such token\n")
	case len(m.Slots) == 0:
		b.WriteString("  no token\n")
	}
	for _, s := range m.Slots {
		fmt.Fprintf(b, "\n  slot %d: %s\n", s.Slot, s.Description)
		if s.Token != nil {
			drawToken(b, m, s)
		}
		if s.Trouble.String() != "" {
			fmt.Fprintf(b, "    did not answer: %s\n", s.Trouble)
		}
	}
}

func drawToken(b *bytes.Buffer, m *listedModule, s listedSlot) {
	t := s.Token
	if !t.Initialized {
		fmt.Fprintf(b, "    token not initialised (%s of %s); to initialise it:\n      approver hsm init --slot %d --label LABEL --module %s\n",
			t.Model, t.Manufacturer, s.Slot, shellWord(m.Path.String()))
		return
	}
	for _, row := range []struct {
		name  string
		value fmt.Stringer
	}{{"token", t.Label}, {"serial", t.Serial}, {"model", t.Model}, {"maker", t.Manufacturer}} {
		fmt.Fprintf(b, "    %-8s %s\n", row.name, row.value)
	}
	fmt.Fprintf(b, "    %-8s hardware %s, firmware %s\n", "version", t.Hardware, t.Firmware)
	also := ""
	if t.PINPad {
		also = ", entered on its own keypad"
	}
	if m.Library.Manufacturer.String() == hsm.TPMLibrary {
		also = " (this module does not show PIN tries)"
	}
	fmt.Fprintf(b, "    %-8s %s%s\n    %-8s %s\n    %-8s %s\n", "PIN", bareState(t.PIN), also, "SO PIN", bareState(t.SOPIN), "URI", t.URI)
	certificates := 0
	for _, o := range t.Objects {
		if o.Class == hsm.Certificate.String() {
			certificates++
		}
	}
	if certificates > mostCertificates && certificates == len(t.Objects) {
		fmt.Fprintf(b, "\n    %d certificates and no key; --json has them all\n", certificates)
		return
	}
	for _, o := range t.Objects {
		drawObject(b, o)
	}
}

// mostCertificates is how many certificates are drawn of a token that shows nothing else: the machine's trust store is a
// token too, and nobody looks for a key among its hundreds.
const mostCertificates = 16

func drawObject(b *bytes.Buffer, o listedObject) {
	id, label := "not shown", "not shown"
	if o.ID != nil {
		id = *o.ID
	}
	if o.Label != nil {
		label = o.Label.String()
	}
	fmt.Fprintf(b, "\n    %s, %s\n      label  %s\n      id     %s\n", o.Class, o.Type, label, id)
	if o.KID != "" {
		fmt.Fprintf(b, "      kid    %s\n", o.KID)
	}
	if o.URI != "" {
		fmt.Fprintf(b, "      URI    %s\n", o.URI)
	}
}
