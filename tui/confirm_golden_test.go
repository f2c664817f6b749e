package tui

import (
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// The screens of opening, confirming and signing, as a person read them and committed them.
func TestGoldenScreensOfSigning(t *testing.T) {
	batch := func() *driver { return driveOpened(t, smallBatch(t)()) }
	over := func(s screen) *driver {
		d := batch()
		d.m.take(step{push: s})
		return d
	}
	sign := func(g *signing) *signing {
		g.phase, g.job = "Looking at the file once more, and for the key ...", &job{cancel: func() {}}
		return g
	}
	decline := review.Escape("DECLINE 1 operation: 1 node.wipe DESTRUCTIVE; root absurd distortion")
	approved, declined := review.Escape("APPROVED 3 operations: 3 node.reimage DESTRUCTIVE; root absurd distortion"), review.Escape("DECLINED 3 operations: 3 node.reimage DESTRUCTIVE; root absurd distortion")
	done, nowhere := doneOf(t), doneOf(t)
	nowhere.Record, nowhere.Declined = 0, true
	stick := newOpenAt("/stick", oneStick()["/stick"])
	reading := &readingFile{path: "/stick/scope.json", job: &job{cancel: func() {}}, done: 4_000_000, all: 10_000_000}
	refused := &readingFile{path: "/stick/scope.json", job: reading.job, failed: wire.Errorf(wire.ScopeMismatch, "", "the root is another than the file declares")}
	for name, d := range map[string]*driver{
		"confirm":         batch().readAll().keys("A"),
		"confirm-answer":  batch().readAll().keys("A").readOn().keys("3"),
		"confirm-wrong":   batch().readAll().keys("A").readOn().keys("4", "enter", "x", "enter", "x", "enter"),
		"decline":         batch().keys("D", "n", "o", "t", " ", "n", "o", "w"),
		"confirm-decline": batch().keys("D", "n", "o", "enter"),
		"pin":             over(newPIN(newPINQuestion(ready), aPurpose)),
		"pin-decline":     over(newPIN(newPINQuestion(ready), decline)),
		"pin-wrong":       over(newPIN(newPINQuestion(wrong), aPurpose)).keys("1"),
		"passphrase":      over(newPIN(newPINQuestion(Token{File: true, Label: review.Escape("/home/anna/alice.pem")}), aPurpose)),
		"signing":         over(sign(&signing{purpose: aPurpose})),
		"signing-touch":   over(sign(&signing{purpose: aPurpose, touch: &ready})),
		"signing-failed":  over(sign(&signing{failed: wire.Errorf(wire.KeyUnavailable, "device-removed", "the token was removed")})),
		"done":            over(newDone(&done, approved, "")),
		"done-declined":   over(newDone(&nowhere, declined, "")),
		"open":            over(stick),
		"open-places":     over(newOpenAt("", oneStick()[""])),
		"reading":         over(reading),
		"reading-refused": over(refused),
		"watch":           over(&watchScreen{folder: "/media", job: reading.job}),
	} {
		d.m.session.road.Hint = func(error) string { return "plug the token in and start again" }
		t.Run(name, func(t *testing.T) { golden(t, name, d) })
	}
}

// Every screen of signing is safe to draw, at any size, whatever the texts from outside are.
func TestScreensOfSigningAreSafe(t *testing.T) {
	evil := review.Escape("\x1b[2J\u202e日本\u200b" + string(rune(0x0301)))
	token := Token{Label: evil, Serial: evil, State: "PIN ready", Wrong: true}
	done := doneOf(t)
	done.Written, done.Ledger, done.File = evil, evil, make([]byte, 4000) // too much for a QR code, which has sequences of ours
	failed := wire.Errorf(wire.IOError, "", "cannot: \x1b[2J\u202e日本")
	for _, s := range []screen{
		newPIN(newPINQuestion(token), aPurpose), newDone(&done, aPurpose, ""), newOpenAt("\x1b[2J", []Entry{{Name: evil, Told: Told{Kind: ScopeFile}}, {Name: evil, Folder: true}}),
		&signing{job: &job{cancel: func() {}}, failed: failed}, &signing{job: &job{cancel: func() {}}, touch: &token},
		&readingFile{path: "\x1b[2J\u202e", job: &job{cancel: func() {}}, failed: failed}, &watchScreen{folder: "\x1b[2J\u202e", failed: failed},
	} {
		d := driveOpened(t, smallBatch(t)())
		d.m.session.opened.Path = evil
		d.m.take(step{push: s})
		for _, size := range [][2]int{{1, 1}, {7, 3}, {40, 12}, {80, 24}, {200, 60}} {
			d.size(size[0], size[1])
			requireSafe(t, d.view(), size[0], size[1])
		}
	}
	d := driveOpened(t, smallBatch(t)()).readAll()
	d.m.session.opened.Path = evil
	d.keys("A")
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("\u202e")})
	for _, width := range []int{1, 9, 40, 80} {
		d.size(width, 24)
		requireSafe(t, d.view(), width, 24)
	}
}
