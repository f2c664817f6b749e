package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/config"
	"github.com/better-compute/approver/core/wire"
)

// A file that sets nothing would be taken for a configuration and drop every check of the one it stands for.
func TestAFileThatSetsNothing(t *testing.T) {
	for _, text := range []string{"", "\n", "# nothing\n", "[pki]\n", "pki = {}\n", " \t\r\n# /etc/environment\r\n"} {
		_, err := config.Parse("config.toml", []byte(text))
		require.Equal(t, wire.InvalidConfig, wire.CodeOf(err), "%q", text)
		require.ErrorContains(t, err, "config.toml configures nothing")
	}
}

// What is no URI by a space or a word before it is not shown as a path: it may hold a PIN.
func TestAKeyThatHidesAURI(t *testing.T) {
	for _, key := range []string{" pkcs11:token=a?pin-value=1234", "key pkcs11:token=a?pin-value=1234", "./PKCS11:object=a?pin-value=1234", "pkcs11?pin-value=1234"} {
		_, err := config.Parse("config.toml", []byte("key = \""+key+"\"\n"))
		require.Equal(t, wire.InvalidConfig, wire.CodeOf(err), key)
		require.NotContains(t, err.Error(), "1234")
	}
}

// A PIN in the wrong place is not repeated: only the key may be a URI.
func TestAURIWhereAPathIsWanted(t *testing.T) {
	const uri = "pkcs11:token=a?pin-value=1234"
	for _, name := range []string{"public_key", "approvers", "kinds", "expected_lists", "module.path", "module.sha256", "pki.command_signing"} {
		for _, text := range []string{uri, "PKCS11:a?pin-value=1234", " " + uri, "token=a?pin-value=1234"} {
			_, err := config.Parse("config.toml", []byte(name+" = \""+text+"\"\n"))
			require.Equal(t, wire.InvalidConfig, wire.CodeOf(err), name)
			require.ErrorContains(t, err, "config.toml line 1: "+name+": it ", text)
			require.NotContains(t, err.Error(), "1234")
		}
	}
	for _, list := range []string{"keys", "set_signatures"} {
		_, err := config.Parse("config.toml", []byte("[pki.approvers]\nthreshold = 1\n"+list+" = [\"a\", \""+uri+"\"]\n"))
		require.ErrorContains(t, err, "pki.approvers."+list+": it is a pkcs11: URI")
		require.NotContains(t, err.Error(), "1234")
	}
	_, err := config.Load("", func(name string) string {
		return map[string]string{"BETTER_COMPUTE_APPROVER_KEYS": "alice.pub," + uri}[name]
	})
	require.ErrorContains(t, err, "BETTER_COMPUTE_APPROVER_KEYS: it is a pkcs11: URI")
	require.NotContains(t, err.Error(), "1234")
}
