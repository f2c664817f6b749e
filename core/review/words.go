package review

// Words gives the PGP words of the bytes, one each: the list that Patrick Juola and Philip Zimmermann made in 1995 to read
// fingerprints aloud (PGPfone Owner's Manual, appendix "Biometric word lists"). Bytes at even positions have words of two
// syllables and those at odd positions words of three, so a word left out, said twice or swapped is heard.
func Words(b []byte) []string {
	words := make([]string, len(b))
	for i, c := range b {
		if i%2 == 0 {
			words[i] = evenWords[c]
		} else {
			words[i] = oddWords[c]
		}
	}
	return words
}
