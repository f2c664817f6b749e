package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/hsm"
)

// configure writes a configuration, which then is the one of the session.
func (s *session) configure(lines ...string) {
	s.t.Helper()
	s.write("config.toml", []byte(strings.Join(lines, "\n")+"\n"))
	s.env = append(s.env, "APPROVER_CONFIG="+s.path("config.toml"))
}

// signSet gives a test key's approver-set signature file, from the bytes of WIRE.md §1 and §4.
func signSet(t *testing.T, name string, set *quorum.Set, epoch uint64, trustDomain string) []byte {
	t.Helper()
	digest := set.Digest()
	var input []byte
	for _, part := range [][]byte{[]byte("better-compute/v1"), []byte("approver-set"), binary.BigEndian.AppendUint64(nil, epoch), digest[:], []byte(trustDomain)} {
		input = append(binary.BigEndian.AppendUint32(input, uint32(len(part))), part...)
	}
	hash := sha256.Sum256(input)
	for _, k := range testKeys() {
		if k.Name != name {
			continue
		}
		block, _ := pem.Decode([]byte(k.Private))
		key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
		require.NoError(t, err)
		r, s, err := ecdsa.Sign(rand.Reader, key.(*ecdsa.PrivateKey), hash[:])
		require.NoError(t, err)
		kid, err := quorum.ParseKID(k.KID)
		require.NoError(t, err)
		f := quorum.SetSignatureFile{Epoch: epoch, TrustDomain: trustDomain, Set: set, Signature: quorum.Signature{KID: kid,
			Sig: quorum.Sig(append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...))}}
		return f.Encode()
	}
	t.Fatal("no test key " + name)
	return nil
}

// config show tells whose signatures the published set has.
func TestConfigShowsSetSignatures(t *testing.T) {
	s := newSession(t)
	set, _, err := quorum.ParseSetFile(s.read("set.json"))
	require.NoError(t, err)
	s.write("alice.set.json", signSet(t, "alice", set, 3, "compute.example.com"))
	s.write("dave.set.json", signSet(t, "dave", set, 3, "compute.example.com"))
	s.tool("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "root.key", "-out", "root.crt", "-subj", "/CN=root")
	lines := []string{`trust_domain = "compute.example.com"`, `[pki]`, `command_signing = "root.crt"`, `trust_version = 7`, `[pki.approvers]`,
		`keys = ["alice.pem.pub", "bob.pem.pub", "carol.pem.pub"]`, `threshold = 2`, `tiers = [{ max_scope_size = 2, threshold = 1 }]`,
		`epoch = 3`, `set_signatures = ["alice.set.json", "dave.set.json"]`}
	s.configure(lines...)
	shown := s.ok("config", "show").stdout
	require.Contains(t, shown, fmt.Sprintf("approver set %x, from %s line 5\n  epoch 3, threshold 2 of 3 keys", set.Digest(), s.path("config.toml")))
	require.Contains(t, shown, "  signature by "+kid("alice")+" verifies ("+s.path("alice.set.json")+")\n")
	require.Contains(t, shown, "  signature by "+kid("dave")+" is of no key of this set (")
	var asJSON struct {
		ApproverSet struct {
			Digest     string `json:"setSha256"`
			Signatures []struct {
				KID      string `json:"kid"`
				Verifies bool   `json:"verifies"`
			} `json:"signatures"`
		} `json:"approverSet"`
	}
	require.NoError(t, json.Unmarshal([]byte(s.ok("config", "show", "--json").stdout), &asJSON))
	require.Equal(t, fmt.Sprintf("%x", set.Digest()), asJSON.ApproverSet.Digest)
	require.Len(t, asJSON.ApproverSet.Signatures, 2)
	require.True(t, asJSON.ApproverSet.Signatures[0].Verifies)
	require.False(t, asJSON.ApproverSet.Signatures[1].Verifies)

	s.write("dave.set.json", signSet(t, "dave", set, 4, "compute.example.com"))
	require.Contains(t, s.refused("INVALID_CONFIG", "", "config", "show").stderr, "dave.set.json signs epoch 4; wanted: 3")
	require.Contains(t, s.refused("INVALID_CONFIG", "", sign("ok-2.json")...).stderr, "dave.set.json signs epoch 4; wanted: 3")
}

// A configured module is loaded where its file has the digest, and only then.
func TestConfiguredModule(t *testing.T) {
	s, m := newSession(t), newFaultyModule(t)
	module := s.path(s.write("p11.so", []byte("a library")))
	digest := sha256.Sum256([]byte("a library"))
	s.write("pin.txt", []byte(testPIN))
	configure := func(sum string) {
		s.write("config.toml", fmt.Appendf(nil, "key = %q\n[module]\npath = %q\nsha256 = %q\n", tokenKey+"?pin-source=file:"+s.path("pin.txt"), module, sum))
	}
	run := func(more ...string) (result, string) {
		loaded := ""
		args := append([]string{"batch", "sign", "--config", s.path("config.toml"), "--json", "--scope", s.path("ok-2.json"), "--now", now, "--yes"}, more...)
		return inProcess(t, func(a *app) {
			a.loadModule = func(_ context.Context, f hsm.ModuleFile) (hsm.Module, error) {
				require.NotNil(t, f.SHA256)
				loaded = fmt.Sprintf("%s %x", f.Path, *f.SHA256)
				return m, nil
			}
		}, args...), loaded
	}
	configure(fmt.Sprintf("%x", digest))
	for _, more := range [][]string{nil, {"--module", module}, {"--module", filepath.Dir(module) + "/./p11.so"}} {
		r, loaded := run(more...)
		require.Zero(t, r.status, r.stderr)
		require.Equal(t, fmt.Sprintf("%s %x", module, digest), loaded)
	}
	r, loaded := run("--module", "/in/memory")
	requireRefusal(t, r, "INVALID_CONFIG", "")
	require.Empty(t, loaded)
	require.NoError(t, os.Chmod(module, 0o666))
	r, loaded = run()
	requireRefusal(t, r, "INVALID_CONFIG", "")
	require.Empty(t, loaded)
	require.NoError(t, os.Chmod(module, 0o600))
	configure(strings.Repeat("0", 64))
	r, loaded = run()
	requireRefusal(t, r, "INVALID_CONFIG", "")
	require.Contains(t, r.stderr, fmt.Sprintf("has %x; wanted: 0000", digest))
	require.Empty(t, loaded)
	r = inProcess(t, func(*app) {}, "config", "show", "--config", s.path("config.toml"))
	require.Equal(t, 1, r.status)
	require.Contains(t, r.stderr, "has "+fmt.Sprintf("%x", digest))
	require.Contains(t, r.stdout, "pin-source=file:")
	requireNoSecret(t, r.stdout, r.stderr)
}

// A configured table of kinds is the one that --kinds may repeat, byte for byte.
func TestConfiguredKinds(t *testing.T) {
	s := newSession(t)
	for _, name := range []string{"kinds.toml", "acme.binpb"} {
		data, err := os.ReadFile(filepath.Join("..", "examples", "kinds", name))
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(s.path("copy"), 0o700))
		s.write(name, data)
		s.write("copy/"+name, data)
	}
	s.configure(`kinds = "kinds.toml"`)
	show := []string{"batch", "show", "--scope", "ok-2.json", "--now", now}
	s.ok(show...)
	s.ok(append(show, "--kinds", "kinds.toml")...)
	s.ok(append(show, "--kinds", "copy/kinds.toml")...)
	s.ok("config", "show")
	s.write("copy/kinds.toml", append(s.read("copy/kinds.toml"), "# another\n"...))
	require.Contains(t, s.refused("INVALID_CONFIG", "", append(show, "--kinds", "copy/kinds.toml")...).stderr, "--kinds says copy/kinds.toml, the configuration says ")
	s.write("copy/kinds.toml", s.read("kinds.toml"))
	s.write("copy/acme.binpb", append(s.read("copy/acme.binpb"), 0x18))
	s.refused("INVALID_CONFIG", "", append(show, "--kinds", "copy/kinds.toml")...)
	require.NoError(t, os.Chmod(s.path("acme.binpb"), 0o666))
	require.Contains(t, s.refused("INVALID_CONFIG", "", show...).stderr, "others can change the file "+s.path("acme.binpb"))
}

