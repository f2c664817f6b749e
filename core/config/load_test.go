package config_test

import (
	"crypto/elliptic"
	"crypto/x509"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/config"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

func TestLoad(t *testing.T) {
	d := newDesk(t)
	s := d.loaded()
	file := d.path("config.toml")
	at := func(line int) config.Origin { return config.Origin{File: file, Line: line} }
	require.Equal(t, config.Setting[string]{Value: domain, Origin: at(1)}, s.TrustDomain)
	require.Equal(t, config.Setting[string]{Value: "pkcs11:token=approver;object=k256", Origin: at(2)}, s.Key)
	require.Equal(t, d.path("alice.pub"), s.PublicKey.Value.Path)
	require.True(t, s.PublicKey.Value.Key.Equal(d.key("alice")))
	require.Equal(t, config.Setting[int]{Value: 24, Origin: at(5)}, s.MaxHours)
	require.Equal(t, config.Setting[string]{Value: d.path("kinds.toml"), Origin: at(6)}, s.Kinds)
	require.Equal(t, config.Setting[string]{Value: d.path("lists"), Origin: at(7)}, s.ExpectedLists)
	require.Equal(t, config.Setting[config.Module]{Value: config.Module{Path: "/lib/p11.so"}, Origin: at(10)}, s.Module)
	require.Equal(t, config.Setting[uint64]{Value: 7, Origin: at(15)}, s.TrustVersion)
	require.Len(t, s.CommandSigning.Value, 1)
	require.Equal(t, at(4), s.SetFile.Origin)
	require.Equal(t, at(17), s.Published.Origin)
	for _, own := range []*config.ApproverSet{s.SetFile.Value, s.Published.Value} {
		require.Equal(t, d.set(5).Digest(), own.Set.Digest())
		require.EqualValues(t, 2, own.Epoch)
	}
	require.Equal(t, []config.SetSignature{{d.path("alice.sig"), d.key("alice").KID(), true}, {d.path("dave.sig"), d.key("dave").KID(), false}},
		s.Published.Value.Signatures)
	written, ok := s.Written("pki.approvers.tiers")
	require.True(t, ok)
	require.Equal(t, config.Written{Value: []string{"5:1"}, Origin: at(20)}, written)
}

// Every key of the file is in Keys, and the other way round.
func TestKeysAreThoseOfTheFile(t *testing.T) {
	s := newDesk(t).loaded()
	for _, key := range config.Keys() {
		_, ok := s.Written(key.Name)
		require.True(t, ok, "%s is in the table and not in the file", key.Name)
	}
	require.Len(t, config.Keys(), strings.Count(whole, " = ")-2, "the two numbers of a tier are no keys of their own")
}

func TestEverythingIsOptional(t *testing.T) {
	s, err := config.Parse("config.toml", []byte("key = \"alice.pem\"\n[pki]\n"))
	require.NoError(t, err)
	require.False(t, s.ApproverSet().IsSet() || s.TrustDomain.IsSet() || s.Module.IsSet() || s.MaxHours.IsSet())
	d := newDesk(t)
	d.write("config.toml", []byte("[pki]\ncommand_signing = \"root.crt\"\n"))
	require.False(t, d.loaded().ApproverSet().IsSet())
	d.change("epoch = 2\nset_signatures = [\"alice.sig\", \"dave.sig\"]\n", "")
	require.ErrorContains(t, second(d.load()), "epoch 2, is another than that of")
	d.write("set.json", quorum.EncodeSetFile(d.set(5), 1))
	require.EqualValues(t, 1, d.loaded().Published.Value.Epoch)
	d.change("unbatched_destructive_per_hour = 0\nepoch = 2\nset_signatures = [\"alice.sig\", \"dave.sig\"]\n", "")
	require.Zero(t, d.loaded().Published.Value.Set.UnbatchedPerHour())
}

func second[T any](_ T, err error) error { return err }

// rules has a row for each rule that a configuration may break: what of it is exchanged for what, the key of the refusal and
// what it says.
var rules = map[string]struct{ old, new, key, says string }{
	"unknown key":             {`max_hours`, `max_minutes`, "max_minutes", "line 5: the key \"max_minutes\" is not known"},
	"letter case":             {`max_hours`, `Max_hours`, "Max_hours", "is not known"},
	"type":                    {`max_hours = 24`, `max_hours = "24"`, "max_hours", "line 5: the key \"max_hours\" is a string; wanted: a whole number"},
	"twice":                   {`max_hours = 24`, "max_hours = 24\nmax_hours = 24", "max_hours", "line 6"},
	"empty":                   {`key = "pkcs11:token=approver;object=k256"`, `key = ""`, "key", "line 2: key: it is empty"},
	"trust domain":            {`"compute.example.com"`, `"Compute.example.com"`, "trust_domain", "line 1: trust_domain: it is \"Compute.example.com\"; wanted"},
	"hours 0":                 {`max_hours = 24`, `max_hours = 0`, "max_hours", "line 5: max_hours: 0; wanted: 1 to 720"},
	"hours 721":               {`max_hours = 24`, `max_hours = 721`, "max_hours", "721; wanted: 1 to 720"},
	"hours below":             {`max_hours = 24`, `max_hours = -1`, "max_hours", "-1; wanted"},
	"public key absent":       {`public_key = "alice.pub"`, `public_key = "erin.pub"`, "public_key", "erin.pub: there is no such file"},
	"public key of no form":   {`public_key = "alice.pub"`, `public_key = "set.json"`, "public_key", "set.json: not a public key file"},
	"set absent":              {`approvers = "set.json"`, `approvers = "no.json"`, "approvers", "no.json: there is no such file"},
	"set of no form":          {`approvers = "set.json"`, `approvers = "alice.sig"`, "approvers", "alice.sig: "},
	"set is a folder":         {`approvers = "set.json"`, `approvers = "lists"`, "approvers", "is not a regular file"},
	"kinds absent":            {`kinds = "kinds.toml"`, `kinds = "no.toml"`, "kinds", "no.toml: there is no such file"},
	"lists absent":            {`expected_lists = "lists"`, `expected_lists = "no"`, "expected_lists", "there is no such folder"},
	"lists a file":            {`expected_lists = "lists"`, `expected_lists = "set.json"`, "expected_lists", "is not a folder"},
	"module relative":         {`"/lib/p11.so"`, `"p11.so"`, "module.path", "\"p11.so\"; wanted: an absolute path"},
	"module without digest":   {"sha256 = \"0000000000000000000000000000000000000000000000000000000000000000\"\n", "", "module", "line 9: module: sha256 is missing"},
	"module without path":     {"path = \"/lib/p11.so\"\n", "", "module", "path is missing"},
	"digest short":            {"0000000000000000000000000000000000000000000000000000000000000000", "00", "module.sha256", "64 lower-case hex digits"},
	"root absent":             {`"root.crt"`, `"no.crt"`, "pki.command_signing", "no.crt: there is no such file"},
	"root of no form":         {`"root.crt"`, `"alice.pub"`, "pki.command_signing", "PEM blocks CERTIFICATE and nothing else"},
	"no root":                 {"command_signing = \"root.crt\"\n", "", "pki.approvers", "pki.command_signing is missing"},
	"no trust domain":         {"trust_domain = \"compute.example.com\"\n", "", "pki.approvers", "trust_domain is missing"},
	"trust version 0":         {`trust_version = 7`, `trust_version = 0`, "pki.trust_version", "0; wanted: 1 to"},
	"trust version large":     {`trust_version = 7`, `trust_version = 9007199254740992`, "pki.trust_version", "wanted: 1 to 9007199254740991"},
	"trust version fraction":  {`trust_version = 7`, `trust_version = 7.5`, "pki.trust_version", "wanted: a whole number"},
	"no keys":                 {"keys = [\"alice.pub\", \"bob.pub\", \"carol.pub\"]\n", "", "pki.approvers", "line 17: pki.approvers: keys is missing"},
	"zero keys":               {`["alice.pub", "bob.pub", "carol.pub"]`, `[]`, "pki.approvers.keys", "wanted: at least one"},
	"key twice":               {`["alice.pub", "bob.pub", "carol.pub"]`, `["alice.pub", "bob.pub", "alice.pub"]`, "pki.approvers", "is there twice"},
	"key absent":              {`"carol.pub"]`, `"erin.pub"]`, "pki.approvers.keys[2]", "line 18: pki.approvers.keys[2]: "},
	"key empty":               {`"carol.pub"]`, `""]`, "pki.approvers.keys[2]", "it is empty"},
	"key of no form":          {`"carol.pub"]`, `"set.json"]`, "pki.approvers.keys[2]", "not a public key file"},
	"no threshold":            {"threshold = 2\n", "", "pki.approvers", "threshold is missing"},
	"threshold 0":             {"threshold = 2\n", "threshold = 0\n", "pki.approvers.threshold", "0; wanted: 1 to"},
	"threshold over keys":     {"threshold = 2\n", "threshold = 4\n", "pki.approvers", "threshold 4; wanted: 1 to the number of keys, 3"},
	"threshold past 32 bits":  {"threshold = 2\n", "threshold = 4294967298\n", "pki.approvers.threshold", "wanted: 1 to 4294967295"},
	"tier size 0":             {`max_scope_size = 5`, `max_scope_size = 0`, "pki.approvers.tiers[0].max_scope_size", "0; wanted: 1 to"},
	"tier threshold 0":        {`threshold = 1 }`, `threshold = 0 }`, "pki.approvers.tiers[0].threshold", "0; wanted: 1 to"},
	"tier over threshold":     {`threshold = 1 }`, `threshold = 3 }`, "pki.approvers", "over the set's threshold"},
	"tier without threshold":  {`5, threshold = 1 }`, `5 }`, "pki.approvers.tiers[0]", "wanted: max_scope_size and threshold"},
	"tiers of one size":       {`threshold = 1 }]`, `threshold = 1 }, { max_scope_size = 5, threshold = 2 }]`, "pki.approvers", "ascend strictly"},
	"tiers decrease":          {`threshold = 1 }]`, `threshold = 2 }, { max_scope_size = 9, threshold = 1 }]`, "pki.approvers", "never decrease"},
	"unbatched below":         {`per_hour = 0`, `per_hour = -1`, "pki.approvers.unbatched_destructive_per_hour", "-1; wanted: 0 to"},
	"epoch 0":                 {`epoch = 2`, `epoch = 0`, "pki.approvers.epoch", "0; wanted: 1 to"},
	"signatures, no epoch":    {"epoch = 2\n", "", "pki.approvers.set_signatures", "epoch is missing"},
	"signature absent":        {`"dave.sig"`, `"erin.sig"`, "pki.approvers.set_signatures", "erin.sig: there is no such file"},
	"signature name empty":    {`"dave.sig"`, `""`, "pki.approvers.set_signatures", "a file name in the list is empty"},
	"signature of no form":    {`"dave.sig"`, `"set.json"`, "pki.approvers.set_signatures", "set.json: "},
	"signature twice":         {`"dave.sig"`, `"alice.sig"`, "pki.approvers.set_signatures", "is the second by key"},
	"signature, other epoch":  {`"dave.sig"`, `"epoch.sig"`, "pki.approvers.set_signatures", "epoch.sig signs epoch 3; wanted: 2"},
	"signature, other set":    {`"dave.sig"`, `"set.sig"`, "pki.approvers.set_signatures", "set.sig signs set "},
	"signature, other domain": {`"dave.sig"`, `"domain.sig"`, "pki.approvers.set_signatures", "domain.sig is for trust domain \"staging\""},
	"signature broken":        {`"dave.sig"`, `"broken.sig"`, "pki.approvers.set_signatures", "broken.sig does not verify for key"},
	"two sets":                {`max_scope_size = 5`, `max_scope_size = 6`, "", ""}, // of the signatures or of the set file
}

func TestRules(t *testing.T) {
	for name, c := range rules {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.write("epoch.sig", d.signature("bob", d.set(5), 3, domain))
			d.write("set.sig", d.signature("bob", d.set(6), 2, domain))
			d.write("domain.sig", d.signature("bob", d.set(5), 2, "staging"))
			d.write("broken.sig", broken(t, d.signature("bob", d.set(5), 2, domain), d.signature("bob", d.set(5), 2, domain)))
			d.loaded()
			d.change(c.old, c.new)
			_, err := d.load()
			require.Equal(t, wire.InvalidConfig, wire.CodeOf(err), "%v", err)
			require.ErrorContains(t, err, c.says)
			require.ErrorContains(t, err, d.path("config.toml"))
			if c.key != "" {
				require.Equal(t, c.key, err.(*wire.Error).Details["key"])
				require.NotZero(t, err.(*wire.Error).Details["line"])
			}
		})
	}
}

