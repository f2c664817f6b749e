package golden

import (
	"fmt"
	"sync/atomic"
)

// A Balance counts what a fuzz target accepts and what it refuses, so that a target fails which no longer sees both
// answers. The zero Balance is ready; it may be used by several goroutines.
type Balance struct{ accepted, refused atomic.Int64 }

// Count notes an answer. At every 5,000th it gives an error where one of both is below a tenth of all.
func (b *Balance) Count(accepted bool) error {
	if accepted {
		b.accepted.Add(1)
	} else {
		b.refused.Add(1)
	}
	yes, no := b.accepted.Load(), b.refused.Load()
	if all := yes + no; all%5000 == 0 && min(yes, no)*10 < all {
		return fmt.Errorf("%d inputs were accepted and %d refused: the target says little about one of both", yes, no)
	}
	return nil
}
