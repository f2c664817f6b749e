package durable

import (
	"slices"
	"sync"
)

// temporaries are the paths that this process has given outputs which have no name yet.
var temporaries struct {
	sync.Mutex
	paths []string
	tell  func([]string)
}

// Watch has tell told the paths of outputs without a name, now and whenever they change, for whoever can remove them when
// this process ends without Abandon. tell gets a copy, is called by one goroutine at a time, and must not call this package.
func Watch(tell func(temporary []string)) {
	temporaries.Lock()
	defer temporaries.Unlock()
	temporaries.tell = tell
	tell(slices.Clone(temporaries.paths))
}

// note changes the list and tells.
func note(change func(paths []string) []string) {
	temporaries.Lock()
	defer temporaries.Unlock()
	temporaries.paths = change(temporaries.paths)
	if temporaries.tell != nil {
		temporaries.tell(slices.Clone(temporaries.paths))
	}
}
