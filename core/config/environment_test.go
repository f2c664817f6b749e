package config_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/config"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

const (
	keysVariable       = "BETTER_COMPUTE_APPROVER_KEYS"
	thresholdVariable  = "BETTER_COMPUTE_APPROVER_THRESHOLD"
	unbatchedVariable  = "BETTER_COMPUTE_UNBATCHED_PER_HOUR"
	signaturesVariable = "BETTER_COMPUTE_APPROVER_SET_SIGNATURES"
	versionVariable    = "BETTER_COMPUTE_TRUST_VERSION"
)

// newEnvironment gives a desk whose file has no approvers, and the environment has two of three.
func newEnvironment(t *testing.T) *desk {
	d := newDesk(t)
	d.write("config.toml", []byte("trust_domain = \""+domain+"\"\n[pki]\ncommand_signing = \"root.crt\"\n"))
	d.env[keysVariable] = d.path("alice.pub") + ", " + d.path("bob.pub") + "," + d.path("carol.pub")
	d.env[thresholdVariable] = "2"
	return d
}

func TestEnvironmentPublishes(t *testing.T) {
	d := newEnvironment(t)
	d.env[versionVariable] = "9"
	s := d.loaded()
	require.Equal(t, config.Origin{Variable: keysVariable}, s.ApproverSet().Origin)
	require.Equal(t, d.set(0).Digest(), s.ApproverSet().Value.Set.Digest())
	require.EqualValues(t, 1, s.ApproverSet().Value.Epoch)
	require.Equal(t, config.Setting[uint64]{Value: 9, Origin: config.Origin{Variable: versionVariable}}, s.TrustVersion)
	written, ok := s.Written("pki.approvers.threshold")
	require.True(t, ok)
	require.Equal(t, config.Written{Value: int64(2), Origin: config.Origin{Variable: thresholdVariable}}, written)

	d.write("a.sig", d.signature("alice", d.set(0), 4, domain))
	d.write("b.sig", d.signature("bob", d.set(0), 4, domain))
	d.env[signaturesVariable] = d.path("a.sig") + "," + d.path("b.sig")
	s = d.loaded()
	require.EqualValues(t, 4, s.ApproverSet().Value.Epoch, "the epoch that they sign")
	require.Len(t, s.ApproverSet().Value.Signatures, 2)

	d.env[unbatchedVariable] = "3"
	require.ErrorContains(t, second(d.load()), "signs set ", "they sign another cap")
	delete(d.env, signaturesVariable)
	require.EqualValues(t, 3, d.loaded().ApproverSet().Value.Set.UnbatchedPerHour())
}

func TestEnvironmentRules(t *testing.T) {
	for name, c := range map[string]struct{ variable, value, says string }{
		"threshold alone":      {keysVariable, "", thresholdVariable + ": it is set and " + keysVariable + " is not"},
		"no threshold":         {thresholdVariable, "", thresholdVariable + ": it is not set"},
		"threshold 0":          {thresholdVariable, "0", "\"0\"; wanted: 1 to 3 in plain digits"},
		"threshold over":       {thresholdVariable, "4", "\"4\"; wanted: 1 to 3"},
		"threshold octal":      {thresholdVariable, "02", "\"02\"; wanted"},
		"threshold signed":     {thresholdVariable, "+2", "\"+2\"; wanted"},
		"threshold of a word":  {thresholdVariable, "two", "\"two\"; wanted"},
		"unbatched":            {unbatchedVariable, "4294967296", "wanted: 0 to 4294967295"},
		"version 0":            {versionVariable, "0", versionVariable + ": \"0\"; wanted: 1 to"},
		"version too large":    {versionVariable, "9007199254740992", "wanted: 1 to 9007199254740991"},
		"keys: empty name":     {keysVariable, "alice.pub,", keysVariable + ": a file name in the list is empty"},
		"keys: absent":         {keysVariable, "/nonexistent/alice.pub", "there is no such file"},
		"signatures: absent":   {signaturesVariable, "/nonexistent/a.sig", signaturesVariable + ": /nonexistent/a.sig: there is no such file"},
		"signatures: empty":    {signaturesVariable, ",", signaturesVariable + ": a file name in the list is empty"},
		"signatures: no epoch": {signaturesVariable, "SIG", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := newEnvironment(t)
			d.loaded()
			d.env[c.variable] = c.value
			if c.value == "SIG" { // of two epochs
				d.write("a.sig", d.signature("alice", d.set(0), 4, domain))
				d.write("b.sig", d.signature("bob", d.set(0), 5, domain))
				d.env[c.variable], c.says = d.path("a.sig")+","+d.path("b.sig"), "b.sig signs epoch 5; wanted: 4"
			}
			_, err := d.load()
			require.Equal(t, wire.InvalidConfig, wire.CodeOf(err), "%v", err)
			require.ErrorContains(t, err, c.says)
			require.NotEmpty(t, err.(*wire.Error).Details["variable"])
		})
	}
	for name, file := range map[string]string{
		"pki.command_signing is missing": "trust_domain = \"d\"\n",
		"trust_domain is missing":        "[pki]\ncommand_signing = \"root.crt\"\n",
	} {
		d := newEnvironment(t)
		d.write("config.toml", []byte(file))
		_, err := d.load()
		require.Equal(t, wire.InvalidConfig, wire.CodeOf(err))
		require.ErrorContains(t, err, keysVariable+": "+name)
	}
	for _, lonely := range []string{unbatchedVariable, signaturesVariable, thresholdVariable} {
		d := newDesk(t)
		d.env[lonely] = "1"
		require.ErrorContains(t, second(d.load()), lonely+": it is set and "+keysVariable+" is not")
	}
}

