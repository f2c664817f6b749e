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
	return Entry{Path: path, Name: review.Escape(path[lastSlash(path)+1:]), Told: Told{Kind: kind}}
}

// scopeEntry is a scope that says of itself what it is.
func scopeEntry(path, batch string, operations uint64) Entry {
	e := fileEntry(path, ScopeFile)
	e.Batch, e.Operations, e.Bytes, e.Changed = review.Escape(batch), operations, 22389151, startTime
	return e
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
		"/stick": {folder("/", false), scopeEntry("/stick/scope.json", "batch_01k0night", 15), fileEntry("/stick/broken.json", ScopeFile), fileEntry("/stick/set.json", SetFile),
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
	l := begin(t, oneStick().road(t), Start{}).sees("In /stick").sees("> scope of 15")
	l.keys("down", "enter").sees("It cannot be reviewed.").sees("SCOPE_MISMATCH: the leaves do not give the root").sees("try: plug")
	l.keys("esc").sees("> scope                   broken.json").keys("up", "enter").sees("Overview")
	l.keys("esc").sees("In /stick").sees("> scope of 15             scope.json")
	require.Nil(t, l.m.session.opened, "what is left is not open")
	l.keys("enter").sees("Overview").keys("2", "enter", "1", "esc").sees("In /stick")
}

// Of two scopes on one stick the size of the batch stands in the list, and the rest of what the file says above it.
func TestPickerTellsScopesApart(t *testing.T) {
	s := shelf{"": {folder("/stick", true)}, "/stick": {scopeEntry("/stick/a.json", "batch_one", 415), scopeEntry("/stick/b.json", "batch_\u202etwo", 1),
		{Path: "/stick/c.json", Name: review.Escape("c.json"), Told: Told{Kind: SetSignatureFile, Epoch: 4}}}}
	l := begin(t, s.road(t), Start{}).sees("> scope of 415            a.json").sees("  scope of 1 ").sees("by its own word 415 operations, batch batch_one").sees("22,389,151 bytes, of 2027-01-20")
	l.keys("down").sees("by its own word 1 operation, batch batch_<U+202E>two")
	l.keys("down").sees("by its own word epoch 4")
}

// A folder that takes long to be listed says so, and Esc stays where it was; nothing of it comes later.
func TestPickerStopsListing(t *testing.T) {
	s := oneStick()
	road := s.road(t)
	list := road.List
	ended := make(chan bool)
	road.List = func(ctx context.Context, folder string) ([]Entry, error) {
		if folder != "/home/anna" {
			return list(ctx, folder)
		}
		<-ctx.Done()
		close(ended)
		return []Entry{fileEntry("/home/anna/late.json", ScopeFile)}, nil
	}
	l := begin(t, road, Start{}).sees("In /stick").keys("esc").sees("plugged in").keys("down", "enter")
	l.sees("Looking into /home/anna").sees("Esc stops.").keys("enter").keys("esc").sees("Media that are plugged in")
	require.NotContains(t, l.view(), "late.json")
	require.Eventually(t, func() bool {
		select {
		case msg := <-l.msgs:
			l.send(msg)
		case <-ended:
			return true
		default:
		}
		return false
	}, waitMost, waitStep)
	l.keys("up", "enter").sees("In /stick")
}

// The program can begin in a folder. The picker counts, tells files apart, and marks a name that is longer than its row.
func TestPickerInAFolder(t *testing.T) {
	s := oneStick()
	long := fileEntry("/home/anna/"+strings.Repeat("long", 30)+".json", ScopeFile)
	long.Bytes, long.Changed = 12345, startTime
	s["/home/anna"] = append(s["/home/anna"], long, fileEntry("/home/anna/x.jpg", UnknownFile))
	l := begin(t, s.road(t), Start{Folder: "/home/anna"}).sees("In /home/anna").sees("2 files, 1 to review")
	l.sees("12,345 bytes, of " + startTime.UTC().Format("2006-01-02 15:04")).sees("> scope                  +long")
}

func TestPickerWithoutAStick(t *testing.T) {
	s := shelf{"": {folder("/home/anna", false)}}
	l := begin(t, s.road(t), Start{}).sees("> folder").sees("No stick is plugged in.")
	l.keys("enter").sees("IO_ERROR: no such folder")
	l.keys("esc").sees("q leaves the program")
	s[""] = append([]Entry{folder("/stick", true)}, s[""]...)
	for range 4 { // somebody plugs it in
		l.m.Update(tick{})
		_, cmd := l.m.Update(tick{})
		l.do(cmd)
	}
	l.sees("plugged in              /stick")
	require.NotContains(t, l.view(), "No stick")
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

// A file that changed is read anew from its own folder.
func TestChangedFileIsFoundInItsFolder(t *testing.T) {
	k := &fakeKey{fails: wire.Errorf(wire.ScopeChanged, "", "the file changed since you read it")}
	road := k.road(func() *Opened { o := smallBatch(t)(); o.Folder = "/home/anna"; return o })
	s := oneStick()
	s["/home/anna"] = append(s["/home/anna"], fileEntry("/home/anna/mine.json", ScopeFile))
	road.Places, road.List = s.road(t).Places, s.road(t).List
	begin(t, road, Start{Path: "scope.json"}).sees("Overview").confirms().sees("SCOPE_CHANGED").keys("esc").sees("In /home/anna").sees("> scope                   mine.json")
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
