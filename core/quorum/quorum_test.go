package quorum_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/better-compute/approver/core/merkle"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/golden"
)

func unhex(t require.TestingT, s string) []byte {
	b, err := hex.DecodeString(s)
	require.NoError(t, err)
	return b
}

// publicKey gives a golden key by name.
func publicKey(t require.TestingT, name string) quorum.PublicKey {
	for _, k := range golden.Keys() {
		if k.Name == name {
			key, err := quorum.ParsePublicKey(golden.Base64(k.SPKI))
			require.NoError(t, err)
			return key
		}
	}
	t.Errorf("no key %s", name)
	t.FailNow()
	return quorum.PublicKey{}
}

func outcome(t *testing.T, want golden.Outcome, err error) bool {
	require.NoError(t, want.Check(err, string(wire.CodeOf(err)), wire.ReasonOf(err)))
	return want.OK()
}

// The purposes an approver key has now, built as statements, give the signing inputs of the vectors.
func TestStatements(t *testing.T) {
	built := 0
	for _, v := range golden.SigningInputs() {
		var s quorum.Statement
		var err error
		switch parts := v.Parts; quorum.Purpose(v.Purpose) {
		case quorum.PurposeBatchApproval:
			if len(parts) != 5 || number(t, parts[3]) > wire.MaxInteger {
				continue // framing alone: no statement has such parts
			}
			s, err = quorum.Unchecked(string(unhex(t, parts[0])), merkle.Hash(unhex(t, parts[1])), number(t, parts[2]), number(t, parts[3]), string(unhex(t, parts[4])))
		case quorum.PurposeApproverKey:
			s = quorum.ProofOfKey(publicKey(t, v.Signer))
		case quorum.PurposeKeyTrial:
			if len(parts) != 2 {
				continue
			}
			s = quorum.KeyTrial(publicKey(t, v.Signer), [32]byte(unhex(t, parts[1])))
		default:
			continue
		}
		built++
		require.NoError(t, err, v.Name)
		require.Equal(t, v.Input, hex.EncodeToString(s.Input()), v.Name)
		sig, err := quorum.ParseSig(v.Sig)
		require.NoError(t, err, v.Name)
		require.True(t, publicKey(t, v.Signer).Verify(s, sig), v.Name)
		require.False(t, publicKey(t, "erin").Verify(s, sig), v.Name)
		digest := s.Digest()
		require.Equal(t, v.SHA256, hex.EncodeToString(digest[:]), v.Name)
	}
	require.Greater(t, built, 2)
	require.Empty(t, quorum.Statement{}.Purpose())
}

func number(t *testing.T, s string) (n uint64) {
	for _, b := range unhex(t, s) {
		n = n<<8 | uint64(b)
	}
	return n
}

// The signature vectors are over one approval; it is rebuilt from its parts.
func TestSignatures(t *testing.T) {
	statements := map[string]quorum.Statement{}
	for _, v := range golden.SigningInputs() {
		if p := v.Parts; v.Purpose == string(quorum.PurposeBatchApproval) && len(p) == 5 && number(t, p[3]) <= wire.MaxInteger {
			s, err := quorum.Unchecked(string(unhex(t, p[0])), merkle.Hash(unhex(t, p[1])), number(t, p[2]), number(t, p[3]), string(unhex(t, p[4])))
			require.NoError(t, err)
			statements[v.Input] = s
		}
	}
	for _, v := range golden.Signatures() {
		t.Run(v.Name, func(t *testing.T) {
			s, ok := statements[v.Input]
			require.True(t, ok, "no statement gives this input")
			raw := unhex(t, v.Sig)
			verified := len(raw) == quorum.SigBytes && publicKey(t, v.Key).Verify(s, quorum.Sig(raw))
			require.Equal(t, v.Want == "ok", verified)
		})
	}
}

func TestKeyProofs(t *testing.T) {
	for _, v := range golden.KeyProofs() {
		t.Run(v.Name, func(t *testing.T) {
			key, err := quorum.ParseKeyProof(v.Bytes())
			if outcome(t, v.Outcome, err) {
				require.Equal(t, v.KID, key.KID().String())
			}
		})
	}
}