// broken gives the file a with the last part of the signature of b, another signature by the same key.
func broken(t *testing.T, a, b []byte) []byte {
	t.Helper()
	at := strings.LastIndex(string(a), `"sig":"`) + len(`"sig":"`)
	require.Greater(t, at, 10)
	return []byte(string(a[:at]) + string(b[at:at+40]) + string(a[at+40:]))
}

// The set of the key "approvers" and the published one are the same, epoch included.
func TestOneSet(t *testing.T) {
	for name, data := range map[string][]byte{
		"tier":  quorum.EncodeSetFile(newDesk(t).set(5), 2), // of other keys
		"epoch": nil,
	} {
		d := newDesk(t)
		if data == nil {
			data = quorum.EncodeSetFile(d.set(5), 3)
		}
		d.write("set.json", data)
		_, err := d.load()
		require.Equal(t, wire.InvalidConfig, wire.CodeOf(err), name)
		require.ErrorContains(t, err, "config.toml line 4: approvers: set ", name)
		require.ErrorContains(t, err, "is another than that of", name)
	}
	d := newDesk(t)
	removal, err := quorum.NewSet(quorum.SetDraft{})
	require.NoError(t, err)
	d.write("set.json", quorum.EncodeSetFile(removal, 2))
	require.ErrorContains(t, second(d.load()), "the set has no keys")
}

