package main

import (
	"bufio"
	"bytes"
	"io"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/kinds"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/scope"
)

func (a *app) showCommand() *cobra.Command {
	var f reviewFlags
	var scopeOut string
	c := &cobra.Command{
		Use:   "show --scope FILE",
		Short: "Review a scope without a key",
		Long: `show reads a scope, recomputes its root, decodes every operation and prints the review. It ends with status 1 where
the review holds a STOP: what sign would refuse, show refuses after showing it.

Long lists of subjects and long strings are shortened; --operations-out writes everything.`,
		Example: "  approver batch show --scope scope.json --trust-domain compute.example.com --expect machines.txt",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			decoded, policy, err := a.reviewScope(&f)
			if err != nil {
				return err
			}
			r, err := decoded.Review(policy)
			if err != nil {
				return err
			}
			if err := a.draw(r.Document(), review.Brief, true); err != nil {
				return err
			}
			if stop := r.Stop(); stop != nil {
				return stop
			}
			if err := writeOperations(f.operationsOut, r.Document()); err != nil {
				return err
			}
			return writeScope(scopeOut, decoded, policy)
		},
	}
	f.register(c)
	c.Flags().StringVar(&scopeOut, "scope-out", "", "write the verified scope in our own form to `FILE`")
	return c
}

// writeOperations writes the whole review as JSON, and compares what is read back.
func writeOperations(path string, doc *review.Document) error {
	if path == "" {
		return nil
	}
	return writeStream(path, func(w io.Writer) error { return review.WriteJSON(w, doc) }, func(r io.Reader) error {
		compare := &comparer{r: bufio.NewReader(r)}
		if err := review.WriteJSON(compare, doc); err != nil {
			return err
		}
		return compare.finish()
	})
}

// writeScope writes the verified scope, and reads it back down the same road.
func writeScope(path string, d *scope.Decoded, p scope.Policy) error {
	if path == "" {
		return nil
	}
	return writeStream(path, func(w io.Writer) error { return d.Encode(w, p) }, func(r io.Reader) error {
		parsed, err := scope.Parse(r, workers())
		if err != nil {
			return err
		}
		back, err := parsed.Verify(scope.VerifyOptions{Kinds: kinds.Builtin(), Workers: workers()})
		if err != nil {
			return err
		}
		if back.Scope().Root() != d.Verified().Scope().Root() {
			return wire.Errorf(wire.IOError, "", "%s does not read back as it was written", path)
		}
		return nil
	})
}

func writeStream(path string, write func(io.Writer) error, check func(io.Reader) error) error {
	out, err := durable.Create(path, 0o644)
	if err != nil {
		return err
	}
	defer out.Abandon()
	b := bufio.NewWriter(out)
	if err := write(b); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	return out.Commit(check)
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
