//go:build !cgo && unix

package hsm_test

import (
	"os"
	"testing"

	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
	"github.com/stretchr/testify/require"
)

func TestLoadModuleWithoutCgo(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	_, err = hsm.LoadModule(t.Context(), self)
	requireRefused(t, err, wire.Unsupported, "")
	require.ErrorContains(t, err, "CGO_ENABLED=1")
}
