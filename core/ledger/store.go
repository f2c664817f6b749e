package ledger

import (
	"bytes"
	"errors"
	"os"
	"runtime/debug"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
	"golang.org/x/sys/unix"

	"github.com/better-compute/approver/core/wire"
)

// The names in the state folder.
const (
	storeName = "ledger.db"
	newName   = ".ledger.db.new" // a store that is not made yet; a later Open removes what a killed process left
)

// A store is the open bbolt file: transactions that are there as a whole or not at all.
type store struct {
	folder   *folder
	readOnly bool
	db       *bolt.DB // nil once it could not be opened again
	file     *os.File // the one that db reads and writes
}

// openStore opens the file of a ledger.
func openStore(f *folder, readOnly bool) (*store, error) {
	s := &store{folder: f, readOnly: readOnly}
	if err := s.reopen(storeName, 0); err != nil {
		return nil, err
	}
	return s, nil
}

// makeStore makes the file of a ledger under another name, whole, and then gives it its own.
func makeStore(f *folder) error {
	if err := unix.Unlinkat(int(f.dir.Fd()), newName, 0); err != nil && !errors.Is(err, unix.ENOENT) {
		return ioError(f.at("remove", newName, err))
	}
	s := &store{folder: f}
	err := s.reopen(newName, unix.O_CREAT|unix.O_EXCL)
	if err == nil {
		err = s.db.Update(makeBuckets)
		err = errors.Join(err, s.db.Close())
	}
	if err == nil {
		err = f.at("rename", newName, unix.Renameat(int(f.dir.Fd()), newName, int(f.dir.Fd()), storeName))
	}
	if err == nil {
		err = syncFolder(f.dir)
	}
	if err != nil {
		unix.Unlinkat(int(f.dir.Fd()), newName, 0)
		return classify(err)
	}
	return nil
}

// reopen opens the bbolt file. One that is empty is no new store: makeStore leaves none.
func (s *store) reopen(name string, create int) error {
	open := func(_ string, flag int, _ os.FileMode) (*os.File, error) {
		file, err := s.folder.open(name, flag&^unix.O_CREAT|create)
		if err != nil {
			return nil, err
		}
		info, err := file.Stat()
		if err == nil && info.Size() == 0 && create == 0 {
			err = tampered(0, "store", "%s is empty", file.Name())
		}
		if err != nil {
			file.Close()
			return nil, err
		}
		if err := guard(func() error { checkMetas(file); return nil }); err != nil {
			file.Close()
			return nil, err
		}
		s.file = file
		return file, nil
	}
	err := guard(func() (err error) {
		s.db, err = bolt.Open(name, 0o600, &bolt.Options{ReadOnly: s.readOnly, Timeout: time.Nanosecond, OpenFile: open, NoStatistics: true})
		if errno := unix.Errno(0); err != nil && wire.CodeOf(err) == "" && !errors.As(err, &errno) && !errors.Is(err, berrors.ErrTimeout) {
			err = tampered(0, "store", "the store is not one of ours any more: %s", err)
		}
		return err
	})
	if err != nil {
		s.db = nil
		if s.file != nil {
			unix.Flock(int(s.file.Fd()), unix.LOCK_UN) // where bbolt panicked, its mapping of the file keeps the lock
			s.file.Close()
		}
	}
	return err
}

func (s *store) close() error {
	if s.db == nil {
		return nil
	}
	err := s.db.Close()
	s.db = nil
	return err
}

// view reads in one transaction.
func (s *store) view(read func(s *snapshot) error) error {
	if s.db == nil {
		return ioError(errors.New("the store is closed"))
	}
	return guard(func() error { return s.db.View(func(tx *bolt.Tx) error { return read(snapshotOf(tx, s.file)) }) })
}

// update writes in one transaction that is durable when it returns. Where it fails the store is as it was: what bbolt wrote
// before it switched to the new pages is not looked at, and where the switch was written but could not be made durable it is
// taken back.
func (s *store) update(write func(tx *bolt.Tx, s *snapshot) error) error {
	if s.db == nil {
		return ioError(errors.New("the store is closed"))
	}
	before, err := s.switches()
	if err != nil {
		return ioError(err)
	}
	err = guard(func() error { return s.db.Update(func(tx *bolt.Tx) error { return write(tx, snapshotOf(tx, s.file)) }) })
	if err == nil {
		return nil
	}
	if undo := s.takeBack(before); undo != nil {
		return wire.Errorf(wire.IOError, "", "%s; and the ledger could not be put back (%s): verify it", wire.MessageOf(err), wire.MessageOf(undo))
	}
	return err
}

// switches reads the two meta pages, which are the first of the file. Each transaction replaces the older of both in one
// write after all else is durable, and touches no page of the state that the newer one names.
func (s *store) switches() ([]byte, error) {
	b := make([]byte, 2*s.db.Info().PageSize)
	_, err := s.file.ReadAt(b, 0)
	return b, err
}

// takeBack opens the store again as it was before a transaction that failed.
func (s *store) takeBack(before []byte) error {
	if err := s.close(); err != nil {
		return err
	}
	file, err := s.folder.open(storeName, os.O_RDWR)
	if err != nil {
		return err
	}
	defer file.Close()
	now := make([]byte, len(before))
	if _, err = file.ReadAt(now, 0); err != nil {
		return err
	}
	if !bytes.Equal(now, before) {
		if _, err = file.WriteAt(before, 0); err == nil {
			err = file.Sync()
		}
		if err != nil {
			return err
		}
	}
	return s.reopen(storeName, 0)
}

// guard turns what bbolt does with pages that are not its own, a panic or a read behind the end of the file, into an error.
func guard(do func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch p := recover().(type) {
		case nil:
		case readFailed:
			err = ioError(p.error)
		default:
			err = tampered(0, "store", "the pages of the store are damaged: %v", p)
		}
	}()
	return classify(do())
}

// classify gives an error its code.
func classify(err error) error {
	switch {
	case err == nil:
		return nil
	case wire.CodeOf(err) != "":
		return err
	case errors.Is(err, berrors.ErrTimeout):
		return wire.Errorf(wire.InvalidState, "ledger-in-use", "another process has the ledger open")
	}
	return ioError(err)
}
