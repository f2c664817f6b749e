package kinds

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/better-compute/approver/core/bettercomputev1"
	"github.com/better-compute/approver/core/wire"
)

// The table of WIRE.md §7, with the subjects of §2, written out once more.
const wantTable = `
node.reboot RebootRequest destructive [node ramdisk] <node id>
node.reimage ReimageRequest destructive [node ramdisk] <node id>
node.wipe WipeRequest destructive [node ramdisk] <node id>
node.firmware FirmwareRequest destructive [node ramdisk] <node id>
gpu.reset GpuResetRequest destructive [node] <node id>
bmc.power BmcOperationRequest destructive [site] bmc:<site agent node id>/<address>
bmc.boot BmcOperationRequest destructive [site] bmc:<site agent node id>/<address>
bmc.rotate BmcOperationRequest destructive [site] bmc:<site agent node id>/<address>
bmc.sensors BmcOperationRequest harmless [site] bmc:<site agent node id>/<address>
site.httpProxy HttpProxyRequest destructive [site] node:<target node id>
node.inspect InspectRequest harmless [node node-tenant ramdisk] <node id>
`

func TestBuiltinTable(t *testing.T) {
	var got strings.Builder
	got.WriteByte('\n')
	for _, k := range Builtin().Kinds() {
		require.True(t, wire.IsKind(k.Name()))
		require.Same(t, k, Builtin().Lookup([]byte(k.Name())))
		require.Equal(t, "type.googleapis.com/bettercompute.v1."+string(k.Message().Name()), k.TypeURL())
		harm := map[bool]string{true: "destructive", false: "harmless"}[k.Destructive()]
		fmt.Fprintln(&got, k.Name(), k.Message().Name(), harm, k.Roles(), k.SubjectForm())
		require.False(t, k.Destructive() && strings.Contains(fmt.Sprint(k.Roles()), string(RoleNodeTenant)))
	}
	require.Equal(t, wantTable, got.String())
	for _, name := range []string{"", "node.wip", "node.wipe.", "NODE.wipe", "node.explode"} {
		require.Nil(t, Builtin().Lookup([]byte(name)), name)
	}
}

func TestRelayedField(t *testing.T) {
	for _, k := range Builtin().Kinds() {
		relays := k.SubjectForm() != wire.SubjectNode
		require.Equal(t, relays, k.RelayedField() == 1, k.Name())
		require.Equal(t, !relays, k.RelayedField() == 0, k.Name())
	}
}

func TestTableIsImmutable(t *testing.T) {
	Builtin().Kinds()[0] = nil
	Builtin().Kinds()[1].Roles()[0] = RoleSite
	require.NotNil(t, Builtin().Kinds()[0])
	require.Equal(t, RoleNode, Builtin().Kinds()[1].Roles()[0])
}

func TestCheckType(t *testing.T) {
	k := Builtin().Lookup([]byte("node.reboot"))
	require.NoError(t, k.CheckType("type.googleapis.com/bettercompute.v1.RebootRequest"))
	for _, u := range []string{"", "bettercompute.v1.RebootRequest", "type.googleapis.com/bettercompute.v1.WipeRequest",
		"type.googleapis.com/bettercompute.v1.RebootRequest ", "Type.googleapis.com/bettercompute.v1.RebootRequest"} {
		err := k.CheckType(u)
		require.Equal(t, wire.InvalidInput, wire.CodeOf(err), u)
		require.Equal(t, "payload-type", wire.ReasonOf(err), u)
		require.ErrorContains(t, err, k.TypeURL())
	}
}

func TestMessagesThatAreNoPayload(t *testing.T) {
	proto2, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{Name: proto.String("old.proto"), Package: proto.String("test"),
		Syntax: proto.String("proto2"), MessageType: []*descriptorpb.DescriptorProto{newMessage("Old").DescriptorProto}}, protoregistry.GlobalFiles)
	require.NoError(t, err)
	for name, r := range map[string]row{
		"proto2":                     {message: proto2.Messages().Get(0)},
		"reaches proto2":             {message: build(t, newMessage("New").add("old", 1, ".google.protobuf.FileOptions"))},
		"Any itself":                 {message: (&anypb.Any{}).ProtoReflect().Descriptor()},
		"relayed field missing":      {message: (&bettercomputev1.RebootRequest{}).ProtoReflect().Descriptor(), relayed: "address"},
		"relayed field not a string": {message: (&bettercomputev1.RebootRequest{}).ProtoReflect().Descriptor(), relayed: "force"},
		"relayed field repeated":     {message: (&bettercomputev1.InspectRequest{}).ProtoReflect().Descriptor(), relayed: "collectors"},
		"operation not in a oneof":   {message: (&bettercomputev1.RebootRequest{}).ProtoReflect().Descriptor(), operation: "force"},
	} {
		r.name = "test.kind"
		_, err := newTable([]row{r})
		require.Equal(t, wire.InvalidConfig, wire.CodeOf(err), name)
		require.ErrorContains(t, err, "test.kind", name)
	}
}
