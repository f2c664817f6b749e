package wire

import (
	"errors"
	"fmt"
	"strings"
)

// A Code is the class of a refusal, the same in every program of the system (WIRE.md §9).
type Code string

// The codes of WIRE.md §9.
const (
	InvalidInput        Code = "INVALID_INPUT"
	ScopeMismatch       Code = "SCOPE_MISMATCH"
	ScopeChanged        Code = "SCOPE_CHANGED"
	ScopeUnexpected     Code = "SCOPE_UNEXPECTED"
	UnboundScope        Code = "UNBOUND_SCOPE"
	OpaqueScope         Code = "OPAQUE_SCOPE"
	InvalidState        Code = "INVALID_STATE"
	TrustDomainMismatch Code = "TRUST_DOMAIN_MISMATCH"
	MissingEnv          Code = "MISSING_ENV"
	InvalidConfig       Code = "INVALID_CONFIG"
	AccessDenied        Code = "ACCESS_DENIED"
	KeyUnavailable      Code = "KEY_UNAVAILABLE"
	Conflict            Code = "CONFLICT"
	NotFound            Code = "NOT_FOUND"
	AuditTampered       Code = "AUDIT_TAMPERED"
	Unsupported         Code = "UNSUPPORTED"
	IOError             Code = "IO_ERROR"
)

// An Error is a refusal: a code for programs, a reason where a caller may act on the cause, a message for a person and
// the details a person must compare. Messages may carry text from outside as it came; whoever shows an Error escapes it
// (review.Escape), once.
type Error struct {
	Code    Code
	Reason  string // a word of WIRE.md §9 or §10, or empty
	Message string // one sentence, no final full stop
	Details map[string]any
	Err     error // the cause, or nil
}

// Errorf makes an Error. A %w in the format keeps its cause for errors.Is and errors.As.
func Errorf(code Code, reason, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Reason: reason, Message: err.Error(), Err: errors.Unwrap(err)}
}

// With adds a detail, a value that encodes as JSON, and returns the same Error.
func (e *Error) With(key string, value any) *Error {
	if e.Details == nil {
		e.Details = make(map[string]any)
	}
	e.Details[key] = value
	return e
}

// Error gives "CODE: message", the form on standard error (WIRE.md §9).
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf gives the code of the first Error in err's chain, or "" where there is none.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}

// MessageOf gives what an error says without the code in front, for another error to quote.
func MessageOf(err error) string {
	if code := CodeOf(err); code != "" {
		return strings.TrimPrefix(err.Error(), string(code)+": ")
	}
	return err.Error()
}

// ReasonOf gives the reason of the first Error in err's chain, or "".
func ReasonOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Reason
	}
	return ""
}
