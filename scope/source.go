package scope

import "io"

const (
	// windowBytes is how much of a file is read at a time. A window stays in the processor's cache, and its pages are
	// touched once instead of once for each byte of the file.
	windowBytes = 256 << 10
	// headroom stands free before a window, for what was unread of the one before.
	headroom = 8 << 10
)

// A source gives a file window by window. With two workers the next one is read while the last one is looked at.
type source struct {
	r       io.Reader
	windows chan window   // nil where nothing reads ahead
	free    chan []byte   // buffers that were looked at
	done    chan struct{} // closed when nobody wants more windows
}

// A window is what was read into buf from headroom on. err is io.EOF with the last one.
type window struct {
	buf []byte
	n   int
	err error
}

func newSource(r io.Reader, workers int) *source {
	s := &source{r: r}
	if workers < 2 {
		return s
	}
	s.windows, s.free, s.done = make(chan window), make(chan []byte, 2), make(chan struct{})
	s.free <- newBuffer()
	go s.readAhead()
	return s
}

func newBuffer() []byte { return make([]byte, headroom+windowBytes) }

// readAhead reads windows until the file or the wish for them ends.
func (s *source) readAhead() {
	defer close(s.windows)
	for {
		var w window
		select {
		case buf := <-s.free:
			w = s.read(buf)
		case <-s.done:
			return
		}
		select {
		case s.windows <- w:
		case <-s.done:
			return
		}
		if w.err != nil {
			return
		}
	}
}

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
	if s.windows == nil {
		return s.read(before)
	}
	s.free <- before
	return <-s.windows
}

// close ends the reading ahead, and waits until the reader is no longer in use.
func (s *source) close() {
	if s.windows == nil {
		return
	}
	close(s.done)
	for range s.windows {
	}
}
