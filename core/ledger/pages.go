package ledger

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"sort"

	bolt "go.etcd.io/bbolt"
)

// A snapshot reads one state of the store, page by page, and trusts none: bbolt goes wherever a page id leads, round a circle
// until the memory is used up, which ends the process. Each page that is read is held against what leads to it: that it is in
// the file, of a tree, and that its keys ascend between those beside it. So what a look-up finds, or does not, is what the whole
// index holds, and only the pages on the way are read. What is damaged is a panic, which guard makes an error.
type snapshot struct {
	file     io.ReaderAt
	pageSize int
	count    uint64 // pages of the state, by number from 0; the first two are the metas
	newest   uint64 // the transaction that made it
	freeList uint64 // the page where the list of free ones begins
	trees    map[string]tree
	branches map[uint64]*page
}

// A tree is one bucket: by its first page, or the page itself where it stands in that of its name.
type tree struct {
	root   uint64
	inline []byte
}

// The layout of bbolt's pages, whose numbers are the machine's own: u64 id, u16 flags, u16 count, u32 overflow pages, then count
// elements: of a branch u32 position, u32 key size, u64 page id; of a leaf u32 flags, u32 position, u32 key size, u32 value size.
// A position counts from its element. A meta page has, behind its header, u32 magic, version, page size and flags, u64 root,
// sequence, list of free pages, count of pages, transaction, and a checksum.
const (
	pageHeader  = 16
	elementSize = 16
	branchFlag  = 0x01
	leafFlag    = 0x02
	listFlag    = 0x10
	metaRoot    = pageHeader + 16
	metaFree    = pageHeader + 32
	metaCount   = pageHeader + 40
	metaTx      = pageHeader + 48
	metaSum     = pageHeader + 56
	metaSize    = pageHeader + 64

	maxDepth = 32 // of a tree: with two pages below each, more than a file can have
)

