package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// The tests run the command as a process: scripts run the test binary's own main, the others what "go build" makes, which
// is no slower and no larger than what people use.

// built is the command, and builtWithoutCGO the one that knows no tokens.
var built, builtWithoutCGO string

func TestMain(m *testing.M) {
	testscript.Main(suite{m}, map[string]func(){
		"approver": func() {
			syscall.Setsid() // away from a terminal that runs the tests; under ttyin it leads its session and stays
			main()
		},
		"measure": measure,
	})
}

// measure runs a command line and writes the most memory it had, in KiB, its processor time and how long it took to
// descriptor 3. It stands between because the kernel counts the memory of who started a process as the process's own.
func measure() {
	out := os.NewFile(3, "measured")
	syscall.CloseOnExec(3)
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	start := time.Now()
	cmd.Run()
	took, state := time.Since(start), cmd.ProcessState
	fmt.Fprintln(out, state.SysUsage().(*syscall.Rusage).Maxrss, int64(state.UserTime()+state.SystemTime()), int64(took))
	os.Exit(cmd.ProcessState.ExitCode())
}

type suite struct{ *testing.M }

func (s suite) Run() int {
	dir, err := os.MkdirTemp("", "approver-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	built, builtWithoutCGO = filepath.Join(dir, "approver"), filepath.Join(dir, "approver-nocgo")
	for out, cgo := range map[string]string{built: "CGO_ENABLED=1", builtWithoutCGO: "CGO_ENABLED=0"} {
		build := exec.Command("go", "build", "-o", out, ".")
		build.Env = append(os.Environ(), cgo)
		if text, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "building the command with %s: %v\n%s", cgo, err, text)
			return 1
		}
	}
	return s.M.Run()
}
