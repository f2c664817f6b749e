package quorum_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/golden"
)

// An independentSet is a set of the independent vectors with signatures over it.
type independentSet struct {
	Name        string
	Epoch       uint64
	TrustDomain string
	Set         struct {
		Keys                        []struct{ SPKIDer []byte }
		Threshold                   uint32
		Tiers                       []quorum.Tier
		UnbatchedDestructivePerHour uint32
	}
	ApproverSetInput, SetSHA256, SigningInput string
	Signatures                                []struct{ KID, Sig string }
}

func independentSets(t testing.TB) (sets []independentSet) {
	require.NoError(t, json.Unmarshal(golden.Independent("approver-set.json"), &sets))
	require.Greater(t, len(sets), 1)
	return sets
}

func (s independentSet) build(t testing.TB) *quorum.Set {
	draft := quorum.SetDraft{Threshold: s.Set.Threshold, Tiers: s.Set.Tiers, UnbatchedPerHour: s.Set.UnbatchedDestructivePerHour}
	for _, k := range s.Set.Keys {
		key, err := quorum.ParsePublicKey(k.SPKIDer)
		require.NoError(t, err)
		draft.Keys = append(draft.Keys, key)
	}
	set, err := quorum.NewSet(draft)
	require.NoError(t, err)
	return set
}

// independentKeys gives the independent test keys by kid.
func independentKeys(t testing.TB) map[string]quorum.PublicKey {
	var listed []struct {
		SPKIDer []byte
	}
	require.NoError(t, json.Unmarshal(golden.Independent("approver-keys.json"), &listed))
	keys := map[string]quorum.PublicKey{}
	for _, k := range listed {
		key, err := quorum.ParsePublicKey(k.SPKIDer)
		require.NoError(t, err)
		keys[key.KID().String()] = key
	}
	return keys
}

// The digests, and signatures over sets, of another implementation.
func TestIndependentSets(t *testing.T) {
	keys, verified := independentKeys(t), 0
	for _, v := range independentSets(t) {
		set := v.build(t)
		digest := set.Digest()
		require.Equal(t, v.ApproverSetInput, hex.EncodeToString(set.Input()), v.Name)
		require.Equal(t, v.SetSHA256, hex.EncodeToString(digest[:]), v.Name)
		for _, s := range v.Signatures {
			kid, err := quorum.ParseKID(s.KID)
			require.NoError(t, err)
			sig, err := quorum.ParseSig(s.Sig)
			require.NoError(t, err)
			f := &quorum.SetSignatureFile{Epoch: v.Epoch, TrustDomain: v.TrustDomain, Set: set, Signature: quorum.Signature{KID: kid, Sig: sig}}
			require.True(t, f.Verifies(keys[s.KID]), v.Name)
			requireNothingElseVerifies(t, f, keys)
			back, err := quorum.ParseSetSignatureFile(f.Encode())
			require.NoError(t, err, "%s", f.Encode())
			require.True(t, back.Verifies(keys[s.KID]))
			require.Equal(t, f.Encode(), back.Encode())
			verified++
		}
	}
	require.Greater(t, verified, 2)
}

// requireNothingElseVerifies changes each thing that was signed, and the key.
func requireNothingElseVerifies(t *testing.T, f *quorum.SetSignatureFile, keys map[string]quorum.PublicKey) {
	own := keys[f.Signature.KID.String()]
	for kid, other := range keys {
		require.Equal(t, other.Equal(own), f.Verifies(other), kid)
	}
	later, elsewhere, renamed, another := *f, *f, *f, *f
	later.Epoch++
	elsewhere.TrustDomain += "x"
	for kid, other := range keys {
		if !other.Equal(own) {
			renamed.Signature.KID, _ = quorum.ParseKID(kid)
			require.False(t, renamed.Verifies(other), "under another key's kid")
		}
	}
	capped, err := quorum.NewSet(quorum.SetDraft{Keys: []quorum.PublicKey{own}, Threshold: 1, UnbatchedPerHour: 7})
	require.NoError(t, err)
	another.Set = capped
	for name, changed := range map[string]*quorum.SetSignatureFile{"epoch": &later, "trust domain": &elsewhere, "set": &another, "kid": &renamed} {
		require.False(t, changed.Verifies(own), name)
	}
}