// The set of a file that is published too has what was published: its signatures, and the files of its keys.
func TestOneSetHasItsSignatures(t *testing.T) {
	d := newDesk(t)
	own := d.loaded().ApproverSet().Value
	require.Equal(t, []string{d.path("set.json"), d.path("alice.pub"), d.path("bob.pub"), d.path("carol.pub")}, own.Paths)
	require.Len(t, own.Signatures, 2)
	require.True(t, own.Signatures[0].Member)
	require.False(t, own.Signatures[1].Member)
}

func TestCommandSigningRoots(t *testing.T) {
	d := newDesk(t)
	root := d.certificate(elliptic.P256(), func(*x509.Certificate) {})
	other := d.certificate(elliptic.P256(), func(*x509.Certificate) {})
	for name, c := range map[string]struct {
		data []byte
		says string // "" is taken
	}{
		"two":            {append(append([]byte{}, root...), other...), ""},
		"carriage":       {[]byte(strings.ReplaceAll(string(root), "\n", "\r\n")), ""},
		"no usage":       {d.certificate(elliptic.P256(), func(c *x509.Certificate) { c.KeyUsage = 0 }), ""},
		"the same twice": {append(append([]byte{}, root...), root...), "certificates 1 and 2 are the same"},
		"empty":          {[]byte("\n"), "no certificate"},
		"text before":    {append([]byte("the root:\n"), root...), "nothing else"},
		"text after":     {append(append([]byte{}, root...), "x"...), "nothing else"},
		"cut":            {root[:len(root)-30], "nothing else"},
		"P-384":          {d.certificate(elliptic.P384(), func(*x509.Certificate) {}), "not on P-256"},
		"no CA":          {d.certificate(elliptic.P256(), func(c *x509.Certificate) { c.IsCA = false }), "not of a certificate authority"},
		"usage":          {d.certificate(elliptic.P256(), func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageCRLSign }), "sign certificates"},
		"no root":        {d.intermediate(), "does not sign itself"},
		"another's name": {d.renamed(), "does not sign itself"},
		"another's key":  {d.impostor(), "does not sign itself"},
		"headers":        {[]byte(strings.Replace(string(root), "-----\n", "-----\nProc-Type: 4\n\n", 1)), "nothing else"},
		"DER of no form": {[]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), "certificate 1: "},
	} {
		d.write("root.crt", c.data)
		s, err := d.load()
		if c.says == "" {
			require.NoError(t, err, name)
			require.NotEmpty(t, s.CommandSigning.Value, name)
			continue
		}
		require.Equal(t, wire.InvalidConfig, wire.CodeOf(err), name)
		require.ErrorContains(t, err, c.says, name)
		require.ErrorContains(t, err, "line 14: pki.command_signing: ", name)
	}
}

