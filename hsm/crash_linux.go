//go:build cgo

package hsm

/*
#cgo CFLAGS: -D_GNU_SOURCE
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

extern char __executable_start, etext;
static char crash_text[2048];
static size_t crash_length;
static char *volatile leftovers; // paths, a NUL after each and another after the last; a list that was replaced is not freed
static struct sigaction go_action[NSIG];

static int ours(const void *pc) { return (const char *)pc >= &__executable_start && (const char *)pc < &etext; }

static void *counter(void *context)
{
	ucontext_t *u = context;
#if defined(__x86_64__)
	return (void *)u->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	return (void *)u->uc_mcontext.pc;
#else
	return &etext - 1; // unknown: Go's own handler has it
#endif
}

// end_here says what was prepared, removes what is not whole and ends the process as one that failed. It is also where exit
// ends that a library called, as atexit has it; Go's own end does not come by here. Status 0 would say that all was done.
static void end_here(void)
{
	ssize_t done = write(2, crash_text, crash_length);
	(void)done;
	for (const char *path = leftovers; path && *path; path += strlen(path) + 1)
		unlink(path);
	_exit(1);
}

// on_crash ends the process where a library, and not this program, made a fault or called abort. Everything else is Go's.
static void on_crash(int number, siginfo_t *info, void *context)
{
	int itself = info->si_code > 0 || (info->si_code == SI_TKILL && info->si_pid == getpid());
	if (itself && !ours(counter(context)))
		end_here();
	go_action[number].sa_sigaction(number, info, context);
}

static void remove_in_crash(char *paths) { leftovers = paths; }

static void catch_crashes(const char *text, size_t length, int exits)
{
	static const int numbers[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
	static int registered;
	if (exits && !registered)
		registered = !atexit(end_here);
	crash_length = length < sizeof crash_text ? length : sizeof crash_text;
	memcpy(crash_text, text, crash_length);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		struct sigaction now;
		if (sigaction(numbers[i], NULL, &now) || !(now.sa_flags & SA_SIGINFO) || now.sa_sigaction == on_crash)
			continue;
		go_action[numbers[i]] = now;
		now.sa_sigaction = on_crash;
		sigaction(numbers[i], &now, NULL);
	}
}
*/
import "C"

import (
	"strings"
	"unsafe"
)

// RemoveInCrash says which files a process that CatchCrashes ends removes: outputs that are not whole.
func RemoveInCrash(paths []string) {
	list := ""
	for _, path := range paths {
		if !strings.Contains(path, "\x00") {
			list += path + "\x00"
		}
	}
	C.remove_in_crash(C.CString(list))
}

// CatchCrashes has a process that a library ends, by a fault, by abort or by exit, write text to standard error and end with
// status 1. Without it Go prints the registers, which can hold a PIN, and ends with 2, and exit(0) looks like success. A
// fault in Go itself is reported as ever. Nothing catches _exit.
func CatchCrashes(text string) {
	c := C.CString(text)
	defer C.free(unsafe.Pointer(c))
	exits := C.int(1)
	if exitIsOurs {
		exits = 0
	}
	C.catch_crashes(c, C.size_t(len(text)), exits)
}
