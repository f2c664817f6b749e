package medium

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/better-compute/approver/core/review"
)

func TestOddRunes(t *testing.T) {
	for path, want := range map[string]string{
		"scope.json": "", "/media/usb/2026-11 batch (3)/~scope_1+2@x,y;=.json": "", "": "",
		"Größe/ærlig/żółw/łódź/đak/þorn/ệ/ǿ/İstanbul": "",
		"s\u0441ope.json": "U+0441 (Cyrillic)",
		"\u03bdodes":      "U+03BD (Greek)",
		"\uff53cope":      "U+FF53 (like s)",
		"\U0001d68ccope":  "U+1D68C (like c)",
		"\u0261pu":        "U+0261 (Latin)",
		"l\u0131st":       "U+0131 (Latin)",
		"\u017fcope":      "U+017F (like s)",
		"\u212aey":        "U+212A (like K)",
		"\u212b":          "U+212B (Latin)",
		"\u0138ey":        "U+0138 (Latin)",
		"a\u00a0b":        "U+00A0 (space)",
		"a\u3000b":        "U+3000 (space)",
		"a\u200bb":        "U+200B (invisible)",
		"a\u034fb":        "U+034F (invisible)",
		"a\u00adb":        "U+00AD (invisible)",
		"a\u202etxt.nosj": "U+202E (invisible)",
		"e\u0301":         "U+0301 (mark)",
		"a\u2044b":        "U+2044 (no letter)",
		"a\u2215b":        "U+2215 (no letter)",
		"a\tb\x7f\u0085":  "U+0009 (control), U+007F (control), U+0085 (control)",
		"a\xffb\xc3":      "byte 0xFF (not UTF-8), byte 0xC3 (not UTF-8)",
		"\ufffd":          "U+FFFD (no letter)",
		"сс/с\u0430":      "U+0441 (Cyrillic), U+0430 (Cyrillic)",
		"абвгдежзий":      "U+0430 (Cyrillic), U+0431 (Cyrillic), U+0432 (Cyrillic), U+0433 (Cyrillic), U+0434 (Cyrillic), U+0435 (Cyrillic), U+0436 (Cyrillic), U+0437 (Cyrillic), and 2 more",
		"\ufb01le":        "U+FB01 (Latin)",
		"\u01c6":          "U+01C6 (Latin)",
		"\u00aa":          "U+00AA (like a)",
		"\ue000":          "U+E000 (no letter)",
		"\u037e":          "U+037E (like ;)",
		"\u1e9a":          "U+1E9A (Latin)",
		"\u05d0":          "U+05D0 (Hebrew)",
	} {
		require.Equal(t, want, oddRunes(path), "%q", path)
	}
}

// Of all runes, those that are plain beyond ASCII are letters of the Latin script that come apart into a letter of Europe and
// marks, and no two of them are one letter.
func TestPlainRunes(t *testing.T) {
	seen, n := map[string]rune{}, 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !plain(r) {
			continue
		}
		n++
		if r < 0x80 {
			require.True(t, ' ' <= r && r <= '~')
			continue
		}
		require.True(t, unicode.In(r, unicode.Latin) && unicode.IsLetter(r), "%U", r)
		base := []rune(norm.NFD.String(string(r)))[0]
		require.True(t, base < 0x80 && unicode.IsLetter(base) || strings.ContainsRune(ordinary, base), "%U is %q with marks", r, base)
		folded := norm.NFKC.String(string(r))
		require.Zero(t, seen[folded], "%U and %U are one letter", r, seen[folded])
		seen[folded] = r
	}
	require.Less(t, n, 1000)
	require.Greater(t, n, 600)
}

