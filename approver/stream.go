package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"io"

	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/kinds"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/scope"
)

// beginOperations writes the whole review as JSON; what is read back is compared.
func beginOperations(path string, doc *review.Document) (*stream, error) {
	return beginStream(path, func(w io.Writer) error { return review.WriteJSON(w, doc) }, func(r io.Reader) error {
		compare := &comparer{r: bufio.NewReader(r)}
		if err := review.WriteJSON(compare, doc); err != nil {
			return err
		}
		return compare.finish()
	})
}

// beginScope writes the verified scope; what is read back is compared, and taken down the same road, by the kinds it was
// verified by.
func beginScope(path string, d *scope.Decoded, p scope.Policy, table *kinds.Table) (*stream, error) {
	written, read := sha256.New(), sha256.New()
	return beginStream(path, func(w io.Writer) error { return d.Encode(io.MultiWriter(w, written), p) }, func(r io.Reader) error {
		if err := readsBack(io.TeeReader(r, read), d, table, path); err != nil {
			return err
		}
		if !bytes.Equal(read.Sum(nil), written.Sum(nil)) { // the root says nothing of the reason, the window or the trust domain
			return errReadBack
		}
		return nil
	})
}

// readsBack takes a scope that was written down the road again: it must come to the same root.
func readsBack(r io.Reader, d *scope.Decoded, table *kinds.Table, what string) error {
	parsed, err := scope.Parse(r, workers())
	if err != nil {
		return err
	}
	back, err := parsed.Verify(scope.VerifyOptions{Kinds: table, Workers: workers()})
	if err != nil {
		return err
	}
	if back.Scope().Root() != d.Verified().Scope().Root() {
		return wire.Errorf(wire.IOError, "", "%s does not read back as it was written", what)
	}
	return nil
}

// A stream is an output that was written whole and has no name yet. The nil stream is no output.
type stream struct {
	out       *durable.Pending
	check     func(io.Reader) error // of what is read back
	committed bool
}

// beginStream writes an output to the place of path; an empty path gives the nil stream.
func beginStream(path string, write func(io.Writer) error, check func(io.Reader) error) (*stream, error) {
	if path == "" {
		return nil, nil
	}
	out, err := durable.Create(path, 0o644)
	if err != nil {
		return nil, err
	}
	b := bufio.NewWriter(out)
	if err = write(b); err == nil {
		err = b.Flush()
	}
	if err != nil {
		out.Abandon()
		return nil, err
	}
	return &stream{out: out, check: check}, nil
}

// probe tells, before there is anything to write, whether an output could get its place.
func probe(path string) error {
	if path == "" {
		return nil
	}
	out, err := durable.Create(path, 0o644)
	if err != nil {
		return err
	}
	out.Abandon()
	return nil
}

// commit gives the output its name, once.
func (s *stream) commit() error {
	if s == nil || s.committed {
		return nil
	}
	err := s.out.Commit(s.check)
	s.committed = err == nil
	return err
}

// fill writes what the output holds, which was begun empty, and names it.
func (s *stream) fill(data []byte) error {
	if _, err := s.out.Write(data); err != nil {
		return err
	}
	s.check = durable.Same(data)
	return s.commit()
}

// undo removes the output, whether it has its name or not.
func (s *stream) undo() {
	switch {
	case s == nil:
	case s.committed:
		s.out.Remove()
	default:
		s.out.Abandon()
	}
}

// A comparer takes what is written to it and compares it with what its reader gives.
type comparer struct {
	r   *bufio.Reader
	buf []byte
}

var errReadBack = wire.Errorf(wire.IOError, "", "what was read back differs from what was written")

func (c *comparer) Write(b []byte) (int, error) {
	c.buf = append(c.buf[:0], b...)
	if _, err := io.ReadFull(c.r, c.buf); err != nil || !bytes.Equal(b, c.buf) {
		return 0, errReadBack
	}
	return len(b), nil
}

func (c *comparer) finish() error {
	if _, err := c.r.ReadByte(); err != io.EOF {
		return errReadBack
	}
	return nil
}
