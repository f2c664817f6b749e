//go:build unix

package hsm_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
	"github.com/stretchr/testify/require"
)

// One newline after a PIN is not part of it; more is not a PIN, and is refused before it costs a try.
func TestPINFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pin")
	for content, pin := range map[string]string{
		"1234": "1234", "1234\n": "1234", "1234\r\n": "1234", " 12 34 ": " 12 34 ", "pässword\n": "pässword",
		strings.Repeat("x", hsm.MaxPINBytes) + "\r\n": strings.Repeat("x", hsm.MaxPINBytes),
	} {
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		got, err := hsm.PINFile(path).PIN(t.Context(), hsm.TokenInfo{})
		require.NoError(t, err, "%q", content)
		require.Equal(t, pin, string(got))
	}
	for content, code := range map[string]wire.Code{
		"": wire.KeyUnavailable, "\n": wire.KeyUnavailable, "\r\n": wire.KeyUnavailable, "1234\n\n": wire.InvalidInput,
		"1234\n5678": wire.InvalidInput, "1234\r": wire.InvalidInput, "12\x0034": wire.InvalidInput, "\xef\xbb\xbf1234": wire.InvalidInput,
		strings.Repeat("7", hsm.MaxPINBytes+1): wire.InvalidInput, strings.Repeat("7", 4096): wire.InvalidInput,
	} {
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		_, err := hsm.PINFile(path).PIN(t.Context(), hsm.TokenInfo{})
		require.Equal(t, code, wire.CodeOf(err), "%q: %v", content, err)
		require.Equal(t, map[wire.Code]string{wire.KeyUnavailable: "pin-missing"}[code], wire.ReasonOf(err), "%q", content)
		require.NotContains(t, err.Error(), "1234")
		require.NotContains(t, err.Error(), "777")
	}
	require.NoError(t, os.WriteFile(path, []byte("1234"), 0o600))
	require.NoError(t, os.Chmod(path, 0o640))
	_, err := hsm.PINFile(path).PIN(t.Context(), hsm.TokenInfo{})
	requireRefused(t, err, wire.InvalidState, "")
	_, err = hsm.PINFile(path+"-absent").PIN(t.Context(), hsm.TokenInfo{})
	requireRefused(t, err, wire.NotFound, "")
}

func TestPINDescriptor(t *testing.T) {
	give := func(content string) (hsm.PINDescriptor, *os.File) {
		r, w, err := os.Pipe()
		require.NoError(t, err)
		_, err = w.WriteString(content)
		require.NoError(t, err)
		return hsm.PINDescriptor(dup(t, r)), w
	}
	d, w := give("1234\n")
	require.NoError(t, w.Close())
	pin, err := d.PIN(t.Context(), hsm.TokenInfo{})
	require.NoError(t, err)
	require.Equal(t, "1234", string(pin))
	_, err = d.PIN(t.Context(), hsm.TokenInfo{})
	require.Error(t, err, "it was closed")

	for _, none := range []string{"", "\n", "\r\n"} {
		d, w = give(none)
		require.NoError(t, w.Close())
		_, err = d.PIN(t.Context(), hsm.TokenInfo{})
		requireRefused(t, err, wire.KeyUnavailable, "pin-missing")
	}

	d, w = give(strings.Repeat("7", hsm.MaxPINBytes+3))
	defer w.Close()
	_, err = d.PIN(t.Context(), hsm.TokenInfo{})
	requireRefused(t, err, wire.InvalidInput, "")

	d, w = give("12")
	defer w.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = d.PIN(ctx, hsm.TokenInfo{})
	require.ErrorIs(t, err, context.DeadlineExceeded)

	for _, standard := range []hsm.PINDescriptor{-1, 0, 1, 2} {
		_, err := standard.PIN(t.Context(), hsm.TokenInfo{})
		requireRefused(t, err, wire.InvalidInput, "")
	}
}

// What was not handed to the program is not read, whatever it would give: a file that was opened here is closed on exec.
func TestPINDescriptorIsInherited(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pin")
	require.NoError(t, os.WriteFile(path, []byte("1234\n"), 0o600))
	own, err := os.Open(path)
	require.NoError(t, err)
	defer own.Close()
	d := hsm.PINDescriptor(own.Fd())
	requireRefused(t, d.Check(), wire.KeyUnavailable, "pin-missing")
	_, err = d.PIN(t.Context(), hsm.TokenInfo{})
	requireRefused(t, err, wire.KeyUnavailable, "pin-missing")
	at, err := own.Seek(0, io.SeekCurrent)
	require.NoError(t, err, "it is still open")
	require.Zero(t, at, "it was read")

	requireRefused(t, hsm.PINDescriptor(1_000_000).Check(), wire.KeyUnavailable, "pin-missing")
	requireRefused(t, hsm.PINDescriptor(2).Check(), wire.InvalidInput, "")

	// Handed over, the same file gives the PIN, and Check takes nothing of it.
	given := hsm.PINDescriptor(dup(t, own))
	require.NoError(t, given.Check())
	pin, err := given.PIN(t.Context(), hsm.TokenInfo{})
	require.NoError(t, err)
	require.Equal(t, "1234", string(pin))
}

// dup gives a descriptor of its own for what f reads, and closes f.
func dup(t *testing.T, f *os.File) int {
	defer f.Close()
	fd, err := syscall.Dup(int(f.Fd()))
	require.NoError(t, err)
	return fd
}
