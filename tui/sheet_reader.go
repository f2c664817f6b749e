package tui

// A sheetReader is a sheet that is to be read, with many texts below it. It is read once all of the sheet, and the first of the texts,
// stood on the screen for a glance.
type sheetReader struct {
	reader
	sheet sheet
	tail  tail
}

// ended tells whether the end of what is to be read is on the screen.
func (o *sheetReader) ended() bool { return o.offset+o.height > min(len(o.sheet.rows), o.rows-1) }

// settle has it laid out for a width, and tells whether it is read.
func (o *sheetReader) settle(s *session, width, height int, lay func(*session, int)) (read bool) {
	if o.sheet.width != width {
		lay(s, width)
	}
	o.set(len(o.sheet.rows)+o.tail.rows(), height)
	return o.look(s, o.ended(), width, height)
}

func (o *sheetReader) view(*session, int, int) []row { return o.window(o.sheet.rows, &o.tail) }
