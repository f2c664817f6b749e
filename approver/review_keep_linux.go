package main

import (
	"encoding/binary"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

// keepName is the hidden command that puts a terminal back after a program that could not.
const keepName = "keep-terminal"

// A keptTerminal is a process beside this one that waits for it to end, and puts the terminal back where this one ends
// without a word: killed, or crashed with a module. The nil one is none.
type keptTerminal struct {
	process *exec.Cmd
	line    *os.File // it ends when this process does
}

// keepTerminal starts to keep the terminal as it is now. Where that cannot be had the program goes on without: it puts the
// terminal back itself wherever it ends by itself.
func (a *app) keepTerminal(tty *os.File) *keptTerminal {
	settings, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil
	}
	defer read.Close()
	k := &keptTerminal{exec.Command(self, keepName), write}
	k.process.ExtraFiles = []*os.File{read, tty}
	k.process.Env = []string{}
	k.process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what ends all processes of the terminal's job leaves it
	if err := k.process.Start(); err != nil || binary.Write(write, binary.NativeEndian, settings) != nil {
		write.Close()
		return nil
	}
	a.onScreen = true
	return k
}

// release says that the terminal is as it was.
func (k *keptTerminal) release() {
	if k == nil {
		return
	}
	k.line.Write([]byte{1})
	k.line.Close()
	k.process.Wait()
}

func keepCommand() *cobra.Command {
	return &cobra.Command{
		Use:    keepName,
		Short:  "Put the terminal of a review back",
		Hidden: true,
		Args:   noArguments,
		RunE: func(*cobra.Command, []string) error {
			signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGTTOU, syscall.SIGTTIN)
			keep(os.NewFile(3, "line"), os.NewFile(4, "terminal"))
			return nil
		},
	}
}

// leaveScreen shows the cursor, and the screen that was there before, without a jump of the cursor where it is there already.
const leaveScreen = "\x1b[?2004l\x1b[?25h\x1b[?1047l\r\n"

// keep waits for the end of whoever holds the other end of line.
func keep(line, terminal *os.File) {
	var settings unix.Termios
	if line == nil || terminal == nil || binary.Read(line, binary.NativeEndian, &settings) != nil {
		return
	}
	if word, err := io.ReadAll(line); err != nil || len(word) > 0 {
		return
	}
	terminal.WriteString(leaveScreen)
	unix.IoctlSetTermios(int(terminal.Fd()), unix.TCSETS, &settings)
}
