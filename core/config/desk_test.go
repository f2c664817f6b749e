package config_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/config"
	"github.com/better-compute/approver/core/quorum"
)

// A desk is a folder with a configuration, all that it names, and an environment of its own.
type desk struct {
	t       testing.TB
	dir     string
	env     map[string]string
	private map[string]*ecdsa.PrivateKey
}

const domain = "compute.example.com"

// whole names every key. Its lines are numbered from 1.
const whole = `trust_domain = "compute.example.com"
key = "pkcs11:token=approver;object=k256"
public_key = "alice.pub"
approvers = "set.json"
max_hours = 24
kinds = "kinds.toml"
expected_lists = "lists"
state = "ledger"
[module]
path = "/lib/p11.so"
sha256 = "0000000000000000000000000000000000000000000000000000000000000000"

[pki]
command_signing = "root.crt"
trust_version = 7

[pki.approvers]
keys = ["alice.pub", "bob.pub", "carol.pub"]
threshold = 2
tiers = [{ max_scope_size = 5, threshold = 1 }]
unbatched_destructive_per_hour = 0
epoch = 2
set_signatures = ["alice.sig", "dave.sig"]
`

func newDesk(t testing.TB) *desk {
	t.Helper()
	d := &desk{t: t, dir: t.TempDir(), env: make(map[string]string), private: make(map[string]*ecdsa.PrivateKey)}
	for _, name := range []string{"alice", "bob", "carol", "dave"} {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		require.NoError(t, err)
		d.private[name] = key
		d.write(name+".pub", d.key(name).PEM())
	}
	set := d.set(5)
	d.write("set.json", quorum.EncodeSetFile(set, 2))
	d.write("alice.sig", d.signature("alice", set, 2, domain))
	d.write("dave.sig", d.signature("dave", set, 2, domain)) // no longer in the set
	d.write("root.crt", d.certificate(elliptic.P256(), func(*x509.Certificate) {}))
	d.write("kinds.toml", nil)
	require.NoError(t, os.Mkdir(d.path("lists"), 0o755))
	d.write("config.toml", []byte(whole))
	return d
}

func (d *desk) path(name string) string { return filepath.Join(d.dir, name) }

func (d *desk) write(name string, data []byte) string {
	d.t.Helper()
	require.NoError(d.t, os.WriteFile(d.path(name), data, 0o600))
	return d.path(name)
}

func (d *desk) key(name string) quorum.PublicKey {
	d.t.Helper()
	key, err := quorum.NewPublicKey(&d.private[name].PublicKey)
	require.NoError(d.t, err)
	return key
}

// set gives two of alice, bob and carol; for up to tier leaves one, where tier is not 0.
func (d *desk) set(tier uint32) *quorum.Set {
	d.t.Helper()
	draft := quorum.SetDraft{Keys: []quorum.PublicKey{d.key("alice"), d.key("bob"), d.key("carol")}, Threshold: 2}
	if tier != 0 {
		draft.Tiers = []quorum.Tier{{MaxScopeSize: tier, Threshold: 1}}
	}
	set, err := quorum.NewSet(draft)
	require.NoError(d.t, err)
	return set
}

// signature signs a set by the bytes of WIRE.md §1 and §4.
func (d *desk) signature(name string, set *quorum.Set, epoch uint64, trustDomain string) []byte {
	d.t.Helper()
	digest := set.Digest()
	var input []byte
	for _, part := range [][]byte{[]byte("better-compute/v1"), []byte("approver-set"), binary.BigEndian.AppendUint64(nil, epoch), digest[:], []byte(trustDomain)} {
		input = append(binary.BigEndian.AppendUint32(input, uint32(len(part))), part...)
	}
	hash := sha256.Sum256(input)
	r, s, err := ecdsa.Sign(rand.Reader, d.private[name], hash[:])
	require.NoError(d.t, err)
	f := quorum.SetSignatureFile{Epoch: epoch, TrustDomain: trustDomain, Set: set,
		Signature: quorum.Signature{KID: d.key(name).KID(), Sig: quorum.Sig(append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...))}}
	require.True(d.t, f.Verifies(d.key(name)))
	return f.Encode()
}

func authority(name string) *x509.Certificate {
	return &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Unix(0, 0),
		NotAfter: time.Unix(1<<32, 0), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
}

// certificate gives a root as PEM, changed before it signs itself.
func (d *desk) certificate(curve elliptic.Curve, change func(*x509.Certificate)) []byte {
	d.t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	require.NoError(d.t, err)
	c := authority("command signing")
	change(c)
	return d.issue(c, c, &key.PublicKey, key)
}

// intermediate gives an authority that another one signed, impostor one that says it is its own and is signed by another
// key, renamed one that its own key signed under another name.
func (d *desk) renamed() []byte {
	return d.issue(authority("lower"), authority("command signing"), &d.private["alice"].PublicKey, d.private["alice"])
}

func (d *desk) intermediate() []byte {
	return d.issue(authority("lower"), authority("command signing"), &d.private["alice"].PublicKey, d.private["bob"])
}

func (d *desk) impostor() []byte {
	return d.issue(authority("command signing"), authority("command signing"), &d.private["alice"].PublicKey, d.private["bob"])
}

func (d *desk) issue(c, parent *x509.Certificate, public *ecdsa.PublicKey, by *ecdsa.PrivateKey) []byte {
	d.t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, c, parent, public, by)
	require.NoError(d.t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// change writes the configuration with old exchanged for new.
func (d *desk) change(old, new string) {
	d.t.Helper()
	require.Equal(d.t, 1, strings.Count(whole, old), "%q stands once in the configuration", old)
	d.write("config.toml", []byte(strings.Replace(whole, old, new, 1)))
}

func (d *desk) load() (*config.Settings, error) {
	return config.Load(d.path("config.toml"), func(name string) string { return d.env[name] })
}

func (d *desk) loaded() *config.Settings {
	d.t.Helper()
	s, err := d.load()
	require.NoError(d.t, err)
	return s
}

func itoa(n int) string { return fmt.Sprint(n) }
