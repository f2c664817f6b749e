package config_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/config"
	"github.com/better-compute/approver/core/wire"
)

// Each row is a configuration, the module-path that its URI has, and what Check says to it; "" is nothing.
func TestCheck(t *testing.T) {
	d := newDesk(t)
	module := fmt.Sprintf("[module]\npath = %q\nsha256 = \"%064x\"\n", d.path("p11.so"), 0)
	for name, c := range map[string]struct{ text, modulePath, key, says string }{
		"nothing to check":     {"max_hours = 24\n", "", "", ""},
		"a key file":           {"key = \"kinds.toml\"\n", "", "", ""},
		"no key file":          {"key = \"no.pem\"\n", "", "key", "line 1: key: " + d.path("no.pem") + ": there is no such file"},
		"a folder":             {"key = \"lists\"\n", "", "key", "is not a regular file"},
		"a URI":                {"key = \"pkcs11:token=a\"\n", "", "", ""},
		"a URI in large type":  {"key = \"PKCS11:token=a\"\n", "", "", ""},
		"a URI of its module":  {"key = \"pkcs11:token=a\"\n", "/p11.so", "", ""},
		"another module":       {"key = \"pkcs11:token=a\"\n" + module, "/p11.so", "", "the key's module-path says /p11.so"},
		"a key of the set":     {"public_key = \"alice.pub\"\napprovers = \"set.json\"\n", "", "", ""},
		"a key without a set":  {"public_key = \"dave.pub\"\n", "", "", ""},
		"a key not of the set": {"public_key = \"dave.pub\"\napprovers = \"set.json\"\n", "", "public_key", "line 1: public_key: key "},
		"no module is there":   {module, "", "module.path", "there is no such file"},
		"a URI that is none":   {"key = \"pkcs11:\"\n", "wrong", "", "names nothing"},
	} {
		d.write("config.toml", []byte(c.text))
		err := d.loaded().Check(func(uri string) (string, error) {
			if c.modulePath == "wrong" {
				return "", errors.New("it names nothing")
			}
			require.True(t, uri == "pkcs11:token=a" || uri == "PKCS11:token=a", "%s: %s", name, uri)
			return c.modulePath, nil
		})
		if c.says == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, err, c.says, name)
		if c.key != "" {
			require.Equal(t, wire.InvalidConfig, wire.CodeOf(err), name)
			require.Equal(t, c.key, err.(*wire.Error).Details["key"], name)
		}
	}
	require.NoError(t, new(config.Settings).Check(nil), "nothing is configured")
}
