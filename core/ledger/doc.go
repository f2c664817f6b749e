// Package ledger remembers on an approver's machine how each review ended: signed, declined or refused. The records form a
// hash chain, so that any that was changed, dropped, moved or added shows, and a head that was written down shows later
// whether the ledger is still the one it was.
//
// # Record
//
// A record is one line of JSON in one form: the members stand in the order of Record.members, none that is optional is there
// empty, integers are plain digits up to 2^53-1, hashes are 64 digits of lower-case hex, strings hold no escape that RFC 8785
// does not need, and there is no white space. Those bytes are what is hashed, and a reader takes no others.
//
//	head_0 = 32 zero bytes
//	head_n = SHA-256(lp("better-compute/approver-ledger/v1") ‖ head_{n-1} ‖ lp(record n))
//
// A head is shown as 64 hex digits and as 32 words (review.Words).
//
// Rules: seq counts from 1; previous is the head before. Signed and declined records have a signature, a key, and a batch or
// an approver set; refused ones have a refusal instead, and may lack the rest, since their file may not have said it. A
// decline has a reason. Times of signed and declined records by the system's clock never go back; a refused one has whatever
// the clock showed, and one by hand what was given.
// What was signed or declined never gives a batch id (under one trust domain) a second root, nor an epoch a second set; and a
// key signs a thing once.
//
// # Worked example
//
// A refusal, the first record of a ledger, with everything that may be missing missing:
//
//	{"version":1,"seq":1,"previous":"0000…0000","at":1,
//	"clock":"system","outcome":"refused","what":"batch","command":"batch sign","refusal":{"code":"INVALID_INPUT",
//	"reason":""},"findings":[],"policy":{"sha256":"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
//	"settings":{}},"program":{"version":"1","sha256":"0000…0000"}}
//
// That is one line, with 64 zeros for 0000…0000. The head after it is
//
//	f92dbf259c9e54bef8e2bc75c0836186c90f281845fa2a23633645ce8280250e
//
// # Road
//
//	ledger, err := Open(dir)                        locked for this process
//	err = ledger.CheckBatch(kid, batch)             what it knows of it, one look-up each
//	pending, err := ledger.Begin(entry, subjects)   the disk has room for the record: anything that fails, fails here
//	… the key signs …
//	receipt, err := pending.Append(signature)       durable; only now the signature is handed out
//
// # Store
//
// The records stand in one bbolt file, ledger.db, with indexes that are made of them (index.go). A record, the head after it
// and its entries in the indexes are one transaction, whose system calls are, in order: pwrite64 of new pages, fdatasync,
// pwrite64 of one meta page, which switches to them, fdatasync. A process that ends anywhere leaves the state before or after.
// Begin writes as many bytes as the record can need, syncs them and frees their pages, so that Append finds them allocated.
package ledger
