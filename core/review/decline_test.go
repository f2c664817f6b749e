package review

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// statements gives an approval and a decline of one batch, and the sample as the document of both.
func statements(t *testing.T) (approval, decline quorum.Statement, d *Document) {
	t.Helper()
	scope, err := quorum.NewScope("batch_1", []quorum.Entry{{Subject: "gpu-1", Kind: "node.wipe"}})
	require.NoError(t, err)
	approval, err = scope.Approval(1790000000000, "compute.example.com")
	require.NoError(t, err)
	decline, err = scope.Decline(1790000000000, "compute.example.com", "no")
	require.NoError(t, err)
	d, root := sample(), scope.Root()
	d.Root = root[:]
	return approval, decline, d
}

// Whether a document says no is read off the statement alone: one document is drawn as the statement it is made for.
func TestTheStatementSaysWhetherItDeclines(t *testing.T) {
	approval, decline, d := statements(t)
	a, err := New(approval, *d)
	require.NoError(t, err)
	no, err := New(decline, *a.Document())
	require.NoError(t, err)
	yes, err := New(approval, *no.Document())
	require.NoError(t, err)

	require.True(t, no.Document().Declines())
	require.NoError(t, no.Stop())
	text := draw(t, no.Document(), Whole)
	require.True(t, strings.HasPrefix(text, "DECLINE: "), text)
	require.NotContains(t, text, "STOP: do not sign")
	require.Contains(t, text, "  STOP window-closed\n", "the finding stays what it is")
	require.Contains(t, string(encode(t, no.Document())), `"verdict":"decline"`)
	question, answer := no.Confirmation()
	require.Equal(t, "the word DECLINE, to say no to the batch scope", question)
	require.Equal(t, "DECLINE", answer)

	for _, r := range []*Review{a, yes} {
		require.False(t, r.Document().Declines())
		require.Equal(t, "window-closed", wire.ReasonOf(r.Stop()))
		require.NotContains(t, draw(t, r.Document(), Whole), "DECLINE")
		require.Contains(t, string(encode(t, r.Document())), `"verdict":"stop"`)
		question, answer = r.Confirmation()
		require.Equal(t, "number of operations in the batch scope", question)
		require.Equal(t, "17", answer)
	}
}

// A document of another root than the one that is signed is none of the statement.
func TestNewRefusesAnotherRoot(t *testing.T) {
	approval, decline, d := statements(t)
	d.Root = append([]byte{}, d.Root...)
	d.Root[31] ^= 1
	for _, s := range []quorum.Statement{approval, decline} {
		_, err := New(s, *d)
		require.Equal(t, wire.InvalidInput, wire.CodeOf(err))
	}
}

// Changes are each about one thing, drawn whole even where Brief would sum operations up, and counted as changes.
func TestChanges(t *testing.T) {
	d := &Document{What: "approver-set change", Root: sampleRoot[:], RootOf: "the new set", Counts: Changes, Size: 90}
	for _, kid := range numbered("kid-%02d", 90) {
		o := Operation{Title: Escape("a key joins"), Subjects: []Text{kid}}
		o.SetFields(func() []Field { return []Field{one("file", "string", kid.String()+".pub")} })
		d.Operations = append(d.Operations, o)
	}
	r, err := New(statement(t), *d)
	require.NoError(t, err)
	brief := draw(t, r.Document(), Brief)
	require.Equal(t, draw(t, r.Document(), Whole), brief)
	require.Contains(t, brief, "\n90 changes; 0 escapes in texts.\n")
	require.Contains(t, brief, "\n90 of 90  a key joins\n     kid-89\n     file  \"kid-89.pub\"\n")
	require.Contains(t, brief, "\nDigest, the SHA-256 of the new set, to compare by voice with the other approvers\n")
	require.Contains(t, string(encode(t, r.Document())), `"size":90,"counts":"change",`)
	_, answer := r.Confirmation()
	require.Equal(t, "90", answer)

	d.Operations[3].Subjects = texts("a", "b")
	d.Size++
	_, err = New(statement(t), *d)
	require.Equal(t, wire.InvalidInput, wire.CodeOf(err))
	d.Counts = Operations
	_, err = New(statement(t), *d)
	require.NoError(t, err)
	require.Equal(t, []string{"operation", "change", "part", "none"}, []string{Operations.String(), Changes.String(), Parts.String(), Unit(3).String()})
}
