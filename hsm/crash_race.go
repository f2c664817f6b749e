//go:build race

package hsm

// exitIsOurs tells that the race detector ends every process by C's exit, so that one by a library cannot be told from it.
const exitIsOurs = true
