package main

import (
	"fmt"
	"strings"

	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
)

// halfName and trialName are the rows that a missing public half fails; the second because nothing can be verified without it.
const halfName, trialName = "public half", "key-trial signature"

// drawFitness draws what check found, in columns that a terminal of 80 has room for: what is longer than its column, which only a
// kid is, has no column after it.
func drawFitness(f *hsm.Fitness, rows []fitnessRow) string {
	var b strings.Builder
	line := func(name, wanted, found, mark string) {
		b.WriteString(strings.TrimRight(fmt.Sprintf("%-23s  %-8s  %-13s  %s", name, wanted, found, mark), " ") + "\n")
	}
	line("ATTRIBUTE", "WANTED", "FOUND", "")
	kid := f.Key.KID()
	for _, r := range rows {
		mark := ""
		if !r.OK {
			mark = "UNFIT"
		}
		wanted, found := r.Wanted, r.Found.String()
		if r.Attribute == halfName && wanted != "any" { // a kid, as what is found is: the two stand below where they differ
			if found == wanted || !r.OK {
				found = map[bool]string{true: "as expected", false: "another"}[r.OK]
			}
			if kid == "" {
				kid = wanted
			}
			wanted = "expected"
		}
		line(r.Attribute, wanted, found, mark)
	}
	if f.Fit() {
		b.WriteString("FIT: " + kid + "\n")
		if f.Key.SPKI == nil {
			uri := "URI"
			if !f.Key.URI.IsZero() {
				uri = shellWord(f.Key.URI.String())
			}
			b.WriteString("the token lacks the public half: approver hsm import " + uri + " --from FILE\n")
		}
		return b.String()
	}
	for _, r := range rows {
		if !r.OK {
			b.WriteString(drawRow(widestRow, "UNFIT: ", r.Bad.String()))
		}
	}
	return b.String()
}

// lacksHalfOnly tells whether nothing is wrong with a key but that its token does not show its public half, and nobody gave it.
func lacksHalfOnly(f *hsm.Fitness) bool {
	lacks := false
	for _, r := range f.Rows {
		if r.Bad != "" && r.Name != halfName && r.Name != trialName {
			return false
		}
		lacks = lacks || r.Bad != "" && r.Name == halfName && f.Key.SPKI == nil
	}
	return lacks
}

func errLacksHalf(f *hsm.Fitness) error {
	return wire.Errorf(wire.InvalidState, "unfit-key", "the key cannot be judged: the token lacks its public half, and none was given").
		With("reasons", f.Reasons()).With("lacksHalf", true)
}