func TestSetFiles(t *testing.T) {
	for _, v := range golden.ApproverSetFiles() {
		t.Run(v.Name, func(t *testing.T) {
			set, epoch, err := quorum.ParseSetFile(v.Bytes())
			if !outcome(t, v.Outcome, err) {
				require.Nil(t, set)
				return
			}
			require.Equal(t, v.Epoch, epoch)
			require.Len(t, set.Keys(), v.Keys)
			require.EqualValues(t, v.Threshold, set.Threshold())
			require.Equal(t, v.Removal, set.IsRemoval())
			again, epoch2, err := quorum.ParseSetFile(quorum.EncodeSetFile(set, epoch))
			require.NoError(t, err)
			require.Equal(t, epoch, epoch2)
			require.Equal(t, set.Tiers(), again.Tiers())
			require.Equal(t, kids(set), kids(again))
			require.Equal(t, set.UnbatchedPerHour(), again.UnbatchedPerHour())
		})
	}
}

func kids(s *quorum.Set) (kids []string) {
	for _, k := range s.Keys() {
		kids = append(kids, k.KID().String())
	}
	return kids
}

func TestSignatureFiles(t *testing.T) {
	for _, v := range golden.SignatureFiles() {
		t.Run(v.Name, func(t *testing.T) {
			f, err := quorum.ParseSignatureFile(v.Bytes())
			if !outcome(t, v.Outcome, err) {
				require.Nil(t, f)
				return
			}
			require.Equal(t, v.Unchecked, f.Unchecked)
			require.Equal(t, v.Verifies, f.Verifies(publicKey(t, "alice")))
			s, err := quorum.Unchecked(f.BatchID, f.ScopeRoot, f.ScopeSize, f.NotAfter, f.TrustDomain)
			require.NoError(t, err)
			require.Equal(t, v.Input, hex.EncodeToString(s.Input()))
			again, err := quorum.ParseSignatureFile(f.Encode())
			require.NoError(t, err)
			require.Equal(t, f, again)
		})
	}
}

func TestApprovals(t *testing.T) {
	file := golden.Approvals()
	sets := map[string]*quorum.Set{}
	for _, s := range file.Sets {
		set, _, err := quorum.ParseSetFile([]byte(s.File))
		require.NoError(t, err, s.Name)
		sets[s.Name] = set
	}
	for _, r := range file.Required {
		require.EqualValues(t, r.Required, sets[r.Set].RequiredApprovals(uint64(r.Size)), "%s, %d leaves", r.Set, r.Size)
	}
	for _, v := range file.Vectors {
		t.Run(v.Name, func(t *testing.T) {
			a := &quorum.Approval{BatchID: v.Approval.BatchID, ScopeRoot: unhex(t, v.Approval.ScopeRoot), ScopeSize: v.Approval.ScopeSize, NotAfter: v.Approval.NotAfter}
			for _, s := range v.Approval.Signatures {
				sig, err := base64.RawURLEncoding.DecodeString(s.Sig)
				require.NoError(t, err)
				a.Signatures = append(a.Signatures, quorum.UnverifiedSignature{KID: s.KID, Sig: sig})
			}
			approvers, err := a.Approvers(sets[v.Set], v.TrustDomain, v.Now)
			if err == nil {
				var names []string
				for _, k := range approvers {
					names = append(names, k.String())
				}
				require.Equal(t, append([]string(nil), v.Approvers...), names)
			}
			_, err = a.Verify(sets[v.Set], v.TrustDomain, v.Now)
			if v.Want == "ok" {
				require.NoError(t, err)
				return
			}
			require.Equal(t, wire.AccessDenied, wire.CodeOf(err))
			require.Equal(t, v.Reason, wire.ReasonOf(err))
		})
	}
}

