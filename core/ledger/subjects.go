package ledger

import (
	"bytes"
	"crypto/sha256"
	"iter"
	"slices"
)

// Subjects are the distinct subjects of a batch, by their SHA-256 in ascending order. The zero Subjects are none known.
type Subjects struct{ hashes []Hash }

// NewSubjects takes the subjects of a batch, in any order and any number of times.
func NewSubjects(subjects iter.Seq[string]) Subjects {
	var hashes []Hash
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
	sum := sha256.New()
	for i := range s.hashes {
		sum.Write(s.hashes[i][:])
	}
	return &SubjectList{uint64(len(s.hashes)), Hash(sum.Sum(nil))}
}
