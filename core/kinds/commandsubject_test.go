package kinds

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/wire"
)

// The subject of a command is read off the command, so that of a relayed one names the machine and not only the relay.
func TestSubjectOfACommand(t *testing.T) {
	for name, c := range map[string]struct {
		kind, node, payload string
		want, reason        string // a subject, or the reason of an INVALID_INPUT
	}{
		"on the node itself":                 {kind: "node.reboot", node: "node_a", payload: "0801", want: "node_a"},
		"its payload is not looked at":       {kind: "node.reboot", node: "node_a", payload: "ff", want: "node_a"},
		"of a kind nobody knows":             {kind: "acme.rebalance", node: "node_a", payload: "ff", want: "node_a"},
		"to a BMC":                           {kind: "bmc.power", node: "node_s", payload: address + powerOn, want: "bmc:node_s/10.0.7.12"},
		"to a BMC that is not destructive":   {kind: "bmc.sensors", node: "node_s", payload: address + sensors, want: "bmc:node_s/10.0.7.12"},
		"to a machine behind a proxy":        {kind: "site.httpProxy", node: "node_s", payload: target, want: "node:n"},
		"a node id that is none":             {kind: "node.reboot", node: "bmc:node_s/x"},
		"a site agent that is none":          {kind: "bmc.power", node: "a/b", payload: address + powerOn},
		"no address":                         {kind: "bmc.power", node: "node_s", payload: powerOn, reason: "payload-subject"},
		"an address that is none":            {kind: "bmc.power", node: "node_s", payload: "0a0120" + powerOn, reason: "payload-subject"},
		"an address with another subject":    {kind: "bmc.power", node: "node_s", payload: "0a03612f62" + powerOn, reason: "payload-subject"},
		"no target":                          {kind: "site.httpProxy", node: "node_s", reason: "payload-subject"},
		"no operation":                       {kind: "bmc.power", node: "node_s", payload: address, reason: "payload-subject"},
		"the operation of another kind":      {kind: "bmc.power", node: "node_s", payload: address + boot, reason: "payload-subject"},
		"a payload that is not its request":  {kind: "bmc.power", node: "node_s", payload: "ff", reason: "payload-unknown-fields"},
		"an address twice: which one is it?": {kind: "bmc.power", node: "node_s", payload: address + address + powerOn, reason: "payload-unknown-fields"},
	} {
		t.Run(name, func(t *testing.T) {
			payload, err := hex.DecodeString(strings.ReplaceAll(c.payload, " ", ""))
			require.NoError(t, err)
			subject, err := Builtin().Subject(c.kind, c.node, payload)
			if c.want != "" {
				require.NoError(t, err)
				require.Equal(t, c.want, subject)
				return
			}
			require.Empty(t, subject)
			require.Equal(t, wire.InvalidInput, wire.CodeOf(err))
			require.Equal(t, c.reason, wire.ReasonOf(err))
		})
	}
}
