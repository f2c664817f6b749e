// Command generate writes the test vectors of package golden, and the data of examples/.
//
//	go run ./golden/generate -out golden -examples examples
//
// It is an implementation of WIRE.md §1 to §5 and §7 of its own: naive, on the standard library alone, sharing no
// code with the rest of the module, so that a mistake there shows as a vector that fails. It is deterministic: keys come
// from fixed texts and signatures from RFC 6979, so running it again gives the same bytes.
package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// files gives the vector files: a name, and what makes its content.
var files = []struct {
	name    string
	content func() any
}{
	{"signing-input.json", signingInputs},
	{"approver-key.json", approverKeys},
	{"key-proof.json", keyProofs},
	{"merkle.json", merkleTrees},
	{"batch-approval.json", batchApprovals},
	{"combined-approval.json", combinedApprovals},
	{"batch-proof.json", batchProofs},
	{"approver-set-file.json", approverSetFiles},
	{"approver-set-digest.json", setDigests},
	{"trust-bundle.json", trustBundles},
	{"batch-signature-file.json", batchSignatureFiles},
	{"batch-decline-file.json", batchDeclineFiles},
	{"scope-file.json", scopeFiles},
	{"scope-policy.json", scopePolicies},
	{"payload.json", payloads},
	{"payload-json.json", payloadJSON},
	{"kinds.json", kindsTables},
	{"expected-list.json", expectedLists},
	{"pgp-words.json", pgpWords},
	{"text-forms.json", textForms},
}

func main() {
	out := flag.String("out", "", "folder that takes the vector files")
	examples := flag.String("examples", "", "folder that takes the example scopes")
	flag.Parse()
	if flag.NArg() != 0 || *out == "" && *examples == "" {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*out, *examples); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(out, examples string) error {
	if out != "" {
		for _, f := range files {
			if err := write(filepath.Join(out, f.name), encode(f.content())); err != nil {
				return err
			}
		}
	}
	if examples == "" {
		return nil
	}
	for name, content := range exampleFiles() {
		if err := write(filepath.Join(examples, name), content); err != nil {
			return err
		}
	}
	return nil
}

func write(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}

// encode gives JSON with a space a level, as it is read in a diff.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// quote gives a JSON string without needless escapes.
func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err)
	}
	return string(bytes.TrimSpace(b.Bytes()))
}

// must is for what cannot fail on our own constants; the generator has no other input.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func unhex(s string) []byte { return must(hex.DecodeString(s)) }