// A digest is of the set and not of how it was listed, and each part of the set changes it.
func TestDigestIsOfTheSet(t *testing.T) {
	alice, bob, carol := publicKey(t, "alice"), publicKey(t, "bob"), publicKey(t, "carol")
	base := quorum.SetDraft{Keys: []quorum.PublicKey{alice, bob}, Threshold: 2, Tiers: []quorum.Tier{{MaxScopeSize: 5, Threshold: 1}, {MaxScopeSize: 9, Threshold: 2}}, UnbatchedPerHour: 1}
	seen := map[[32]byte]string{}
	for name, change := range map[string]func(*quorum.SetDraft){
		"the set itself":    func(d *quorum.SetDraft) {},
		"another key":       func(d *quorum.SetDraft) { d.Keys = []quorum.PublicKey{alice, carol} },
		"a key more":        func(d *quorum.SetDraft) { d.Keys = []quorum.PublicKey{alice, bob, carol} },
		"threshold":         func(d *quorum.SetDraft) { d.Threshold, d.Tiers = 1, []quorum.Tier{{5, 1}, {9, 1}} },
		"a tier less":       func(d *quorum.SetDraft) { d.Tiers = d.Tiers[:1] },
		"size of a tier":    func(d *quorum.SetDraft) { d.Tiers = []quorum.Tier{{5, 1}, {10, 2}} },
		"approvals of it":   func(d *quorum.SetDraft) { d.Tiers = []quorum.Tier{{5, 1}, {9, 1}} },
		"the unbatched cap": func(d *quorum.SetDraft) { d.UnbatchedPerHour = 2 },
	} {
		d := base
		change(&d)
		set, err := quorum.NewSet(d)
		require.NoError(t, err, name)
		require.Empty(t, seen[set.Digest()], name)
		seen[set.Digest()] = name
	}
	base.Keys = []quorum.PublicKey{bob, alice}
	turned, err := quorum.NewSet(base)
	require.NoError(t, err)
	require.Equal(t, "the set itself", seen[turned.Digest()])
	removal, err := quorum.NewSet(quorum.SetDraft{})
	require.NoError(t, err)
	require.Equal(t, make([]byte, 16), removal.Input())
}

func TestSetSignatureFileRefuses(t *testing.T) {
	v := independentSets(t)[0]
	kid, err := quorum.ParseKID(v.Signatures[0].KID)
	require.NoError(t, err)
	good := string((&quorum.SetSignatureFile{Epoch: 2, TrustDomain: "d", Set: v.build(t), Signature: quorum.Signature{KID: kid}}).Encode())
	for name, edit := range map[string][3]string{
		"epoch 0":             {`"epoch":2`, `"epoch":0`, "malformed-set"},
		"epoch over 2^53-1":   {`"epoch":2`, `"epoch":9007199254740992`},
		"no epoch":            {`"epoch":2,`, ``},
		"trust domain":        {`"trustDomain":"d"`, `"trustDomain":"D"`},
		"no trust domain":     {`"trustDomain":"d",`, ``},
		"another digest":      {`"setSha256":"` + v.SetSHA256[:2], `"setSha256":"` + fmt.Sprintf("%02x", v.SetSHA256[0]&0x0f)},
		"no digest":           {`"setSha256":"` + v.SetSHA256 + `",`, ``},
		"threshold":           {`],"threshold":2`, `],"threshold":4`, "malformed-set"},
		"another cap":         {`PerHour":0`, `PerHour":1`},
		"no set":              {`"set":{`, `"sets":{`},
		"kid":                 {`"signature":{"kid":"`, `"signature":{"kid":"A`},
		"no kid":              {`"signature":{"kid":"` + kid.String() + `",`, `"signature":{`},
		"sig":                 {`"sig":"A`, `"sig":"AA`},
		"no sig":              {`,"sig":"` + strings.Repeat("A", 86) + `"`, ``},
		"no signature":        {`"signature":`, `"signed":`},
		"a format":            {`{"epoch"`, `{"format":"better-compute-approver-set","epoch"`},
		"an escape":           {`"trustDomain":"d"`, `"trustDomain":"\u0064"`},
		"something after it":  {"}}\n", "}}\n{}"},
		"an unknown member":   {`{"epoch"`, `{"note":1,"epoch"`},
		"a member twice":      {`"epoch":2`, `"epoch":2,"epoch":2`},
		"a tier without size": {`"maxScopeSize":5,`, ``},
	} {
		require.Equal(t, 1, strings.Count(good, edit[0]), name)
		f, err := quorum.ParseSetSignatureFile([]byte(strings.Replace(good, edit[0], edit[1], 1)))
		require.Nil(t, f, name)
		require.Equal(t, wire.InvalidInput, wire.CodeOf(err), name)
		require.Equal(t, edit[2], wire.ReasonOf(err), name)
	}
	_, err = quorum.ParseSetSignatureFile([]byte(good))
	require.NoError(t, err)
}
