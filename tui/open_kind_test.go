package tui

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestTell(t *testing.T) {
	told := Tell([]byte("\xef\xbb\xbf" + ` {"format":"better-compute-batch-scope","version":1,"batchId":"b\u202e1","scopeSize":415,"leaves":[{"batchId":"no`))
	require.Equal(t, "b<U+202E>1", told.Batch.String())
	require.Equal(t, uint64(415), told.Operations)
	require.Equal(t, Told{Kind: ScopeFile}, Tell([]byte(`{"format":"better-compute-batch-scope","scopeSize":-1,"batchId":7,"leaves":[`)))
	require.Equal(t, Told{Kind: SetSignatureFile, Epoch: 2}, Tell([]byte(`{"epoch":2,"trustDomain":"d","setSha256":"00","batchId":"b"`)))
	require.Equal(t, Told{Kind: DeclineFile}, Tell([]byte(`{"format":"better-compute-batch-decline","batchId":"b"`)))
}

func TestKindOf(t *testing.T) {
	set := `{"format":"better-compute-approver-set","version":1,"epoch":2,`
	for text, kind := range map[string]FileKind{
		"":    UnknownFile,
		" \n": UnknownFile,
		"{":   UnknownFile,
		`{"format":"better-compute-batch-scope","version":1,"leaves":[{"leafIndex":0,"subj`:                                        ScopeFile,
		"\xef\xbb\xbf" + ` { "version" : 1, "x": {"format":"better-compute-batch-decline"}, "format":"better-compute-batch-scope"`: ScopeFile,
		`{"leaves":[{"format":"better-compute-batch-scope"}]}`:                                                                     UnknownFile,
		`{"format":7,"version":1}`:              UnknownFile,
		set + `"set":{"keys":[{"kid":"x","spki`: SetFile,
		`{"epoch":2,"trustDomain":"compute.example.com","setSha256":"00","set":{"keys":[`: SetSignatureFile,
		`{"epoch":2,"trustDomain":"compute.example.com"}`:                                 UnknownFile,
		`{"format":"better-compute-batch-signature","version":1`:                          BatchSignatureFile,
		`{"format":"better-compute-batch-decline","version":1}`:                           DeclineFile,
		`{"format":"better-compute-batch-approval","version":1}`:                          ApprovalFile,
		`{"format":"better-compute-batch-proof","version":1}`:                             ProofFile,
		`{"format":"better-compute-batch-scopes","version":1}`:                            UnknownFile,
		`["gpu-0001","gpu-0002"]`:                                                         ExpectedFile,
		`[{"subject":"gpu-0001","kind":"n`:                                                ExpectedFile,
		`[{"name":"gpu-0001"}]`:                                                           UnknownFile,
		`[1,2]`:                                                                           UnknownFile,
		"# machines\n\ngpu-0001\nbmc:a/b\n":                                               ExpectedFile,
		"gpu-0001\nnot a subject\n":                                                       UnknownFile,
		"-----BEGIN PUBLIC KEY-----\nMFkw":                                                PublicKeyFile,
		"-----BEGIN ENCRYPTED PRIVATE KEY-----\nMFkw":                                     PrivateKeyFile,
		"\x7fELF\x02\x01":                                                                 UnknownFile,
		strings.Repeat("gpu-0001\n", HeadBytes/9) + "g":                                   ExpectedFile,
	} {
		require.Equal(t, kind, KindOf([]byte(text)), "%q", text)
	}
}

// Whatever a file begins with, it is some kind of file.
func TestKindOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := Tell([]byte(rapid.OneOf(rapid.String(), rapid.StringMatching(`[\[{]{1,3}"(format|subject|x)":["{\[]?(better-compute-(approver-set|batch-scope))?"?.*`)).Draw(t, "head")))
		require.NotEmpty(t, kind.Kind.String())
	})
}
