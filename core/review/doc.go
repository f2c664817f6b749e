// Package review holds the document a person reads before signing: facts, findings, operations and their fields, in texts
// that are safe to show. It knows no format. A batch scope, a change of the approver set and a command of the operations
// chain each become a Document; the command line and the terminal program only draw it.
//
// # Escaping
//
// Text from outside enters a document once, through Escape or EscapeLines, and is a Text from then on. What a terminal would
// obey, hide, reorder or draw over its neighbours becomes visible:
//
//	<U+XXXX>  a code point, four to six hex digits in upper case
//	<0xXX>    a byte that is not part of valid UTF-8
//
// Escaped are: control characters, tab and line feed included (EscapeLines splits at line feeds first); format characters
// (Cf); line, paragraph and all other separators but the space; surrogates, private use, noncharacters and what is
// unassigned; everything in the right-to-left blocks; enclosing marks, the marks that any letter may carry (script
// Inherited), variation selectors; letters and symbols without ink, such as the Hangul fillers and the Braille blank. The
// marks of scripts spelled with marks of their own, such as Thai and Devanagari, stand where they follow a letter or a
// spacing mark of such a script, at most two in a row. U+FFFD stands.
//
// A '<' that would read as the start of an escape, before "U+" or "0x", becomes <U+003C>. So escaping is reversible: no two
// strings have one Text, and no text can pretend to hold an escape. A Text counts its escapes.
//
//	in      rm -rf /<ESC>[2K  # <U+202E>        (<ESC> is the byte 1B)
//	Text    rm -rf /<U+001B>[2K  # <U+003C>U+202E>
//	escapes 2
//
// # Document
//
// A Document accounts for everything that one signature covers: its operations have exactly Size subjects, each distinct
// operation with all its fields, those it leaves at their defaults too. Findings say what to look at, by the rules of
// WIRE.md §10; a stop forbids signing. New ties a document to the statement that is signed when it is accepted. Where that is
// a decline, the document is of what no is said to, its verdict is DECLINE, and no stop forbids it. A document of something
// else than a batch counts changes or parts in place of operations, each about one subject.
//
//	What        batch scope
//	Root        c7d81b72…, the words soybean stupendous beeswax …
//	Size        15
//	Findings    ACKNOWLEDGE outlier   1 of 15 subjects of node.reimage has another image   at gpu-777
//	Operations  node.reimage, outlier, on gpu-777
//	              != image      "ubuntu-22.04"      most have "ubuntu-24.04"
//	                 wipe       false (default)
//	            node.reimage on gpu-000 … gpu-013
//	                 image      "ubuntu-24.04"
//	                 wipe       false (default)
//
// # Drawing
//
// No text can pass for what the program says. A text begins after a name, a number or a mark of the drawing and ends its
// line; one that is longer than the line goes on after "> "; lines of a script have numbers; notes stand in parentheses on
// lines of their own or after a closing quote. No line that holds a text is wider than 80 columns, so no terminal of that width
// breaks it on its own.
package review