// As many signatures are read as keys may have made them.
func TestMostSetSignatures(t *testing.T) {
	for n, says := range map[int]string{wire.MaxSignatures: "is the second by key", wire.MaxSignatures + 1: "set_signatures: 65; at most 64 are read"} {
		d := newDesk(t)
		d.change(`["alice.sig", "dave.sig"]`, `[`+strings.Repeat(`"alice.sig", `, n)+`]`)
		s, err := d.load()
		require.ErrorContains(t, err, says)
		require.Nil(t, s) // half of what is configured is not to be had
	}
}

func TestModuleDigest(t *testing.T) {
	d := newDesk(t)
	module := d.write("p11.so", []byte("a library"))
	d.change(`"/lib/p11.so"`, `"`+module+`"`)
	err := d.loaded().CheckModule()
	require.Equal(t, wire.InvalidConfig, wire.CodeOf(err))
	require.ErrorContains(t, err, "line 11: module.sha256: "+module+" has ")
	found, _ := err.(*wire.Error).Details["found"].(string)
	data, err := os.ReadFile(d.path("config.toml"))
	require.NoError(t, err)
	d.write("config.toml", []byte(strings.Replace(string(data), strings.Repeat("0", 64), found, 1)))
	require.NoError(t, d.loaded().CheckModule())
	require.NoError(t, os.Chmod(module, 0o666))
	require.ErrorContains(t, d.loaded().CheckModule(), "others can change the file")
	require.NoError(t, os.Remove(module))
	require.ErrorContains(t, d.loaded().CheckModule(), "there is no such file")
}
