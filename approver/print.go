package main

import (
	"encoding/json"

	"github.com/better-compute/approver/core/wire"
)

// print writes a result to standard output, whole: it is what a command is for.
func (a *app) print(result []byte) error {
	_, err := a.stdout.Write(result)
	return written(err)
}

// printJSON prints a result as one line of JSON in ASCII.
func (a *app) printJSON(result any) error {
	line, err := json.Marshal(result)
	if err != nil {
		return err
	}
	return a.print([]byte(ascii(string(line)) + "\n"))
}

// written gives the error of a stream its code.
func written(err error) error {
	if err != nil {
		return wire.Errorf(wire.IOError, "", "%w", err)
	}
	return nil
}
