// Package examples holds batches to try the commands on, a ceremony as a shell script, and programs that import the library.
// README.md says what is there; the tests run each of them.
package examples
