package config_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/better-compute/approver/core/config"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// contradicts sees that a flag was refused with both values and the configured one's place.
func contradicts(t *testing.T, err error, code wire.Code, flag, given, configured string, line int) {
	t.Helper()
	require.Equal(t, code, wire.CodeOf(err), "%v", err)
	e := err.(*wire.Error)
	require.Equal(t, []any{flag, given, configured, line}, []any{e.Details["flag"], e.Details["given"], e.Details["configured"], e.Details["line"]})
	require.ErrorContains(t, err, flag+" says "+given+", the configuration says "+configured+" (")
	require.ErrorContains(t, err, "config.toml line "+itoa(line)+"); a flag may only ")
}

func isURI(s string) bool { return strings.HasPrefix(s, "pkcs11:") }

func TestNothingConfigured(t *testing.T) {
	s := new(config.Settings)
	key := newDesk(t)
	domain, err := s.TightenTrustDomain("given.example.com")
	require.NoError(t, err)
	require.Equal(t, "given.example.com", domain)
	hours, err := s.TightenHours("--max-hours", 720)
	require.NoError(t, err)
	require.Equal(t, 720, hours)
	hours, err = s.TightenHours("--max-hours", 0)
	require.NoError(t, err)
	require.Zero(t, hours)
	path, err := s.TightenKey("alice.pem", isURI)
	require.NoError(t, err)
	require.Equal(t, "alice.pem", path)
	public, err := s.TightenPublicKey(config.PublicKey{Path: "a", Key: key.key("alice")})
	require.NoError(t, err)
	require.Equal(t, "a", public.Path)
	path, pinned, err := s.TightenModule("--module", "/m.so")
	require.NoError(t, err)
	require.Equal(t, "/m.so", path)
	require.Nil(t, pinned)
	set, own, err := s.TightenSet(key.set(5), false)
	require.NoError(t, err)
	require.False(t, own)
	require.Equal(t, key.set(5).Digest(), set.Digest())
	require.NoError(t, s.TightenThreshold(9, []quorum.Tier{{MaxScopeSize: 1, Threshold: 1}}))
	path, err = s.TightenKinds("k.toml", nil)
	require.NoError(t, err)
	require.Equal(t, "k.toml", path)
	require.NoError(t, s.CheckModule())
}

func TestTightenTrustDomain(t *testing.T) {
	s := newDesk(t).loaded()
	for _, given := range []string{"", domain} {
		got, err := s.TightenTrustDomain(given)
		require.NoError(t, err)
		require.Equal(t, domain, got)
	}
	_, err := s.TightenTrustDomain("staging.example.com")
	contradicts(t, err, wire.TrustDomainMismatch, "--trust-domain", "staging.example.com", domain, 1)
}

// Whatever a flag says, more hours than configured never come out.
func TestHoursAreOnlyLowered(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		configured, given := rapid.IntRange(1, 720).Draw(r, "configured"), rapid.IntRange(0, 720).Draw(r, "given")
		s, err := config.Parse("config.toml", []byte("max_hours = "+itoa(configured)))
		require.NoError(r, err)
		got, err := s.TightenHours("--max-hours", given)
		switch {
		case given > configured:
			contradicts(t, err, wire.InvalidConfig, "--max-hours", itoa(given), itoa(configured), 1)
			require.Zero(r, got)
		case given == 0:
			require.Equal(r, configured, got)
		default:
			require.NoError(r, err)
			require.Equal(r, given, got)
		}
	})
}

func TestTightenKey(t *testing.T) {
	d := newDesk(t)
	const uri = "pkcs11:token=approver;object=k256"
	for _, given := range []string{"", uri} {
		got, err := d.loaded().TightenKey(given, isURI)
		require.NoError(t, err)
		require.Equal(t, uri, got)
	}
	for _, other := range []string{"pkcs11:token=approver", "alice.pub"} {
		_, err := d.loaded().TightenKey(other, isURI)
		contradicts(t, err, wire.InvalidConfig, "--key", other, uri, 2)
	}
	d.change(`"pkcs11:token=approver;object=k256"`, `"alice.pem"`)
	d.write("alice.pem", nil)
	require.NoError(t, os.Symlink("alice.pem", d.path("link.pem")))
	for _, given := range []string{"", d.path("alice.pem"), d.path("link.pem"), d.path("lists/../alice.pem")} {
		got, err := d.loaded().TightenKey(given, isURI)
		require.NoError(t, err)
		require.Equal(t, d.path("alice.pem"), got)
	}
	_, err := d.loaded().TightenKey(d.path("alice.pub"), isURI)
	contradicts(t, err, wire.InvalidConfig, "--key", d.path("alice.pub"), d.path("alice.pem"), 2)
	_, err = d.loaded().TightenKey(uri, isURI)
	contradicts(t, err, wire.InvalidConfig, "--key", uri, d.path("alice.pem"), 2)
}

