package scope

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/better-compute/approver/core/bettercomputev1"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/golden"
)

const testNow = 4102358400000 // 2099-12-31 00:00:00 UTC; the window of test batches ends a day later

// A made is one leaf of a test batch.
type made struct {
	subject, kind string
	message       proto.Message // nil for no payload
	value         []byte        // instead of message, the payload as it is encoded
	digest        string        // without a payload
	typeURL       string        // of a kind that no table knows
}

func (m made) json() string {
	if m.message != nil {
		m.value, _ = proto.MarshalOptions{Deterministic: true}.Marshal(m.message)
		m.typeURL = "type.googleapis.com/" + string(m.message.ProtoReflect().Descriptor().FullName())
	}
	if m.value == nil {
		return fmt.Sprintf(`{"subject":"%s","kind":"%s","payloadSha256":"%s"}`, m.subject, m.kind, m.digest)
	}
	return fmt.Sprintf(`{"subject":"%s","kind":"%s","payload":{"typeUrl":"%s","value":"%s"}}`,
		m.subject, m.kind, m.typeURL, base64.StdEncoding.EncodeToString(m.value))
}

// decoded makes a bare array of the leaves and takes it down the road. header, where not empty, holds members of a scope
// file, whose root is computed first.
func decoded(t require.TestingT, header string, leaves ...made) *Decoded {
	lines := make([]string, len(leaves))
	for i, l := range leaves {
		lines[i] = l.json()
	}
	array := "[" + strings.Join(lines, ",") + "]"
	v := mustVerify(t, array)
	if header == "" {
		return v.Decode()
	}
	return mustVerify(t, fmt.Sprintf(`{"format":"%s","version":1,"batchId":"batch_t","scopeRoot":"%s","scopeSize":%d,"notAfter":4102444800000,%s,"leaves":%s}`,
		Format, v.Scope().Root(), len(leaves), header, array)).Decode()
}

func mustVerify(t require.TestingT, text string) *Verified {
	p, err := Parse(strings.NewReader(text), 2)
	require.NoError(t, err, text)
	v, err := p.Verify(VerifyOptions{Kinds: builtin, BatchID: "batch_t", Workers: 1})
	require.NoError(t, err, text)
	return v
}

func testPolicy() Policy {
	p := policy(testNow)
	p.NotAfter, p.TrustDomain = 4102444800000, "compute.example.com"
	return p
}

func document(t require.TestingT, d *Decoded, p Policy) *review.Document {
	r, err := d.Review(p)
	require.NoError(t, err)
	return r.Document()
}

func drawn(t require.TestingT, doc *review.Document) string {
	var b bytes.Buffer
	require.NoError(t, review.WriteText(&b, doc, review.Whole))
	return b.String()
}

func finding(doc *review.Document, rule review.Rule) *review.Finding {
	for i := range doc.Findings {
		if doc.Findings[i].Rule == rule {
			return &doc.Findings[i]
		}
	}
	return nil
}

func reimage(subject string, image string, change ...func(*bettercomputev1.ReimageRequest)) made {
	m := &bettercomputev1.ReimageRequest{Image: image, WipeDisks: true}
	for _, c := range change {
		c(m)
	}
	return made{subject: subject, kind: "node.reimage", message: m}
}

func power(agent, address string, action bettercomputev1.BmcOperationRequest_PowerAction) made {
	var value []byte // in number order, as Go does not write a oneof
	value = protowire.AppendString(protowire.AppendTag(value, 1, protowire.BytesType), address)
	value = protowire.AppendVarint(protowire.AppendTag(value, 2, protowire.VarintType), uint64(action))
	return made{subject: "bmc:" + agent + "/" + address, kind: "bmc.power", value: value, typeURL: "type.googleapis.com/bettercompute.v1.BmcOperationRequest"}
}

