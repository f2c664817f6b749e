//go:build unix

package hsm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
	"github.com/stretchr/testify/require"
)

const passphrase = "correct horse"

func givePassphrase(context.Context) ([]byte, error) { return []byte(passphrase), nil }

func TestKeyFileRoundTrip(t *testing.T) {
	k, err := hsm.GenerateFileKey()
	require.NoError(t, err)
	requireSigns(t, k, k.Public())
	_, err = k.Sign(t.Context(), quorum.Statement{})
	requireRefused(t, err, wire.InvalidInput, "")

	plain, err := k.EncodePlaintext()
	require.NoError(t, err)
	again, err := hsm.ParseKeyFile(t.Context(), plain, func(context.Context) ([]byte, error) {
		t.Error("a passphrase was asked for a file without encryption")
		return nil, nil
	})
	require.NoError(t, err)
	requireSigns(t, again, k.Public())

	sealed, err := k.Encode([]byte(passphrase))
	require.NoError(t, err)
	block, _ := pem.Decode(sealed)
	require.Equal(t, "ENCRYPTED PRIVATE KEY", block.Type)
	require.Contains(t, string(block.Bytes), "\x02\x03\x09\x27\xc0", "600,000 iterations")
	again, err = hsm.ParseKeyFile(t.Context(), sealed, givePassphrase)
	require.NoError(t, err)
	require.True(t, again.Public().Equal(k.Public()))
	_, err = k.Encode(nil)
	requireRefused(t, err, wire.InvalidInput, "")
}

// However a key is printed, on its own or inside another value, its scalar is not in it.
func TestFileKeyIsRedacted(t *testing.T) {
	k, err := hsm.GenerateFileKey()
	require.NoError(t, err)
	plain, err := k.EncodePlaintext()
	require.NoError(t, err)
	block, _ := pem.Decode(plain)
	scalar := block.Bytes[36:68]
	holder := struct {
		Key    *hsm.FileKey
		hidden hsm.FileKey
	}{k, *k}
	encoded, err := json.Marshal(holder)
	require.NoError(t, err)
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("key", "key", k, "holder", holder)
	texts := []string{string(encoded), log.String()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%p"} {
		texts = append(texts, fmt.Sprintf(verb, k), fmt.Sprintf(verb, *k), fmt.Sprintf(verb, holder), fmt.Sprintf(verb, &holder))
	}
	for _, text := range texts {
		require.NotContains(t, text, string(scalar))
		require.NotContains(t, strings.ToLower(text), fmt.Sprintf("%x", scalar))
		require.NotContains(t, text, strings.Trim(fmt.Sprint(scalar[:8]), "[]"))
	}
	shown := "key file " + k.Public().KID().String()
	require.Equal(t, shown, fmt.Sprintf("%+v", k))
	require.Equal(t, shown, fmt.Sprintf("%#v", *k))
	require.Contains(t, string(encoded), shown)
}

func TestReadKeyFileWantsAPrivateRegularFile(t *testing.T) {
	k, err := hsm.GenerateFileKey()
	require.NoError(t, err)
	data, err := k.EncodePlaintext()
	require.NoError(t, err)
	dir := t.TempDir()
	path := filepath.Join(dir, "key")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	for mode, ok := range map[os.FileMode]bool{
		0o600: true, 0o400: true, 0o700: true, 0o640: false, 0o620: false, 0o604: false, 0o602: false, 0o601: false, 0o644: false, 0o666: false,
	} {
		require.NoError(t, os.Chmod(path, mode))
		_, err := hsm.ReadKeyFile(t.Context(), path, nil)
		if ok {
			require.NoError(t, err, "%v", mode)
		} else {
			requireRefused(t, err, wire.InvalidState, "")
			require.ErrorContains(t, err, fmt.Sprintf("%04o", mode))
		}
	}
	require.NoError(t, os.Chmod(path, 0o600))
	require.NoError(t, os.Symlink(path, filepath.Join(dir, "link")))
	_, err = hsm.ReadKeyFile(t.Context(), filepath.Join(dir, "link"), nil)
	require.NoError(t, err)

	run := func(name, file string, code wire.Code) {
		_, err := hsm.ReadKeyFile(t.Context(), file, nil)
		require.Equal(t, code, wire.CodeOf(err), "%s: %v", name, err)
	}
	fifo := filepath.Join(dir, "fifo")
	require.NoError(t, exec.Command("mkfifo", "-m", "600", fifo).Run())
	run("FIFO", fifo, wire.InvalidInput)
	run("folder", dir, wire.InvalidInput)
	run("device", "/dev/zero", wire.InvalidInput)
	run("absent", filepath.Join(dir, "absent"), wire.NotFound)
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	run("empty", path, wire.InvalidInput)
	require.NoError(t, os.WriteFile(path, make([]byte, hsm.MaxKeyFileBytes+1), 0o600))
	run("too long", path, wire.InvalidInput)
}

// A key file that waits for its passphrase shows nothing, opens once, and is wiped by that.
func TestOpenKeyFileWaits(t *testing.T) {
	k, err := hsm.GenerateFileKey()
	require.NoError(t, err)
	sealed, err := k.Encode([]byte(passphrase))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(path, sealed, 0o600))
	waiting, err := hsm.OpenKeyFile(path)
	require.NoError(t, err)
	for _, text := range []string{fmt.Sprintf("%v %+v %s %x", waiting, *waiting, waiting, waiting), fmt.Sprintf("%+v", struct{ k *hsm.SealedKey }{waiting})} {
		require.NotContains(t, text, "BEGIN")
		require.NotContains(t, text, fmt.Sprintf("%x", "BEGIN"))
		require.NotContains(t, text, strings.Trim(fmt.Sprint([]byte("BEGIN")), "[]"))
	}
	opened, err := waiting.Unlock(t.Context(), givePassphrase)
	require.NoError(t, err)
	requireSigns(t, opened, k.Public())
	_, err = waiting.Unlock(t.Context(), givePassphrase)
	requireRefused(t, err, wire.InvalidInput, "")
	require.NoError(t, os.Chmod(path, 0o644))
	_, err = hsm.OpenKeyFile(path)
	requireRefused(t, err, wire.InvalidState, "")
}
