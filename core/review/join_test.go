package review

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// What was escaped is not escaped once more, and what two texts make together is escaped.
func TestJoin(t *testing.T) {
	require.Equal(t, "a key joins: \"<U+202E>evil\"", Join(Escape("a key joins: \""), Escape("\u202eevil"), Escape(`"`)).String())
	require.Equal(t, "<U+003C>U+0041>", Join(Escape("<"), Escape("U+0041>")).String())
	require.Equal(t, "an 'alice'.pub", Escape(`an "alice".pub`).Unquoted().String())
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		require.Equal(t, Escape(a+b), Join(Escape(a), Escape(b)))
	})
}
