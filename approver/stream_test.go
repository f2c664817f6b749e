package main

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/kinds"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/scope"
)

// A scope is compared as it is read back: its root covers neither the reason nor the end of the window.
func TestScopeIsComparedAsItIsReadBack(t *testing.T) {
	parsed, err := scope.Parse(bytes.NewReader(caseFile("ok-2.json")), 1)
	require.NoError(t, err)
	verified, err := parsed.Verify(scope.VerifyOptions{Kinds: kinds.Builtin(), Workers: 1})
	require.NoError(t, err)
	decoded := verified.Decode()
	var whole bytes.Buffer
	require.NoError(t, decoded.Encode(&whole, scope.Policy{}))
	for _, c := range []struct {
		old, new string
		code     wire.Code
	}{{"", "", ""}, {`"trustDomain":"c`, `"trustDomain":"d`, wire.IOError}, {`"notAfter":4`, `"notAfter":5`, wire.IOError}} {
		s, err := beginScope(filepath.Join(t.TempDir(), "scope.json"), decoded, scope.Policy{}, kinds.Builtin())
		require.NoError(t, err)
		back := bytes.Replace(whole.Bytes(), []byte(c.old), []byte(c.new), 1)
		require.Equal(t, c.old == "", bytes.Equal(back, whole.Bytes()), c.old)
		require.Equal(t, c.code, wire.CodeOf(s.check(bytes.NewReader(back))), c.old)
		s.undo()
	}
}
