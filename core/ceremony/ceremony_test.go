package ceremony_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/better-compute/approver/core/ceremony"
	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// A fakeKey signs as its function says.
type fakeKey struct {
	public quorum.PublicKey
	sign   func(quorum.Statement) (quorum.Signature, error)
	asked  []quorum.Statement
}

func (k *fakeKey) Public() quorum.PublicKey { return k.public }
func (k *fakeKey) Sign(_ context.Context, s quorum.Statement) (quorum.Signature, error) {
	k.asked = append(k.asked, s)
	return k.sign(s)
}

// newKey is a key that does what it should.
func newKey(t require.TestingT) *fakeKey {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	public, err := quorum.NewPublicKey(&private.PublicKey)
	require.NoError(t, err)
	return &fakeKey{public: public, sign: func(s quorum.Statement) (quorum.Signature, error) {
		digest := s.Digest()
		r, v, err := ecdsa.Sign(rand.Reader, private, digest[:])
		require.NoError(t, err)
		signature := quorum.Signature{KID: public.KID()}
		r.FillBytes(signature.Sig[:32])
		v.FillBytes(signature.Sig[32:])
		return signature, nil
	}}
}

func newReview(t require.TestingT, subjects int, findings ...review.Finding) *review.Review {
	entries := make([]quorum.Entry, subjects)
	operation := review.Operation{Title: review.Escape("node.wipe")}
	for i := range entries {
		entries[i] = quorum.Entry{Subject: "node_" + strconv.Itoa(i), Kind: "node.wipe"}
		operation.Subjects = append(operation.Subjects, review.Escape(entries[i].Subject))
	}
	scope, err := quorum.NewScope("batch_1", entries)
	require.NoError(t, err)
	statement, err := scope.Approval(4102444800000, "compute.example.com")
	require.NoError(t, err)
	root := scope.Root()
	r, err := review.New(statement, review.Document{What: "batch scope", Root: root[:], Size: subjects, Operations: []review.Operation{operation}, Findings: findings})
	require.NoError(t, err)
	return r
}

// answers reads the questions as a person would, off the drawing of the review.
func answers(t require.TestingT, r *review.Review, c *ceremony.Challenge) []string {
	words := review.Words(r.Document().Root)
	position := regexp.MustCompile(`word (\d+) of the root`)
	out := []string{strconv.Itoa(r.Document().Size)}
	for _, q := range c.Questions()[1:] {
		n, err := strconv.Atoi(position.FindStringSubmatch(q)[1])
		require.NoError(t, err)
		out = append(out, words[n-1])
	}
	return out
}

// The words of a batch are of its root, those of an approver set of its digest.
func TestWordsAreOfWhatIsDrawn(t *testing.T) {
	c, err := ceremony.NewChallenge(newReview(t, 3))
	require.NoError(t, err)
	require.Regexp(t, `^word \d+ of the root$`, c.Questions()[1])

	set, err := quorum.NewSet(quorum.SetDraft{})
	require.NoError(t, err)
	statement, err := quorum.ApproverSetChange(2, set, "compute.example.com")
	require.NoError(t, err)
	digest := set.Digest()
	operation := review.Operation{Title: review.Escape("THE QUORUM IS REMOVED"), Subjects: []review.Text{review.Escape("the whole set")}}
	r, err := review.New(statement, review.Document{What: "approver set", Root: digest[:], RootOf: "the new set", Counts: review.Parts, Size: 1,
		Operations: []review.Operation{operation}})
	require.NoError(t, err)
	c, err = ceremony.NewChallenge(r)
	require.NoError(t, err)
	for _, question := range c.Questions()[1:] {
		require.Regexp(t, `^word \d+ of the digest$`, question)
	}
	require.ErrorContains(t, ceremony.NotConfirmed(r), "; the digest is ")
}

