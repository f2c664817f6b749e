package scope

// An assistant is one goroutine beside the reader of a file. It reads the next window before anything else, for without
// it the reader stands still, and hashes payloads in between. The nil assistant is nobody: the work is done in line.
type assistant struct {
	urgent, later chan func()
	done          chan struct{}
}

// newAssistant starts one where two may work at once.
func newAssistant(workers int) *assistant {
	if workers < 2 {
		return nil
	}
	// One window is asked for at a time, and batches of payloads may wait in number: the asker never does.
	a := &assistant{urgent: make(chan func(), 1), later: make(chan func(), 64), done: make(chan struct{})}
	go a.work()
	return a
}

func (a *assistant) work() {
	defer close(a.done)
	for {
		select {
		case f := <-a.urgent:
			f()
			continue
		default:
		}
		select {
		case f := <-a.urgent:
			f()
		case f, ok := <-a.later:
			if !ok {
				return
			}
			f()
		}
	}
}

// finish has all that was asked for done, and ends the goroutine.
func (a *assistant) finish() {
	if a == nil {
		return
	}
	close(a.later)
	<-a.done
}
