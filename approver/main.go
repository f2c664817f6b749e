// Command approver reviews batches of destructive operations on an air-gapped machine and signs or declines them with a key
// that stays on its token.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	harden()
	signal.Ignore(syscall.SIGPIPE) // a reader that went away is an IO_ERROR like any other
	signal.Ignore(syscall.SIGTSTP) // a shell that gives the terminal back turns the echo on, under a PIN that is being typed
	// SIGQUIT (Ctrl-\) too: left to Go it prints registers, ends with 2, and leaves the echo of a PIN prompt off.
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	a := osApp()
	a.keepStdout()
	os.Exit(run(ctx, a, os.Args[1:]))
}
