package ledger

import (
	"encoding/hex"
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/better-compute/approver/core/quorum"
)

// A form walks the members of a record in their one order, to write them or to read them. So both know one layout, and
// bytes that are read are those that would be written.
type form interface {
	literal(text string)
	present(lead string, have bool) bool // an optional member: its lead, where it is there
	more(i int, have bool) bool          // another element of a list or member of an object
	integer(n *uint64)
	hash(h *Hash)
	text(s *string)
	filled(s *string) // a text that is not empty
	kid(k *quorum.KID)
	sig(s *quorum.Sig)
	settings(m *map[string]string)
}

// optional walks the lead of an optional member and tells whether its value follows; a reader makes room for it.
func optional[T any](f form, lead string, value **T) bool {
	if !f.present(lead, *value != nil) {
		return false
	}
	if *value == nil {
		*value = new(T)
	}
	return true
}

// list walks an array of strings.
func list(f form, l *[]string) {
	f.literal("[")
	for i := 0; f.more(i, i < len(*l)); i++ {
		if i == len(*l) {
			*l = append(*l, "")
		}
		f.text(&(*l)[i])
	}
	f.literal("]")
}

// A writer is the form that appends.
type writer struct{ b []byte }

func (w *writer) literal(text string) { w.b = append(w.b, text...) }

func (w *writer) present(lead string, have bool) bool {
	if have {
		w.literal(lead)
	}
	return have
}

func (w *writer) more(i int, have bool) bool {
	if have && i > 0 {
		w.b = append(w.b, ',')
	}
	return have
}

func (w *writer) integer(n *uint64) { w.b = strconv.AppendUint(w.b, *n, 10) }

func (w *writer) hash(h *Hash) {
	w.b = append(hex.AppendEncode(append(w.b, '"'), h[:]), '"')
}

// text writes a string as RFC 8785 does: no escape that is not needed.
func (w *writer) text(s *string) {
	var err error
	if w.b, err = jsontext.AppendQuote(w.b, *s); err != nil {
		panic("ledger: a text that is not UTF-8 was not made plain: " + err.Error())
	}
}

func (w *writer) filled(s *string)  { w.text(s) }
func (w *writer) kid(k *quorum.KID) { w.quoted(k.String()) }
func (w *writer) sig(s *quorum.Sig) { w.quoted(s.String()) }

func (w *writer) quoted(plain string) { w.b = append(append(append(w.b, '"'), plain...), '"') }

// settings writes an object with its names in ascending byte order.
func (w *writer) settings(m *map[string]string) {
	w.literal("{")
	for i, name := range slices.Sorted(maps.Keys(*m)) {
		w.more(i, true)
		w.text(&name)
		value := (*m)[name]
		w.literal(":")
		w.text(&value)
	}
	w.literal("}")
}
