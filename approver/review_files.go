package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/medium"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/tui"
)

// fileHead tells what a file is from its beginning.
func fileHead(path string) (tui.Told, error) {
	f, err := durable.Open(path)
	if err != nil {
		return tui.Told{}, err
	}
	defer f.Close()
	head := make([]byte, tui.HeadBytes)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return tui.Told{}, wire.Errorf(wire.IOError, "", "%w", err)
	}
	return tui.Tell(head[:n]), nil
}

// places gives where files may be: what is plugged in, the current folder, and the home folder.
func places(context.Context) (entries []tui.Entry, err error) {
	for _, m := range medium.Plugged() {
		entries = append(entries, tui.Entry{Path: m.Path, Name: review.Escape(m.Path + " (" + m.Source + ")"), Folder: true, Plugged: true})
	}
	here, err := os.Getwd()
	if err != nil {
		return entries, wire.Errorf(wire.IOError, "", "%w", err)
	}
	entries = append(entries, tui.Entry{Path: here, Name: review.Escape(here), Folder: true})
	if home, err := os.UserHomeDir(); err == nil && home != here {
		entries = append(entries, tui.Entry{Path: home, Name: review.Escape(home), Folder: true})
	}
	return entries, nil
}

// Bounds of what is listed of one folder and looked into, and of the time for that: a stick can be slow. What was not looked at
// can be opened all the same.
const (
	mostListed = 2000
	mostLooked = 500
	lookFor    = 3 * time.Second
)

// listFolder gives what is in a folder: the folder above, what can be reviewed, other files, then folders. Hidden ones are left
// out. JSON files are looked at first.
func listFolder(ctx context.Context, folder string) ([]tui.Entry, error) {
	begun, looked := time.Now(), 0
	return listWhile(ctx, folder, func() bool { looked++; return looked <= mostLooked && time.Since(begun) < lookFor })
}

// listWhile is listFolder, which looks at a file as long as more says so.
func listWhile(ctx context.Context, folder string, more func() bool) ([]tui.Entry, error) {
	inside, err := os.ReadDir(folder)
	if err != nil {
		return nil, wire.Errorf(wire.IOError, "", "%w", err)
	}
	var entries []tui.Entry
	if n := len(inside) - mostListed; n > 0 {
		entries = append(entries, tui.Entry{Path: folder, Name: review.Escape(fmt.Sprintf("and %d more", n)), Trouble: "not listed"})
	}
	isJSON := func(e fs.DirEntry) int { return map[bool]int{true: 0, false: 1}[filepath.Ext(e.Name()) == ".json"] }
	slices.SortStableFunc(inside, func(a, b fs.DirEntry) int { return cmp.Compare(isJSON(a), isJSON(b)) })
	for _, e := range inside[:min(len(inside), mostListed)] {
		if ctx.Err() != nil {
			return nil, errInterrupted
		}
		if !strings.HasPrefix(e.Name(), ".") {
			entries = append(entries, look(filepath.Join(folder, e.Name()), e, more))
		}
	}
	rank := func(e tui.Entry) int {
		switch {
		case e.Kind.Reviewable():
			return 0
		case e.Folder:
			return 2
		}
		return 1
	}
	slices.SortStableFunc(entries, func(a, b tui.Entry) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Path, b.Path))
	})
	above := tui.Entry{Path: filepath.Dir(folder), Name: review.Escape(".."), Folder: true}
	if above.Path != folder {
		entries = slices.Insert(entries, 0, above)
	}
	return entries, nil
}

// look tells what a file is. Only regular files are read, and only their beginning.
func look(path string, e fs.DirEntry, more func() bool) tui.Entry {
	entry := tui.Entry{Path: path, Name: review.Escape(e.Name())}
	info, err := os.Stat(path) // what a link leads to
	switch {
	case err != nil:
		entry.Trouble = "not readable"
	case info.IsDir():
		entry.Folder = true
	case !info.Mode().IsRegular():
		entry.Trouble = "no file"
	default:
		entry.Bytes, entry.Changed = info.Size(), info.ModTime()
		if !more() {
			entry.Trouble = "not looked at"
		} else if entry.Told, err = fileHead(path); err != nil {
			entry.Trouble = "not readable"
		}
	}
	return entry
}

// watchEvery is how often a watched folder is looked at. A mount is no change of the folder it lies on that the kernel
// would tell of.
const watchEvery = time.Second

// watchFolder waits until a folder, or one right below it, has something to review that does not grow any more.
func watchFolder(ctx context.Context, folder string, absent func(bool)) ([]tui.Entry, error) {
	var before []tui.Entry
	gone := false
	for {
		if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) != gone {
			gone = !gone
			absent(gone)
		}
		found, err := reviewable(ctx, folder)
		if err != nil {
			return nil, err
		}
		if len(found) > 0 && slices.Equal(found, before) {
			return found, nil
		}
		before = found
		select {
		case <-ctx.Done():
			return nil, errInterrupted
		case <-time.After(watchEvery):
		}
	}
}

// reviewable gives what can be reviewed in a folder and right below it. A folder that goes away meanwhile holds nothing.
func reviewable(ctx context.Context, folder string) (found []tui.Entry, err error) {
	all := func() bool { return true } // whoever waits has time
	entries, err := listWhile(ctx, folder, all)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		switch {
		case e.Kind.Reviewable():
			found = append(found, e)
		case e.Folder && e.Path != filepath.Dir(folder):
			inside, err := listWhile(ctx, e.Path, all)
			if err != nil {
				continue
			}
			for _, f := range inside {
				if f.Kind.Reviewable() {
					f.Name = review.Escape(filepath.Join(filepath.Base(e.Path), filepath.Base(f.Path)))
					found = append(found, f)
				}
			}
		}
	}
	return found, nil
}

// A progressTeller tells how much of a file was read, about twenty times, and ends the reading with its context.
type progressTeller struct {
	ctx             context.Context
	tell            func(done, all int64)
	in              io.Reader
	all, done, told int64
}

func (p *progressTeller) of(in io.Reader, all int64) io.Reader {
	p.in, p.all = in, all
	return p
}

// Read reads on.
func (p *progressTeller) Read(b []byte) (int, error) {
	if p.ctx.Err() != nil {
		return 0, errInterrupted
	}
	n, err := p.in.Read(b)
	if p.done += int64(n); p.done-p.told > p.all/20 || err == io.EOF {
		p.told = p.done
		p.tell(p.done, p.all)
	}
	return n, err
}
