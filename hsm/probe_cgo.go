//go:build cgo && unix

package hsm

/*
#include <signal.h>
#include <stddef.h>

static void end_by_signal(void)
{
	static const int numbers[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS };
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		signal(numbers[i], SIG_DFL);
}
*/
import "C"

// endBySignal has a fault or an abort end the process by its signal, which whoever waits for it sees. Go would print the
// signal, with registers, on a standard error that may be the library's, and end with status 2.
func endBySignal() { C.end_by_signal() }
