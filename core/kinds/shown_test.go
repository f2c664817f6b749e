package kinds

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/better-compute/approver/core/wire"
)

// Two bytes make a message, and all of its fields are shown: a payload of 64 KiB must not become a review of gigabytes.
func TestPayloadsThatNobodyCouldRead(t *testing.T) {
	table, err := tableOf(t, one(func(f *descriptorpb.FileDescriptorProto, m message) {
		wide := newMessage("Wide")
		for i := range 256 {
			wide.add(fmt.Sprintf("f%d", i), i+1, "bool")
		}
		f.MessageType = append(f.MessageType, wide.DescriptorProto)
		m.add("all", 3, ".acme.v1.Wide", repeated)
		for i := range 253 { // with them it has 256 itself: 1,024 messages have exactly as many fields as are shown
			m.add(fmt.Sprintf("g%d", i), i+4, "bool")
		}
	}))
	require.NoError(t, err)
	k, empty := table.Lookup([]byte("acme.one")), "\x1a\x00"
	w := new(Walked)
	require.NoError(t, k.Walk([]byte(strings.Repeat(empty, 1023)), w))
	require.NoError(t, k.Walk([]byte(strings.Repeat(empty, 1023)), w), "counted anew")
	err = k.Walk([]byte(strings.Repeat(empty, 1024)), w)
	require.Equal(t, wire.InvalidInput, wire.CodeOf(err))
	require.ErrorContains(t, err, "field all makes over 262144 fields to show to a person")
}
