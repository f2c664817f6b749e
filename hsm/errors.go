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
			"%s gave %w: the token was removed, or its session died", function, rv)
	}
	if rv == rvWriteProtected || rv == rvSessionReadOnly {
		return wire.Errorf(wire.KeyUnavailable, "", "%s gave %w: the token cannot be written to", function, rv).With("writeProtected", true)
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

// signRefusal is refusal for C_SignInit and C_Sign.
func signRefusal(function string, err error) error {
	if rv, ok := errors.AsType[RV](err); ok && rv == rvNotLoggedIn {
		return wire.Errorf(wire.KeyUnavailable, "",
			"%s gave %w: the token was not touched in time, or it wants its PIN again; start again and touch it when it blinks", function, rv)
	}
	return refusal(function, err)
}
