package review

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The published example: the fingerprint of the list's usual example, which has 20 of the words.
func TestWordsOfPublishedFingerprint(t *testing.T) {
	b, err := hex.DecodeString("E58294F2E9A227486E8B061B31CC528FD7FA3F19")
	require.NoError(t, err)
	require.Equal(t, "topmost Istanbul Pluto vagabond treadmill Pacific brackish dictator goldfish Medusa "+
		"afflict bravado chatter revolver Dupont midsummer stopwatch whimsical cowbell bottomless", strings.Join(Words(b), " "))
}

// 512 different words, and the SHA-256 that independent copies of the list agree on: the even words, then the odd words,
// with a line feed between any two.
func TestWordListIsTheList(t *testing.T) {
	all := append(append([]string{}, evenWords[:]...), oddWords[:]...)
	distinct := map[string]bool{}
	for _, w := range all {
		distinct[strings.ToLower(w)] = true
	}
	require.Len(t, distinct, 512)
	sum := sha256.Sum256([]byte(strings.Join(all, "\n")))
	require.Equal(t, "e9b7b0052233a74aa56724ed3f79c272036aed68d8f4c0856e833c8043b9ac62", hex.EncodeToString(sum[:]))
}

// Every byte at either position has its word.
func TestWordsByPosition(t *testing.T) {
	for c := range 256 {
		require.Equal(t, []string{evenWords[c], oddWords[c]}, Words([]byte{byte(c), byte(c)}))
	}
	require.Empty(t, Words(nil))
}
