package hsm

import (
	"errors"

	"github.com/better-compute/approver/core/wire"
)

// refusal turns what a module call gave into a KEY_UNAVAILABLE that names the C function and the code. An error that is
// no RV (a deadline, an end of the context) passes as it is.
func refusal(function string, err error) error {
	rv, ok := errors.AsType[RV](err)
	if err == nil || !ok || wire.CodeOf(err) != "" {
		return err
	}
	if rv.removed() {
		return wire.Errorf(wire.KeyUnavailable, "device-removed",
			"%s gave %w: the token was removed, or its session died; insert it and start again", function, rv)
	}
	return wire.Errorf(wire.KeyUnavailable, "", "%s gave %w", function, rv)
}

// moduleRefusal is refusal for the calls before any token is looked at, where the trouble is the module's.
func moduleRefusal(function string, err error) error {
	rv, ok := errors.AsType[RV](err)
	switch {
	case !ok || wire.CodeOf(err) != "":
		return err
	case rv == rvAlreadyInitialized:
		return wire.Errorf(wire.KeyUnavailable, "module",
			"%s gave %w: this process uses the module already, and ending one use would end the other", function, rv)
	}
	return wire.Errorf(wire.KeyUnavailable, "module", "%s gave %w: the module does not work here", function, rv)
}

// pinRefusal says what a call that checks a PIN means for the person who gave it; whose is the PIN in words, state how the
// token shows it after the call.
func pinRefusal(function, whose string, rv RV, state PINState) error {
	switch rv {
	case rvPINIncorrect, rvPINInvalid, rvPINLenRange:
		return wire.Errorf(wire.KeyUnavailable, "pin-incorrect", "wrong PIN: %s gave %w for %s; the token now says: %v", function, rv, whose, state).
			With("pinState", state.String())
	case rvPINLocked:
		if whose != "the PIN" {
			return wire.Errorf(wire.KeyUnavailable, "pin-locked", "%s gave %w: %s is locked", function, rv, whose)
		}
		return wire.Errorf(wire.KeyUnavailable, "pin-locked", "%s gave %w; the security officer has to unlock the PIN", function, rv)
	case rvAlreadyLoggedIn, rvAnotherLoggedIn:
		return wire.Errorf(wire.KeyUnavailable, "",
			"%s gave %w: somebody is logged in already, so the PIN was not checked; end the other program", function, rv)
	case rvPINNotInitialized:
		return wire.Errorf(wire.KeyUnavailable, "pin-missing", "%s gave %w: the token has no user PIN yet", function, rv)
	case rvCancel, rvFunctionCanceled:
		return wire.Errorf(wire.KeyUnavailable, "pin-missing", "%s gave %w: the PIN entry was cancelled at the token", function, rv)
	}
	return refusal(function, rv)
}

// signRefusal is refusal for C_SignInit and C_Sign.
func signRefusal(function string, err error) error {
	if rv, ok := errors.AsType[RV](err); ok && rv == rvNotLoggedIn {
		return wire.Errorf(wire.KeyUnavailable, "",
			"%s gave %w: the token was not touched in time, or it wants its PIN again; start again and touch it when it blinks", function, rv)
	}
	return refusal(function, err)
}
