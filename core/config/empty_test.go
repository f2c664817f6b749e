package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/config"
	"github.com/better-compute/approver/core/wire"
)

// A file that sets nothing would be taken for a configuration and drop every check of the one it stands for.
func TestAFileThatSetsNothing(t *testing.T) {
	for _, text := range []string{"", "\n", "# nothing\n", " \t\r\n# /etc/environment\r\n"} {
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