func TestTightenPublicKey(t *testing.T) {
	d := newDesk(t)
	own := config.PublicKey{Path: d.path("alice.pub"), Key: d.key("alice")}
	got, err := d.loaded().TightenPublicKey(config.PublicKey{})
	require.NoError(t, err)
	require.Equal(t, own, got)
	copied := config.PublicKey{Path: "elsewhere.pub", Key: d.key("alice")}
	got, err = d.loaded().TightenPublicKey(copied)
	require.NoError(t, err)
	require.Equal(t, copied, got)
	_, err = d.loaded().TightenPublicKey(config.PublicKey{Path: "bob.pub", Key: d.key("bob")})
	contradicts(t, err, wire.InvalidConfig, "--pub", "bob.pub (key "+d.key("bob").KID().String()+")",
		own.Path+" (key "+own.Key.KID().String()+")", 3)
}

func TestTightenModule(t *testing.T) {
	s := newDesk(t).loaded()
	for _, given := range []string{"", "/lib/p11.so", "/lib/../lib/p11.so"} {
		path, pinned, err := s.TightenModule("--module", given)
		require.NoError(t, err)
		require.Equal(t, "/lib/p11.so", path)
		require.NotNil(t, pinned)
	}
	_, _, err := s.TightenModule("the URI's module-path", "/lib/other.so")
	contradicts(t, err, wire.InvalidConfig, "the URI's module-path", "/lib/other.so", "/lib/p11.so", 10)
}

func TestTightenSet(t *testing.T) {
	d := newDesk(t)
	s := d.loaded()
	keys := func(names ...string) *quorum.Set {
		draft := quorum.SetDraft{Threshold: 1}
		for _, name := range names {
			draft.Keys = append(draft.Keys, d.key(name))
		}
		set, err := quorum.NewSet(draft)
		require.NoError(t, err)
		return set
	}
	for _, given := range []*quorum.Set{nil, d.set(5)} {
		set, own, err := s.TightenSet(given, false)
		require.NoError(t, err)
		require.True(t, own)
		require.Equal(t, d.set(5).Digest(), set.Digest())
	}
	set, own, err := s.TightenSet(keys("carol", "alice", "bob"), true) // the configured threshold is the one that counts
	require.NoError(t, err)
	require.True(t, own)
	require.EqualValues(t, 2, set.Threshold())
	for _, names := range [][]string{{"alice", "bob"}, {"alice", "bob", "carol", "dave"}, {"alice", "bob", "dave"}} {
		_, _, err := s.TightenSet(keys(names...), true)
		require.Equal(t, wire.InvalidConfig, wire.CodeOf(err))
		require.ErrorContains(t, err, "--approvers says keys ")
		for _, kids := range []*quorum.Set{keys(names...), set} { // both, to be compared
			for _, key := range kids.Keys() {
				require.ErrorContains(t, err, key.KID().String())
			}
		}
	}
	for _, other := range []*quorum.Set{d.set(0), d.set(6), keys("alice", "bob", "carol")} {
		_, _, err := s.TightenSet(other, false)
		require.Equal(t, wire.InvalidConfig, wire.CodeOf(err))
		require.ErrorContains(t, err, "config.toml line 4); a flag may only repeat it")
	}
	require.NoError(t, s.TightenThreshold(0, nil))
	require.NoError(t, s.TightenThreshold(2, []quorum.Tier{{MaxScopeSize: 5, Threshold: 1}}))
	for _, threshold := range []uint32{1, 3} {
		contradicts(t, s.TightenThreshold(threshold, nil), wire.InvalidConfig, "--threshold", itoa(int(threshold)), "2", 4)
	}
	contradicts(t, s.TightenThreshold(0, []quorum.Tier{{MaxScopeSize: 6, Threshold: 1}}), wire.InvalidConfig, "--tiers", "6:1", "5:1", 4)
}