func TestFindings(t *testing.T) {
	plain := reimage("node_a", "ubuntu")
	proxy := func(headers ...string) []byte {
		b := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "node_t")
		b = protowire.AppendString(protowire.AppendTag(b, 2, protowire.BytesType), "POST")
		for _, h := range headers {
			entry := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), h)
			entry = protowire.AppendString(protowire.AppendTag(entry, 2, protowire.BytesType), "v")
			b = protowire.AppendBytes(protowire.AppendTag(b, 4, protowire.BytesType), entry)
		}
		return b
	}
	relay := func(value []byte) made {
		return made{subject: "node:node_t", kind: "site.httpProxy", value: value, typeURL: "type.googleapis.com/bettercompute.v1.HttpProxyRequest"}
	}
	for _, c := range []struct {
		name   string
		rule   review.Rule
		header string
		leaves []made
		policy func(*Policy)
		says   string
	}{
		{"the file's trust domain", review.TrustDomainUnpinned, `"trustDomain":"compute.example.com"`, []made{plain}, func(p *Policy) { p.TrustDomain = "" }, "compute.example.com"},
		{"no list", review.NoExpect, "", []made{plain}, nil, "no expected list"},
		{"an unpinned key", review.KeyUnpinned, "", []made{plain}, func(p *Policy) { p.KeyUnpinned = true }, "token"},
		{"a time by hand", review.ClockByHand, "", []made{plain}, func(p *Policy) { p.Time.ByHand = true }, "--now"},
		{"an agent", review.AgentProposed, `"createdByAgent":"mcp-1","createdBy":"eve","delegationId":"d7"`, []made{plain}, nil,
			"Proposed by agent mcp-1 for eve (delegation d7): the reason is the agent's own text"},
		{"two kinds", review.MixedKinds, "", []made{plain, {subject: "node_a", kind: "node.wipe", message: &bettercomputev1.WipeRequest{AllDevices: true}}}, nil, "2 kinds"},
		{"a long window for a reimage", review.Repeatable, "", []made{plain}, func(p *Policy) { p.NotAfter += 3_600_000 }, "1 machine may"},
		{"two spellings of an address", review.AddressTwice, "", []made{power("s", "bmc.mgmt", 3), power("s", "BMC.mgmt", 3)}, nil, "letter case"},
		{"user data", review.RunsAsRoot, "", []made{reimage("node_a", "u", func(m *bettercomputev1.ReimageRequest) { m.UserData = "x" })}, nil, "full rights"},
		{"map order", review.MapOrder, "", []made{relay(proxy("a", "b")), relay(proxy("b", "a"))}, nil, "order of map entries"},
		{"an escape in the reason", review.EscapedText, `"reason":"\u001b[2K"`, []made{plain}, nil, "1 character shown"},
		{"an escape in a payload", review.EscapedText, "", []made{reimage("node_a", "ubuntu\u202e")}, nil, "1 character shown"},
		{"an escape in a type", review.EscapedText, "", []made{{subject: "node_a", kind: "acme.x", value: []byte{1}, typeURL: "t\u202e"}}, func(p *Policy) { p.AllowOpaque = true }, "1 character shown"},
		{"a claimed approval", review.ApprovalsClaimed, `"approvals":["` + golden.Keys()[0].KID + `"]`, []made{plain}, nil, "1 approval, not"},
		{"an unbound leaf", review.Unbound, "", []made{{subject: "node_a", kind: "node.wipe"}}, nil, "1 leaf admits any payload"},
		{"a digest alone", review.Opaque, "", []made{{subject: "node_a", kind: "node.wipe", digest: strings.Repeat("ab", 32)}}, nil, "1 leaf binds"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := testPolicy()
			if c.policy != nil {
				c.policy(&p)
			}
			f := finding(document(t, decoded(t, c.header, c.leaves...), p), c.rule)
			require.NotNil(t, f)
			require.Contains(t, f.Message.String(), c.says)
		})
	}
	clean := testPolicy()
	clean.Expected, _ = ParseExpected([]byte("node_a\n"))
	require.Empty(t, document(t, decoded(t, "", plain), clean).Findings, "what is known and usual is no finding")
}

// A key of a map that needs escapes is told by its place: its escapes are not escaped once more.
func TestEscapedKeysHaveAPlace(t *testing.T) {
	headers := map[string]string{"a\u202eb": "", "plain": "c\u202ed"}
	proxy := made{subject: "node:t", kind: "site.httpProxy", message: &bettercomputev1.HttpProxyRequest{TargetNodeId: "t", Headers: headers}}
	for _, f := range document(t, decoded(t, "", proxy), testPolicy()).Findings {
		if f.Rule == review.EscapedText {
			require.Equal(t, []string{"operation 1, site.httpProxy.headers, entry 1: 1", "operation 1, site.httpProxy.headers.plain: 1"},
				[]string{f.Places[0].String(), f.Places[1].String()})
			return
		}
	}
	t.Fatal("no finding")
}

