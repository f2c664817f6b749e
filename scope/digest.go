package scope

import "crypto/sha256"

// digestBatch is how many leaves are handed over at a time.
const digestBatch = 512

// A digester has an assistant compute the SHA-256 of payloads while the file is still being read. They are what the bytes
// that were read give; Verify holds them against what the file declares. Without an assistant each is computed when asked.
type digester struct {
	assistant *assistant
	sums      [][][sha256.Size]byte // of each batch
	from      int                   // leaves that were handed over
}

// read hands over what is complete. The elements themselves may move when leaves grows; what they point to stays.
func (d *digester) read(leaves []leaf) {
	if d.assistant != nil && len(leaves)-d.from == digestBatch {
		d.hand(leaves)
	}
}

func (d *digester) hand(leaves []leaf) {
	batch := leaves[d.from:len(leaves):len(leaves)]
	d.from = len(leaves)
	d.assistant.later <- func() {
		sums := make([][sha256.Size]byte, len(batch))
		for i := range batch {
			if batch[i].flags&hasPayload != 0 {
				sums[i] = sha256.Sum256(batch[i].payload)
			}
		}
		d.sums = append(d.sums, sums)
	}
}

// finish hands over the rest.
func (d *digester) finish(leaves []leaf) {
	if d.assistant != nil && d.from < len(leaves) {
		d.hand(leaves)
	}
}

// sum gives the SHA-256 of the payload of leaf i.
func (d *digester) sum(i int, payload []byte) [sha256.Size]byte {
	if d.assistant == nil {
		return sha256.Sum256(payload)
	}
	return d.sums[i/digestBatch][i%digestBatch]
}
