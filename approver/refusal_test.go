package main

import (
	"encoding/json"
	"strings"

	"github.com/stretchr/testify/require"
)

// requireRefusal holds a run with --json against a code and reason: the last line of standard error is ASCII and one
// JSON object.
func requireRefusal(t require.TestingT, r result, code, reason string) {
	require.Equal(t, 1, r.status, "%s", r.stderr)
	lines := strings.Split(strings.TrimSuffix(r.stderr, "\n"), "\n")
	got := parseRefusal(t, lines[len(lines)-1])
	if reason == "*" {
		require.Regexp(t, "^"+code+" ", got)
		return
	}
	require.Equal(t, code+" "+reason, got)
}

// parseRefusal gives code and reason of a line with a JSON error.
func parseRefusal(t require.TestingT, line string) string {
	var got struct {
		Error struct {
			Code    string         `json:"code"`
			Message string         `json:"message"`
			Details map[string]any `json:"details"`
		} `json:"error"`
	}
	d := json.NewDecoder(strings.NewReader(line))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&got), "%s", line)
	require.NotEmpty(t, got.Error.Message)
	require.Less(t, strings.IndexFunc(line, func(r rune) bool { return r < ' ' || r > '~' }), 0, "not plain ASCII: %q", line)
	reason, _ := got.Error.Details["reason"].(string)
	return got.Error.Code + " " + reason
}

func requirePrintable(t require.TestingT, stderr string) {
	at := strings.IndexFunc(stderr, func(r rune) bool { return r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0) })
	require.Less(t, at, 0, "a control character on standard error: %q", stderr)
}

func requireNoSecret(t require.TestingT, streams ...string) {
	for _, secret := range append(privateKeys(), testPassphrase, testPIN, wrongPIN) {
		for _, stream := range streams {
			require.NotContains(t, stream, secret)
		}
	}
}
