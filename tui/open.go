package tui

import (
	"context"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// openScreen is the file picker: first the media that are plugged in, then what is in a folder, each file with what it is.
type openScreen struct {
	folder  string // "" is the places
	entries []Entry
	cursor  cursor
	listing *job // of a folder
	failed  error
	upFrom  string // the folder that was left upwards, to stand on
	into    string // the folder that is listed, "" for the places
	ticks   int
}

// listedMsg is what a folder, or the places, hold.
type listedMsg struct {
	folder  string
	entries []Entry
	err     error
}

// openFirst opens what the cursor is on, as Enter does.
type openFirst struct{}

// newOpen gives the file picker. It starts on the medium that is plugged in where there is exactly one, else with the places.
func newOpen(s *session) (screen, tea.Cmd) {
	o := new(openScreen)
	road := s.road
	var cmd tea.Cmd
	o.listing, cmd = start(o, func(ctx context.Context, _ func(tea.Msg)) tea.Msg {
		places, err := road.Places(ctx)
		var plugged []Entry
		for _, p := range places {
			if p.Plugged {
				plugged = append(plugged, p)
			}
		}
		if err == nil && len(plugged) == 1 {
			if entries, err := road.List(ctx, plugged[0].Path); err == nil {
				return listedMsg{plugged[0].Path, entries, nil}
			}
		}
		return listedMsg{"", places, err}
	})
	return o, cmd
}

// newOpenAt gives the picker with what a folder was found to hold.
func newOpenAt(folder string, entries []Entry) screen {
	o := &openScreen{folder: folder, entries: entries}
	o.cursor.at = firstReviewable(entries)
	return o
}

// newOpenIn gives the picker in a folder, or as newOpen does where none is named.
func newOpenIn(s *session, folder string) (screen, tea.Cmd) {
	if folder == "" {
		return newOpen(s)
	}
	o := &openScreen{folder: folder}
	return o, o.list(s, folder).cmd
}

// firstReviewable gives the first entry that can be reviewed, else the first.
func firstReviewable(entries []Entry) int {
	return max(slices.IndexFunc(entries, func(e Entry) bool { return e.Kind.Reviewable() }), 0)
}

func (o *openScreen) title(*session) string { return "Open a file to review" }

func (o *openScreen) commands(*session) []command {
	return []command{enter, back, down, up, quit}
}

func (o *openScreen) update(s *session, msg tea.Msg) step {
	switch msg := msg.(type) {
	case listedMsg:
		o.take(msg)
	case openFirst:
		return o.key(s, enter)
	case tick:
		if o.ticks++; o.folder == "" && o.ticks%2 == 0 && o.listing == nil { // a stick that is plugged in comes by itself
			return o.list(s, "")
		}
	case tea.KeyMsg:
		return o.key(s, commandOf(msg))
	}
	return step{}
}

// take shows what was listed, and stands on what it stood on before.
func (o *openScreen) take(msg listedMsg) {
	o.listing = nil
	if msg.err != nil {
		o.failed = msg.err
		return
	}
	on := o.upFrom
	if o.folder == msg.folder && o.cursor.at < len(o.entries) {
		on = o.entries[o.cursor.at].Path
	}
	o.folder, o.entries, o.failed, o.upFrom, o.cursor.at = msg.folder, msg.entries, nil, "", firstReviewable(msg.entries)
	for i, e := range msg.entries {
		if e.Path == on {
			o.cursor.at = i
		}
	}
}

func (o *openScreen) key(s *session, c command) step {
	switch c {
	case enter:
		if o.cursor.at >= len(o.entries) || o.listing != nil {
			return step{}
		}
		if e := o.entries[o.cursor.at]; e.Folder {
			return o.list(s, e.Path)
		} else {
			reading, cmd := newReadingFile(s, e.Path, false)
			return step{push: reading, cmd: cmd}
		}
	case back:
		if o.listing != nil && o.into != "" { // a slow stick: stay where it is
			o.stop()
			return step{}
		}
		if o.folder == "" {
			s.notice = "q leaves the program"
			return step{}
		}
		o.upFrom = o.folder
		return o.list(s, "")
	}
	o.cursor.move(c)
	return step{}
}

// list has a folder listed, or the places.
func (o *openScreen) list(s *session, folder string) step {
	o.stop()
	o.into = folder
	road := s.road
	var cmd tea.Cmd
	o.listing, cmd = start(o, func(ctx context.Context, _ func(tea.Msg)) tea.Msg {
		if folder == "" {
			places, err := road.Places(ctx)
			return listedMsg{"", places, err}
		}
		entries, err := road.List(ctx, folder)
		return listedMsg{folder, entries, err}
	})
	return step{cmd: cmd}
}

func (o *openScreen) left() { o.stop() }

// stop ends a listing; nothing comes of it any more.
func (o *openScreen) stop() {
	if o.listing != nil {
		o.listing.cancel()
		o.listing.ended, o.listing = true, nil
	}
}

// head gives the rows above the list.
func (o *openScreen) head(s *session, width int) []row {
	p := sheet{width: width}
	switch {
	case o.listing != nil && o.into != "":
		p.text("Looking into ", 13, plain, review.Escape(o.into))
		p.say(0, faint, "Esc stops.")
	case o.folder != "":
		p.text("In ", 3, faint, review.Escape(o.folder))
		o.counts(&p)
	case !slices.ContainsFunc(o.entries, func(e Entry) bool { return e.Plugged }) && (o.listing == nil || o.entries != nil):
		p.say(0, plain, "No stick is plugged in. One that is plugged in comes into the list by itself.")
	default:
		p.say(0, faint, "Media that are plugged in come first. Nothing is read of a file but its beginning.")
	}
	if o.failed != nil {
		layRefusal(&p, s.road, o.failed)
	}
	if len(o.entries) == 0 && o.listing == nil && o.failed == nil {
		p.say(0, plain, "Nothing is here.")
	}
	return p.rows
}

// counts says how many of what is listed can be reviewed, and of the file with the cursor what tells it from another.
func (o *openScreen) counts(p *sheet) {
	n, files := 0, 0
	for _, e := range o.entries {
		if e.Kind.Reviewable() {
			n++
		}
		if !e.Folder {
			files++
		}
	}
	p.say(0, faint, review.Counted(files, "file")+", "+review.Number(n)+" to review")
	e := &Entry{}
	if o.cursor.at < len(o.entries) {
		e = &o.entries[o.cursor.at]
	}
	size := "-"
	if !e.Folder && !e.Changed.IsZero() {
		size = review.Counted(int(e.Bytes), "byte") + ", of " + e.Changed.UTC().Format("2006-01-02 15:04")
	}
	p.say(0, plain, size)
	p.add(e.says(p.width).marked(p.width)) // always one row: the list does not jump
}

// says gives what a file says of itself, before anything of it is proven.
func (e *Entry) says(width int) row {
	own := ""
	if width >= 60 {
		own = "by its own word "
	}
	switch {
	case e.Kind == ScopeFile && own != "" && e.Operations > 0:
		return row{lead: own + review.Counted(int(min(e.Operations, 1<<53)), "operation") + ", batch ", text: e.Batch.String()}
	case e.Kind == ScopeFile && e.Batch.String() != "":
		return row{lead: own + "batch ", text: e.Batch.String()}
	case e.Epoch > 0:
		return row{own: own + "epoch " + review.Number(int(min(e.Epoch, 1<<53)))}
	}
	return row{own: "-", ink: faint}
}

func (o *openScreen) place(s *session, width, height int) {
	o.cursor.set(len(o.entries), height-len(o.head(s, width)))
}

func (o *openScreen) below() bool { return o.cursor.below() }

func (o *openScreen) view(s *session, width, height int) []row {
	rows := o.head(s, width)
	kinds := 24
	if width < 60 {
		kinds = 16
	}
	for i := o.cursor.offset; i < o.cursor.end(); i++ {
		e := o.entries[i]
		colour := plain
		if i == o.cursor.at {
			colour = chosen
		}
		r := row{lead: pointer(i == o.cursor.at) + pad(e.what(kinds), kinds), leadInk: colour, text: e.Name.String(), ink: colour}
		rows = append(rows, r.marked(width))
	}
	return rows
}

// what says what the entry is, in so many columns.
func (e *Entry) what(columns int) string {
	what := e.Kind.String()
	if columns < 24 {
		what = shortKinds[min(int(e.Kind), len(shortKinds)-1)]
	}
	switch {
	case e.Kind == ScopeFile && e.Operations > 0 && e.Operations <= wire.MaxLeaves:
		what = "scope of " + review.Number(int(e.Operations))
	case e.Trouble != "":
		what = e.Trouble
	case e.Folder && e.Plugged:
		what = "plugged in"
	case e.Folder:
		what = "folder"
	}
	if cut, _, found := strings.Cut(what, " ("); found && len(what) >= columns {
		what = cut
	}
	return what[:min(len(what), columns-1)]
}