func TestTightenKinds(t *testing.T) {
	d := newDesk(t)
	s := d.loaded()
	never := func(string, string) (bool, error) { panic("not asked") }
	for _, given := range []string{"", d.path("kinds.toml"), d.path("lists/../kinds.toml")} {
		path, err := s.TightenKinds(given, never)
		require.NoError(t, err)
		require.Equal(t, d.path("kinds.toml"), path)
	}
	_, err := s.TightenKinds("copy.toml", func(given, configured string) (bool, error) {
		require.Equal(t, []string{"copy.toml", d.path("kinds.toml")}, []string{given, configured})
		return true, nil
	})
	require.NoError(t, err)
	_, err = s.TightenKinds("other.toml", func(string, string) (bool, error) { return false, nil })
	contradicts(t, err, wire.InvalidConfig, "--kinds", "other.toml", d.path("kinds.toml"), 6)
	_, err = s.TightenKinds("other.toml", func(string, string) (bool, error) { return false, os.ErrPermission })
	require.ErrorIs(t, err, os.ErrPermission)
}

func TestExpectedLists(t *testing.T) {
	d := newDesk(t)
	s := d.loaded()
	t.Chdir(d.dir)
	none, data, err := s.ReadExpected("", "batch_1")
	require.NoError(t, err)
	require.Empty(t, none+string(data))

	text := d.write("lists/batch_1.txt", []byte("node_a\n"))
	d.write("outside.txt", []byte("node_b\n"))
	require.NoError(t, os.Symlink("../outside.txt", d.path("lists/leads-out.txt")))
	require.NoError(t, os.Symlink("lists/batch_1.txt", d.path("leads-in.txt")))
	for given, want := range map[string]string{"": text, "batch_1.txt": text, text: text, "lists/batch_1.txt": "lists/batch_1.txt", "leads-in.txt": "",
		"./leads-in.txt": "./leads-in.txt", "lists/../leads-in.txt": "lists/../leads-in.txt"} {
		path, data, err := s.ReadExpected(given, "batch_1")
		if want == "" { // a bare name is one of the folder
			require.Equal(t, wire.NotFound, wire.CodeOf(err), given)
			continue
		}
		require.NoError(t, err, given)
		require.Equal(t, want, path)
		require.Equal(t, strings.HasSuffix(path, ".txt"), string(data) == "node_a\n", given)
	}
	for _, given := range []string{"./outside.txt", d.path("outside.txt"), "leads-out.txt", "lists/../outside.txt", "/etc/passwd", "lists/leads-out.txt", "..", "."} {
		_, data, err := s.ReadExpected(given, "batch_1")
		require.Error(t, err, given)
		require.Empty(t, data)
		if given != "." {
			contradicts(t, err, wire.InvalidConfig, "--expect", given, d.path("lists"), 7)
		}
	}
}

// Of the lists in the folder, the one that is named after the batch is its own.
func TestExpectedListOfTheBatch(t *testing.T) {
	d := newDesk(t)
	s := d.loaded()
	t.Chdir(d.dir)
	text := d.write("lists/batch_1.txt", []byte("node_a\n"))
	d.write("outside.txt", []byte("node_b\n"))
	d.write("lists/other.json", nil)
	require.NoError(t, os.Symlink("../outside.txt", d.path("lists/leads-out.txt")))
	require.NoError(t, os.Symlink("leads-out.txt", d.path("lists/batch_2.txt")))
	require.NoError(t, os.Symlink("nowhere", d.path("lists/batch_3.txt")))
	_, _, err := s.ReadExpected("other.json", "batch_1") // of other machines: what the batch's own list refuses, it might let pass
	contradicts(t, err, wire.InvalidConfig, "--expect", "other.json", text, 7)
	require.NoError(t, os.MkdirAll(d.path("lists/old/deep"), 0o755))
	d.write("lists/old/batch_1.txt", []byte("node_b\n"))
	require.NoError(t, os.Symlink("old/deep", d.path("lists/link")))
	_, _, err = s.ReadExpected(d.path("lists")+"/link/../batch_1.txt", "batch_1") // the old one, whatever the text says
	contradicts(t, err, wire.InvalidConfig, "--expect", d.path("lists")+"/link/../batch_1.txt", text, 7)
	path, _, err := s.ReadExpected("other.json", "batch_4") // which has none of its own
	require.NoError(t, err)
	require.Equal(t, d.path("lists/other.json"), path)
	_, _, err = s.ReadExpected("", "batch_2")
	require.Equal(t, wire.InvalidConfig, wire.CodeOf(err))
	require.ErrorContains(t, err, "config.toml line 7: expected_lists: "+d.path("lists/batch_2.txt")+" leads out of the folder")
	require.NotContains(t, err.Error(), "--expect")
	_, _, err = s.ReadExpected("", "batch_3")
	require.Equal(t, wire.NotFound, wire.CodeOf(err))
	_, _, err = s.ReadExpected("", "../batch_1")
	require.Equal(t, wire.InvalidInput, wire.CodeOf(err))

	d.write("lists/batch_1.json", nil)
	_, _, err = s.ReadExpected("", "batch_1")
	require.Equal(t, wire.InvalidConfig, wire.CodeOf(err))
	require.ErrorContains(t, err, "batch_1.json are both there; wanted: one list")
	require.NoError(t, os.Chmod(text, 0o666))
	_, _, err = s.ReadExpected("batch_1.txt", "batch_1")
	require.ErrorContains(t, err, "others can change the file "+text)
}