// --unchecked signs for the configured trust domain and no other.
func TestConfiguredTrustDomainUnchecked(t *testing.T) {
	s := newSession(t)
	s.configure(`trust_domain = "compute.example.com"`)
	args := []string{"batch", "sign", "--unchecked", "--batch", "b", "--root", strings.Repeat("0", 64), "--size", "2", "--not-after", "2099-12-31T12:00:00Z",
		"--key", "alice.pem", "--now", now}
	s.refused("INVALID_STATE", "not-confirmed", args...) // all there but a terminal
	s.refused("TRUST_DOMAIN_MISMATCH", "", append(args, "--trust-domain", "staging.example.com")...)
}

// config show refuses what no signature could be made with.
func TestConfigShowHoldsKeyAgainstTheRest(t *testing.T) {
	s := newSession(t)
	s.configure(`public_key = "alice.pem.pub"`, `approvers = "set.json"`)
	s.ok("config", "show")
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	stranger, err := quorum.NewPublicKey(&key.PublicKey)
	require.NoError(t, err)
	s.write("stranger.pub", stranger.PEM())
	s.configure(`public_key = "stranger.pub"`, `approvers = "set.json"`)
	require.Contains(t, s.refused("INVALID_CONFIG", "", "config", "show").stderr, "public_key: key "+stranger.KID().String()+" is not in the approver set")

	digest := sha256.Sum256(s.read("set.json"))
	module := fmt.Sprintf("[module]\npath = %q\nsha256 = \"%x\"", s.path("set.json"), digest)
	s.configure(fmt.Sprintf("key = %q", "pkcs11:token=a?module-path="+s.path("set.json")), module)
	s.ok("config", "show")
	s.configure(`key = "pkcs11:token=a?module-path=/other.so"`, module)
	require.Contains(t, s.refused("INVALID_CONFIG", "", "config", "show").stderr, "the key's module-path says /other.so")
}
