package docs_test

import (
	"bufio"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"
)

const module = "github.com/better-compute/approver"

// A place is a package and the packages of the module that it may import.
type place struct {
	name string
	may  []string
}

// rooms gives each package its place, low to high. One that is not here has none yet: give it one, in README.md too.
var rooms = []place{
	{"golden", nil},
	{"golden/generate", nil},
	{"core/bettercomputev1", nil},
	{"core/wire", nil},
	{"core/merkle", []string{"core/wire"}},
	{"core/durable", []string{"core/wire"}},
	{"core/durable/durabletest", nil},
	{"core/quorum", []string{"core/wire", "core/merkle"}},
	{"core/kinds", []string{"core/wire", "core/bettercomputev1"}},
	{"core/review", []string{"core/wire", "core/quorum"}},
	{"core/approvers", []string{"core/wire", "core/quorum", "core/review"}},
	{"core/intent", []string{"core/wire", "core/quorum", "core/bettercomputev1"}},
	{"core/medium", []string{"core/review"}},
	{"core/config", []string{"core/wire", "core/durable", "core/quorum"}},
	{"core/ceremony", []string{"core/wire", "core/durable", "core/quorum", "core/review"}},
	{"core/ledger", []string{"core/wire", "core/quorum", "core/review"}},
	{"scope", []string{"core/wire", "core/merkle", "core/quorum", "core/kinds", "core/review"}},
	{"hsm", []string{"core/wire", "core/quorum"}},
	{"hsm/softtoken", []string{"core/wire", "hsm"}},
	{"tui", []string{"core/…", "scope", "tui/quiet"}},
	{"tui/quiet", nil},
	{"approver", []string{"core/…", "scope", "hsm", "hsm/softtoken", "tui"}},
	{"docs", nil},
	{"examples", nil},
	{"examples/…", []string{"…"}},
}

func matches(pattern, name string) bool {
	prefix, wild := strings.CutSuffix(pattern, "…")
	return pattern == name || wild && strings.HasPrefix(name, prefix)
}

var load = sync.OnceValues(func() ([]*packages.Package, error) {
	const what = packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo
	return packages.Load(&packages.Config{Mode: what, Dir: ".."}, "./...")
})

// loadModule gives the packages of the module, without their tests.
func loadModule(t *testing.T) []*packages.Package {
	t.Helper()
	loaded, err := load()
	require.NoError(t, err)
	require.Greater(t, len(loaded), 10, "the module was not found")
	for _, p := range loaded {
		require.Empty(t, p.Errors, p.PkgPath)
	}
	return loaded
}

func room(p *packages.Package) string { return strings.TrimPrefix(p.PkgPath, module+"/") }

func TestRoomsKeepTheirWalls(t *testing.T) {
	for _, p := range loadModule(t) {
		i := slices.IndexFunc(rooms, func(r place) bool { return matches(r.name, room(p)) })
		if i < 0 {
			t.Errorf("package %s has no place among the rooms", room(p))
			continue
		}
		for path := range p.Imports {
			imported, ours := strings.CutPrefix(path, module+"/")
			if ours && !slices.ContainsFunc(rooms[i].may, func(may string) bool { return matches(may, imported) }) {
				t.Errorf("%s imports %s; it may import %v", room(p), imported, rooms[i].may)
			}
		}
	}
}

// users gives the files of the module that use a function, tests left out.
func users(t *testing.T, wanted func(*types.Func) bool) (files []string) {
	t.Helper()
	top, err := filepath.Abs("..")
	require.NoError(t, err)
	for _, p := range loadModule(t) {
		for id, object := range p.TypesInfo.Uses {
			if f, ok := object.(*types.Func); ok && wanted(f) {
				file, err := filepath.Rel(top, p.Fset.Position(id.Pos()).Filename)
				require.NoError(t, err)
				files = append(files, filepath.ToSlash(file))
			}
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// signsStatements tells whether f is a Sign method that takes a statement: that of quorum.Signer, or of one kind of key.
func signsStatements(f *types.Func) bool {
	signature := f.Signature()
	if f.Name() != "Sign" || signature.Recv() == nil {
		return false
	}
	for parameter := range signature.Params().Variables() {
		if types.TypeString(parameter.Type(), nil) == module+"/core/quorum.Statement" {
			return true
		}
	}
	return false
}

func named(f *types.Func, name string) bool { return f.FullName() == module+"/"+name }

func TestOneFileUsesAnApproversKey(t *testing.T) {
	require.Equal(t, []string{"core/ceremony/sign.go"}, users(t, signsStatements))
}

// A key of another job is opened by another call than an approver's. Nobody has such a key yet; whoever has one is named
// here, and is nobody who signs statements.
func TestWhoOpensKeysOfOtherJobs(t *testing.T) {
	require.Empty(t, users(t, func(f *types.Func) bool {
		return f.FullName() == "(*"+module+"/hsm.Token).NonApproverSigner"
	}))
}

func TestOneFileOfAFormatMakesReviews(t *testing.T) {
	require.Equal(t, []string{"core/approvers/change.go", "scope/review.go"}, users(t, func(f *types.Func) bool { return named(f, "core/review.New") }))
}

// The screen, and what stands for it as lines, ask for a signature only of who has opened everything, and accept nothing by themselves.
func TestTheScreenCannotSkipTheReading(t *testing.T) {
	confirms := func(name string) []string {
		return users(t, func(f *types.Func) bool { return named(f, "core/ceremony."+name) })
	}
	asks := []string{"approver/review_plain_read.go", "tui/confirm.go"}
	require.Equal(t, asks, confirms("NewReadChallenge"))
	require.Equal(t, asks, confirms("NewDeclineChallenge"))
	for _, name := range []string{"NewChallenge", "AcceptUnattended", "NewUncheckedChallenge"} {
		for _, file := range confirms(name) {
			require.False(t, strings.HasPrefix(file, "tui/") || strings.HasPrefix(file, "approver/review"), "%s uses %s", file, name)
		}
	}
}

func TestOneFileSignsBareRoots(t *testing.T) {
	require.Equal(t, []string{"approver/batch_unchecked.go"}, users(t, func(f *types.Func) bool {
		return named(f, "core/quorum.Unchecked") || named(f, "core/ceremony.NewUncheckedChallenge")
	}))
}

// eachFile calls visit with the Go files of the module that people write and that are no tests, in order.
func eachFile(t *testing.T, visit func(name string, lines []string)) {
	t.Helper()
	n := 0
	require.NoError(t, filepath.WalkDir("..", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, ".pb.go") {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		var lines []string
		for s := bufio.NewScanner(f); s.Scan(); {
			lines = append(lines, s.Text())
		}
		n++
		visit(strings.TrimPrefix(filepath.ToSlash(path), "../"), lines)
		return nil
	}))
	require.Greater(t, n, 50)
}

func TestFilesAreShort(t *testing.T) {
	eachFile(t, func(name string, lines []string) {
		if len(lines) > 400 {
			t.Errorf("%s has %d lines; a file is a screenful or two, never above 400", name, len(lines))
		}
	})
}

func TestNoPackageIsNamedAfterNothing(t *testing.T) {
	for _, p := range loadModule(t) {
		require.NotContains(t, []string{"util", "utils", "common", "helpers", "types", "misc"}, p.Name, p.PkgPath)
	}
}
