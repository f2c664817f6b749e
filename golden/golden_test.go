package golden

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRegenerated runs the generator and wants the committed files, byte for byte, and no others.
func TestRegenerated(t *testing.T) {
	out, examples := t.TempDir(), t.TempDir()
	run := exec.Command("go", "run", "./generate", "-out", out, "-examples", examples)
	output, err := run.CombinedOutput()
	require.NoError(t, err, "%s", output)
	requireSameFiles(t, out, ".", "*.json")
	requireSameFiles(t, examples, "../examples", "small/*")
	requireSameFiles(t, examples, "../examples", "415/*")
}

func requireSameFiles(t *testing.T, made, committed, pattern string) {
	t.Helper()
	names := func(dir string) (list []string) {
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		require.NoError(t, err)
		for _, p := range paths {
			rel, err := filepath.Rel(dir, p)
			require.NoError(t, err)
			list = append(list, rel)
		}
		return list
	}
	require.NotEmpty(t, names(made))
	require.Equal(t, names(made), names(committed), "files that the generator writes; run: go run ./golden/generate -out golden -examples examples")
	for _, name := range names(made) {
		want, err := os.ReadFile(filepath.Join(made, name))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(committed, name))
		require.NoError(t, err)
		require.True(t, string(want) == string(got), "%s is not what the generator writes; run: go run ./golden/generate -out golden -examples examples", name)
	}
}

// TestLoaders wants of every file that its loader takes it, that names are distinct, and that good and refused both occur.
func TestLoaders(t *testing.T) {
	for file, vectors := range map[string]any{
		"approver-key": PublicKeys(), "signing-input": Signatures(), "key-proof": KeyProofs(), "batch-approval": Approvals().Vectors,
		"approver-set-file": ApproverSetFiles(), "batch-signature-file": SignatureFiles(), "batch-decline-file": DeclineFiles(), "scope-file": ScopeFiles(),
		"scope-policy": ScopePolicies(), "payload": Payloads().Vectors, "expected-list": ExpectedLists().Vectors, "text-forms": TextForms(),
		"payload-json": PayloadJSONs(), "kinds": KindsTables(),
		"combined-approval, messages": CombinedApprovals().Messages, "combined-approval, files": CombinedApprovals().Files,
		"batch-proof, messages": BatchProofs().Messages, "batch-proof, files": BatchProofs().Files, "approver-set-digest": SetDigests().Signatures,
		"trust-bundle, roots": TrustBundles().Roots, "trust-bundle, bundles": TrustBundles().Bundles, "trust-bundle, signed": TrustBundles().Signed,
	} {
		list := reflect.ValueOf(vectors)
		seen, wants := map[string]bool{}, map[string]int{}
		for i := range list.Len() {
			name := list.Index(i).FieldByName("Name").String()
			require.False(t, seen[name], "%s: %q is there twice", file, name)
			seen[name] = true
			wants[list.Index(i).FieldByName("Want").String()]++
		}
		require.Len(t, wants, 2, "%s: %v", file, wants)
		require.NotZero(t, wants["ok"], file)
		require.NotZero(t, wants["refused"], file)
	}
	require.Len(t, Keys(), 5)
	require.Len(t, SigningInputs(), 10)
	require.Len(t, Trees(), 11)
	require.NotEmpty(t, BadProofs())
	require.Len(t, SetDigests().Digests, 7)
	require.Len(t, strings.Fields(PGPWords()[len(PGPWords())-1].Words), 512)
	now, cases := Cases()
	require.EqualValues(t, 4102358400000, now)
	for _, c := range cases {
		require.NotEmpty(t, c.Content(), c.File)
	}
}

// TestLoaderRefusesNothing wants a loader to fail on a file that holds none.
func TestLoaderRefusesNothing(t *testing.T) {
	require.Panics(t, func() { load[[]KeyProof]("no-such.json") })
	require.Panics(t, func() { load[struct{ Vectors []KeyProof }]("approver-key.json") }, "unknown members")
	require.False(t, hasVectors(reflect.ValueOf([]KeyProof{})))
	require.False(t, hasVectors(reflect.ValueOf(ApprovalFile{Sets: []NamedSet{{}}})))
	require.True(t, hasVectors(reflect.ValueOf([]KeyProof{{}})))
}

// TestContents wants every content to give bytes in one of its three ways, and the large ones their exact size.
func TestContents(t *testing.T) {
	sizes := map[string]int{"64 MiB": 64 << 20, "64 MiB and a byte": 64<<20 + 1, "200,000 open brackets": 200_000}
	for _, v := range ScopeFiles() {
		b := v.Bytes()
		if n, ok := sizes[v.Name]; ok {
			require.Len(t, b, n, v.Name)
			delete(sizes, v.Name)
		}
		if v.Name == "50,000 leaves" {
			require.Contains(t, string(b), `"subject":"n049999"`)
			require.NotContains(t, string(b), "%06d")
		}
	}
	require.Empty(t, sizes)
	require.Panics(t, func() { Content{}.Bytes() })
}
