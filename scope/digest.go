package scope

import "crypto/sha256"

// digestBatch is how many leaves are handed over at a time.
const digestBatch = 512

// A digester computes the SHA-256 of payloads while the file is still being read. They are what the bytes that were read
// give; Verify holds them against what the file declares.
type digester struct {
	batches chan []leaf
	done    chan struct{}
	sums    [][][sha256.Size]byte // of each batch
	from    int                   // leaves that were handed over
}

// newDigester starts a digester, or gives nil where nothing may run beside the reader.
func newDigester(workers int) *digester {
	if workers < 2 {
		return nil
	}
	d := &digester{batches: make(chan []leaf, 4), done: make(chan struct{})}
	go func() {
		defer close(d.done)
		for batch := range d.batches {
			sums := make([][sha256.Size]byte, len(batch))
			for i := range batch {
				if batch[i].flags&hasPayload != 0 {
					sums[i] = sha256.Sum256(batch[i].payload)
				}
			}
			d.sums = append(d.sums, sums)
		}
	}()
	return d
}

// read hands over what is complete. The elements themselves may move when leaves grows; what they point to stays.
func (d *digester) read(leaves []leaf) {
	if d != nil && len(leaves)-d.from == digestBatch {
		d.batches <- leaves[d.from:len(leaves):len(leaves)]
		d.from = len(leaves)
	}
}

// finish hands over the rest and waits.
func (d *digester) finish(leaves []leaf) {
	if d == nil {
		return
	}
	if d.from < len(leaves) {
		d.batches <- leaves[d.from:]
	}
	close(d.batches)
	<-d.done
}

// sum gives the SHA-256 of the payload of leaf i.
func (d *digester) sum(i int, payload []byte) [sha256.Size]byte {
	if d == nil {
		return sha256.Sum256(payload)
	}
	return d.sums[i/digestBatch][i%digestBatch]
}
