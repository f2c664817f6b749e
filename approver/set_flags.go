package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// A number is a flag of 32 bits that may be 0, which is then meant: strictValue takes a uint of 0 for a mistake.
type number struct{ n *uint32 }

func (v number) String() string {
	if v.n == nil {
		return "0"
	}
	return strconv.FormatUint(uint64(*v.n), 10)
}

func (v number) Type() string { return "number" }

func (v number) Set(s string) error {
	n, err := strconv.ParseUint(s, 10, 32)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return errTooLarge
	case err != nil || !isDecimal(s):
		return errDecimal
	}
	*v.n = uint32(n)
	return nil
}

// setFlags say what is in an approver set that is built or signed.
type setFlags struct {
	approvers, proofs    []string
	threshold, unbatched uint32
	tiers                string
	epoch                uint64

	given func(flag string) bool
}

func (f *setFlags) register(c *cobra.Command) {
	s := c.Flags()
	s.StringArrayVar(&f.approvers, "approvers", nil, "`FILES` with the keys of the set: its .pub files, comma-separated, or a set file")
	s.Var(number{&f.threshold}, "threshold", "approvals that are needed, `K`; 0 without --approvers is a removal of the quorum")
	s.StringVar(&f.tiers, "tiers", "", "fewer for small batches, `SIZE:K,...`")
	s.Var(number{&f.unbatched}, "unbatched", "destructive commands a machine may run outside a batch in an hour, `N`")
	s.Uint64Var(&f.epoch, "epoch", 0, "epoch of the set, `N`: one above that of the set it replaces")
	s.StringArrayVar(&f.proofs, "proof", nil, "`FILE` that proves one of the keys (default: what lies beside a .pub file as .proof)")
	f.given = s.Changed
}

// A givenSet is a set as the flags give it, with what came along.
type givenSet struct {
	set    *quorum.Set
	epoch  uint64
	labels map[quorum.KID]string // file names of the keys; paths where two have the same name
	proofs [][]byte
	paths  []string // all the files it came from
	proven []string // of proofs
}

// read gives the set of the flags. Its epoch is 0 where nothing says one.
func (f *setFlags) read() (*givenSet, error) {
	if f.epoch > wire.MaxInteger {
		return nil, wire.Errorf(wire.InvalidInput, "malformed-set", "--epoch %d; wanted: 1 to 2^53-1", f.epoch)
	}
	g := &givenSet{epoch: f.epoch, labels: make(map[quorum.KID]string)}
	paths, err := fileNames(f.approvers)
	if err != nil {
		return nil, err
	}
	g.paths = paths
	if len(paths) > 0 {
		first, err := durable.ReadFile(paths[0], wire.MaxFileBytes)
		if err != nil {
			return nil, err
		}
		if bytes.HasPrefix(bytes.TrimSpace(first), []byte("{")) {
			return g, f.fromFile(g, first)
		}
	}
	if !f.given("threshold") {
		return nil, usage("--threshold is missing; without --approvers, 0 is a removal of the quorum")
	}
	draft := quorum.SetDraft{Threshold: f.threshold, UnbatchedPerHour: f.unbatched}
	if draft.Tiers, err = parseTiers(f.tiers); err != nil {
		return nil, err
	}
	if draft.Keys, err = readPublicKeys(paths); err != nil {
		return nil, err
	}
	names := make(map[string]int)
	for _, path := range paths {
		names[fileName(path)]++
	}
	for i, key := range draft.Keys {
		if g.labels[key.KID()] = fileName(paths[i]); names[fileName(paths[i])] > 1 { // no two keys are called the same
			g.labels[key.KID()] = paths[i]
		}
	}
	if g.set, err = quorum.NewSet(draft); err != nil {
		return nil, err
	}
	return g, g.readProofs(f.proofs, paths)
}

// fromFile takes the set of a set file, which says everything itself.
func (f *setFlags) fromFile(g *givenSet, data []byte) (err error) {
	if len(g.paths) > 1 {
		return usage("--approvers is one set file, or .pub files")
	}
	for _, flag := range []string{"threshold", "tiers", "unbatched"} {
		if f.given(flag) {
			return usage("the set file has its own threshold, tiers and cap; --" + flag + " goes with .pub files")
		}
	}
	set, epoch, err := quorum.ParseSetFile(data)
	if err != nil {
		return inFile(g.paths[0], err)
	}
	if f.epoch != 0 && f.epoch != epoch {
		return wire.Errorf(wire.InvalidInput, "", "%s is for epoch %d, --epoch says %d", g.paths[0], epoch, f.epoch)
	}
	g.set, g.epoch = set, epoch
	return g.readProofs(f.proofs, nil)
}

// readProofs reads the proofs that are named, and those that lie beside .pub files.
func (g *givenSet) readProofs(named, pubs []string) error {
	named, err := listed("--proof", named)
	if err != nil {
		return err
	}
	for _, pub := range pubs {
		beside := strings.TrimSuffix(pub, ".pub") + ".proof"
		if _, err := os.Lstat(beside); errors.Is(err, fs.ErrNotExist) || !strings.HasSuffix(pub, ".pub") {
			continue
		}
		if !slices.Contains(named, beside) {
			named = append(named, beside)
		}
	}
	for _, path := range named {
		data, err := durable.ReadFile(path, wire.MaxFileBytes)
		if err != nil {
			return err
		}
		g.proofs, g.proven = append(g.proofs, data), append(g.proven, path)
	}
	return nil
}

// unproven verifies the proofs and gives the keys of the set that came without one.
func (g *givenSet) unproven() (kids []quorum.KID, err error) {
	proven := map[quorum.KID]bool{}
	for i, data := range g.proofs {
		key, err := quorum.ParseKeyProof(data)
		if err != nil {
			return nil, inFile(g.proven[i], err)
		}
		if _, ok := g.set.Key(key.KID()); !ok {
			return nil, wire.Errorf(wire.InvalidInput, "", "%s is the proof of key %s, which is not in the set", g.proven[i], key.KID()).With("file", g.proven[i])
		}
		proven[key.KID()] = true
	}
	for _, key := range g.set.Keys() {
		if !proven[key.KID()] {
			kids = append(kids, key.KID())
		}
	}
	return kids, nil
}

// fileName gives the last part of a path.
func fileName(path string) string {
	_, name := placeOf(path)
	return name
}