func TestSign(t *testing.T) {
	r, key := newReview(t, 3), newKey(t)
	c, err := ceremony.NewChallenge(r)
	require.NoError(t, err)
	accepted, err := c.Accept(answers(t, r, c))
	require.NoError(t, err)
	signed, err := accepted.Sign(t.Context(), key)
	require.NoError(t, err)
	require.Equal(t, []quorum.Statement{r.Statement()}, key.asked, "the key signs the statement of the review, once")
	require.True(t, signed.File().Verifies(key.public))
	file := signed.File().(*quorum.SignatureFile)
	require.Equal(t, r.Document().Root, file.ScopeRoot[:])
	require.False(t, file.Unchecked)

	path := filepath.Join(t.TempDir(), "sig.json")
	out, err := durable.Create(path, 0o644)
	require.NoError(t, err)
	require.NoError(t, signed.WriteFile(out))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, signed.Encode(), data)
	var stream bytes.Buffer
	_, err = signed.WriteTo(&stream)
	require.NoError(t, err)
	require.Equal(t, data, stream.Bytes())
}

// Nothing but the right three answers confirms, whatever is typed: Enter, a pasted text, the answers in another order.
func TestWrongAnswersConfirmNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newReview(t, rapid.IntRange(1, 50).Draw(t, "size"))
		c, err := ceremony.NewChallenge(r)
		require.NoError(t, err)
		right := answers(t, r, c)
		typed := make([]string, rapid.IntRange(0, 4).Draw(t, "answers"))
		for i := range typed {
			typed[i] = rapid.OneOf(rapid.SampledFrom(append([]string{"", "\n", "y", "yes"}, right...)), rapid.String()).Draw(t, "answer")
		}
		same := len(typed) == len(right)
		for i := range min(len(typed), len(right)) {
			same = same && strings.EqualFold(strings.TrimSpace(typed[i]), right[i])
		}
		accepted, err := c.Accept(typed)
		require.Equal(t, same, err == nil)
		if !same {
			require.Nil(t, accepted)
			require.Equal(t, "not-confirmed", wire.ReasonOf(err))
			for _, word := range right[1:] {
				require.NotContains(t, err.Error(), word, "the message does not tell the answer")
			}
		}
	})
}

func TestQuestionsAreAboutTwoWordsAtRandom(t *testing.T) {
	r := newReview(t, 3)
	seen := map[string]bool{}
	for range 200 {
		c, err := ceremony.NewChallenge(r)
		require.NoError(t, err)
		q := c.Questions()
		require.Len(t, q, 3)
		require.NotEqual(t, q[1], q[2])
		seen[q[1]], seen[q[2]] = true, true
	}
	require.Greater(t, len(seen), 25, "of 32 words, most are asked for within 200 ceremonies")
}

// A stop forbids every way to an Accepted.
func TestAStopStops(t *testing.T) {
	r := newReview(t, 1, review.NewFinding(review.Unbound, review.Escape("1 leaf admits any payload")))
	_, err := ceremony.AcceptUnattended(r)
	require.Equal(t, wire.UnboundScope, wire.CodeOf(err))
	_, err = ceremony.NewChallenge(r)
	require.Equal(t, wire.UnboundScope, wire.CodeOf(err))
}

