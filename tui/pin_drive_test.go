package tui

import (
	"context"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/ceremony"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// A laptop runs the program with its jobs beside it, as a terminal does, and a road that a test says all of.
type laptop struct {
	*driver
	msgs chan tea.Msg
}

// begin starts the program over a road.
func begin(t *testing.T, road *Road, at Start) *laptop {
	l := &laptop{driver: &driver{t: t, now: startTime}, msgs: make(chan tea.Msg, 100)}
	l.m = New(Config{Road: road, Now: func() time.Time { return l.now }, Theme: plainTheme()}, at)
	l.do(l.m.Init())
	return l
}

// do runs a command beside the program.
func (l *laptop) do(cmd tea.Cmd) {
	if cmd != nil {
		go func() { l.msgs <- cmd() }()
	}
}

func (l *laptop) send(msg tea.Msg) {
	switch msg := msg.(type) {
	case nil, tick:
	case tea.BatchMsg:
		for _, cmd := range msg {
			l.do(cmd)
		}
	default:
		_, cmd := l.m.Update(msg)
		l.do(cmd)
	}
}

// sees lets the jobs run until the screen shows something.
func (l *laptop) sees(text string) *laptop {
	l.t.(*testing.T).Helper()
	for end := time.After(10 * time.Second); ; {
		if containsText(l.view(), text) {
			return l
		}
		select {
		case msg := <-l.msgs:
			l.send(msg)
		case <-end:
			require.Fail(l.t, "it does not come on the screen: "+text, "%s", l.view())
		}
	}
}

// keys types, a second apart.
func (l *laptop) keys(names ...string) *laptop {
	for _, name := range names {
		l.now = l.now.Add(time.Second)
		l.send(keyOf(name))
	}
	return l
}

// types types the letters of a text.
func (l *laptop) types(text string) *laptop {
	for _, r := range text {
		l.keys(string(r))
	}
	return l
}

// confirms opens everything and answers the questions.
func (l *laptop) confirms() *laptop {
	for !l.m.session.reading.Complete() {
		l.keys("n")
	}
	l.keys("A").readsOn().sees("Question 1 of 3")
	_, first := l.m.session.opened.Review.Confirmation()
	return l.answers(first)
}

// readsOn pages through what stands above the questions.
func (l *laptop) readsOn() *laptop {
	for range 100 {
		if c, ok := l.m.top().(*confirmScreen); ok && c.open {
			return l
		}
		l.keys("pgdown")
	}
	require.Fail(l.t, "the questions do not come")
	return l
}

// answers answers the questions, the first as given.
func (l *laptop) answers(answer string) *laptop {
	for range 3 {
		r := l.m.session.opened.Review
		if c, ok := l.m.top().(*confirmScreen); ok {
			r = c.review
		}
		if at := position.FindStringSubmatch(l.view()); at != nil {
			answer = review.Words(r.Document().Root)[number2(at[1])-1]
		}
		l.types(answer).keys("enter")
	}
	return l
}

// A fakeKey is a road whose signature fails or holds as a test wants.
type fakeKey struct {
	tokens []Token // asked for, one after the other
	touch  *Token
	fails  error
	signed *ceremony.Accepted
	got    []string
	done   Done
}

func (k *fakeKey) road(opened func() *Opened) *Road {
	return &Road{
		Open: func(_ context.Context, _ string, progress func(done, all int64)) (*Opened, error) {
			progress(50, 100)
			return opened(), nil
		},
		Sign: func(ctx context.Context, _ *Opened, accepted *ceremony.Accepted, asks Asks) (*Done, error) {
			for _, t := range k.tokens {
				pin, err := asks.PIN(ctx, t)
				if err != nil {
					return nil, err
				}
				k.got = append(k.got, string(pin))
				clear(pin)
			}
			if k.touch != nil {
				asks.Touch(*k.touch)
				<-ctx.Done()
				return nil, wire.Errorf(wire.KeyUnavailable, "", "stopped")
			}
			if k.fails != nil {
				return nil, k.fails
			}
			k.signed = accepted
			return &k.done, nil
		},
		Hint: func(error) string { return "plug the token in and start again" },
	}
}

func smallBatch(t require.TestingT) func() *Opened {
	return func() *Opened { return openedScope(t, scopeFile(t, 3, reimages(1)), testPolicy()) }
}

var (
	ready = Token{Label: review.Escape("approver"), Serial: review.Escape("5f2a"), State: "PIN ready"}
	wrong = Token{Label: review.Escape("approver"), Serial: review.Escape("5f2a"), State: "a wrong PIN was entered since the last login", Wrong: true}
)

func doneOf(t require.TestingT) Done {
	return Done{Written: review.Escape("/media/stick/scope.json.sig"), KID: testKeys(t, 1)[0].KID(), Root: [32]byte{1, 2, 3}, Record: 7,
		Ledger: review.Escape("/home/anna/.local/state/approver"), Head: [32]byte{4, 5}, File: []byte(`{"format":"better-compute-batch-signature"}`)}
}

var aPurpose = review.Escape("APPROVE 415 operations: 412 node.reimage DESTRUCTIVE, 3 bmc.power; root absurd distortion")