// A path of plain runes has no finding; with one that is not, it has one that names it, and no place draws it raw.
func TestOneOddRuneIsFound(t *testing.T) {
	var letters []rune
	for r := rune(' '); r < 0x2000; r++ {
		if plain(r) && r != filepath.Separator {
			letters = append(letters, r)
		}
	}
	good := rapid.StringOfN(rapid.SampledFrom(letters), 1, 12, 60)
	bad := rapid.OneOf(rapid.Rune(), rapid.RuneFrom(nil, unicode.Cyrillic, unicode.Cf, unicode.Cc, unicode.Mn, unicode.Zs)).
		Filter(func(r rune) bool { return !plain(r) && r != 0 && r != unicode.ReplacementChar })
	rapid.Check(t, func(t *rapid.T) {
		before, after := good.Draw(t, "before"), good.Draw(t, "after")
		path := filepath.Join("nowhere", before, after)
		require.Empty(t, Findings(path, []Input{{Role: "expected list", Path: path}}))

		r := bad.Draw(t, "odd")
		path = filepath.Join("nowhere", before+string(r)+after)
		found := Findings("nowhere/scope", []Input{{Role: "expected list", Path: path}, {Role: "approver set", Path: "nowhere/set"}})
		require.Len(t, found, 1)
		require.Equal(t, review.OddPath, found[0].Rule)
		require.Len(t, found[0].Places, 1)
		place := found[0].Places[0].String()
		require.True(t, strings.HasPrefix(place, fmt.Sprintf("expected list: U+%04X (", r)), "%s", place)
		require.True(t, review.PlainBytes([]byte(strings.ReplaceAll(strings.ReplaceAll(place, "<U+", ""), "<0x", ""))))
	})
}

// Of the components of a path, exactly those that are links are named, wherever they are.
func TestEveryLinkIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		top, err := os.MkdirTemp("", "links")
		require.NoError(t, err)
		defer os.RemoveAll(top)
		top, err = filepath.EvalSymlinks(top)
		require.NoError(t, err)
		path, want := top, []string(nil)
		for i, linked := range rapid.SliceOfN(rapid.Bool(), 1, 6).Draw(t, "linked") {
			name := fmt.Sprint("folder", i)
			path += rapid.SampledFrom([]string{"/", "//", "/./"}).Draw(t, "separator")
			if !linked {
				path += name
				require.NoError(t, os.Mkdir(path, 0o700))
				continue
			}
			require.NoError(t, os.Mkdir(path+name, 0o700))
			require.NoError(t, os.Symlink(name, path+"link"))
			resolved, err := filepath.EvalSymlinks(path + name)
			require.NoError(t, err)
			path += "link"
			want = append(want, "the symbolic link "+path+" leads to "+resolved)
		}
		path += rapid.SampledFrom([]string{"", "/"}).Draw(t, "end")
		require.Equal(t, want, oddities(path))
	})
}

func TestLinks(t *testing.T) {
	top := desk(t, "a/file", "\u0430/file")
	t.Chdir(top)
	for name, to := range map[string]string{"link": "a/file", "again": "link", "dangling": "gone\u202e", "loop": "loop", "odd": "\u0430"} {
		require.NoError(t, os.Symlink(to, name))
	}
	for path, want := range map[string][]string{
		"a/file": nil, "./a/../a/file": nil, "absent": nil, "absent/file": nil, "a/file/below": nil,
		"link":           {"the symbolic link link leads to a/file"},
		"again":          {"the symbolic link again leads to a/file"},
		"dangling":       {"the symbolic link dangling leads to gone\u202e", "U+202E (invisible) in gone\u202e"},
		"loop":           {"the symbolic link loop leads to loop"},
		"odd/file":       {"the symbolic link odd leads to \u0430", "U+0430 (Cyrillic) in \u0430"},
		"a/../link":      {"the symbolic link a/../link leads to a/file"},
		"odd/../a/file":  {"the symbolic link odd leads to \u0430", "U+0430 (Cyrillic) in \u0430"},
		top + "/link":    {"the symbolic link " + top + "/link leads to " + top + "/a/file"},
		"\u0430/file":    {"U+0430 (Cyrillic) in \u0430/file"},
		"absent\u202e/x": {"U+202E (invisible) in absent\u202e/x"},
	} {
		require.Equal(t, want, oddities(path), "%q", path)
	}
	found := Findings("link", []Input{{Role: "expected list", Path: "a/file"}})
	require.Len(t, found, 1)
	require.Equal(t, "the path of the scope is not what it looks like", found[0].Message.String())
	require.Equal(t, []string{"scope: the symbolic link link leads to a/file"}, texts(found[0].Places, top))
}

// What the system's packages installed is a link often; a name that looks like another is odd there too.
func TestInstalledFiles(t *testing.T) {
	dir := t.TempDir()
	link, odd := filepath.Join(dir, "p11.so"), filepath.Join(dir, "p\u043711.so")
	require.NoError(t, os.Symlink("real.so", link))
	for path, want := range map[string]int{link: 0, odd: 1} {
		require.Len(t, Findings("scope", []Input{{Role: "PKCS#11 module", Path: path, Installed: true}}), want, path)
	}
	require.Len(t, Findings("scope", []Input{{Role: "key file", Path: link}}), 1)
}
