package review

import "strings"

// Join makes one line of several texts, as Escape would of what they were made of: nothing is escaped twice, and what begins in
// one and ends in the next is escaped all the same.
func Join(texts ...Text) Text {
	var b strings.Builder
	for _, t := range texts {
		b.WriteString(t.unescape())
	}
	return Escape(b.String())
}

// Unquoted gives the text with every double quote as a single one, for a text that stands between double quotes: it must not
// end before it ends.
func (t Text) Unquoted() Text { return Escape(strings.ReplaceAll(t.unescape(), `"`, "'")) }