func TestWindow(t *testing.T) {
	d := decoded(t, "", reimage("node_a", "ubuntu"))
	end := time.UnixMilli(4102444800000)
	for _, c := range []struct {
		name string
		now  time.Time
		max  int
		want string
	}{
		{"at the last millisecond", end, 0, ""},
		{"a millisecond later", end.Add(time.Millisecond), 0, "window-closed"},
		{"exactly 72 h before", end.Add(-72 * time.Hour), 0, ""},
		{"a millisecond more", end.Add(-72*time.Hour - time.Millisecond), 0, "window-long"},
		{"with more hours allowed", end.Add(-720 * time.Hour), 720, ""},
		{"before any window", end.Add(-720*time.Hour - time.Millisecond), 720, "clock"},
		{"before this release", review.ReleaseDate.Add(-time.Second), 0, "clock"},
		{"in 1970", time.UnixMilli(0), 0, "clock"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := testPolicy()
			p.Time.Now, p.MaxHours = c.now, c.max
			err := stopOf(d.Review(p))
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.Equal(t, wire.InvalidState, wire.CodeOf(err))
			require.Equal(t, c.want, wire.ReasonOf(err))
			if c.want == "clock" {
				require.Contains(t, err.Error(), "clock")
			}
		})
	}
}

// approvedScope is a scope file that alice has signed.
func approvedScope(t *testing.T, sign func(*quorum.Scope) (quorum.KID, quorum.Sig)) (*Verified, *quorum.Set) {
	leaf := reimage("node_a", "ubuntu")
	bare := decoded(t, "", leaf).Verified()
	kid, sig := sign(bare.Scope())
	d := decoded(t, fmt.Sprintf(`"trustDomain":"compute.example.com","approvals":["%s"],"signatures":[{"kid":"%s","sig":"%s"}]`, kid, kid, sig), leaf)
	var draft quorum.SetDraft
	for _, k := range golden.Keys()[:3] {
		key, err := quorum.ParsePublicKey(golden.Base64(k.SPKI))
		require.NoError(t, err)
		draft.Keys = append(draft.Keys, key)
	}
	draft.Threshold = 2
	set, err := quorum.NewSet(draft)
	require.NoError(t, err)
	return d.Verified(), set
}

func TestApprovalsSoFar(t *testing.T) {
	approvals := func(v *Verified, set *quorum.Set) string {
		p := testPolicy()
		p.Approvers = set
		for _, f := range document(t, v.Decode(), p).Facts {
			if f.Key == "approvals" && len(f.Value) > 0 {
				return f.Value[0].String()
			}
		}
		return ""
	}
	good, set := approvedScope(t, func(s *quorum.Scope) (quorum.KID, quorum.Sig) { return signAs(t, 0, s) })
	require.Equal(t, golden.Keys()[0].KID+" verified", approvals(good, set))
	require.Equal(t, golden.Keys()[0].KID+" claimed", approvals(good, nil))
	forged, set := approvedScope(t, func(s *quorum.Scope) (quorum.KID, quorum.Sig) {
		_, sig := signAs(t, 1, s)
		kid, err := quorum.ParseKID(golden.Keys()[0].KID)
		require.NoError(t, err)
		return kid, sig
	})
	require.Equal(t, golden.Keys()[0].KID+" claimed", approvals(forged, set))

	p := testPolicy()
	p.Key = good.Header().Approvals[0]
	_, err := good.Decode().Review(p)
	require.Equal(t, "already-approved", wire.ReasonOf(err))
	require.Equal(t, wire.InvalidState, wire.CodeOf(err))
	require.NoError(t, good.CheckNotApproved(quorum.KID{}))
}

