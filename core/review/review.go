package review

import (
	"bytes"
	"crypto/sha256"
	"strconv"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// A Review ties what is signed to what is shown: a statement and the document a person reads before it. Only New makes
// one; the zero Review has neither.
type Review struct {
	statement quorum.Statement
	doc       Document
}

// New makes the review of a statement. The document is the Review's from then on and not changed any more. A document that
// does not hold together is a mistake of the program, and INVALID_INPUT names it: operations that do not account for
// exactly Size subjects, a change or part with more than one, a root that is not 32 bytes, a finding that is milder than its
// rule, escapes without the finding that tells of them, another root than the statement's; so does the zero Statement.
func New(statement quorum.Statement, doc Document) (*Review, error) {
	if statement.Purpose() == "" {
		return nil, wire.Errorf(wire.InvalidInput, "", "the review has no statement to sign")
	}
	if statement.IsUnchecked() {
		return nil, wire.Errorf(wire.InvalidInput, "", "a bare root cannot be reviewed")
	}
	if err := doc.check(); err != nil {
		return nil, err
	}
	if root, ok := statement.Root(); ok && !bytes.Equal(root[:], doc.Root) {
		return nil, wire.Errorf(wire.InvalidInput, "", "the review shows root %x, the statement is about %x", doc.Root, root)
	}
	doc.declines = statement.Purpose() == quorum.PurposeBatchDecline
	return &Review{statement, doc}, nil
}

// Statement gives what is signed when the review is accepted.
func (r *Review) Statement() quorum.Statement { return r.statement }

// Document gives what is shown. It is to be drawn, not changed.
func (r *Review) Document() *Document { return &r.doc }

// Confirmation gives what a person is asked who is about to sign, and the answer: the number of operations, so that one who
// did not look cannot know it, and to decline, a word that approves nothing.
func (r *Review) Confirmation() (question, answer string) {
	if r.doc.declines {
		return "the word DECLINE, to say no to the " + r.doc.What, "DECLINE"
	}
	return "number of " + r.doc.Counts.String() + "s in the " + r.doc.What, strconv.Itoa(r.doc.Size)
}

// Stop gives the error of the first finding that is a stop, a *wire.Error, or nil where nothing forbids signing. What is
// expired, opaque or unbound may be declined, so nothing forbids that.
func (r *Review) Stop() error {
	if r.doc.declines {
		return nil
	}
	for _, f := range r.doc.Findings {
		if f.Severity == Stop {
			return f.Err()
		}
	}
	return nil
}

// check holds a document against what New promises.
func (d *Document) check() error {
	if d.Counts > Parts {
		return wire.Errorf(wire.InvalidInput, "", "the review counts nothing that is known")
	}
	if len(d.Root) != sha256.Size {
		return wire.Errorf(wire.InvalidInput, "", "the root of the review has %d bytes, not 32", len(d.Root))
	}
	subjects := 0
	for i := range d.Operations {
		if len(d.Operations[i].Subjects) == 0 {
			return wire.Errorf(wire.InvalidInput, "", "operation %d of the review has no subject", i)
		}
		if d.Counts != Operations && len(d.Operations[i].Subjects) != 1 {
			return wire.Errorf(wire.InvalidInput, "", "%s %d of the review has %d subjects", d.Counts, i, len(d.Operations[i].Subjects))
		}
		subjects += len(d.Operations[i].Subjects)
	}
	if d.Size < 1 || subjects != d.Size {
		return wire.Errorf(wire.InvalidInput, "", "the review shows %d subjects for a size of %d", subjects, d.Size)
	}
	return d.checkFindings()
}

func (d *Document) checkFindings() error {
	told := false
	for _, f := range d.Findings {
		told = told || f.Rule == EscapedText
		wanted := f.Rule.Severity()
		if wanted == Stop && f.Severity == Acknowledge && f.Rule.Flag() != "" {
			wanted = Acknowledge
		}
		if f.Severity != wanted || (f.Severity == Stop) != (f.Code != "") {
			return wire.Errorf(wire.InvalidInput, "", "the finding %s is a %s with code %q", f.Rule, f.Severity, f.Code)
		}
	}
	if told != (d.Escapes > 0) {
		return wire.Errorf(wire.InvalidInput, "", "the review counts %d escapes, and told of them: %t", d.Escapes, told)
	}
	return nil
}
