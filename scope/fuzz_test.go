package scope

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/golden"
)

// oracleFile is a scope file as a library reads it.
type oracleFile struct {
	Format         *string         `json:"format"`
	Version        *uint64         `json:"version"`
	BatchID        *string         `json:"batchId"`
	ScopeRoot      *string         `json:"scopeRoot"`
	ScopeSize      *uint64         `json:"scopeSize"`
	NotAfter       *uint64         `json:"notAfter"`
	TrustDomain    *string         `json:"trustDomain"`
	Reason         *string         `json:"reason"`
	CreatedBy      *string         `json:"createdBy"`
	CreatedByAgent *string         `json:"createdByAgent"`
	DelegationID   *string         `json:"delegationId"`
	Required       *uint64         `json:"required"`
	Approvals      []string        `json:"approvals"`
	Signatures     []oracleSigning `json:"signatures"`
	Leaves         []oracleLeaf    `json:"leaves"`
}

type oracleSigning struct {
	KID *string `json:"kid"`
	Sig *string `json:"sig"`
}

type oracleLeaf struct {
	Subject   *string `json:"subject"`
	Kind      *string `json:"kind"`
	Digest    *string `json:"payloadSha256"`
	LeafIndex *uint64 `json:"leafIndex"`
	Payload   *struct {
		TypeURL *string `json:"typeUrl"`
		Value   *string `json:"value"`
	} `json:"payload"`
}

// compareWithOracle says how the oracle disagrees with an accepted file, or "".
func compareWithOracle(data []byte, p *Parsed) string {
	var o oracleFile
	options := json.JoinOptions(json.RejectUnknownMembers(true), jsontext.AllowInvalidUTF8(true)) // lone surrogates are taken in free text
	var err error
	if p.header.Bare {
		err = json.Unmarshal(data, &o.Leaves, options)
	} else {
		err = json.Unmarshal(data, &o, options)
	}
	if err != nil {
		return "the oracle refuses it: " + err.Error()
	}
	h := p.header
	got := []any{h.BatchID, h.Size, h.NotAfter, h.TrustDomain, h.Reason, h.CreatedBy, h.CreatedByAgent, h.DelegationID, h.Required, len(h.Approvals), len(h.Signatures)}
	want := []any{deref(o.BatchID), deref(o.ScopeSize), deref(o.NotAfter), deref(o.TrustDomain), deref(o.Reason), deref(o.CreatedBy),
		deref(o.CreatedByAgent), deref(o.DelegationID), deref(o.Required), len(o.Approvals), len(o.Signatures)}
	if fmt.Sprint(got...) != fmt.Sprint(want...) {
		return fmt.Sprintf("header %q, the oracle reads %q", got, want)
	}
	if !h.Bare && h.Root.String() != deref(o.ScopeRoot) {
		return "the root differs"
	}
	for i := range h.Approvals {
		if h.Approvals[i].String() != o.Approvals[i] {
			return "an approval differs"
		}
	}
	for i := range h.Signatures {
		if h.Signatures[i].KID.String() != deref(o.Signatures[i].KID) || h.Signatures[i].Sig.String() != deref(o.Signatures[i].Sig) {
			return "a signature differs"
		}
	}
	return compareLeaves(&o, p)
}

