package hsm

import (
	"context"

	"github.com/better-compute/approver/core/wire"
)

// A triedPIN is the PIN that a call checks or is about to check, and how its token stands then.
type triedPIN struct {
	user UserType // the security officer; any other is the user
	info TokenInfo
	tpm  bool // the token is a TPM's, which locks for all its PINs at once
}

// state is that of the PIN in question.
func (p triedPIN) state() PINState {
	if p.user == UserSecurityOfficer {
		return p.info.SOPIN
	}
	return p.info.PIN
}

func (p triedPIN) String() string {
	if p.user == UserSecurityOfficer {
		return "the security officer's PIN"
	}
	return "the PIN"
}

// refused makes an error with what tells how to go on: whose PIN it is ("user" or "security officer"), how it stands
// ("pinState", in words), whether the security officer's is
// locked, who could else unlock it ("soPinState"), and whether it is a TPM's ("tpm").
func (p triedPIN) refused(reason, format string, args ...any) *wire.Error {
	err := wire.Errorf(wire.KeyUnavailable, reason, format, args...).With("whose", "user").With("pinState", p.state().String())
	if p.user == UserSecurityOfficer {
		err.With("whose", "security officer")
	} else if p.info.SOPIN == PINLocked {
		err.With("soPinState", PINLocked.String())
	}
	if p.tpm {
		err.With("tpm", true)
	}
	return err
}

// wayOut says who unlocks the PIN.
func (p triedPIN) wayOut() string {
	switch {
	case p.tpm:
		return "a TPM locks for the security officer too"
	case p.user == UserSecurityOfficer:
		return "nobody can unlock that"
	case p.info.SOPIN == PINLocked:
		return "the security officer's, which could unlock it, is locked too"
	}
	return "the security officer has to unlock the PIN"
}

// check refuses a login that could not work, or would be the last.
func (p triedPIN) check(allowFinalTry bool) error {
	switch state := p.state(); {
	case state == PINLocked:
		return p.refused("pin-locked", "%v of token %q (serial %q) is locked; %s", p, p.info.Label, p.info.Serial, p.wayOut())
	case state == PINFinalTry && !allowFinalTry:
		return p.refused("pin-final-try",
			"token %q (serial %q) has one try left: a wrong entry locks %v; no login was tried", p.info.Label, p.info.Serial, p)
	}
	return nil
}

// refusal says what the answer of a call that checked the PIN means for the person who gave it.
func (p triedPIN) refusal(function string, rv RV) error {
	switch rv {
	case rvPINIncorrect, rvPINInvalid, rvPINLenRange:
		return p.wrong(function, rv)
	case rvPINLocked:
		return p.refused("pin-locked", "%s gave %w: %v is locked; %s", function, rv, p, p.wayOut())
	case rvPINExpired:
		if function == "C_InitPIN" { // of whoever logged in, and not of the user whose PIN was to be set
			p.user = UserSecurityOfficer
		}
		return p.refused("", "%s gave %w: %v has to be changed before anything else", function, rv, p).With("pinState", PINToBeChanged.String())
	case rvAlreadyLoggedIn, rvAnotherLoggedIn:
		return wire.Errorf(wire.KeyUnavailable, "",
			"%s gave %w: somebody is logged in already, so the PIN was not checked; end the other program", function, rv)
	case rvPINNotInitialized:
		return wire.Errorf(wire.KeyUnavailable, "pin-missing", "%s gave %w: the token has no user PIN yet", function, rv).With("pinState", PINNotSet.String())
	case rvCancel, rvFunctionCanceled:
		return wire.Errorf(wire.KeyUnavailable, "pin-missing", "%s gave %w: the PIN entry was cancelled at the token", function, rv)
	}
	return refusal(function, rv)
}

// wrong says how the token stands after a wrong PIN. A module whose token is as ready as before keeps none of the flags that
// count ("pinState" is then "not shown"): what it shows says nothing about the tries that are left.
func (p triedPIN) wrong(function string, rv RV) error {
	switch {
	case p.state() >= PINCountLow:
		return p.refused("pin-incorrect", "wrong PIN: %s gave %w for %v; the token now says: %v", function, rv, p, p.state())
	case rv == rvPINIncorrect:
		return p.refused("pin-incorrect", "wrong PIN: %s gave %w for %v; this module does not show PIN tries", function, rv, p).With("pinState", "not shown")
	}
	return p.refused("pin-incorrect", "wrong PIN: %s gave %w for %v", function, rv, p)
}

// newPINRefusal is refusal for calls that take a new PIN, which tokens refuse in codes that do not speak of the old.
func (p triedPIN) newPINRefusal(function string, rv RV) error {
	if rv == rvPINInvalid || rv == rvPINLenRange {
		return wire.Errorf(wire.InvalidInput, "", "%s gave %w: the token does not take the new PIN", function, rv)
	}
	return p.refusal(function, rv)
}

// ofTPM tells, after a PIN was found locked, whether the module is that of a TPM, as far as it says. One call more, and only
// then: nobody waits for a signature any more.
func ofTPM(ctx context.Context, l *line, m Module, rv RV) bool {
	if rv != rvPINLocked {
		return false
	}
	library, err := call(ctx, l, "C_GetInfo", m.Library)
	return err == nil && library.Manufacturer == TPMLibrary
}
