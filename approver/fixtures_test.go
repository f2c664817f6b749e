package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/golden"
)

// A testKey is one of the independent approver keys, which are for tests only.
type testKey struct {
	Name    string `json:"name"`
	KID     string `json:"kid"`
	SPKI    []byte `json:"spkiDer"`
	Private string `json:"privateKeyPem"`
}

var testKeys = sync.OnceValue(func() (keys []testKey) {
	if err := json.Unmarshal(golden.Independent("approver-keys.json"), &keys); err != nil {
		panic(err)
	}
	return keys
})

// kid gives the kid of a test key by name.
func kid(name string) string {
	for _, k := range testKeys() {
		if k.Name == name {
			return k.KID
		}
	}
	panic("no test key " + name)
}

// privateKeys gives the lines of the private keys that tell them apart.
func privateKeys() (lines []string) {
	for _, k := range testKeys() {
		lines = append(lines, strings.Split(k.Private, "\n")[1])
	}
	return lines
}

// fixtures are the scopes that a session finds in its folder.
var fixtures = []string{"ok-2.json", "ok-415.json", "policy-unbound.json", "policy-unknown-kind.json", "policy-expired.json", "show-escapes.json", "bad-root.json"}

// writeFixtures fills a folder: NAME.pem and NAME.pem.pub for alice, bob, carol and dave; set.json, in which two of alice,
// bob and carol are needed, for up to 2 leaves one; and the scopes.
func writeFixtures(dir string) error {
	draft := quorum.SetDraft{Threshold: 2, Tiers: []quorum.Tier{{MaxScopeSize: 2, Threshold: 1}}}
	files := make(map[string][]byte)
	for _, k := range testKeys() {
		public, err := quorum.ParsePublicKey(k.SPKI)
		if err != nil {
			return err
		}
		if k.Name != "dave" {
			draft.Keys = append(draft.Keys, public)
		}
		files[k.Name+".pem"], files[k.Name+".pem.pub"] = []byte(k.Private), public.PEM()
	}
	set, err := quorum.NewSet(draft)
	if err != nil {
		return err
	}
	files["set.json"] = quorum.EncodeSetFile(set, 1)
	for _, name := range fixtures {
		files[name] = caseFile(name)
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// caseFile gives an independent scope file.
func caseFile(name string) []byte { return golden.Independent("scopes/" + name) }
