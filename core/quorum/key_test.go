package quorum_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/golden"
)

func TestKeys(t *testing.T) {
	for _, v := range golden.Keys() {
		key := publicKey(t, v.Name)
		require.Equal(t, v.KID, key.KID().String())
		require.Equal(t, v.Pin, wire.Pin(key.SPKI()))
		require.Equal(t, v.PublicPEM, string(key.PEM()))
		fromPEM, err := quorum.ParsePublicPEM([]byte(v.PublicPEM))
		require.NoError(t, err)
		require.True(t, fromPEM.Equal(key))
		fromECDSA, err := quorum.NewPublicKey(key.ECDSA())
		require.NoError(t, err)
		require.True(t, fromECDSA.Equal(key))
	}
	for _, v := range golden.PublicKeys() {
		t.Run(v.Name, func(t *testing.T) {
			key, err := quorum.ParsePublicKey(golden.Base64(v.SPKI))
			if outcome(t, v.Outcome, err) {
				require.Equal(t, v.KID, key.KID().String())
			}
		})
	}
}

// A .pub file has one reading: whatever other PEM readers would pass over, or read as another key, is refused.
func TestPublicPEMHasOneReading(t *testing.T) {
	alice, bob := golden.Keys()[0].PublicPEM, golden.Keys()[1].PublicPEM
	const begin, end = "-----BEGIN PUBLIC KEY-----\n", "-----END PUBLIC KEY-----\n"
	base64 := strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(alice, begin), end), "\n", "")
	require.Len(t, base64, 124)
	withEnd := func(line string) string { return strings.Replace(alice, end, line, 1) }
	for name, text := range map[string]string{
		"nothing": "", "a newline": "\n", "a private key": golden.Keys()[0].PrivatePEM,
		"a certificate": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "another name": strings.ReplaceAll(alice, "PUBLIC", "EC PUBLIC"),

		"two blocks": alice + bob, "the same block twice": alice + alice, "two blocks with text between": alice + "and\n" + bob,
		"a block after an END with a dash too few":  withEnd("-----END PUBLIC KEY----\n") + bob,
		"a block after an END with a dash too many": withEnd("-----END PUBLIC KEY------\n") + bob,
		"a block after an END of another name":      withEnd("-----END PRIVATE KEY-----\n") + bob,
		"a block after no END":                      withEnd("") + bob,
		"a block after a BEGIN alone":               begin + bob,
		"a BEGIN after the block":                   alice + begin,

		"text before": "x\n" + alice, "text before without a newline": "x" + alice, "a newline before": "\n" + alice, "a space before": " " + alice,
		"a byte order mark": "\ufeff" + alice, "a header": strings.Replace(alice, begin, begin+"Comment: x\n\n", 1),
		"a header without its blank line": strings.Replace(alice, begin, begin+"Comment: x\n", 1),
		"a blank line after BEGIN":        strings.Replace(alice, begin, begin+"\n", 1), "a blank line before END": withEnd("\n" + end),

		"text after": alice + "x", "text in the END line": withEnd("-----END PUBLIC KEY-----x\n"), "a blank line after": alice + "\n",
		"a space after END": withEnd("-----END PUBLIC KEY----- \n"), "NBSP after": alice + "\u00a0", "U+200B after": alice + "\u200b",
		"NBSP after END": withEnd("-----END PUBLIC KEY-----\u00a0\n"), "U+200B after END": withEnd("-----END PUBLIC KEY-----\u200b"),
		"0xFF after": alice + "\xff", "0x00 after": alice + "\x00", "0x00 after END": withEnd("-----END PUBLIC KEY-----\x00"), "0x1A after": alice + "\x1a",
		"U+0085 after": alice + "\u0085", "a form feed after": alice + "\f",

		"lines of 60": begin + base64[:60] + "\n" + base64[60:120] + "\n" + base64[120:] + "\n" + end,
		"one line":    begin + base64 + "\n" + end, "a line of 65": begin + base64[:65] + "\n" + base64[65:] + "\n" + end,
		"a space in a line": begin + base64[:64] + " \n" + base64[64:] + "\n" + end, "line ends of CR": strings.ReplaceAll(alice, "\n", "\r"),
		"line ends of CR CR LF": strings.ReplaceAll(alice, "\n", "\r\r\n"), "a line of 63": begin + base64[:63] + "\n" + base64[63:] + "\n" + end,
		"a short key": begin + base64[:120] + "\n" + end, "no base64": begin + end,
	} {
		t.Run(name, func(t *testing.T) {
			key, err := quorum.ParsePublicPEM([]byte(text))
			require.Equal(t, wire.InvalidInput, wire.CodeOf(err), "%q", text)
			require.True(t, key.IsZero())
		})
	}
	for name, text := range map[string]string{
		"as it is written": alice, "line ends of CR LF": strings.ReplaceAll(alice, "\n", "\r\n"), "no newline at the end": strings.TrimSuffix(alice, "\n"),
		"both": strings.TrimSuffix(strings.ReplaceAll(alice, "\n", "\r\n"), "\r\n"),
	} {
		key, err := quorum.ParsePublicPEM([]byte(text))
		require.NoError(t, err, name)
		require.True(t, key.Equal(publicKey(t, golden.Keys()[0].Name)), name)
	}
}

func TestZeroPublicKeyVerifiesNothing(t *testing.T) {
	require.False(t, quorum.PublicKey{}.Verify(quorum.Statement{}, quorum.Sig{}))
	require.Nil(t, quorum.PublicKey{}.ECDSA())
	require.True(t, quorum.PublicKey{}.IsZero())
}

func TestKIDForms(t *testing.T) {
	seen := 0
	for _, v := range golden.TextForms() {
		if v.Form != "kid" {
			continue
		}
		seen++
		_, err := quorum.ParseKID(v.Text)
		require.Equal(t, v.Want == "ok", err == nil, v.Name)
	}
	require.Greater(t, seen, 2)
}
