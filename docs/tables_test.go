package docs_test

import (
	"go/constant"
	"go/types"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/config"
	"github.com/better-compute/approver/core/kinds"
	"github.com/better-compute/approver/core/review"
)

// rows gives the rows of the table of a page whose header line is given, as their cells.
func rows(t *testing.T, page, header string) (found [][]string) {
	t.Helper()
	_, rest, ok := strings.Cut(pages(t)[page], header+"\n")
	require.True(t, ok, "%s has no table %q", page, header)
	for line := range strings.Lines(rest) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i, cell := range cells {
			cells[i] = strings.Trim(strings.TrimSpace(cell), "`")
		}
		found = append(found, cells)
	}
	require.Greater(t, len(found), 1)
	return found[1:] // without the line under the header
}

func TestTheTableOfKindsIsTheCodes(t *testing.T) {
	var want [][]string
	for _, k := range kinds.Builtin().Kinds() {
		var roles []string
		for _, r := range k.Roles() {
			roles = append(roles, string(r))
		}
		slices.Sort(roles)
		destructive := map[bool]string{true: "yes", false: "no"}[k.Destructive()]
		want = append(want, []string{k.Name(), string(k.Message().Name()), destructive, strings.Join(roles, ", ")})
	}
	require.Equal(t, want, rows(t, "docs/formats/payloads.md", "| kind | message | destructive | roles |"))
}

// constants gives the objects of the constants of a named type.
func constants(t *testing.T, pkg, name string) map[types.Object]string {
	t.Helper()
	found := map[types.Object]string{}
	for _, p := range loadModule(t) {
		if room(p) != pkg {
			continue
		}
		for _, n := range p.Types.Scope().Names() {
			if c, ok := p.Types.Scope().Lookup(n).(*types.Const); ok && types.TypeString(c.Type(), types.RelativeTo(p.Types)) == name {
				found[c] = constant.StringVal(c.Val())
			}
		}
	}
	require.NotEmpty(t, found)
	return found
}

func TestTheTableOfErrorsHasEveryCode(t *testing.T) {
	var want, have []string
	for _, code := range constants(t, "core/wire", "Code") {
		want = append(want, code)
	}
	for _, row := range rows(t, "docs/formats/errors.md", "| Code | When | Reasons |") {
		have = append(have, row[0])
	}
	require.ElementsMatch(t, want, have)
}

// raised gives the rules that some code outside the catalogue makes a finding of.
func raised(t *testing.T) map[review.Rule]bool {
	t.Helper()
	found := map[review.Rule]bool{}
	named := map[string]string{}
	for object, rule := range constants(t, "core/review", "Rule") {
		named[object.Name()] = rule
	}
	for _, p := range loadModule(t) {
		for id, object := range p.TypesInfo.Uses {
			// An importing package has the constant as an object of its own, so the name and the package tell.
			if _, ok := object.(*types.Const); !ok || object.Pkg() == nil || object.Pkg().Path() != module+"/core/review" {
				continue
			}
			rule, ok := named[object.Name()]
			if file := p.Fset.Position(id.Pos()).Filename; ok && !strings.Contains(file, "/core/review/catalogue") {
				found[review.Rule(rule)] = true
			}
		}
	}
	return found
}

func TestTheTableOfFindingsIsTheCodes(t *testing.T) {
	raised := raised(t)
	var want [][]string
	for _, r := range review.Rules() {
		flag := r.Flag()
		if r == review.WindowLong {
			flag = "--max-hours"
		}
		want = append(want, []string{string(r), r.Severity().String(), map[bool]string{true: "yes", false: "no"}[raised[r]], flag, r.Meaning(), r.Advice()})
	}
	require.Equal(t, want, rows(t, "docs/formats/findings.md", "| Rule | Severity | Raised | Lifted by | Meaning | What to do |"))
}

func TestTheTableOfConfigurationIsTheCodes(t *testing.T) {
	var want [][]string
	for _, k := range config.Keys() {
		want = append(want, []string{k.Name, k.Value, k.Variable, k.Flag, string(k.Rule)})
	}
	require.Equal(t, want, rows(t, "docs/formats/configuration.md", "| Key | Value | Environment | Flag | A flag may |"))
}
