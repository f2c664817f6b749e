// Package tui is the terminal program over a review document, whatever it reviews: it draws what the document says and
// computes nothing of its own. What reads files, opens keys and signs comes in as a Road; what may be signed is for
// review.Reading and ceremony to say.
//
// A Model is the one root model. It holds a stack of screens, each a small file with its keys, its layout and nothing else:
//
//	Overview ─ Operations ─ Operation, Summary
//	         ─ Subjects ─ Leaf
//	         ─ Findings ─ Finding
//	         ─ Changes                            of an approver-set change, in place of Operations
//	         ─ Confirm ─ PIN ─ Done               once the Reading is complete
//	         ─ Decline
//
// No Update does I/O: what blocks runs as a job beside the screens, which Esc cancels. A screen that a key could do harm on
// is guarded: it hears nothing until the keyboard has been quiet, so keys typed ahead or held down never reach it, nor does
// a paste.
//
// Every screen draws rows. A row begins with the program's own words, in ASCII, and a text from outside ends it: no text
// begins a row, none is followed by anything, and where one goes on below, "\\ " stands before it. So no text can pose as the
// program's, whatever a terminal thinks of its width.
package tui