// The independent checks: an approval in protobuf's terms, and the outcome in one word.
func TestIndependentApprovals(t *testing.T) {
	var vectors []struct {
		Name string
		Set  struct {
			Keys                        []struct{ SPKIDer []byte }
			Threshold                   uint32
			Tiers                       []quorum.Tier
			UnbatchedDestructivePerHour uint32
		}
		TrustDomain string
		Now         uint64
		Approval    struct {
			BatchID, ScopeRoot  string
			ScopeSize, NotAfter uint64
			Signatures          []struct{ KID, Sig string }
		}
		Want string
	}
	require.NoError(t, json.Unmarshal(golden.Independent("batch-approval-checks.json"), &vectors))
	require.NotEmpty(t, vectors)
	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) {
			draft := quorum.SetDraft{Threshold: v.Set.Threshold, Tiers: v.Set.Tiers, UnbatchedPerHour: v.Set.UnbatchedDestructivePerHour}
			for _, k := range v.Set.Keys {
				key, err := quorum.ParsePublicKey(k.SPKIDer)
				require.NoError(t, err)
				draft.Keys = append(draft.Keys, key)
			}
			set, err := quorum.NewSet(draft)
			require.NoError(t, err)
			a := &quorum.Approval{BatchID: v.Approval.BatchID, ScopeRoot: unhex(t, v.Approval.ScopeRoot), ScopeSize: v.Approval.ScopeSize, NotAfter: v.Approval.NotAfter}
			for _, s := range v.Approval.Signatures {
				sig, err := base64.RawURLEncoding.DecodeString(s.Sig)
				require.NoError(t, err)
				a.Signatures = append(a.Signatures, quorum.UnverifiedSignature{KID: s.KID, Sig: sig})
			}
			_, err = a.Verify(set, v.TrustDomain, v.Now)
			got := "holds"
			if err != nil {
				got = wire.ReasonOf(err)
			}
			require.Equal(t, v.Want, got)
		})
	}
}

func TestNewSetRefusesTheZeroKeyAndDoubles(t *testing.T) {
	alice := publicKey(t, "alice")
	for name, d := range map[string]quorum.SetDraft{
		"zero key":             {Keys: []quorum.PublicKey{{}}, Threshold: 1},
		"a key twice":          {Keys: []quorum.PublicKey{alice, alice}, Threshold: 1},
		"removal with a cap":   {UnbatchedPerHour: 1},
		"removal with tiers":   {Tiers: []quorum.Tier{{MaxScopeSize: 1, Threshold: 1}}},
		"threshold above keys": {Keys: []quorum.PublicKey{alice}, Threshold: 2},
	} {
		set, err := quorum.NewSet(d)
		require.Nil(t, set, name)
		require.Equal(t, "malformed-set", wire.ReasonOf(err), name)
	}
	removal, err := quorum.NewSet(quorum.SetDraft{})
	require.NoError(t, err)
	require.True(t, removal.IsRemoval())
	require.Zero(t, removal.RequiredApprovals(1))
}

// A removal requires nothing, and yet no approval holds under it: a machine's threshold is never below 1.
func TestNothingHoldsUnderARemoval(t *testing.T) {
	removal, err := quorum.NewSet(quorum.SetDraft{})
	require.NoError(t, err)
	a := &quorum.Approval{BatchID: "b", ScopeRoot: make([]byte, 32), ScopeSize: 1, NotAfter: 1}
	_, err = a.Verify(removal, "d", 0)
	require.Equal(t, "too-few-approvals", wire.ReasonOf(err))
}

func TestScopes(t *testing.T) {
	for _, v := range golden.Trees() {
		t.Run(v.Name, func(t *testing.T) {
			var entries []quorum.Entry
			for _, l := range v.Leaves {
				entries = append(entries, quorum.Entry{Subject: l.Subject, Kind: l.Kind, PayloadSHA256: unhex(t, l.PayloadSHA256)})
			}
			scope, err := quorum.NewScope(v.BatchID, entries)
			require.NoError(t, err)
			require.Equal(t, v.Root, scope.Root().String())
			require.Equal(t, v.Size, scope.Size())
			for i, from := range v.Order {
				require.Equal(t, from, scope.Given(i))
				p, ok := scope.ProofOf(entries[from])
				require.True(t, ok)
				require.EqualValues(t, i, p.Index)
				require.NoError(t, p.Verify(scope.Leaf(i), uint64(v.Size), scope.Root()))
			}
			_, ok := scope.ProofOf(quorum.Entry{Subject: "nobody", Kind: "node.reboot"})
			require.False(t, ok)
		})
	}
}