func compareLeaves(o *oracleFile, p *Parsed) string {
	if p.count != len(o.Leaves) {
		return fmt.Sprintf("%d leaves, the oracle reads %d", p.count, len(o.Leaves))
	}
	for i := range p.leaves {
		l, w := &p.leaves[i], &o.Leaves[i]
		if p.badForm != nil && i >= p.badLeaf {
			return ""
		}
		index := int64(-1)
		if w.LeafIndex != nil {
			index = int64(*w.LeafIndex)
		}
		digest := ""
		if l.flags&hasDigest != 0 {
			digest = fmt.Sprintf("%x", l.digest)
		}
		got := []any{string(l.subject), p.kinds.list[l.kind], digest, l.flags&hasEmpty != 0, l.index, l.flags&hasPayload != 0}
		want := []any{deref(w.Subject), deref(w.Kind), deref(w.Digest), w.Digest != nil && *w.Digest == "", index, w.Payload != nil}
		if fmt.Sprint(got...) != fmt.Sprint(want...) {
			return fmt.Sprintf("leaf %d is %v, the oracle reads %v", i, got, want)
		}
		if w.Payload == nil {
			continue
		}
		value, err := base64.StdEncoding.Strict().DecodeString(deref(w.Payload.Value))
		if err != nil || !bytes.Equal(value, l.payload) || p.types.list[l.typeURL] != deref(w.Payload.TypeURL) {
			return fmt.Sprintf("the payload of leaf %d differs", i)
		}
	}
	return ""
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// entropy turns fuzz bytes into choices.
type entropy struct{ b []byte }

func (e *entropy) next() int {
	if len(e.b) == 0 {
		return 0
	}
	v := int(e.b[0])
	e.b = e.b[1:]
	return v
}

func (e *entropy) pick(list ...string) string { return list[e.next()%len(list)] }

// scopeText makes a scope file, right in most of its parts, and then damages some of them.
func scopeText(e *entropy) []byte {
	space := func() string { return e.pick("", "", "", " ", "\n", "\t\r\n ") }
	var leaves []string
	for range e.next() % 4 {
		leaves = append(leaves, leafText(e, space))
	}
	array := "[" + space() + strings.Join(leaves, space()+",") + space() + "]"
	if e.next()%8 == 0 {
		return damage(e, []byte(array))
	}
	members := []string{
		`"format":` + e.pick(`"better-compute-batch-scope"`, `"better-compute-batch-scope"`, `"better-compute-batch-scope"`, `"other"`),
		`"version":` + e.pick("1", "1", "1", "2", "01"),
		`"batchId":` + e.pick(`"batch_1"`, `"b"`, `"batch_1"`, `"..b"`),
		`"scopeRoot":"` + strings.Repeat(e.pick("ab", "00", "ab", "AB"), 32) + `"`,
		`"scopeSize":` + e.pick("1", "2", "50000", "3", "0"),
		`"leaves":` + array,
	}
	for _, optional := range []string{
		`"notAfter":` + e.pick("1790000000000", "9007199254740991", "null", "9007199254740992", "1e3"),
		`"trustDomain":` + e.pick(`"compute.example.com"`, `null`, `"X"`),
		`"reason":` + e.pick(`"plain"`, `"a\u0000\ud83d\ude00\ud800\"\\\/\b"`, `"é"`, `null`, `"\x"`),
		`"createdBy":` + e.pick(`"ops"`, `""`, `"\n"`),
		`"createdByAgent":` + e.pick(`"agent"`, `null`),
		`"delegationId":` + e.pick(`"d1"`, `null`),
		`"required":` + e.pick("2", "null", "-1"),
		`"approvals":` + e.pick(`[]`, `["lAxmmOFER39Vb4B1DLEeGuFo4bRe73jxUDjhV6VOjsQ"]`, `null`, `["x"]`),
		`"signatures":` + e.pick(`[]`, `[{"kid":"lAxmmOFER39Vb4B1DLEeGuFo4bRe73jxUDjhV6VOjsQ","sig":"`+strings.Repeat("A", 86)+`"}]`, `[{}]`),
	} {
		if e.next()%3 == 0 {
			at := e.next() % (len(members) + 1)
			members = append(members[:at], append([]string{optional}, members[at:]...)...)
		}
	}
	for i := range members {
		members[i] = space() + strings.Replace(members[i], ":", space()+":"+space(), 1) + space()
	}
	return damage(e, []byte(space()+"{"+strings.Join(members, ",")+"}"+space()))
}

func leafText(e *entropy, space func() string) string {
	members := []string{
		`"subject":"` + e.pick("node_a", "bmc:node_s/10.0.0.1", "node:node_t", "bmc:s/[fd00::1]:443", "node а") + `"`,
		`"kind":"` + e.pick("node.reboot", "bmc.power", "a.b", "Reboot") + `"`,
	}
	if e.next()%2 == 0 {
		members = append(members, `"payloadSha256":`+e.pick(`"`+strings.Repeat("0f", 32)+`"`, `""`, "null", `"0F"`))
	}
	if e.next()%2 == 0 {
		members = append(members, `"payload":`+e.pick(`{"typeUrl":"t","value":"CAE="}`, `{"value":"","typeUrl":"type.googleapis.com/x"}`, "null", `{"typeUrl":"t","value":"CAF="}`, `{"value":"CAE="}`))
	}
	if e.next()%4 == 0 {
		members = append(members, `"leafIndex":`+e.pick("0", "1", "null"))
	}
	if e.next()%2 == 0 {
		members[0], members[len(members)-1] = members[len(members)-1], members[0]
	}
	return "{" + space() + strings.Join(members, space()+","+space()) + space() + "}"
}

// damage leaves half of the files alone.
func damage(e *entropy, text []byte) []byte {
	for range max(0, e.next()%4-1) {
		if len(text) == 0 {
			break
		}
		at := (e.next()<<8 | e.next()) % len(text)
		switch e.next() % 6 {
		case 0:
			text[at] ^= byte(1 << (e.next() % 8))
		case 1:
			text = append(text[:at], text[at+1:]...)
		case 2:
			text = append(text[:at], append([]byte(e.pick(",", `"`, "{", "}", "null", "\\", "\x00", "\xff", "0", " ")), text[at:]...)...)
		case 3:
			end := min(len(text), at+e.next())
			text = append(text[:end:end], text[at:]...)
		case 4:
			text = text[:at]
		case 5:
			text = bytes.Replace(text, []byte(`"kind"`), []byte(e.pick(`"subject"`, `"Kind"`, `"kin\u0064"`)), 1)
		}
	}
	return text
}

// FuzzParse holds the scanner against json v2: what it accepts the oracle accepts, and reads every field alike.
func FuzzParse(f *testing.F) {
	for i := range 64 {
		f.Add([]byte(strings.Repeat(string(rune('0'+i)), i)))
	}
	var b golden.Balance
	f.Fuzz(func(t *testing.T, data []byte) {
		text := scopeText(&entropy{data})
		p, err := Parse(bytes.NewReader(text), 2)
		count(t, &b, err == nil)
		if err != nil {
			return
		}
		if difference := compareWithOracle(text, p); difference != "" {
			t.Fatalf("%s\n%s", difference, text)
		}
	})
}

// TestParseBalance runs the target's generator on its own, so that a plain test run sees both answers too.
func TestParseBalance(t *testing.T) {
	var b golden.Balance
	state := uint64(1)
	for range 10_000 {
		data := make([]byte, 96)
		for i := range data {
			state = state*6364136223846793005 + 1442695040888963407
			data[i] = byte(state >> 56)
		}
		text := scopeText(&entropy{data})
		p, err := Parse(bytes.NewReader(text), 2)
		count(t, &b, err == nil)
		if err == nil {
			require.Empty(t, compareWithOracle(text, p), "%s", text)
		}
	}
}

// FuzzBase64 holds the decoder against encoding/base64, which is strict about stray bits and lax about line breaks.
func FuzzBase64(f *testing.F) {
	f.Add([]byte("CAE="), false)
	f.Add([]byte("\x00\x01\x02"), true)
	var b golden.Balance
	f.Fuzz(func(t *testing.T, data []byte, encode bool) {
		text := data
		if encode {
			text = base64.StdEncoding.AppendEncode(nil, data)
		}
		got, ok := appendBase64(make([]byte, 0, len(text)), text)
		want, err := base64.StdEncoding.Strict().DecodeString(string(text))
		wanted := err == nil && !bytes.ContainsAny(text, "\r\n")
		count(t, &b, ok)
		if ok != wanted || ok && !bytes.Equal(got, want) {
			t.Fatalf("%q: %q %t, encoding/base64: %q %t", text, got, ok, want, wanted)
		}
	})
}

// count fails a fuzz target that no longer sees both answers.
func count(t testing.TB, b *golden.Balance, accepted bool) {
	if err := b.Count(accepted); err != nil {
		t.Fatal(err)
	}
}
