package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// A pair is one thing written twice: OUT.json for people and tools, OUT.binpb, protobuf, for machines. Both are written, or
// none; a process that is killed between the two leaves OUT.json, whole.
type pair []*stream

// pairNames gives the names of both.
func pairNames(out string) []string { return []string{out + ".json", out + ".binpb"} }

// probePair tells, before there is anything to write, whether both could get their places.
func probePair(out string) error {
	if base := out[strings.LastIndexByte(out, '/')+1:]; base == "" || base == "." || base == ".." {
		return wire.Errorf(wire.IOError, "", "--out %s names a folder; wanted: what .json and .binpb are added to", out)
	}
	for _, ending := range pairNames("") {
		if strings.HasSuffix(out, ending) {
			return usage("--out is a name to which .json and .binpb are added; leave out " + ending)
		}
	}
	for _, path := range pairNames(out) {
		if err := probe(path); err != nil {
			return err
		}
	}
	return nil
}

// beginPair writes both beside their places. check is given what is read back of each.
func beginPair(out string, json, binpb []byte, check func([]byte) error) (p pair, err error) {
	for i, data := range [][]byte{json, binpb} {
		s, err := beginStream(pairNames(out)[i], func(w io.Writer) error {
			_, err := w.Write(data)
			return err
		}, func(r io.Reader) error {
			var back bytes.Buffer
			if err := durable.Same(data)(io.TeeReader(r, &back)); err != nil {
				return err
			}
			return check(back.Bytes())
		})
		if err != nil {
			p.undo()
			return nil, err
		}
		p = append(p, s)
	}
	return p, nil
}

// commit gives both their names, or takes them back.
func (p pair) commit() error {
	for _, s := range p {
		if err := s.commit(); err != nil {
			p.undo()
			return err
		}
	}
	return nil
}

func (p pair) undo() {
	for _, s := range p {
		s.undo()
	}
}

// tellWritten names the files that a command has written, on standard error.
func (a *app) tellWritten(paths ...string) {
	if a.json {
		line, err := json.Marshal(map[string][]review.Text{"written": escapedPaths(paths)})
		if err == nil {
			fmt.Fprintln(a.stderr, ascii(string(line)))
		}
		return
	}
	for _, path := range escapedPaths(paths) {
		fmt.Fprintln(a.stderr, "written", path)
	}
}

func escapedPaths(paths []string) (texts []review.Text) {
	for _, path := range paths {
		texts = append(texts, review.Escape(path))
	}
	return texts
}
