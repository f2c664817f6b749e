package hsm

import (
	"context"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// An Admin is an open token with a read-write session: keys are made, imported and deleted and PINs changed through it,
// and no statement is signed but by the key that it just made. Close it on every path. After an error of a call that
// changes something its session is over, as with Token.
type Admin struct {
	token   *Token
	manager Manager
}

// OpenAdmin is OpenToken with a read-write session. Errors are those, and UNSUPPORTED where the module is no Manager.
func OpenAdmin(ctx context.Context, m Module, o TokenOptions) (*Admin, error) {
	manager, err := managerOf(m)
	if err != nil {
		return nil, err
	}
	t, err := openToken(ctx, m, o, manager.OpenWritableSession)
	if err != nil {
		return nil, err
	}
	return &Admin{t, manager}, nil
}

// Info is Token.Info.
func (a *Admin) Info() TokenInfo { return a.token.Info() }

// Login is Token.Login: the user's PIN.
func (a *Admin) Login(ctx context.Context, source PINSource) error { return a.token.Login(ctx, source) }

// LoginSO logs in as the security officer, by the same rules: one attempt, after a look at the state of that PIN.
func (a *Admin) LoginSO(ctx context.Context, source PINSource) error {
	t := a.token
	if err := t.take(ctx); err != nil {
		return err
	}
	defer t.release()
	return t.said(t.loginOnce(ctx, UserSecurityOfficer, source))
}

// Objects is Token.Objects.
func (a *Admin) Objects(ctx context.Context) ([]KeyObject, error) { return a.token.Objects(ctx) }

// LookBeforeLogin is Token.LookBeforeLogin.
func (a *Admin) LookBeforeLogin(ctx context.Context) error { return a.token.LookBeforeLogin(ctx) }

// Check is Token.Check.
func (a *Admin) Check(ctx context.Context, expected quorum.PublicKey) (*Fitness, error) {
	return a.token.Check(ctx, expected)
}

// Close is Token.Close.
func (a *Admin) Close() error { return a.token.Close() }

// change takes the turn for a method that changes the token as the given user, and ends the session where it errs.
func (a *Admin) change(ctx context.Context, user UserType, f func() error) error {
	t := a.token
	if err := t.take(ctx); err != nil {
		return err
	}
	defer t.release()
	if err := t.loggedInAs(user); err != nil {
		return err
	}
	err := f()
	if err != nil && t.ended == nil {
		t.end(err)
	}
	return err
}

func (t *Token) loggedInAs(user UserType) error {
	if t.loggedIn && t.user == user {
		return nil
	}
	who := "the user"
	if user == UserSecurityOfficer {
		who = "the security officer"
	}
	return wire.Errorf(wire.InvalidState, "", "%s is not logged in on the token", who)
}

// finish is call for what must not be left half done: it waits for the module's answer whatever becomes of ctx, within the
// token's timeout.
func finish[T any](ctx context.Context, t *Token, name string, f func() (T, error)) (T, error) {
	return call(context.WithoutCancel(ctx), t.line, name, f)
}

// destroy destroys objects, all of them even where one fails, and gives how many are gone and the first error. A call that an
// interrupt left behind may return before.
func (a *Admin) destroy(ctx context.Context, objects ...Object) (gone int, err error) {
	a.token.line.settle(min(closeGrace, a.token.options.Timeout))
	for _, o := range objects {
		_, bad := finish(ctx, a.token, "C_DestroyObject", nothing(func() error { return a.manager.DestroyObject(a.token.session, o) }))
		if bad == nil {
			gone++
		} else if err == nil {
			err = refusal("C_DestroyObject", bad)
		}
	}
	return gone, err
}