// damaged ends a read: the pages are not as they were written.
func damaged(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// A readFailed ends a read that the disk refused.
type readFailed struct{ error }

// snapshotOf gives the state that a transaction began with.
func snapshotOf(tx *bolt.Tx, file io.ReaderAt) *snapshot {
	s := &snapshot{file: file, pageSize: tx.DB().Info().PageSize, trees: make(map[string]tree), branches: make(map[uint64]*page)}
	id := uint64(tx.ID())
	if tx.Writable() {
		id-- // of its own, which nothing is written of yet
	}
	var meta [metaSize]byte
	s.read(meta[:], id%2, 0)
	if u64(meta[metaTx:]) != id {
		damaged("meta page %d is not of transaction %d", id%2, id)
	}
	s.newest, s.count, s.freeList = id, u64(meta[metaCount:]), u64(meta[metaFree:])
	c := &cursor{s: s, tree: tree{root: u64(meta[metaRoot:])}}
	for c.first(); c.valid(); c.next() {
		value := c.value()
		if c.leaf().flags(c.at()) != 1 || len(value) < 16 { // a bucket: u64 root, u64 sequence
			damaged("the tree of buckets holds something else")
		}
		t := tree{root: u64(value)}
		if t.root == 0 {
			t.inline = value[16:]
		}
		s.trees[string(c.key())] = t
	}
	return s
}

func u64(b []byte) uint64 { return binary.NativeEndian.Uint64(b) }
func u32(b []byte) int    { return int(binary.NativeEndian.Uint32(b)) }

// read reads bytes of a page.
func (s *snapshot) read(b []byte, id uint64, offset int) {
	_, err := s.file.ReadAt(b, int64(id)*int64(s.pageSize)+int64(offset))
	switch {
	case err == io.EOF:
		damaged("page %d is behind the end of the file", id)
	case err != nil:
		panic(readFailed{err})
	}
}

// A page is one of a tree, with those that it goes on over.
type page struct {
	data      []byte
	n         int
	leaf      bool
	low, high []byte // what it was held against
}

func (p *page) element(i int) []byte { return p.data[pageHeader+elementSize*i:] }
func (p *page) flags(i int) int      { return u32(p.element(i)) }
func (p *page) child(i int) uint64   { return u64(p.element(i)[8:]) }

func (p *page) key(i int) []byte {
	e := p.element(i)
	if p.leaf {
		return e[u32(e[4:]):][:u32(e[8:])]
	}
	return e[u32(e):][:u32(e[4:])]
}

func (p *page) value(i int) []byte {
	e := p.element(i)
	return e[u32(e[4:])+u32(e[8:]):][:u32(e[12:])]
}

// header gives of a page what it is and how many more it goes on over.
func (s *snapshot) header(id uint64, want ...int) (flags, overflow int) {
	if id < 2 || id >= s.count {
		damaged("page %d is none of the store's", id)
	}
	var h [pageHeader]byte
	s.read(h[:], id, 0)
	flags, overflow = int(binary.NativeEndian.Uint16(h[8:])), u32(h[12:])
	switch {
	case u64(h[:]) != id:
		damaged("page %d says that it is %d", id, u64(h[:]))
	case uint64(overflow) >= s.count-id:
		damaged("page %d goes on behind the end", id)
	}
	for _, flag := range want {
		if flags == flag {
			return flags, overflow
		}
	}
	damaged("page %d is of kind %#x", id, flags)
	return 0, 0
}

// load reads a page whose keys are from low on and below high; no low is the least, and no high has no bound.
func (s *snapshot) load(id uint64, low, high []byte) *page {
	if p := s.branches[id]; p != nil && bytes.Equal(p.low, low) && bytes.Equal(p.high, high) {
		return p
	}
	_, overflow := s.header(id, branchFlag, leafFlag)
	data := make([]byte, (1+overflow)*s.pageSize)
	s.read(data, id, 0)
	p := parsePage(id, data)
	p.hold(id, low, high)
	if p.low, p.high = low, high; !p.leaf {
		s.branches[id] = p
	}
	return p
}

// parsePage takes a page whose every element lies in it.
func parsePage(id uint64, data []byte) *page {
	if len(data) < pageHeader {
		damaged("page %d is cut", id)
	}
	p := &page{data: data, n: int(binary.NativeEndian.Uint16(data[10:])), leaf: binary.NativeEndian.Uint16(data[8:]) == leafFlag}
	if pageHeader+elementSize*p.n > len(data) || p.n == 0 && !p.leaf {
		damaged("page %d has %d elements", id, p.n)
	}
	for i := range p.n {
		e := p.element(i)
		end := u32(e) + u32(e[4:]) // of a branch
		if p.leaf {
			end = u32(e[4:]) + u32(e[8:]) + u32(e[12:])
		}
		if end > len(e) || len(p.key(i)) == 0 {
			damaged("element %d of page %d is not in it", i, id)
		}
	}
	return p
}

// hold finds keys that are out of their order.
func (p *page) hold(id uint64, low, high []byte) {
	for i := range p.n {
		key := p.key(i)
		if i > 0 && bytes.Compare(p.key(i-1), key) >= 0 || bytes.Compare(key, low) < 0 || high != nil && bytes.Compare(key, high) >= 0 {
			damaged("key %d of page %d is out of its order", i, id)
		}
	}
}

// A cursor goes through a tree.
type cursor struct {
	s    *snapshot
	tree tree
	path []step // from the root to a leaf
}

type step struct {
	page *page
	id   uint64
	at   int
	high []byte
}

// bucket gives a cursor of one of the buckets.
func (s *snapshot) bucket(name []byte) *cursor {
	t, ok := s.trees[string(name)]
	if !ok {
		damaged("the store has no %s", name)
	}
	return &cursor{s: s, tree: t}
}

// get looks a key up; nil is none. The value is the caller's.
func (s *snapshot) get(bucket, key []byte) []byte {
	c := s.bucket(bucket)
	if c.seek(key); c.valid() && bytes.Equal(c.key(), key) {
		return c.value()
	}
	return nil
}

// readAll reads every page of a bucket.
func (s *snapshot) readAll(bucket []byte) {
	c := s.bucket(bucket)
	for c.first(); c.valid(); c.next() {
	}
}

func (c *cursor) leaf() *page   { return c.path[len(c.path)-1].page }
func (c *cursor) at() int       { return c.path[len(c.path)-1].at }
func (c *cursor) valid() bool   { return len(c.path) > 0 && c.at() < c.leaf().n }
func (c *cursor) key() []byte   { return c.leaf().key(c.at()) }
func (c *cursor) value() []byte { return c.leaf().value(c.at()) }

// descend goes from a page down to a leaf; pick chooses the element on each, by the number of those at or before the key.
func (c *cursor) descend(id uint64, low, high []byte, pick func(p *page) int) {
	for {
		if len(c.path) >= maxDepth {
			damaged("page %d is below itself", id)
		}
		var p *page
		if c.tree.inline != nil {
			if p = parsePage(0, c.tree.inline); !p.leaf {
				damaged("a bucket in a page is no leaf")
			}
			p.hold(0, nil, nil)
		} else {
			p = c.s.load(id, low, high)
		}
		if p.leaf && p.n == 0 && len(c.path) > 0 {
			damaged("page %d is empty", id)
		}
		i := pick(p)
		if !p.leaf {
			i = min(max(i, 0), p.n-1)
		}
		c.path = append(c.path, step{p, id, i, high})
		if p.leaf {
			return
		}
		id, low = p.child(i), p.key(i)
		if i+1 < p.n {
			high = p.key(i + 1)
		}
	}
}

func (c *cursor) first() {
	c.path = c.path[:0]
	c.descend(c.tree.root, nil, nil, func(*page) int { return 0 })
}

func (c *cursor) last() {
	c.path = c.path[:0]
	c.descend(c.tree.root, nil, nil, func(p *page) int { return p.n - 1 })
	if c.leaf().n == 0 {
		c.path = c.path[:0]
	}
}

// before gives how many keys of a page are before a key, or at it.
func (p *page) before(key []byte, at int) int {
	return sort.Search(p.n, func(i int) bool { return bytes.Compare(p.key(i), key) > at })
}

// seek goes to the first entry at a key or behind it.
func (c *cursor) seek(key []byte) {
	c.path = c.path[:0]
	c.descend(c.tree.root, nil, nil, func(p *page) int {
		if p.leaf {
			return p.before(key, -1)
		}
		return p.before(key, 0) - 1
	})
	if c.at() == c.leaf().n {
		c.climb()
	}
}

// floor goes to the last entry at a key or before it, which is in the leaf where the key would stand: the first key of a leaf is
// the one that leads there, where none was ever deleted.
func (c *cursor) floor(key []byte) {
	c.path = c.path[:0]
	c.descend(c.tree.root, nil, nil, func(p *page) int { return p.before(key, 0) - 1 })
	if c.at() < 0 {
		damaged("nothing is before a key")
	}
}

func (c *cursor) next() {
	if c.path[len(c.path)-1].at++; c.at() >= c.leaf().n {
		c.climb()
	}
}

// climb goes on to the next leaf.
func (c *cursor) climb() {
	for c.path = c.path[:len(c.path)-1]; len(c.path) > 0; c.path = c.path[:len(c.path)-1] {
		up := &c.path[len(c.path)-1]
		if up.at+1 >= up.page.n {
			continue
		}
		up.at++
		high := up.high
		if up.at+1 < up.page.n {
			high = up.page.key(up.at + 1)
		}
		c.descend(up.page.child(up.at), up.page.key(up.at), high, func(*page) int { return 0 })
		return
	}
}