func TestNewScopeRefuses(t *testing.T) {
	good := quorum.Entry{Subject: "node_a", Kind: "node.reboot"}
	for name, c := range map[string]struct {
		batch   string
		entries []quorum.Entry
		reason  string
	}{
		"no entries":  {"b", nil, ""},
		"batch id":    {"..", []quorum.Entry{good}, ""},
		"subject":     {"b", []quorum.Entry{{Subject: "a b", Kind: "node.reboot"}}, ""},
		"kind":        {"b", []quorum.Entry{{Subject: "a", Kind: "reboot"}}, ""},
		"digest":      {"b", []quorum.Entry{{Subject: "a", Kind: "node.reboot", PayloadSHA256: make([]byte, 31)}}, ""},
		"twice":       {"b", []quorum.Entry{good, good}, "duplicate-leaf"},
		"50,001 many": {"b", make([]quorum.Entry, 50_001), "too-many-leaves"},
	} {
		scope, err := quorum.NewScope(c.batch, c.entries)
		require.Nil(t, scope, name)
		require.Equal(t, wire.InvalidInput, wire.CodeOf(err), name)
		require.Equal(t, c.reason, wire.ReasonOf(err), name)
	}
}

// An approval signs what the scope computed: a field changed anywhere is another statement.
func TestEveryFieldChangesTheStatement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		build := func(batch, subject string, digest []byte, notAfter uint64, domain string) [32]byte {
			scope, err := quorum.NewScope(batch, []quorum.Entry{{Subject: subject, Kind: "node.wipe", PayloadSHA256: digest}})
			require.NoError(t, err)
			s, err := scope.Approval(notAfter, domain)
			require.NoError(t, err)
			return s.Digest()
		}
		id := rapid.StringMatching(`[a-z][a-z0-9]{0,8}`)
		b, s, d := id.Draw(t, "batch"), id.Draw(t, "subject"), id.Draw(t, "domain")
		digest := sha256.Sum256([]byte(s))
		base := build(b, s, digest[:], 7, d)
		require.NotEqual(t, base, build(b+"x", s, digest[:], 7, d))
		require.NotEqual(t, base, build(b, s+"x", digest[:], 7, d))
		require.NotEqual(t, base, build(b, s, nil, 7, d))
		require.NotEqual(t, base, build(b, s, digest[:], 8, d))
		require.NotEqual(t, base, build(b, s, digest[:], 7, d+"x"))
	})
}

func TestApprovalWantsATrustDomain(t *testing.T) {
	scope, err := quorum.NewScope("b", []quorum.Entry{{Subject: "a", Kind: "node.wipe"}})
	require.NoError(t, err)
	for _, domain := range []string{"", "Upper", "a b"} {
		_, err := scope.Approval(1, domain)
		require.Equal(t, wire.InvalidInput, wire.CodeOf(err))
	}
	_, err = scope.Approval(1<<53, "d")
	require.Equal(t, wire.InvalidInput, wire.CodeOf(err))
}

// What a signature file says is read off the statement that was signed, the mark of a bare root included.
func TestNewSignatureFile(t *testing.T) {
	scope, err := quorum.NewScope("b", []quorum.Entry{{Subject: "a", Kind: "node.wipe"}})
	require.NoError(t, err)
	checked, err := scope.Approval(5, "d")
	require.NoError(t, err)
	unchecked, err := quorum.Unchecked("b", scope.Root(), 1, 5, "d")
	require.NoError(t, err)
	require.Equal(t, checked.Digest(), unchecked.Digest(), "the mark is no part of what is signed")
	for _, s := range []quorum.Statement{checked, unchecked} {
		f := quorum.NewSignatureFile(s, quorum.Signature{KID: publicKey(t, "alice").KID()})
		require.Equal(t, scope.Root(), f.ScopeRoot)
		require.EqualValues(t, 1, f.ScopeSize)
		require.EqualValues(t, 5, f.NotAfter)
		require.Equal(t, "b", f.BatchID)
		require.Equal(t, "d", f.TrustDomain)
		require.Equal(t, s.IsUnchecked(), f.Unchecked)
		require.Equal(t, s.IsUnchecked(), bytes.Contains(f.Encode(), []byte(`"unchecked":true`)))
	}
	require.Panics(t, func() {
		quorum.NewSignatureFile(quorum.ProofOfKey(publicKey(t, "alice")), quorum.Signature{})
	})
}
