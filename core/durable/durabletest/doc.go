// Package durabletest ends processes at their system calls (ptrace(2)), for tests of what they leave on the disk. A store holds
// where, for every n until the process comes to its end, what is there after
//
//	killed := durabletest.KillAt(t, cmd, n, []uint64{unix.SYS_WRITE, unix.SYS_FSYNC, unix.SYS_RENAMEAT2})
//
// is whole or not there, and whatever the process said was done is there. Linux only.
package durabletest
