package review

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/wire"
)

var update = flag.Bool("update", false, "write the drawings of testdata anew")

func draw(t testing.TB, d *Document, detail Detail) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, WriteText(&b, d, detail))
	return b.String()
}

// compareDrawing holds a drawing against the one that was read by a person and committed.
func compareDrawing(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s differs (-want +got); -update writes it anew:\n%s", name, diff)
	}
}

func TestDrawings(t *testing.T) {
	compareDrawing(t, "brief.txt", draw(t, sample(), Brief))
	compareDrawing(t, "whole.txt", draw(t, sample(), Whole))
	compareDrawing(t, "summary.txt", draw(t, fleet(wire.MaxLeaves/2), Brief))
	var b bytes.Buffer
	require.NoError(t, WriteJSON(&b, sample()))
	compareDrawing(t, "document.json", b.String())
}

// A fullDisk takes the first byte of nothing.
type fullDisk struct{ err error }

func (d fullDisk) Write([]byte) (int, error) { return 0, d.err }

func TestWriteErrors(t *testing.T) {
	full := errors.New("no space left on device")
	for name, err := range map[string]error{
		"text": WriteText(fullDisk{full}, sample(), Whole),
		"json": WriteJSON(fullDisk{full}, sample()),
	} {
		require.ErrorIs(t, err, full, name)
		require.Equal(t, wire.IOError, wire.CodeOf(err), name)
	}
}
