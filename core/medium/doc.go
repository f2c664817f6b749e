// Package medium judges how the files of a run came to this machine: what a scope is checked against should not have come
// with it, and a path should be what it looks like. It reads no file. It gives findings of two rules of WIRE.md §10.
//
// # same-medium
//
// An input lies on the scope's own stick: the folder that holds the file has the device number (st_dev) of the folder that
// holds the scope, and that is no file system of the machine's own. The machine's own are those that hold "/", the home
// folder, the folder for temporary files and "/tmp", the last two because they are file systems of their own on many
// systems. Symbolic links are followed first, so what counts is the file that is read.
//
// Two partitions of one stick are two file systems, and so two media here. A file system of the machine that holds none of
// the four, such as a data partition, counts as a stick. Where the home folder itself is on the stick, the stick counts as
// the machine. On systems without device numbers (Windows) the rule finds nothing.
//
// # odd-path
//
// A path that was given holds something else than it shows. Any of its components is a symbolic link; or it, or what a link
// leads to, has a rune that is not plain. Plain are
//
//	printable ASCII                             a-z 0-9 space . _ - …
//	an ASCII letter with marks, composed        é ç š ệ (one rune: NFD gives letter and marks, NFC keeps it)
//	ordinary letters of European languages      ß æ ø đ ł þ ð œ ħ ŋ ŧ, their capitals, and these with marks
//
// and nothing else: no control character, no byte that is not UTF-8, no letter of another script (Cyrillic а), no look-alike
// in Latin (fullwidth ａ, mathematical 𝐚, ɡ, dotless ı, the Kelvin sign K), no other space, nothing invisible, no mark that
// stands alone.
//
// # Example
//
// The stick is mounted at /media/usb, and list.txt in the current folder is a symbolic link to a list on it:
//
//	Findings("/media/usb/scope.json", []Input{{Role: "expected list", Path: "list.txt"}})
//
//	same-medium  the expected list lies on the scope's own medium
//	               expected list: list.txt, which is /media/usb/machines.txt
//	odd-path     the path of the expected list is not what it looks like
//	               expected list: the symbolic link list.txt leads to /media/usb/machines.txt
package medium
