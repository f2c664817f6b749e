package scope

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/wire"
)

// leafOf is a file of one leaf with that payload.
func leafOf(payload string) string {
	return `[{"subject":"node_a","kind":"node.reboot","payload":` + payload + `}]`
}

// leafJSON is a file of one leaf whose payload has those members.
func leafJSON(members string) string { return leafOf(`{"json":{` + members + `}}`) }

const (
	goodLeaf  = `{"subject":"node_b","kind":"node.reboot","payload":{"json":{}}}`
	firstLeaf = "leaf 0 (node_a): " // as an error of leafOf names it
)

// A refusedDraft is a file of leaves that no scope is made of: the reason, "*" for any, and what the refusal says.
type refusedDraft struct{ name, text, reason, says string }

func requireRefused(t *testing.T, files []refusedDraft) {
	for _, c := range files {
		t.Run(c.name, func(t *testing.T) {
			d, err := build(c.text)
			require.Nil(t, d)
			require.Equal(t, wire.InvalidInput, wire.CodeOf(err), "%v", err)
			if c.reason != "*" {
				require.Equal(t, c.reason, wire.ReasonOf(err), "%v", err)
			}
			require.Contains(t, err.Error(), c.says)
		})
	}
}

func TestBuildRefusesFiles(t *testing.T) {
	requireRefused(t, []refusedDraft{
		{"nothing", "", "", "empty"},
		{"an object", `{}`, "", "no array"},
		{"a scope file", `{"format":"better-compute-batch-scope"}`, "", "no array"},
		{"a byte order mark", "\ufeff[" + goodLeaf + "]", "", "no array"},
		{"no leaf", `[]`, "", "no leaves"},
		{"cut off", `[` + goodLeaf, "", "ends where"},
		{"something after", `[` + goodLeaf + `] 1`, "", "follows"},
		{"a comma too much", `[` + goodLeaf + `,]`, "", "comma"},
		{"a leaf's index", `[{"leafIndex":0,` + goodLeaf[1:] + `]`, "", `unknown member "leafIndex"`},
		{"a member nobody knows", `[{"note":"",` + goodLeaf[1:] + `]`, "", `unknown member "note"`},
		{"a member in another case", `[{"Subject":"x",` + goodLeaf[1:] + `]`, "", `unknown member "Subject"`},
		{"a member twice", `[{"subject":"x",` + goodLeaf[1:] + `]`, "", `"subject" is there twice`},
		{"an escape in a subject", strings.Replace(leafJSON(""), "node_a", `node_\u0061`, 1), "", "escape"},
		{"no subject", `[{"kind":"node.reboot"}]`, "", `"subject" is missing`},
		{"no kind", `[{"subject":"node_a","payload":{"json":{}}}]`, "", `"kind" is missing`},
		{"kind is null", `[{"subject":"node_a","kind":null}]`, "", `"kind" is null`},
		{"a kind in another case", strings.Replace(leafJSON(""), "node.reboot", "Node.reboot", 1), "", "wanted: two or more parts"},
		{"json of a kind in another case", strings.Replace(leafJSON(""), "node.reboot", "node.Reboot", 1), "", "leaf 0: kind is"},
		{"json of a kind no table knows", strings.Replace(leafJSON(""), "node.reboot", "node.reBoot", 1), "", firstLeaf + `kind "node.reBoot" is in no table`},
	})
}

