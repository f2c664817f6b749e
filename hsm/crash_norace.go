//go:build !race

package hsm

const exitIsOurs = false // Go's own end does not come by C's exit
