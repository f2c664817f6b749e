package golden

import "testing"

// A target that refuses nearly everything, or takes it, is told of it; a balanced one is not.
func TestBalance(t *testing.T) {
	for name, c := range map[string]struct {
		accept func(i int) bool
		fails  bool
	}{
		"all refused":      {func(int) bool { return false }, true},
		"all accepted":     {func(int) bool { return true }, true},
		"one in a hundred": {func(i int) bool { return i%100 == 0 }, true},
		"one in nine":      {func(i int) bool { return i%9 == 0 }, false},
		"half":             {func(i int) bool { return i%2 == 0 }, false},
	} {
		var b Balance
		failed := false
		for i := range 5000 {
			failed = b.Count(c.accept(i)) != nil || failed
		}
		if failed != c.fails {
			t.Errorf("%s: failed %t", name, failed)
		}
	}
}