func TestExpectedListWithoutFolder(t *testing.T) {
	d := newDesk(t)
	d.write("outside.txt", []byte("node_b\n"))
	t.Chdir(d.dir)
	free := new(config.Settings)
	path, data, err := free.ReadExpected("outside.txt", "batch_1")
	require.NoError(t, err)
	require.Equal(t, []string{"outside.txt", "node_b\n"}, []string{path, string(data)})
	path, _, err = free.ReadExpected("", "batch_1")
	require.NoError(t, err)
	require.Empty(t, path)
}

// A change is held against the configured set and no other, and at its epoch.
func TestTightenCurrent(t *testing.T) {
	d := newDesk(t)
	s := d.loaded()
	own := s.ApproverSet().Value
	require.NoError(t, s.TightenCurrent(own.Set, own.Epoch))
	other, err := quorum.NewSet(quorum.SetDraft{Keys: own.Set.Keys(), Threshold: 1})
	require.NoError(t, err)
	require.Equal(t, wire.InvalidConfig, wire.CodeOf(s.TightenCurrent(other, own.Epoch)))
	require.ErrorContains(t, s.TightenCurrent(own.Set, own.Epoch+1), "--current says set ")
	require.NoError(t, new(config.Settings).TightenCurrent(other, 7))
}

// --state counts, wherever it leads; that it leads elsewhere is told. The folder need not be there.
func TestStateFolder(t *testing.T) {
	d := newDesk(t)
	s := d.loaded()
	require.NoError(t, os.Mkdir(d.path("ledger"), 0o700))
	require.NoError(t, os.Symlink("ledger", d.path("same")))
	for given, want := range map[string][2]string{
		"": {d.path("ledger"), ""}, d.path("ledger"): {d.path("ledger"), ""}, d.path("same"): {d.path("ledger"), ""},
		"/elsewhere": {"/elsewhere", d.path("ledger")},
	} {
		folder, elsewhere := s.StateFolder(given)
		require.Equal(t, want, [2]string{folder, elsewhere}, given)
	}
	folder, elsewhere := new(config.Settings).StateFolder("/mine")
	require.Equal(t, [2]string{"/mine", ""}, [2]string{folder, elsewhere})
	folder, elsewhere = new(config.Settings).StateFolder("")
	require.Equal(t, [2]string{}, [2]string{folder, elsewhere})
}

// What a flag may do is told for each flag, and each flag that may do something has its function here.
func TestRulesOfFlags(t *testing.T) {
	var flags []string
	for _, key := range config.Keys() {
		require.Equal(t, key.Flag == "", key.Rule == config.NoFlag, key.Name)
		if key.Flag != "" && !slices.Contains(flags, key.Flag) {
			flags = append(flags, key.Flag)
		}
	}
	require.ElementsMatch(t, []string{"--trust-domain", "--key", "--pub", "--approvers", "--max-hours", "--kinds", "--expect", "--state", "--module", "--threshold", "--tiers"}, flags)
	require.Equal(t, "lists", filepath.Base(newDesk(t).loaded().ExpectedLists.Value))
}
