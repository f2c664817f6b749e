package main

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A tier lowers the threshold for batches of at most size leaves.
type tier struct {
	MaxScopeSize int `json:"maxScopeSize"`
	Threshold    int `json:"threshold"`
}

// A setDraft is an approver set, good or bad.
type setDraft struct {
	keys      []key
	threshold int
	tiers     []tier
	unbatched int
}

// input is approver_set_input (WIRE.md §4).
func (s setDraft) input() []byte {
	keys := slices.SortedFunc(slices.Values(s.keys), func(a, b key) int { return bytes.Compare([]byte(a.kid()), []byte(b.kid())) })
	input := u32(len(keys))
	for _, k := range keys {
		input = slices.Concat(input, lp([]byte(k.kid())), lp(k.spki))
	}
	input = slices.Concat(input, u32(s.threshold), u32(len(s.tiers)))
	for _, t := range s.tiers {
		input = slices.Concat(input, u32(t.MaxScopeSize), u32(t.Threshold))
	}
	return append(input, u32(s.unbatched)...)
}

// digest is approver_set_digest.
func (s setDraft) digest() []byte { return sum(s.input()) }

func keyObject(kid string, spki []byte) string {
	return `{"kid":"` + kid + `","spkiDer":"` + b64(spki) + `"}`
}

// object is the set as it stands in a file.
func (s setDraft) object() object {
	var keys, tiers []string
	for _, k := range s.keys {
		keys = append(keys, keyObject(k.kid(), k.spki))
	}
	for _, t := range s.tiers {
		tiers = append(tiers, fmt.Sprintf(`{"maxScopeSize":%d,"threshold":%d}`, t.MaxScopeSize, t.Threshold))
	}
	return object{{"keys", lines(keys)}, {"threshold", strconv.Itoa(s.threshold)}, {"tiers", lines(tiers)},
		{"unbatchedDestructivePerHour", strconv.Itoa(s.unbatched)}}
}

// lines is a JSON array with one element a line.
func lines(elements []string) string {
	if len(elements) == 0 {
		return "[]"
	}
	return "[\n" + strings.Join(elements, ",\n") + "\n]"
}

func setFile(epoch string, set string) string {
	return object{{"format", `"better-compute-approver-set"`}, {"version", "1"}, {"epoch", epoch}, {"set", set}}.String() + "\n"
}

func (s setDraft) file() string { return setFile("1", s.object().String()) }

func set(threshold int, tiers []tier, keys ...key) setDraft {
	return setDraft{keys, threshold, tiers, 0}
}

func manyKeys(n int) (keys []key) {
	for i := range n {
		keys = append(keys, newKey("of many "+strconv.Itoa(i)))
	}
	return keys
}

func manyTiers(n, threshold int) (tiers []tier) {
	for i := range n {
		tiers = append(tiers, tier{i + 1, threshold})
	}
	return tiers
}
