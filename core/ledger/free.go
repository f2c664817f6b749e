package ledger

import (
	"bytes"
	"encoding/binary"
	"hash/fnv"
	"io"
	"os"
	"slices"
)

// checkMetas looks, before bbolt does, at the list of free pages that the newest of the two meta pages names. bbolt makes room
// for whatever number stands there, and takes the pages that it names, twice if it names them twice. A file without a meta page
// that holds is left to bbolt to refuse.
func checkMetas(file io.ReaderAt) {
	s := &snapshot{file: file, pageSize: os.Getpagesize()}
	for id := range uint64(2) {
		var meta [metaSize]byte
		if n, _ := file.ReadAt(meta[:], int64(id)*int64(s.pageSize)); n < metaSize {
			continue
		}
		sum := fnv.New64a()
		sum.Write(meta[pageHeader:metaSum])
		if sum.Sum64() == u64(meta[metaSum:]) && u64(meta[metaTx:])%2 == id && u64(meta[metaTx:]) >= s.newest {
			s.newest, s.count, s.freeList = u64(meta[metaTx:]), u64(meta[metaCount:]), u64(meta[metaFree:])
		}
	}
	if s.freeList != 0 {
		s.free()
	}
}

// free gives the pages that are said to be free, ascending, and how many the list itself stands in.
func (s *snapshot) free() (ids []uint64, pages int) {
	_, overflow := s.header(s.freeList, listFlag)
	list := make([]byte, (overflow+1)*s.pageSize)
	s.read(list, s.freeList, 0)
	n := uint64(binary.NativeEndian.Uint16(list[10:]))
	list = list[pageHeader:]
	if n == 0xFFFF { // then the number itself is the first
		n, list = u64(list), list[8:]
	}
	if n > uint64(len(list)/8) {
		damaged("%d pages are said to be free", n)
	}
	for before := uint64(1); n > 0; n, list = n-1, list[8:] {
		id := u64(list)
		if id <= before || id >= s.count {
			damaged("page %d is said to be free out of order", id)
		}
		ids, before = append(ids, id), id
	}
	return ids, overflow + 1
}

// checkFree finds pages that are in use and said to be free, which the next record would overwrite, and those that two others lead
// to. It reads what leads to leaves and of these, where they may go on over more pages, the first bytes: a hundredth of a store.
func (s *snapshot) checkFree() {
	free, listed := s.free()
	use := make([]bool, s.count)
	take := func(id uint64, n int) {
		for ; n > 0; id, n = id+1, n-1 {
			if id >= s.count || use[id] {
				damaged("two lead to page %d", id)
			}
			use[id] = true
		}
	}
	take(0, 2)
	take(s.freeList, listed)
	for _, id := range free {
		take(id, 1)
	}
	var meta [metaSize]byte
	s.read(meta[:], s.newest%2, 0)
	s.takeTree(tree{root: u64(meta[metaRoot:])}, true, take)
	for name, t := range s.trees {
		long := []byte(name)
		s.takeTree(t, !bytes.Equal(long, bucketFacts), take)
	}
	if i := slices.Index(use, false); i >= 0 {
		damaged("page %d is in no use, and not free", i)
	}
}

// takeTree takes the pages of a tree. The leaves of one with small entries have a page each.
func (s *snapshot) takeTree(t tree, long bool, take func(id uint64, n int)) {
	if t.inline != nil {
		return
	}
	c := &cursor{s: s, tree: t}
	c.first()
	depth := len(c.path)
	var down func(id uint64, level int, low, high []byte)
	down = func(id uint64, level int, low, high []byte) {
		if level == depth {
			overflow := 0
			if long {
				_, overflow = s.header(id, leafFlag)
			}
			take(id, overflow+1)
			return
		}
		p := s.load(id, low, high)
		if p.leaf {
			damaged("page %d is a leaf above others", id)
		}
		take(id, len(p.data)/s.pageSize)
		for i := range p.n {
			below := high
			if i+1 < p.n {
				below = p.key(i + 1)
			}
			down(p.child(i), level+1, p.key(i), below)
		}
	}
	down(t.root, 1, nil, nil)
}
