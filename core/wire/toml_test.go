package wire_test

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/golden"
)

type tomlFile struct {
	Name  *string  `toml:"name"`
	Hours *int64   `toml:"max_hours"`
	On    *bool    `toml:"on"`
	Files []string `toml:"files"`
	Pki   *struct {
		Version *int64 `toml:"version"`
		Tiers   []struct {
			Size *int64 `toml:"size"`
		} `toml:"tiers"`
	} `toml:"pki"`
	Kind []*struct {
		Name *string `toml:"name"`
		Sub  struct {
			On *bool `toml:"on"`
		} `toml:"sub"`
	} `toml:"kind"`
}

const wholeTOML = `# all there is
name = "a"
max_hours = 24
on = true
files = ["x",
  "y"]

[pki]
version = 7
tiers = [{ size = 5 }, { size = 6 }]

[[kind]]
name = "one"
[[kind]]
"name" = 'two'
[kind.sub]
on = false
`

func TestDecodeTOML(t *testing.T) {
	var v tomlFile
	lines, err := wire.DecodeTOML("file", []byte(wholeTOML), &v)
	require.NoError(t, err)
	require.Equal(t, "a", *v.Name)
	require.Equal(t, []string{"x", "y"}, v.Files)
	require.Equal(t, int64(6), *v.Pki.Tiers[1].Size)
	require.Equal(t, "two", *v.Kind[1].Name)
	require.False(t, *v.Kind[1].Sub.On)
	require.Nil(t, v.Kind[0].Sub.On)
	for key, line := range map[string]int{"name": 2, "max_hours": 3, "files": 5, "pki": 8, "pki.version": 9, "pki.tiers[1].size": 10,
		"kind[0]": 12, "kind[0].name": 13, "kind[1].name": 15, "kind[1].sub": 16, "kind[1].sub.on": 17} {
		require.Equal(t, line, lines[key], key)
	}
}

// A table stands where it is opened, be one within it opened before.
func TestATableStandsWhereItIsOpened(t *testing.T) {
	var v struct {
		Outer *struct {
			Inner *struct{} `toml:"inner"`
		} `toml:"outer"`
	}
	lines, err := wire.DecodeTOML("file", []byte("[outer.inner]\n\n[outer]\n"), &v)
	require.NoError(t, err)
	require.Equal(t, wire.TOMLLines{"outer": 3, "outer.inner": 1}, lines)
}

func TestDecodeTOMLRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"\nNAME = 'a'":                         `file line 2: the key "NAME" is not known; keys here: files, kind, max_hours, name, on, pki`,
		"na\u212ae = 'a'":                      `line 1`,
		"other = 1":                            `the key "other" is not known`,
		"[[kind]]\nname='a'\nfoo.bar=1":        `file line 3: the key "kind[0].foo" is not known; keys here: name, sub`,
		"[pki]\nmax_hours=1":                   `"pki.max_hours" is not known; keys here: tiers, version; at the top it is: there it stands before the first table`,
		"[[kind]]\nNAME='a'":                   `"kind[0].NAME" is not known`,
		"[Pki]":                                `"Pki" is not known`,
		"[pki]\ntiers=[{size=1},{Size=2}]":     `"pki.tiers[1].Size" is not known; keys here: size`,
		"name = 5":                             `the key "name" is a whole number; wanted: a string`,
		"name = 2026-01-01":                    `is a date; wanted: a string`,
		"max_hours = '5'":                      `is a string; wanted: a whole number`,
		"max_hours = 5.0":                      `is a number with a point; wanted: a whole number`,
		"on = 1":                               `is a whole number; wanted: true or false`,
		"files = 'x'":                          `is a string; wanted: an array`,
		"files = ['x', 1]":                     `the key "files[1]" is a whole number; wanted: a string`,
		"kind = {name='x'}":                    `is a table; wanted: an array of tables`,
		"kind = ['x']":                         `the key "kind[0]" is a string; wanted: a table`,
		"[kind]\nname='x'":                     `is opened as [kind]; wanted: [[kind]]`,
		"[kind.sub]":                           `wanted first: [[kind]]`,
		"[[pki]]":                              `is opened as [[pki]]; wanted: [pki]`,
		"[name]":                               `is opened as a table; wanted: a string`,
		"name.x = 1":                           `is used as a table; wanted: a string`,
		"kind.name = 'x'":                      `is used as a table; wanted: an array of tables`,
		"[name.x]":                             `is opened as a table; wanted: a string`,
		"name = 'a'\nname = 'b'":               `file line 2: key name is already defined`,
		"[pki]\n[pki]":                         `line 2`,
		"[[kind]]\nname='a'\nname='b'":         `file line 3: key name is already defined`,
		"kind=[{name='a'}]\n[[kind]]":          `line 2`,
		"kind=[{name='a',name='b'}]":           `line 1: key name is already defined`,
		"max_hours = 99999999999999999999":     `line 1`,
		"name = 'a":                            `line 1`,
		"name = 'a\xff'":                       `line 1: invalid UTF-8`,
		"\ufeffname = 'a'":                     `line 1`,
		"name = 'a'\x00":                       `line 1`,
		"files = " + strings.Repeat("[", 9999): `line 1`,
		"name":                                 `line 1`,
		strings.Repeat("#\n", 1<<19) + "\n":    `has 1048577 bytes; at most 1048576 are read`,
	} {
		_, err := wire.DecodeTOML("file", []byte(text), new(tomlFile))
		require.Equal(t, wire.InvalidConfig, wire.CodeOf(err), "%.80s: %v", text, err)
		require.ErrorContains(t, err, want, "%.80s", text)
		require.Less(t, len(err.Error()), 400)
	}
}

