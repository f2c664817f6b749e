package hsm

import (
	"context"
	"errors"
	"time"

	"github.com/better-compute/approver/core/wire"
)

// TokenOptions say which token to open and how.
type TokenOptions struct {
	URI           URI           // names the token, and the key on it
	Timeout       time.Duration // of each module call; 0 is 60 s
	AllowFinalTry bool          // log in even where the token shows that a wrong PIN would lock it
}

// A Token is an open token with one session, read-only unless an Admin has it. Close it on every path. Its methods may be called by several
// goroutines; the module sees one call at a time.
type Token struct {
	module   Module
	line     *line
	options  TokenOptions
	info     TokenInfo
	session  Session
	opened   bool
	loggedIn bool
	tried    bool     // a C_Login was begun whose answer did not come in time: it may have logged in
	user     UserType // who, where loggedIn
	pin      []byte   // for the logins of keys with CKA_ALWAYS_AUTHENTICATE; wiped by Close, or by Key where none needs it
	keepPIN  bool     // such a key was given out
	ended    error    // why the session is over, nil while it is not
	gone     bool     // an error said that the token was removed
	closed   bool
	known    map[Object]object // public keys that were read, by handle
	exposed  []KeyObject       // private keys that it showed to LookBeforeLogin
	looked   bool              // which was called
	turn     chan struct{}     // holds one token, taken for one method
}

// OpenToken initialises the module, looks for the one token that the URI names among the slots that answer, and opens a
// read-only session. It does not log in. Errors are KEY_UNAVAILABLE: "token-not-found" and "ambiguous" list the label,
// serial and model of every token seen (details "tokens"); "module" where the module or another user of it in this
// process is in the way; "timeout". After an error nothing is left to close.
func OpenToken(ctx context.Context, m Module, o TokenOptions) (*Token, error) {
	return openToken(ctx, m, o, m.OpenSession)
}

func openToken(ctx context.Context, m Module, o TokenOptions, session func(SlotID) (Session, error)) (*Token, error) {
	if o.URI.IsZero() {
		return nil, wire.Errorf(wire.InvalidInput, "", "no pkcs11: URI names the token")
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	t := &Token{module: m, line: newLine(o.Timeout), options: o, known: make(map[Object]object), turn: make(chan struct{}, 1)}
	t.turn <- struct{}{}
	if _, err := call(ctx, t.line, "C_Initialize", nothing(m.Initialize)); err != nil {
		t.line.stop()
		return nil, moduleRefusal("C_Initialize", err)
	}
	if err := t.open(ctx, session); err != nil {
		t.Close() // its error would only hide the first
		return nil, err
	}
	return t, nil
}

func (t *Token) open(ctx context.Context, session func(SlotID) (Session, error)) error {
	info, err := findToken(ctx, t.line, t.module, t.options.URI)
	if err != nil {
		return err
	}
	t.info = info
	t.session, err = call(ctx, t.line, "C_OpenSession", func() (Session, error) { return session(info.Slot) })
	t.opened = err == nil
	return refusal("C_OpenSession", err)
}

// nothing makes a function for call of one that gives only an error.
func nothing(f func() error) func() (struct{}, error) {
	return func() (struct{}, error) { return struct{}{}, f() }
}

// Info gives what the token said about itself when it was opened, its PIN state as of the last login.
func (t *Token) Info() TokenInfo {
	<-t.turn
	defer t.release()
	return t.info
}

// take takes the turn for one method; the session must not be over. A method that took it defers release.
func (t *Token) take(ctx context.Context) error {
	select {
	case <-t.turn:
	case <-ctx.Done():
		return errCancelled(ctx, "the token")
	}
	err := t.ended
	if t.closed {
		err = wire.Errorf(wire.KeyUnavailable, "", "the token was closed")
	}
	if err != nil {
		t.release()
	}
	return err
}

func (t *Token) release() { t.turn <- struct{}{} }

// end says that the session is over: after an error in signing no state of a token can be relied on.
func (t *Token) end(err error) {
	t.ended = wire.Errorf(wire.KeyUnavailable, wire.ReasonOf(err), "the session ended with an earlier error; open the token again: %w", err)
}

// said keeps in mind that an error of a method says that the token was removed, which Close then does not say again.
func (t *Token) said(err error) error {
	t.gone = t.gone || wire.ReasonOf(err) == "device-removed"
	return err
}

// closeGrace is how long Close waits for a call that was left when its context ended: a card takes seconds for a signature.
const closeGrace = 3 * time.Second

// Close logs out, closes the session, finalizes the module and wipes the PIN. It does not look at any context, so that it
// works after an interrupt, and a second Close does nothing. Where a call hangs in the module nothing can be called any
// more: then it gives KEY_UNAVAILABLE, reason "timeout", says where the token may still be logged in, and C_Finalize is left
// out. Errors of a session that was over already are not reported, and a removal is reported once.
func (t *Token) Close() error {
	<-t.turn
	defer t.release()
	if t.closed {
		return nil
	}
	t.closed = true
	clear(t.pin)
	defer t.line.stop()
	if !t.line.settle(min(closeGrace, t.options.Timeout)) {
		return t.stuck()
	}
	var trouble error
	step := func(name string, f func() error) {
		_, err := call(context.Background(), t.line, name, nothing(f))
		err = refusal(name, err)
		if reason := wire.ReasonOf(err); (t.ended == nil && !(t.gone && reason == "device-removed")) || reason == "timeout" {
			trouble = errors.Join(trouble, err)
		}
		t.said(err)
	}
	if t.tried && !t.loggedIn { // the answer, CKR_USER_NOT_LOGGED_IN at worst, says nothing new
		call(context.Background(), t.line, "C_Logout", nothing(func() error { return t.module.Logout(t.session) }))
	}
	if t.loggedIn {
		step("C_Logout", func() error { return t.module.Logout(t.session) })
	}
	if t.opened {
		step("C_CloseSession", func() error { return t.module.CloseSession(t.session) })
	}
	step("C_Finalize", t.module.Finalize)
	return trouble
}

// stuck is the error of Close where nothing can be called any more. What unplugs a token logs it out.
func (t *Token) stuck() error {
	if !t.loggedIn && !t.tried {
		return errStuck("C_Finalize")
	}
	return wire.Errorf(wire.KeyUnavailable, "timeout", "%s; the token may still be logged in: unplug it", wire.MessageOf(errStuck("C_Finalize")))
}