// What a key gives is thrown away unless it is the expected key's signature over the statement.
func TestBadSignatures(t *testing.T) {
	good, other := newKey(t), newKey(t)
	for name, c := range map[string]struct {
		sign   func(quorum.Statement) (quorum.Signature, error)
		reason string
	}{
		"another key's, under its own kid": {other.sign, "key-mismatch"},
		"another key's, under the expected kid": {func(s quorum.Statement) (quorum.Signature, error) {
			signature, err := other.sign(s)
			signature.KID = good.public.KID()
			return signature, err
		}, "bad-signature"},
		"over another statement": {func(quorum.Statement) (quorum.Signature, error) { return good.sign(quorum.ProofOfKey(good.public)) }, "bad-signature"},
		"flipped": {func(s quorum.Statement) (quorum.Signature, error) {
			signature, err := good.sign(s)
			signature.Sig[3] ^= 1
			return signature, err
		}, "bad-signature"},
		"empty": {func(quorum.Statement) (quorum.Signature, error) {
			return quorum.Signature{KID: good.public.KID()}, nil
		}, "bad-signature"},
		"an error": {func(quorum.Statement) (quorum.Signature, error) {
			return quorum.Signature{}, wire.Errorf(wire.KeyUnavailable, "device-removed", "gone")
		}, "device-removed"},
	} {
		t.Run(name, func(t *testing.T) {
			accepted, err := ceremony.AcceptUnattended(newReview(t, 1))
			require.NoError(t, err)
			signed, err := accepted.Sign(t.Context(), &fakeKey{public: good.public, sign: c.sign})
			require.Nil(t, signed)
			require.Equal(t, wire.KeyUnavailable, wire.CodeOf(err))
			require.Equal(t, c.reason, wire.ReasonOf(err))
		})
	}
}

func TestProveKey(t *testing.T) {
	key := newKey(t)
	proof, err := ceremony.ProveKey(t.Context(), key)
	require.NoError(t, err)
	proven, err := quorum.ParseKeyProof(proof)
	require.NoError(t, err)
	require.True(t, proven.Equal(key.public))
	_, err = ceremony.ProveKey(t.Context(), &fakeKey{public: key.public, sign: newKey(t).sign})
	require.Equal(t, wire.KeyUnavailable, wire.CodeOf(err))
}

func TestUnchecked(t *testing.T) {
	r := newReview(t, 1)
	root := [32]byte(r.Document().Root)
	s, err := quorum.Unchecked("batch_1", root, 1, 4102444800000, "compute.example.com")
	require.NoError(t, err)
	c, err := ceremony.NewUncheckedChallenge(s, "batch_1")
	require.NoError(t, err)
	for _, typed := range []string{"", "batch_", "batch_1 ", "BATCH_1", "y"} {
		accepted, err := c.Accept(typed)
		require.Nil(t, accepted)
		require.Equal(t, "not-confirmed", wire.ReasonOf(err))
	}
	accepted, err := c.Accept("batch_1")
	require.NoError(t, err)
	signed, err := accepted.Sign(t.Context(), newKey(t))
	require.NoError(t, err)
	require.True(t, signed.File().(*quorum.SignatureFile).Unchecked)

	_, err = ceremony.NewUncheckedChallenge(r.Statement(), "batch_1")
	require.Error(t, err, "a statement that was reviewed does not take the short way")
	_, err = review.New(s, *r.Document())
	require.Error(t, err, "and a bare root is no review")
}

func TestNotConfirmedNamesTheRoot(t *testing.T) {
	r := newReview(t, 1)
	err := ceremony.NotConfirmed(r)
	require.Equal(t, "not-confirmed", wire.ReasonOf(err))
	require.Contains(t, err.Error(), strings.ToLower(hexOf(r.Document().Root)))
}

func hexOf(b []byte) string {
	const digits = "0123456789abcdef"
	var s strings.Builder
	for _, c := range b {
		s.WriteByte(digits[c>>4])
		s.WriteByte(digits[c&15])
	}
	return s.String()
}

// A stream that fails is an IO_ERROR; a file that does not read back as it was written is one, and is removed.
func TestWriteFailures(t *testing.T) {
	accepted, err := ceremony.AcceptUnattended(newReview(t, 1))
	require.NoError(t, err)
	signed, err := accepted.Sign(t.Context(), newKey(t))
	require.NoError(t, err)
	_, err = signed.WriteTo(brokenPipe{})
	require.Equal(t, wire.IOError, wire.CodeOf(err))

	path := filepath.Join(t.TempDir(), "sig.json")
	out, err := durable.Create(path, 0o644)
	require.NoError(t, err)
	_, err = out.Write([]byte("something that was there before "))
	require.NoError(t, err)
	require.Equal(t, wire.IOError, wire.CodeOf(signed.WriteFile(out)))
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Empty(t, left)
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }
