package ledger_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/ledger"
	"github.com/better-compute/approver/core/wire"
)

var zeros = strings.Repeat("0", 64)

// The record of the package comment.
var exampleRecord = `{"version":1,"seq":1,"previous":"` + zeros + `","at":1,` +
	`"clock":"system","outcome":"refused","what":"batch","command":"batch sign","refusal":{"code":"INVALID_INPUT",` +
	`"reason":""},"findings":[],"policy":{"sha256":"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",` +
	`"settings":{}},"program":{"version":"1","sha256":"` + zeros + `"}}`

func TestExampleOfThePackage(t *testing.T) {
	rec, err := ledger.ParseRecord([]byte(exampleRecord))
	require.NoError(t, err)
	require.Equal(t, exampleRecord, string(rec.Encode()))
	const head = "f92dbf259c9e54bef8e2bc75c0836186c90f281845fa2a23633645ce8280250e" // as testdata/verify-export.mjs gives it
	require.Equal(t, head, rec.Head().Hash.String())
	require.Len(t, rec.Head().Words(), 32)

	comment, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	plain := strings.ReplaceAll(strings.ReplaceAll(string(comment), "\n//\t", ""), "0000…0000", zeros)
	require.Contains(t, plain, exampleRecord)
	require.Contains(t, string(comment), head)
}

// What is nearly a record is none.
func TestRecordsInAnotherForm(t *testing.T) {
	for name, change := range map[string][2]string{
		"white space":          {`"seq":1`, `"seq": 1`},
		"a line's end":         {`"}}`, "\"}}\n"},
		"leading zero":         {`"at":1`, `"at":01`},
		"exponent":             {`"at":1`, `"at":1e0`},
		"sign":                 {`"at":1`, `"at":-1`},
		"over 2^53-1":          {`"at":1`, `"at":9007199254740992`},
		"no digits":            {`"at":1`, `"at":`},
		"seq 0":                {`"seq":1`, `"seq":0`},
		"another order":        {`"seq":1,"previous":"` + zeros + `"`, `"previous":"` + zeros + `","seq":1`},
		"twice":                {`"at":1`, `"at":1,"at":1`},
		"another version":      {`"version":1,"seq"`, `"version":2,"seq"`},
		"an escape too many":   {`"system"`, `"syste\u006d"`},
		"upper-case hex":       {`44136fa3`, `44136FA3`},
		"another digest":       {`44136fa3`, `44136fa4`},
		"an empty reason":      {zeros + `"}}`, zeros + `"},"reason":""}`},
		"a reason":             {zeros + `"}}`, zeros + `"},"reason":"x"}`},
		"an unknown member":    {zeros + `"}}`, zeros + `"},"more":1}`},
		"null":                 {`"refusal":{`, `"file":null,"refusal":{`},
		"a trailing comma":     {`"findings":[]`, `"findings":["opaque",]`},
		"a finding of no form": {`"findings":[]`, `"findings":["Opaque"]`},
		"settings descending":  {`"settings":{}`, `"settings":{"b":"","a":""}`},
		"invalid UTF-8":        {`"version":"1"`, "\"version\":\"\xff\""},
		"a control character":  {`"version":"1"`, "\"version\":\"\x01\""},
		"a lone surrogate":     {`"version":"1"`, `"version":"\ud800"`},
		"outcome signed":       {`"refused"`, `"signed"`},
	} {
		t.Run(name, func(t *testing.T) {
			changed := strings.Replace(exampleRecord, change[0], change[1], 1)
			require.NotEqual(t, exampleRecord, changed)
			_, err := ledger.ParseRecord([]byte(changed))
			requireCode(t, err, wire.InvalidInput, "")
		})
	}
	for i := range exampleRecord {
		_, err := ledger.ParseRecord([]byte(exampleRecord[:i]))
		requireCode(t, err, wire.InvalidInput, "")
	}
	// Settings in another order than theirs, or one twice, under the digest of what they are.
	for _, settings := range []string{`{"b":"","a":""}`, `{"a":"","b":"","b":""}`, `{"a":"","b":""}`} {
		const digest = "a5b12f7b43403bf37bb16ec811a222940f9b038c2081df6c2a4b83c0e0778d96"
		changed := strings.NewReplacer(`"settings":{}`, `"settings":`+settings, "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a", digest).Replace(exampleRecord)
		_, err := ledger.ParseRecord([]byte(changed))
		require.Equal(t, settings == `{"a":"","b":""}`, err == nil, settings)
	}
	many := strings.Replace(exampleRecord, `[]`, `["x"`+strings.Repeat(`,"x"`, 255)+`]`, 1)
	_, err := ledger.ParseRecord([]byte(many))
	require.NoError(t, err)
	_, err = ledger.ParseRecord([]byte(strings.Replace(many, `["x"`, `["x","x"`, 1)))
	requireCode(t, err, wire.InvalidInput, "")
}

// Every byte of a receipt counts, and a receipt whose head was made to fit another record is another receipt.
func TestEveryByteOfAReceiptCounts(t *testing.T) {
	l, receipts := filled(t, home(t))
	c := verified(t, l)
	for _, r := range receipts {
		file := r.Encode()
		for i := range file {
			damaged := bytes.Clone(file)
			damaged[i] ^= 1
			_, err := ledger.ParseReceipt(damaged)
			require.Error(t, err, "byte %d of %s", i, file)
			require.Contains(t, []wire.Code{wire.InvalidInput, wire.AuditTampered}, wire.CodeOf(err))
		}
	}
	other, err := ledger.ParseReceipt(fmt.Appendf(nil, "{\"format\":%q,\"version\":1,\"head\":%q,\"record\":%s}\n",
		ledger.FormatReceipt, mustParse(t, exampleRecord).Head().Hash, exampleRecord))
	require.NoError(t, err)
	requireCode(t, c.VerifyReceipt(other), wire.AuditTampered, "")
}

func mustParse(t *testing.T, line string) *ledger.Record {
	t.Helper()
	rec, err := ledger.ParseRecord([]byte(line))
	require.NoError(t, err)
	return rec
}