func TestBuildRefusesJSON(t *testing.T) {
	requireRefused(t, []refusedDraft{
		{"both forms", leafOf(`{"json":{},"typeUrl":"x","value":""}`), "", "json alone"},
		{"json and a type", leafOf(`{"json":{},"typeUrl":"x"}`), "", "json alone"},
		{"a type alone", leafOf(`{"typeUrl":"x"}`), "", "json alone"},
		{"neither form", leafOf(`{}`), "", "json alone"},
		{"json twice", leafOf(`{"json":{},"json":{}}`), "", `"json" is there twice`},
		{"json in another case", leafOf(`{"JSON":{}}`), "", `unknown member "JSON"`},
		{"json is an array", leafOf(`{"json":[]}`), "", "not an object"},
		{"json is null", leafOf(`{"json":null}`), "", "not an object"},
		{"json is a string", leafOf(`{"json":"{}"}`), "", "not an object"},
		{"payload is a string", leafOf(`"{}"`), "", "not an object"},
		{"a member of json twice", leafJSON(`"force":true,"force":true`), "", `leaf 0: json: member "force" is there twice`},
		{"a member of json twice, once escaped", leafJSON(`"force":true,"forc\u0065":true`), "", `member "force" is there twice`},
		{"a field by both its names", leafJSON(`"graceSeconds":1,"grace_seconds":1`), "*", firstLeaf},
		{"a field nobody knows", leafJSON(`"delay":1`), "*", firstLeaf},
		{"a field in another case", leafJSON(`"Force":true`), "*", firstLeaf},
		{"a value of another type", leafJSON(`"force":1`), "*", firstLeaf},
		{"a number over its range", leafJSON(`"graceSeconds":4294967296`), "*", firstLeaf},
		{"NaN", leafJSON(`"graceSeconds":NaN`), "", "leaf 0: json: "},
		{"a lone surrogate", leafJSON(`"reason":"\ud800"`), "", "leaf 0: json: "},
		{"a low surrogate first", leafJSON(`"reason":"\udc00\ud800"`), "", "leaf 0: json: "},
		{"bytes that are not UTF-8", leafJSON("\"reason\":\"\xff\""), "", "leaf 0: json: "},
		{"brackets that do not match", leafJSON(`"reason":[}`), "", "leaf 0: json: "},
		{"json cut off in a string", leafOf(`{"json":{"reason":"`), "", "ends inside"},
		{"json cut off", leafOf(`{"json":{"reason":{`)[:70], "", "ends inside"},
		{"many levels", leafOf(`{"json":` + strings.Repeat(`{"a":`, 200_000)), "", "more than 16 levels"},
		{"14 levels", leafOf(`{"json":` + strings.Repeat(`{"a":`, 14) + "0" + strings.Repeat("}", 16) + "]"), "", "more than 16 levels"},
		{"json of over 1 MiB", leafJSON(`"reason":"` + strings.Repeat("x", 1<<20) + `"`), "payload-too-large", "over 1048576 bytes"},
		{"a payload of over 64 KiB", leafJSON(`"reason":"` + strings.Repeat("x", 1<<16) + `"`), "payload-too-large", firstLeaf},
	})
}

func TestBuildRefusesLeaves(t *testing.T) {
	requireRefused(t, []refusedDraft{
		{"another kind's type", leafOf(`{"typeUrl":"type.googleapis.com/bettercompute.v1.WipeRequest","value":""}`), "payload-type", firstLeaf},
		{"bytes that are not canonical", leafOf(`{"typeUrl":"type.googleapis.com/bettercompute.v1.RebootRequest","value":"EB4IAQ=="}`), "payload-unknown-fields", firstLeaf},
		{"base64 with stray bits", leafOf(`{"typeUrl":"type.googleapis.com/bettercompute.v1.RebootRequest","value":"CAF="}`), "", "canonical padded base64"},
		{"another form of subject", strings.Replace(leafJSON(""), "node_a", "node:node_a", 1), "payload-subject", "leaf 0 (node:node_a): "},
		{"another address", `[` + goodLeaf + `,{"subject":"bmc:s/10.0.0.1","kind":"bmc.power","payload":{"json":{"address":"10.0.0.2","power":"CYCLE"}}}]`, "payload-subject", "leaf 1 (bmc:s/10.0.0.1): "},
		{"another operation", `[{"subject":"bmc:s/10.0.0.1","kind":"bmc.power","payload":{"json":{"address":"10.0.0.1","sensors":{}}}}]`, "payload-subject", "leaf 0 (bmc:s/10.0.0.1): "},
		{"two members of a oneof", `[{"subject":"bmc:s/10.0.0.1","kind":"bmc.power","payload":{"json":{"address":"10.0.0.1","power":"CYCLE","sensors":{}}}}]`, "*", "leaf 0 (bmc:s/10.0.0.1): "},
		{"the digest of another payload", `[{"subject":"node_a","kind":"node.reboot","payloadSha256":"` + strings.Repeat("00", 32) + `","payload":{"json":{}}}]`, "payload-digest", firstLeaf},
		{"an empty digest beside a payload", `[{"subject":"node_a","kind":"node.reboot","payloadSha256":"","payload":{"json":{}}}]`, "payload-digest", firstLeaf},
		{"the same leaf twice", `[` + goodLeaf + `,` + goodLeaf + `]`, "duplicate-leaf", "leaf 1 (node_b): "},
		{"the same leaf as JSON and as bytes", `[` + goodLeaf + `,{"subject":"node_b","kind":"node.reboot","payload":{"typeUrl":"type.googleapis.com/bettercompute.v1.RebootRequest","value":""}}]`, "duplicate-leaf", "leaf 1"},
		{"syntax comes before what a leaf says", `[{"subject":"node_a","kind":"x.y","payload":{"json":{}}},{"subject":1}]`, "", `"subject" is not a string`},
		{"of two bad leaves the first", leafJSON(`"delay":1`)[:len(leafJSON(`"delay":1`))-1] + `,{"subject":"","kind":""}]`, "*", firstLeaf},
	})
}
