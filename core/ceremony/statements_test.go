package ceremony_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/ceremony"
	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// reviewOf is a review of one operation over any statement that is reviewed.
func reviewOf(t require.TestingT, s quorum.Statement, what string) *review.Review {
	root, ok := s.Root()
	require.True(t, ok)
	one := review.Operation{Title: review.Escape("one thing"), Subjects: []review.Text{review.Escape("something")}}
	r, err := review.New(s, review.Document{What: what, Root: root[:], Size: 1, Operations: []review.Operation{one}})
	require.NoError(t, err)
	return r
}

// statements is one statement of each purpose that is reviewed, with the format its file names.
func statements(t require.TestingT, key quorum.PublicKey) map[string]quorum.Statement {
	scope, err := quorum.NewScope("batch_1", []quorum.Entry{{Subject: "node_1", Kind: "node.wipe"}})
	require.NoError(t, err)
	approval, err := scope.Approval(4102444800000, "compute.example.com")
	require.NoError(t, err)
	decline, err := scope.Decline(4102444800000, "compute.example.com", "wrong image")
	require.NoError(t, err)
	set, err := quorum.NewSet(quorum.SetDraft{Keys: []quorum.PublicKey{key}, Threshold: 1})
	require.NoError(t, err)
	change, err := quorum.ApproverSetChange(2, set, "compute.example.com")
	require.NoError(t, err)
	return map[string]quorum.Statement{"batch scope": approval, "declined batch": decline, "approver-set change": change}
}

// Whatever was reviewed goes the same way: accepted, signed once, written in its own file, read back and verified.
func TestEveryStatementIsWrittenInItsFile(t *testing.T) {
	key := newKey(t)
	for what, s := range statements(t, key.public) {
		t.Run(what, func(t *testing.T) {
			key.asked = nil
			accepted, err := ceremony.AcceptUnattended(reviewOf(t, s, what))
			require.NoError(t, err)
			signed, err := accepted.Sign(t.Context(), key)
			require.NoError(t, err)
			require.Equal(t, []quorum.Statement{s}, key.asked)
			require.Equal(t, s, signed.Statement())
			require.Equal(t, key.public.KID(), signed.Signature().KID)
			require.True(t, key.public.Verify(s, signed.Signature().Sig))
			require.True(t, signed.File().Verifies(key.public))

			path := filepath.Join(t.TempDir(), "sig.json")
			out, err := durable.Create(path, 0o644)
			require.NoError(t, err)
			require.NoError(t, signed.WriteFile(out))
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, s.File(signed.Signature()).Encode(), data)
			back, err := s.ParseFile(data)
			require.NoError(t, err)
			require.True(t, back.Verifies(key.public))
			require.False(t, back.Verifies(newKey(t).public))
			var stream bytes.Buffer
			_, err = signed.WriteTo(&stream)
			require.NoError(t, err)
			require.Equal(t, data, stream.Bytes())
		})
	}
}

// What the key gives must be over the very statement: not over a decline where an approval was accepted, nor the other way.
func TestASignatureOverAnotherPurposeIsThrownAway(t *testing.T) {
	good := newKey(t)
	all := statements(t, good.public)
	for what, s := range all {
		for instead, other := range all {
			if what == instead {
				continue
			}
			accepted, err := ceremony.AcceptUnattended(reviewOf(t, s, what))
			require.NoError(t, err)
			signed, err := accepted.Sign(t.Context(), &fakeKey{public: good.public, sign: func(quorum.Statement) (quorum.Signature, error) { return good.sign(other) }})
			require.Nil(t, signed)
			require.Equal(t, wire.KeyUnavailable, wire.CodeOf(err))
			require.Equal(t, "bad-signature", wire.ReasonOf(err), "a %s for a %s", instead, what)
		}
	}
}

// A file that does not read back as it was written is removed, whatever was signed.
func TestEveryFileIsReadBack(t *testing.T) {
	key := newKey(t)
	for what, s := range statements(t, key.public) {
		accepted, err := ceremony.AcceptUnattended(reviewOf(t, s, what))
		require.NoError(t, err)
		signed, err := accepted.Sign(t.Context(), key)
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), "sig.json")
		out, err := durable.Create(path, 0o644)
		require.NoError(t, err)
		_, err = out.Write([]byte(" "))
		require.NoError(t, err)
		require.Equal(t, wire.IOError, wire.CodeOf(signed.WriteFile(out)), what)
		require.NoFileExists(t, path)
	}
}
