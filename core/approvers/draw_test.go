package approvers_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/better-compute/approver/core/approvers"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
)

func TestDrawings(t *testing.T) {
	for name, change := range map[string]func(*approvers.Change){
		"change.txt": func(c *approvers.Change) {
			c.Next = makeSet(t, []int{0, 1, 3}, 2, 0, quorum.Tier{MaxScopeSize: 5, Threshold: 1})
			c.Signatures = []*quorum.SetSignatureFile{
				setSignature(t, 1, c.Next, 2, trustDomain), setSignature(t, 3, c.Next, 2, trustDomain), setSignature(t, 4, c.Next, 2, trustDomain),
			}
		},
		"replaced.txt": func(c *approvers.Change) {
			c.Labels[kid(3)] = "carol.pub"
			c.Next, c.Proofs = makeSet(t, []int{0, 1, 3}, 3, 10), nil
		},
		"thresholds.txt": func(c *approvers.Change) {
			c.Current = makeSet(t, upTo(5), 4, 10, quorum.Tier{MaxScopeSize: 1, Threshold: 1}, quorum.Tier{MaxScopeSize: 5, Threshold: 2}, quorum.Tier{MaxScopeSize: 100, Threshold: 3})
			c.Next = makeSet(t, upTo(5), 3, 0, quorum.Tier{MaxScopeSize: 5, Threshold: 3}, quorum.Tier{MaxScopeSize: 50, Threshold: 3}, quorum.Tier{MaxScopeSize: 100, Threshold: 3})
		},
		"unconfirmed.txt": func(c *approvers.Change) { c.CurrentKnown = "" },
		"unknown.txt":     func(c *approvers.Change) { c.Current = nil },
		"epoch.txt":       func(c *approvers.Change) { c.Next, c.Epoch = c.Current, 9 },
		"same.txt":        func(c *approvers.Change) { c.Next, c.Epoch = c.Current, 1 },
		"first.txt": func(c *approvers.Change) {
			c.Current, c.CurrentEpoch, c.CurrentFrom, c.Epoch = nil, 0, "", 1
			c.TrustDomain, c.FileTrustDomain = "", trustDomain
		},
		"removal.txt":     func(c *approvers.Change) { c.Next, c.Proofs = makeSet(t, nil, 0, 0), nil },
		"removal-of.txt":  func(c *approvers.Change) { c.Current, c.Next = nil, makeSet(t, nil, 0, 0) },
		"after.txt":       func(c *approvers.Change) { c.Current = makeSet(t, nil, 0, 0) },
		"large.txt":       large(t),
		"hostile.txt":     hostile,
		"configured.json": func(c *approvers.Change) { c.Configured, c.Configuration = true, []string{"/etc/approver/config.toml"} },
	} {
		c := made(t)
		if change(&c); !hasKey(c.Next, 3) {
			c.Proofs = nil // dave's
		}
		d := reviewed(t, c)
		if strings.HasSuffix(name, ".json") {
			var b bytes.Buffer
			require.NoError(t, review.WriteJSON(&b, d))
			compareDrawing(t, name, b.String())
			continue
		}
		compareDrawing(t, name, drawn(t, d, review.Whole))
		require.Equal(t, drawn(t, d, review.Whole), drawn(t, d, review.Brief), "a set is short enough to be read whole")
	}
}

func hasKey(s *quorum.Set, i int) bool {
	_, ok := s.Key(kid(i))
	return ok
}

// large replaces 64 keys by 64 others, and 64 tiers by 64 others.
func large(t *testing.T) func(*approvers.Change) {
	return func(c *approvers.Change) {
		before, after := make([]quorum.Tier, 64), make([]quorum.Tier, 64)
		for i := range before {
			before[i] = quorum.Tier{MaxScopeSize: uint32(10 * (i + 1)), Threshold: uint32(i/2 + 1)}
			after[i] = quorum.Tier{MaxScopeSize: uint32(10*(i+1) + 5), Threshold: uint32(i/2 + 1)}
		}
		c.Current = makeSet(t, upTo(64), 64, 0, before...)
		c.Next = makeSet(t, upTo(128)[64:], 64, 1<<32-1, after...)
	}
}

// hostile names files as somebody would who wants to be overlooked.
func hostile(c *approvers.Change) {
	c.Labels = map[quorum.KID]string{
		kid(0): "alice.pub\n2 of 9  a key leaves",
		kid(1): "bob\x1b[2K\x1b[1A.pub",
		kid(2): "\u202ebup.lorac",
		kid(3): `dave.pub" (proof: verified)  ` + strings.Repeat("and on ", 40),
	}
	c.CurrentFrom, c.Proofs = "set\x07.json", nil
}

// Whatever files are called: no line is wider than the terminal or begins with a name, nothing that a terminal obeys is
// drawn, every name is there whole, and its escapes are counted.
func TestHostileNames(t *testing.T) {
	part := rapid.SampledFrom([]string{"\n", "\x1b[2K", "\u202e", "\u200b", "a", "東", " ", "\xff", "<U+0041>", "STOP", "a key joins", "\t", "\u0301", `"`})
	name := rapid.Map(rapid.SliceOfN(part, 1, 60), func(parts []string) string { return "東" + strings.Join(parts, "") })
	rapid.Check(t, func(t *rapid.T) {
		c := made(t)
		for k := range c.Labels {
			c.Labels[k] = name.Draw(t, "name")
		}
		c.CurrentFrom = name.Draw(t, "file")
		d := reviewed(t, c)
		escapes := 0
		for _, f := range d.Facts {
			for _, v := range f.Value {
				escapes += v.Escapes()
			}
		}
		for i := range d.Operations {
			for _, f := range d.Operations[i].Fields() {
				for _, v := range f.Value {
					escapes += v.Escapes()
				}
			}
		}
		require.Equal(t, escapes, d.Escapes)
		require.Equal(t, escapes > 0, find(d, review.EscapedText) != nil)
		text := drawn(t, d, review.Whole)
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			width := 0
			for _, r := range line {
				require.False(t, unicode.IsControl(r), "%q", line)
				if width++; r >= 0x1100 {
					width++
				}
			}
			require.LessOrEqual(t, width, 80, "%q", line)
			require.False(t, strings.HasPrefix(strings.TrimLeft(line, " "), "東") && !strings.HasPrefix(line, strings.Repeat(" ", 20)), "%q", line)
		}
		joined := unwrap(text)
		for _, label := range c.Labels {
			require.Contains(t, joined, review.Escape(label).String())
		}
		require.Contains(t, joined, review.Escape(c.CurrentFrom).String())
	})
}

func unwrap(text string) string {
	var b strings.Builder
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimLeft(line, " ")
		if after, ok := strings.CutPrefix(trimmed, "> "); ok && i > 0 {
			b.WriteString(after)
			continue
		}
		fmt.Fprintf(&b, "\n%s", line)
	}
	return b.String()
}
