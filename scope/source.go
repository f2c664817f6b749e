package scope

import "io"

const (
	// windowBytes is how much of a file is read at a time. A window stays in the processor's cache, and its pages are
	// touched once instead of once for each byte of the file.
	windowBytes = 256 << 10
	// headroom stands free before a window, for what was unread of the one before.
	headroom = 8 << 10
)

// A source gives a file window by window. With an assistant the next one is read while the last one is looked at.
type source struct {
	r         io.Reader
	assistant *assistant
	ahead     chan window // the window that was asked for
}

// A window is what was read into buf from headroom on. err is io.EOF with the last one.
type window struct {
	buf []byte
	n   int
	err error
}

func newSource(r io.Reader, a *assistant) *source {
	s := &source{r: r, assistant: a, ahead: make(chan window, 1)}
	if a != nil {
		s.ask(newBuffer())
	}
	return s
}

func newBuffer() []byte { return make([]byte, headroom+windowBytes) }

// ask has a window read into a buffer.
func (s *source) ask(buf []byte) { s.assistant.urgent <- func() { s.ahead <- s.read(buf) } }

func (s *source) read(buf []byte) window {
	n, err := io.ReadFull(s.r, buf[headroom:])
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return window{buf, n, err}
}

// next gives the next window, and takes back the buffer of the one before, nil where there was none. After a window with
// an error there is no next.
func (s *source) next(before []byte) window {
	if before == nil {
		before = newBuffer()
	}
	if s.assistant == nil {
		return s.read(before)
	}
	w := <-s.ahead
	if w.err == nil {
		s.ask(before)
	}
	return w
}
