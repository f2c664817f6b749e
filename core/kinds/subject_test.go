package kinds

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/better-compute/approver/core/wire"
)

func subject(t testing.TB, s string) wire.Subject {
	parsed, ok := wire.ParseSubject([]byte(s))
	require.True(t, ok, s)
	return parsed
}

const (
	address   = "0a09 31302e302e372e3132" // 10.0.7.12
	powerOn   = "1001"
	powerNone = "1000"
	boot      = "1a05 0a03707865" // device "pxe"
	rotate    = "2206 0a04726f6f74"
	sensors   = "2a00"
	target    = "0a01 6e" // n
)

func TestSubjectOfAPayload(t *testing.T) {
	for _, c := range []struct {
		kind, subject, payload string
		wrong                  string // what the error names, or empty
	}{
		{"node.reboot", "node_a", "0801", ""},
		{"node.reboot", "node:node_a", "0801", "wanted: <node id>"},
		{"node.reboot", "bmc:node_s/10.0.7.12", "0801", "wanted: <node id>"},
		{"bmc.power", "bmc:node_s/10.0.7.12", address + powerOn, ""},
		{"bmc.boot", "bmc:node_s/10.0.7.12", address + boot, ""},
		{"bmc.boot", "bmc:node_s/10.0.7.12", address + "1a00", ""},
		{"bmc.rotate", "bmc:node_s/10.0.7.12", address + rotate, ""},
		{"bmc.sensors", "bmc:node_s/10.0.7.12", address + sensors, ""},
		{"bmc.power", "node_s", address + powerOn, "wanted: bmc:<site agent node id>/<address>"},
		{"bmc.power", "bmc:node_s/10.0.7.13", address + powerOn, `names "10.0.7.13"`},
		{"bmc.power", "bmc:node_s/10.0.7.12:443", address + powerOn, `is "10.0.7.12"`},
		{"bmc.power", "bmc:node_s/10.0.7.12", powerOn, `is ""`},
		{"bmc.power", "bmc:node_s/10.0.7.12", address, "the operation none; wanted: power"},
		{"bmc.power", "bmc:node_s/10.0.7.12", address + powerNone, "the operation none; wanted: power"},
		{"bmc.power", "bmc:node_s/10.0.7.12", address + boot, "the operation boot; wanted: power"},
		{"bmc.boot", "bmc:node_s/10.0.7.12", address + powerOn, "the operation power; wanted: boot"},
		{"bmc.boot", "bmc:node_s/10.0.7.12", address + powerNone, "the operation none; wanted: boot"},
		{"bmc.sensors", "bmc:node_s/10.0.7.12", address + powerOn, "the operation power; wanted: sensors"},
		{"bmc.rotate", "bmc:node_s/10.0.7.12", address + sensors, "the operation sensors; wanted: rotate"},
		{"site.httpProxy", "node:n", target, ""},
		{"site.httpProxy", "n", target, "wanted: node:<target node id>"},
		{"site.httpProxy", "node:m", target, `is "n"`},
		{"site.httpProxy", "node:n", "", `is ""`},
		{"node.inspect", "node_a", "", ""},
	} {
		k := Builtin().Lookup([]byte(c.kind))
		var w Walked
		require.NoError(t, k.Walk(unhex(t, c.payload), &w))
		err := k.CheckSubject(subject(t, c.subject), &w)
		if c.wrong == "" {
			require.NoError(t, err, "%v", c)
			require.NoError(t, k.CheckSubjectForm(subject(t, c.subject)))
			continue
		}
		require.Equal(t, wire.InvalidInput, wire.CodeOf(err), "%v", c)
		require.Equal(t, "payload-subject", wire.ReasonOf(err))
		require.ErrorContains(t, err, c.wrong)
		require.ErrorContains(t, err, c.kind)
	}
}

func TestWhatAWalkNotes(t *testing.T) {
	w := Walked{Relayed: []byte("stale"), RelayedStart: 1, RelayedEnd: 2, Operation: 9}
	k := Builtin().Lookup([]byte("bmc.power"))
	payload := unhex(t, address+powerOn)
	require.NoError(t, k.Walk(payload, &w))
	require.Equal(t, "10.0.7.12", string(w.Relayed))
	require.Equal(t, [2]int{0, 11}, [2]int{w.RelayedStart, w.RelayedEnd})
	require.Equal(t, protowire.Number(2), w.Operation)

	require.NoError(t, k.Walk(unhex(t, sensors), &w))
	require.Equal(t, Walked{Operation: 5}, w)
	require.NoError(t, k.Walk(unhex(t, address+powerNone), &w))
	require.Zero(t, w.Operation)
	require.Error(t, k.Walk(unhex(t, address+address), &w)) // a refusal leaves nothing behind
	require.Equal(t, Walked{}, w)

	proxy := Builtin().Lookup([]byte("site.httpProxy"))
	require.NoError(t, proxy.Walk(unhex(t, "0a026e31 1203474554"), &w))
	require.Equal(t, Walked{Relayed: []byte("n1"), RelayedEnd: 4}, w)
}

// The worked example of the package comment.
func TestWorkedExample(t *testing.T) {
	k := Builtin().Lookup([]byte("bmc.power"))
	payload := unhex(t, address+"1003")
	var w Walked
	require.NoError(t, k.Walk(payload, &w))
	require.NoError(t, k.CheckSubject(subject(t, "bmc:node_site1/10.0.7.12"), &w))
	require.Equal(t, "1003", fmt.Sprintf("%x", append(payload[:w.RelayedStart:w.RelayedStart], payload[w.RelayedEnd:]...)))
	for refused, why := range map[string]string{
		"1003" + address:          "field address stands after power",
		address + "108300":        "field power is a varint that is not minimal",
		address + "1006":          "field power is 6, which has no name in BmcOperationRequest.PowerAction",
		address + "1003" + "2a00": "field sensors is a second member of the oneof operation",
	} {
		require.ErrorContains(t, k.Walk(unhex(t, refused), &w), why)
	}
}