// Beside [pki.approvers] the environment says the same, or nothing is read at all.
func TestEnvironmentBesideTheFile(t *testing.T) {
	d := newDesk(t)
	plain := strings.Replace(whole, "tiers = [{ max_scope_size = 5, threshold = 1 }]\n", "", 1)
	d.write("set.json", quorum.EncodeSetFile(d.set(0), 2))
	d.write("alice.sig", d.signature("alice", d.set(0), 2, domain))
	d.write("dave.sig", d.signature("dave", d.set(0), 2, domain))
	d.write("config.toml", []byte(plain))
	d.env[keysVariable] = d.path("carol.pub") + "," + d.path("bob.pub") + "," + d.path("alice.pub") // in any order
	d.env[thresholdVariable] = "2"
	s := d.loaded()
	require.Equal(t, d.path("config.toml"), s.Published.Origin.File, "the file's own place")
	d.env[versionVariable] = "7"
	d.loaded()
	d.env[signaturesVariable] = d.path("dave.sig") + "," + d.path("alice.sig")
	d.loaded()

	refused := func(says string) {
		t.Helper()
		_, err := d.load()
		require.Equal(t, wire.InvalidConfig, wire.CodeOf(err))
		require.ErrorContains(t, err, says)
	}
	d.env[versionVariable] = "8"
	refused("8 is another than that of " + d.path("config.toml") + " line 15, 7")
	delete(d.env, versionVariable)
	d.env[signaturesVariable] = d.path("alice.sig")
	refused(signaturesVariable + ": epoch 2 signed by [")
	d.env[signaturesVariable] = d.write("later.sig", d.signature("alice", d.set(0), 3, domain)) + "," +
		d.write("later-dave.sig", d.signature("dave", d.set(0), 3, domain))
	refused("epoch 3 signed by [")
	delete(d.env, signaturesVariable)
	d.env[thresholdVariable] = "1" // looser
	refused("the environment's set ")
	d.env[thresholdVariable] = "3" // and tighter alike
	refused("the environment's set ")
	d.env[thresholdVariable], d.env[unbatchedVariable] = "2", "1"
	refused("the environment's set ")
	delete(d.env, unbatchedVariable)
	d.loaded()
	d.write("config.toml", []byte(whole)) // with tiers, which the environment cannot say
	d.write("set.json", quorum.EncodeSetFile(d.set(5), 2))
	d.write("alice.sig", d.signature("alice", d.set(5), 2, domain))
	d.write("dave.sig", d.signature("dave", d.set(5), 2, domain))
	refused("the environment's set ")
	delete(d.env, keysVariable)
	delete(d.env, thresholdVariable)
	d.loaded()
}
