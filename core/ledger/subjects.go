package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"iter"
	"slices"
)

// Subjects are the distinct subjects of a batch, by their SHA-256 in ascending order. The zero Subjects are none known.
type Subjects struct{ hashes []Hash }

// NewSubjects takes the subjects of a batch, about so many, in any order and any number of times.
func NewSubjects(about int, subjects iter.Seq[string]) Subjects {
	hashes := make([]Hash, 0, about)
	for s := range subjects {
		hashes = append(hashes, sha256.Sum256([]byte(s)))
	}
	slices.SortFunc(hashes, func(a, b Hash) int { return bytes.Compare(a[:], b[:]) })
	return Subjects{slices.Compact(hashes)}
}

// Len gives how many distinct subjects there are.
func (s Subjects) Len() int { return len(s.hashes) }

// List gives what a record holds of the subjects: their number and the SHA-256 over the ascending SHA-256 of each; nil
// where none are known.
func (s Subjects) List() *SubjectList {
	if len(s.hashes) == 0 {
		return nil
	}
	return &SubjectList{uint64(len(s.hashes)), sha256.Sum256(s.bytes())}
}

func (s Subjects) bytes() []byte {
	b := make([]byte, 0, len(s.hashes)*len(Hash{}))
	for i := range s.hashes {
		b = append(b, s.hashes[i][:]...)
	}
	return b
}

// A finder finds subjects, each by one look-up.
type finder struct {
	hashes []Hash
	starts []uint32 // by the first two bytes, where those of them begin
}

func (s Subjects) finder() *finder {
	f := &finder{s.hashes, make([]uint32, 1<<16+1)}
	for i := range s.hashes {
		f.starts[int(binary.BigEndian.Uint16(s.hashes[i][:]))+1]++
	}
	for i := range 1 << 16 {
		f.starts[i+1] += f.starts[i]
	}
	return f
}

// find gives which of them a subject is, or -1.
func (f *finder) find(h *Hash) int {
	first := int(binary.BigEndian.Uint16(h[:]))
	for i := f.starts[first]; i < f.starts[first+1]; i++ {
		if f.hashes[i] == *h {
			return int(i)
		}
	}
	return -1
}
