package hsm

import (
	"context"
	"time"

	"github.com/better-compute/approver/core/wire"
)

// A line carries calls to a module, one after the other on one goroutine, each with a deadline. A call that hangs in C
// cannot be cancelled: the line is then stuck, answers nothing any more, and its goroutine ends with the process. A line
// is used by one goroutine at a time.
type line struct {
	timeout time.Duration
	calls   chan func()
	pending <-chan struct{} // closed when the call that was left running has returned; nil where none was
	late    bool            // the pending call was left because of its deadline
}

func newLine(timeout time.Duration) *line {
	l := &line{timeout: timeout, calls: make(chan func())}
	go func() {
		for f := range l.calls {
			f()
		}
	}()
	return l
}

// stop ends the goroutine, once the call it may be in has returned.
func (l *line) stop() { close(l.calls) }

// call runs f on the line and gives its answer. name is the C function, for the error. The error is KEY_UNAVAILABLE with
// reason "timeout" where f does not return within the line's timeout, KEY_UNAVAILABLE around ctx's cause where ctx ends
// first, and otherwise f's own.
func call[T any](ctx context.Context, l *line, name string, f func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	var none T
	if ctx.Err() != nil {
		return none, errCancelled(ctx, name)
	}
	if l.pending != nil {
		return none, errStuck(name)
	}
	answers, returned := make(chan answer, 1), make(chan struct{})
	l.calls <- func() {
		defer close(returned)
		value, err := f()
		answers <- answer{value, err}
	}
	deadline := time.NewTimer(l.timeout)
	defer deadline.Stop()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-deadline.C:
		l.pending, l.late = returned, true
		return none, errHang(name, l.timeout)
	case <-ctx.Done():
		l.pending = returned
		return none, errCancelled(ctx, name)
	}
}

// settle waits for a call that was left because its context ended, at most for grace, and tells whether the module can be
// called again. After a missed deadline there is no waiting: that call had its time.
func (l *line) settle(grace time.Duration) bool {
	if l.pending == nil {
		return true
	}
	if l.late {
		return false
	}
	select {
	case <-l.pending:
		l.pending = nil
		return true
	case <-time.After(grace):
		return false
	}
}

func errHang(name string, timeout time.Duration) error {
	return wire.Errorf(wire.KeyUnavailable, "timeout",
		"%s did not return within %v; the token may wait for a touch, or the module hangs; it is left as it is, without C_Finalize", name, timeout)
}

func errStuck(name string) error {
	return wire.Errorf(wire.KeyUnavailable, "timeout", "%s was not called: an earlier call has not returned from the module", name)
}

func errCancelled(ctx context.Context, name string) error {
	return wire.Errorf(wire.KeyUnavailable, "", "cancelled at %s: %w", name, context.Cause(ctx))
}