// Every text of a payload is counted, and the count is what the drawing shows.
func TestEscapesAreCounted(t *testing.T) {
	hostile := "a\x1b[1m\u202e\u2066\u200b\u00ad\u2028\rb"
	d := decoded(t, `"reason":"\u202e\u2066","createdBy":"\u200b"`,
		reimage("node_a", hostile, func(m *bettercomputev1.ReimageRequest) {
			m.PreserveMounts = []string{"\u202e", "ok"}
			m.UserData = "x\ny\t"
		}),
		reimage("node_b", "plain"))
	doc := document(t, d, testPolicy())
	require.Equal(t, 2+1+7+1+1, doc.Escapes)
	text := drawn(t, doc)
	for _, r := range text {
		require.False(t, r == 0x1b || r == 0x202e || r == 0x2066 || r == 0x200b || r == 0xad || r == 0x2028 || r == '\r' || r == '\t', "%q", text)
	}
	require.Equal(t, doc.Escapes+strings.Count("Read the escapes like <U+202E>", "<U+"), strings.Count(text, "<U+"))
}

// An empty payload shows every default, and any change of any leaf changes what is drawn.
func TestEverythingShows(t *testing.T) {
	empty := document(t, decoded(t, "", made{subject: "node_a", kind: "node.reimage", value: []byte{}, typeURL: "type.googleapis.com/bettercompute.v1.ReimageRequest"}), testPolicy())
	text := drawn(t, empty)
	for _, name := range []string{"image", "image_sha256", "wipe_disks", "preserve_mounts", "user_data"} {
		require.Regexp(t, `(?m)^ +`+name+` .*\(default\)`, text)
	}
	base := []made{reimage("node_a", "ubuntu"), power("s", "10.0.0.1", 3)}
	shown := drawn(t, document(t, decoded(t, "", base...), testPolicy()))
	for i, other := range [][]made{
		{reimage("node_b", "ubuntu"), base[1]}, {reimage("node_a", "ubuntu2"), base[1]}, {base[0], power("s", "10.0.0.2", 3)},
		{base[0], power("t", "10.0.0.1", 3)}, {base[0], power("s", "10.0.0.1", 2)}, {base[0]}, {base[0], base[1], power("s", "10.0.0.3", 3)},
	} {
		require.NotEqual(t, shown, drawn(t, document(t, decoded(t, "", other...), testPolicy())), i)
	}
}

// More than 50 distinct operations of a kind have a summary, with the range and the ends of each field.
func TestSummaries(t *testing.T) {
	var leaves []made
	for i := range 80 {
		leaves = append(leaves, made{subject: fmt.Sprintf("node_%02d", i), kind: "node.reboot",
			message: &bettercomputev1.RebootRequest{Force: true, GraceSeconds: uint32(i), Reason: fmt.Sprintf("r%d", i%2)}})
	}
	doc := document(t, decoded(t, "", leaves...), testPolicy())
	require.Len(t, doc.Summaries, 1)
	columns := doc.Summaries[0].Columns
	require.Equal(t, []string{"force", "grace_seconds", "reason"}, []string{columns[0].Name.String(), columns[1].Name.String(), columns[2].Name.String()})
	require.Equal(t, 1, columns[0].Distinct)
	require.Equal(t, "0 to 79", columns[1].Range)
	require.Equal(t, 80, columns[1].Distinct)
	require.Len(t, columns[1].Common, 3)
	require.Len(t, columns[1].Rare, 3)
	require.Equal(t, 40, columns[2].Common[0].N)
	require.Empty(t, document(t, decoded(t, "", leaves[:50]...), testPolicy()).Summaries)
}

// A digest may be ground to share its first bytes with another: the two operations stay two.
func TestGroupingSurvivesAlikeKeys(t *testing.T) {
	a, b := strings.Repeat("ab", 32), strings.Repeat("ab", 31)+"cd"
	d := decoded(t, "", made{subject: "node_a", kind: "node.wipe", digest: a}, made{subject: "node_b", kind: "node.wipe", digest: b}, made{subject: "node_c", kind: "node.wipe", digest: a})
	p := testPolicy()
	p.AllowOpaque = true
	require.Len(t, document(t, d, p).Operations, 2)
}

func signAs(t *testing.T, i int, s *quorum.Scope) (quorum.KID, quorum.Sig) {
	key := privateKeys(t)[i]
	statement, err := s.Approval(4102444800000, "compute.example.com")
	require.NoError(t, err)
	digest := statement.Digest()
	require.Equal(t, sha256.Size, len(digest))
	return key.sign(t, digest[:])
}
