package main

import "golang.org/x/sys/unix"

// harden keeps secrets out of core dumps: the process may not be dumped or traced by others of its user. A failure is no
// reason to stop; a kernel without these calls has none of the files either.
func harden() {
	unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
}
