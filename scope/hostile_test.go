package scope

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/better-compute/approver/core/bettercomputev1"
	"github.com/better-compute/approver/core/review"
)

// Files that are made to be slow take no more than a plain one of their size: the work grows with the leaves, whatever
// they hold. A quadratic step would take minutes here, and the test's own deadline tells.
func TestNothingIsQuadratic(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	one := func(i int) (subject, kind string, message proto.Message) {
		return "node_a", "node.reboot", &bettercomputev1.RebootRequest{GraceSeconds: uint32(i)}
	}
	for name, leaf := range map[string]func(i int) (subject, kind string, message proto.Message){
		"one subject": one,
		"a kind for each": func(i int) (string, string, proto.Message) {
			return fmt.Sprintf("node_%d", i), fmt.Sprintf("acme.k%d", i), &bettercomputev1.RebootRequest{Force: true}
		},
		"rare ones": func(i int) (string, string, proto.Message) {
			return fmt.Sprintf("node_%d", i), "node.reboot", &bettercomputev1.RebootRequest{GraceSeconds: uint32(max(0, 2500-i))}
		},
	} {
		leaves := make([]made, 50_000)
		var list []string
		for i := range leaves {
			leaves[i].subject, leaves[i].kind, leaves[i].message = leaf(i)
			list = append(list, fmt.Sprintf(`{"subject":"%s","kind":"%s"}`, leaves[i].subject, leaves[i].kind))
		}
		done := make(chan error, 1)
		go func() {
			p := testPolicy()
			p.AllowOpaque = true
			p.Expected, _ = ParseExpected([]byte("[" + strings.Join(list, ",") + "]"))
			r, err := decoded(t, "", leaves...).Review(p)
			if err == nil {
				err = review.WriteText(io.Discard, r.Document(), review.Whole)
			}
			done <- err
		}()
		select {
		case err := <-done:
			require.NoError(t, err, name)
		case <-ctx.Done():
			t.Fatalf("%s: still at work", name)
		}
	}
}
