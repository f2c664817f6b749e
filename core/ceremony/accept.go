package ceremony

import (
	"crypto/rand"
	"fmt"
	"math/big"
	"strings"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// An Accepted is a statement that a person, or a flag that a person gave, has accepted. Only this package makes one: from
// a review without a stop (AcceptUnattended, Challenge.Accept), or from a bare root whose batch id was typed
// (UncheckedChallenge.Accept).
type Accepted struct{ statement quorum.Statement }

// Statement gives what was accepted.
func (a *Accepted) Statement() quorum.Statement { return a.statement }

// AcceptUnattended accepts a review without a question, for --yes. The error is the review's first stop.
func AcceptUnattended(r *review.Review) (*Accepted, error) {
	if stop := r.Stop(); stop != nil {
		return nil, stop
	}
	return &Accepted{r.Statement()}, nil
}

// A Challenge is what a person types to accept a review: the number of operations, or to decline a word that approves
// nothing, and two of the root's words, which cannot be typed without having looked.
type Challenge struct {
	review *review.Review
	at     [2]int // positions of the words, from 0, ascending
}

// NewChallenge draws two positions at random. The error is the review's first stop: there is nothing to confirm then.
func NewChallenge(r *review.Review) (*Challenge, error) {
	if stop := r.Stop(); stop != nil {
		return nil, stop
	}
	words := len(review.Words(r.Document().Root))
	first, second := randomBelow(words), randomBelow(words-1)
	if second >= first {
		second++
	}
	return &Challenge{r, [2]int{min(first, second), max(first, second)}}, nil
}

func randomBelow(n int) int {
	i, err := rand.Int(rand.Reader, big.NewInt(int64(n)))
	if err != nil {
		panic("ceremony: no randomness: " + err.Error()) // crypto/rand ends the process before this
	}
	return int(i.Int64())
}

// Questions gives what is asked, one answer each.
func (c *Challenge) Questions() []string {
	first, _ := c.review.Confirmation()
	return []string{
		first,
		fmt.Sprintf("word %d of the %s", c.at[0]+1, c.review.Document().RootName()),
		fmt.Sprintf("word %d of the %s", c.at[1]+1, c.review.Document().RootName()),
	}
}

// Accept takes the answers to all questions. Letter case, space around an answer and commas in the number do not
// matter. The error is INVALID_STATE, not-confirmed, and does not tell the right answer.
func (c *Challenge) Accept(answers []string) (*Accepted, error) {
	words := review.Words(c.review.Document().Root)
	_, first := c.review.Confirmation()
	wanted := []string{first, words[c.at[0]], words[c.at[1]]}
	if len(answers) != len(wanted) {
		return nil, notConfirmed("%d of %d answers were given", len(answers), len(wanted))
	}
	for i, answer := range answers {
		if i == 0 {
			answer = strings.ReplaceAll(answer, ",", "") // 50,000, as the screen writes it
		}
		if !strings.EqualFold(strings.TrimSpace(answer), wanted[i]) {
			return nil, notConfirmed("the answer for the %s is not the one on the screen", c.Questions()[i])
		}
	}
	return AcceptUnattended(c.review)
}

func notConfirmed(format string, args ...any) error {
	return wire.Errorf(wire.InvalidState, "not-confirmed", "not confirmed, nothing is signed: "+format, args...)
}

// NotConfirmed is the refusal where there is nobody to ask: it names the root, so that the next call can pin it.
func NotConfirmed(r *review.Review) error {
	root := fmt.Sprintf("%x", r.Document().Root)
	return wire.Errorf(wire.InvalidState, "not-confirmed", "not confirmed, nothing is signed; the %s is %s", r.Document().RootName(), root).With("root", root)
}
