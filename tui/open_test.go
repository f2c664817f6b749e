package tui

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// A shelf is folders and what is in them.
type shelf map[string][]Entry

func fileEntry(path string, kind FileKind) Entry {
	return Entry{Path: path, Name: review.Escape(path[lastSlash(path)+1:]), Kind: kind}
}

func lastSlash(path string) int {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' {
			return i
		}
	}
	return -1
}

func folder(path string, plugged bool) Entry {
	return Entry{Path: path, Name: review.Escape(path), Folder: true, Plugged: plugged}
}

func (s shelf) road(t *testing.T) *Road {
	r := (&fakeKey{}).road(smallBatch(t))
	r.Places = func(context.Context) ([]Entry, error) { return s[""], nil }
	r.List = func(_ context.Context, folder string) ([]Entry, error) {
		if entries, ok := s[folder]; ok {
			return entries, nil
		}
		return nil, wire.Errorf(wire.IOError, "", "no such folder")
	}
	open := r.Open
	r.Open = func(ctx context.Context, path string, progress func(done, all int64)) (*Opened, error) {
		if path == "/stick/broken.json" {
			return nil, wire.Errorf(wire.ScopeMismatch, "", "the leaves do not give the root")
		}
		return open(ctx, path, progress)
	}
	return r
}

func oneStick() shelf {
	return shelf{
		"": {folder("/stick", true), folder("/home/anna", false)},
		"/stick": {folder("/", false), fileEntry("/stick/scope.json", ScopeFile), fileEntry("/stick/broken.json", ScopeFile), fileEntry("/stick/set.json", SetFile),
			fileEntry("/stick/alice.set-sig.json", SetSignatureFile), fileEntry("/stick/bob.sig.json", BatchSignatureFile), fileEntry("/stick/carol.decline.json", DeclineFile),
			fileEntry("/stick/machines.txt", ExpectedFile), fileEntry("/stick/photo\x1b[2J.jpg", UnknownFile),
			{Path: "/stick/pipe", Name: review.Escape("pipe"), Trouble: "no file"}},
		"/home/anna": {folder("/home", false)},
	}
}

// With one stick plugged in the picker stands on it, and says what each file is.
func TestPickerStartsOnTheStick(t *testing.T) {
	l := begin(t, oneStick().road(t), Start{}).sees("In /stick")
	for _, text := range []string{"scope   ", "approver set ", "approver-set signature", "batch signature", "decline", "list", "unknown", "no file", "photo<U+001B>[2J.jpg"} {
		require.Contains(t, l.view(), text)
	}
	l.keys("esc").sees("plugged in")
	require.Contains(t, l.view(), "> plugged in")
	l.keys("down", "enter").sees("In /home/anna").keys("esc").sees("> folder")
}

// What cannot be reviewed says why, and Esc leads back; what can be replaces the picker.
func TestPickerOpens(t *testing.T) {
	l := begin(t, oneStick().road(t), Start{}).sees("In /stick")
	l.keys("down", "down", "enter").sees("It cannot be reviewed.").sees("SCOPE_MISMATCH: the leaves do not give the root").sees("try: plug")
	l.keys("esc").sees("> scope                   broken.json").keys("up", "enter").sees("Overview")
	l.keys("esc").sees("In /stick").sees("> scope                   scope.json")
	require.Nil(t, l.m.session.opened, "what is left is not open")
	l.keys("enter").sees("Overview").keys("2", "enter", "1", "esc").sees("In /stick")
}

// The program can begin in a folder. The picker counts, tells files apart, and marks a name that is longer than its row.
func TestPickerInAFolder(t *testing.T) {
	s := oneStick()
	long := fileEntry("/home/anna/"+strings.Repeat("long", 30)+".json", ScopeFile)
	long.Bytes, long.Changed = 12345, startTime
	s["/home/anna"] = append(s["/home/anna"], long, fileEntry("/home/anna/x.jpg", UnknownFile))
	l := begin(t, s.road(t), Start{Folder: "/home/anna"}).sees("In /home/anna").sees("2 files, 1 to review")
	l.keys("down").sees("> 12,345 bytes, of " + startTime.UTC().Format("2006-01-02 15:04")).sees("> scope                  +long")
}

func TestPickerWithoutAStick(t *testing.T) {
	s := shelf{"": {folder("/home/anna", false)}}
	l := begin(t, s.road(t), Start{}).sees("> folder")
	l.keys("enter").sees("IO_ERROR: no such folder")
	l.keys("esc").sees("q leaves the program")
	s[""] = append([]Entry{folder("/stick", true)}, s[""]...)
	for range 4 { // somebody plugs it in
		l.m.Update(tick{})
		_, cmd := l.m.Update(tick{})
		l.do(cmd)
	}
	l.sees("plugged in              /stick")
	require.Contains(t, l.view(), "> folder", "the cursor stays on what it was on")
}

// Of a file that the program was started with, an error is the program's.
func TestStartWithAFile(t *testing.T) {
	l := begin(t, oneStick().road(t), Start{Path: "/stick/broken.json"})
	require.Eventually(t, func() bool {
		select {
		case msg := <-l.msgs:
			l.send(msg)
		default:
		}
		return l.m.ended
	}, waitMost, waitStep)
	require.Equal(t, wire.ScopeMismatch, wire.CodeOf(l.m.session.failed))
}

func TestWatch(t *testing.T) {
	for name, found := range map[string][]Entry{
		"Overview":     {fileEntry("/stick/scope.json", ScopeFile)},
		"Open a file":  {fileEntry("/stick/scope.json", ScopeFile), fileEntry("/stick/set.json", SetFile)},
		"It cannot be": {fileEntry("/stick/broken.json", ScopeFile)},
	} {
		road := oneStick().road(t)
		plugged := make(chan []Entry, 1)
		road.Watch = func(_ context.Context, _ string, absent func(bool)) ([]Entry, error) {
			absent(true)
			return <-plugged, nil
		}
		l := begin(t, road, Start{Watch: "/media"}).sees("Plug the stick in.").sees("/media").sees("The folder does not exist yet.")
		plugged <- found
		l.sees(name)
	}
}
