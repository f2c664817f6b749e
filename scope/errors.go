package scope

import (
	"fmt"

	"github.com/better-compute/approver/core/wire"
)

// leafError is an INVALID_INPUT about one leaf, named by its place in the file, from 0.
func leafError(leaf int, reason, format string, args ...any) *wire.Error {
	return wire.Errorf(wire.InvalidInput, reason, "leaf %d: %w", leaf, fmt.Errorf(format, args...)).With("leaf", leaf)
}
