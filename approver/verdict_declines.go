package main

import (
	"fmt"
	"strings"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/scope"
)

// A shownDecline is a decline as verify shows it.
type shownDecline struct {
	File     review.Text   `json:"file"`
	KID      quorum.KID    `json:"kid"`
	Reason   []review.Text `json:"reason"` // lines
	Verified bool          `json:"verified"`
	Why      string        `json:"why,omitempty"`          // why it does not verify
	Both     bool          `json:"alsoApproved,omitempty"` // the same key's approval counts all the same
}

func (r *report) declines() []shownDecline {
	shown := []shownDecline{}
	for i, d := range r.verdict.Declines {
		s := shownDecline{File: review.Escape(r.declined[i]), KID: d.KID, Reason: d.Reason, Verified: d.Valid(), Both: d.Both}
		if !d.Valid() {
			s.Why = d.Invalid.String()
		}
		shown = append(shown, s)
	}
	return shown
}

// decline is the line of a decline, with its reason.
func (r *report) decline(i int, d scope.Declined) string {
	word, why := "DECLINED      ", ""
	if !d.Valid() {
		word, why = "no decline    ", ", "+d.Invalid.String()
	} else if d.Both {
		why = ", who approved it too"
	}
	var lines []string
	for _, line := range d.Reason {
		lines = append(lines, line.String())
	}
	return fmt.Sprintf("%s%s (%s)%s: %s", word, d.KID, review.Escape(r.declined[i]), why, strings.Join(lines, " / "))
}

// saidNo counts the keys of the set that declined.
func (r *report) saidNo() int {
	said := map[quorum.KID]bool{}
	for _, d := range r.verdict.Declines {
		said[d.KID] = said[d.KID] || d.Valid()
	}
	n := 0
	for _, no := range said {
		if no {
			n++
		}
	}
	return n
}
