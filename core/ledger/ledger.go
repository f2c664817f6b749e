package ledger

import (
	"encoding/binary"
	"errors"
	"iter"

	"github.com/better-compute/approver/core/wire"
)

// A Ledger is the open ledger of a state folder. No other process has it open meanwhile, but for others that only read, as it
// does. It is used by one goroutine.
type Ledger struct{ store *store }

// Open opens the ledger of a state folder and makes both where they are not there (folder 0700, store 0600). Errors are
// IO_ERROR (a disk that is full or read-only included); INVALID_STATE where another process has it open (ledger-in-use,
// after 2 s), where others can write folder or store, or one of them is not what it should be; AUDIT_TAMPERED where the
// store is none of ours any more.
func Open(dir string) (*Ledger, error) {
	f, err := openFolder(dir, true, true)
	if err != nil {
		return nil, err
	}
	there, err := f.has(storeName)
	if err == nil && !there {
		err = makeStore(f)
	}
	if err != nil {
		f.dir.Close()
		return nil, classify(err)
	}
	return openIn(f, false)
}

// OpenReadOnly opens a ledger to read it, on a read-only medium too. Errors are those of Open, and NOT_FOUND where there is
// none.
func OpenReadOnly(dir string) (*Ledger, error) {
	f, err := openFolder(dir, false, false)
	if err != nil {
		return nil, err
	}
	there, err := f.has(storeName)
	if err == nil && !there {
		err = noLedger(dir)
	}
	if err != nil {
		f.dir.Close()
		return nil, classify(err)
	}
	return openIn(f, true)
}

func openIn(f *folder, readOnly bool) (*Ledger, error) {
	s, err := openStore(f, readOnly)
	if err != nil {
		f.dir.Close()
		return nil, err
	}
	l := &Ledger{s}
	if _, err := l.Head(); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// Close gives the ledger back.
func (l *Ledger) Close() error {
	err := l.store.close()
	return classify(errors.Join(err, l.store.folder.dir.Close()))
}

// Head gives where the ledger stands. The error is AUDIT_TAMPERED where that is not its newest record.
func (l *Ledger) Head() (head Head, err error) {
	err = l.store.view(func(s *snapshot) error {
		head, err = s.head()
		return err
	})
	return head, err
}

// head reads the head and holds it against the newest record.
func (s *snapshot) head() (Head, error) {
	for _, name := range buckets {
		s.bucket(name)
	}
	value := s.get(bucketMeta, keyHead)
	if string(s.get(bucketMeta, keyVersion)) != storeVersion || len(value) != 8+len(Hash{}) {
		return Head{}, tampered(0, "store", "the store is not of version %s", storeVersion)
	}
	head := Head{binary.BigEndian.Uint64(value), Hash(value[8:])}
	c := s.bucket(bucketRecords)
	if c.last(); !c.valid() {
		if head == (Head{}) {
			return head, nil
		}
		return Head{}, tampered(0, "count", "the ledger says that it has %d records, and has none", head.Seq)
	}
	if last := c.key(); len(last) != 8 || binary.BigEndian.Uint64(last) != head.Seq {
		return Head{}, tampered(head.Seq, "count", "the ledger says that it has %d records, and its newest is none of that seq", head.Seq)
	}
	rec, err := ParseRecord(c.value())
	if err != nil || rec.Seq != head.Seq || rec.Head() != head {
		return Head{}, tampered(head.Seq, "head", "the newest record, %d, does not give the head", head.Seq)
	}
	return head, nil
}

// record gives the record of a seq that an index names.
func (s *snapshot) record(seq uint64) (*Record, error) {
	rec, err := ParseRecord(s.get(bucketRecords, wire.U64(seq)))
	if err != nil || rec.Seq != seq {
		return nil, tampered(seq, "record", "record %d is not there as it was written", seq)
	}
	return rec, nil
}

// Records gives the records from a seq on, ascending; 1 gives all. It ends with an error, AUDIT_TAMPERED or IO_ERROR, where
// one cannot be read; that the chain holds is for Verify to say.
func (l *Ledger) Records(from uint64) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		for line, err := range l.lines(from) {
			var rec *Record
			if err == nil {
				if rec, err = ParseRecord(line); err != nil {
					err = tampered(from, "record", "record %d: %s", from, wire.MessageOf(err))
				}
			}
			if !yield(rec, err) || err != nil {
				return
			}
			from++
		}
	}
}

// lines gives the bytes of the records from a seq on, each in a transaction of its own.
func (l *Ledger) lines(from uint64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		head, err := l.Head()
		for seq := max(from, 1); err == nil && seq <= head.Seq; seq++ {
			var line []byte
			err = l.store.view(func(s *snapshot) error {
				line = s.get(bucketRecords, wire.U64(seq))
				return nil
			})
			if err == nil && len(line) == 0 {
				err = tampered(seq, "record", "record %d is not there", seq)
			}
			if err == nil && !yield(line, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}
