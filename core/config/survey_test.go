package config_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/config"
	"github.com/better-compute/approver/core/wire"
)

// All that is wrong is told at once, as Load tells the first of it, and what holds is set.
func TestSurvey(t *testing.T) {
	d := newDesk(t)
	survey := func() (*config.Settings, []string) {
		s, refused, err := config.Survey(d.path("config.toml"), func(string) string { return "" })
		require.NoError(t, err)
		_, loadErr := config.Load(d.path("config.toml"), func(string) string { return "" })
		var parts []string
		for i, r := range refused {
			parts = append(parts, r.Part)
			require.Equal(t, wire.InvalidConfig, wire.CodeOf(r.Err))
			if i == 0 {
				require.Equal(t, loadErr, r.Err)
			}
		}
		require.Equal(t, loadErr != nil, len(refused) > 0)
		return s, parts
	}
	s, parts := survey()
	require.Empty(t, parts)
	require.Equal(t, d.loaded().Module, s.Module)

	d.write("set.json", []byte("{}"))
	d.write("alice.pub", []byte("none"))
	d.write("config.toml", []byte(strings.Replace(whole, "max_hours = 24", "max_hours = 0", 1)))
	s, parts = survey()
	require.Equal(t, []string{"public_key", "max_hours", "approvers", "pki"}, parts)
	require.False(t, s.PublicKey.IsSet() || s.MaxHours.IsSet() || s.ApproverSet().IsSet() || s.TrustVersion.IsSet() || s.CommandSigning.IsSet())
	require.True(t, s.TrustDomain.IsSet() && s.Key.IsSet() && s.Kinds.IsSet() && s.ExpectedLists.IsSet() && s.Module.IsSet())

	d.write("config.toml", []byte("no TOML"))
	_, _, err := config.Survey(d.path("config.toml"), func(string) string { return "" })
	require.Equal(t, wire.InvalidConfig, wire.CodeOf(err))
	_, _, err = config.Survey(d.path("absent.toml"), func(string) string { return "" })
	require.Equal(t, wire.NotFound, wire.CodeOf(err))
}