// A file that is as large as may be takes no more than moments, whatever it holds.
func TestDecodeTOMLIsBounded(t *testing.T) {
	const size = 1 << 20
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	for _, text := range []string{fill("[[kind]]\n"), "files=" + fill("[")[:size-6], "files=" + fill("{a=")[:size-6], fill("a."), "[" + fill("a.")[:size-1],
		"files=[" + fill("'',")[:size-8] + "]", "name='" + fill("é")[:size-7] + "'", fill("\n"), fill("name=1\n"), fill("[pki]\n"), fill("[[pki.tiers]]\n")} {
		begun := time.Now()
		_, err := wire.DecodeTOML("file", []byte(text), new(tomlFile))
		if err != nil {
			require.Less(t, len(err.Error()), 400)
		}
		require.Less(t, time.Since(begun), time.Minute, "%.40s", text) // a square of the length would take hours
	}
}

// FuzzDecodeTOML holds the strict reader against the library alone: what it takes the library takes too, and writing the
// value again gives a file of the same value.
func FuzzDecodeTOML(f *testing.F) {
	for seed := range uint64(32) {
		f.Add([]byte(wholeTOML), seed)
	}
	var b golden.Balance
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		sum := sha256.Sum256(data) // so that each input chooses anew
		r := rand.New(rand.NewPCG(seed, binary.BigEndian.Uint64(sum[:])))
		lines := strings.SplitAfter(wholeTOML, "\n")
		for range r.IntN(3) { // lines left out or moved, then perhaps the fuzzer's own
			i, j := r.IntN(len(lines)), r.IntN(len(lines))
			if r.IntN(2) == 0 {
				lines[i] = ""
			} else {
				lines[i], lines[j] = lines[j], lines[i]
			}
		}
		text := []byte(strings.Join(lines, ""))
		if r.IntN(3) == 0 {
			text = data
		}
		var v tomlFile
		at, err := wire.DecodeTOML("file", text, &v)
		count(t, &b, err == nil)
		if err != nil {
			require.Equal(t, wire.InvalidConfig, wire.CodeOf(err))
			return
		}
		var same, again tomlFile
		require.NoError(t, toml.Unmarshal(text, &same))
		require.Equal(t, same, v)
		written, err := toml.Marshal(v)
		require.NoError(t, err)
		require.NoError(t, toml.Unmarshal(written, &again))
		rewritten, err := toml.Marshal(again)
		require.NoError(t, err)
		require.Equal(t, string(written), string(rewritten))
		require.Equal(t, v.Name != nil, at["name"] > 0)
	})
}
