package hsm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/better-compute/approver/core/wire"
)

// A Probe is what came of trying a module: what it calls itself, or what is wrong with it.
type Probe struct {
	Path         string `json:"path"`
	Library      string `json:"library,omitempty"`      // CK_INFO.libraryDescription
	Manufacturer string `json:"manufacturer,omitempty"` // CK_INFO.manufacturerID
	Version      string `json:"version,omitempty"`      // CK_INFO.libraryVersion, "2.6"
	Tokens       int    `json:"tokens"`                 // slots with a token
	Trouble      string `json:"trouble,omitempty"`      // a sentence, dlerror's text in it; "" where the module works
}

// OK tells whether the module works: it loads, initialises, describes itself, lists its slots and finalizes.
func (p Probe) OK() bool { return p.Trouble == "" }

const (
	probeTimeout  = 10 * time.Second
	probeFD       = 3
	maxProbeBytes = 64 << 10
)

// ProbeModule tries the module at path in a process of its own, since a library that is loaded may crash or hang, and must
// not take the others' listing with it. command is a program and its first arguments; path is appended; it has to call
// AnswerProbe. timeout bounds the whole, 0 is 10 s; then the process is killed. What the library itself prints is dropped.
// Whatever goes wrong is the Probe's Trouble.
func ProbeModule(ctx context.Context, command []string, path string, timeout time.Duration) Probe {
	failed := func(format string, args ...any) Probe {
		return Probe{Path: path, Trouble: fmt.Sprintf(format, args...)}
	}
	if timeout <= 0 {
		timeout = probeTimeout
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	r, w, err := os.Pipe()
	if err != nil {
		return failed("it cannot be tried: %v", err)
	}
	defer r.Close()
	child := exec.CommandContext(limited, command[0], append(command[1:len(command):len(command)], path)...)
	child.ExtraFiles = []*os.File{w}
	child.WaitDelay = time.Second // for what the library started and left behind
	inGroup(child)
	err = child.Start()
	w.Close()
	if err != nil {
		return failed("it cannot be tried: %v", err)
	}
	read := make(chan []byte, 1)
	go func() {
		data, _ := io.ReadAll(io.LimitReader(r, maxProbeBytes+1))
		read <- data
	}()
	err = child.Wait()
	r.SetReadDeadline(time.Now().Add(time.Second)) // a child of the library may hold the other end
	data := <-read
	switch {
	case ctx.Err() != nil:
		return failed("it was not tried to the end: %v", context.Cause(ctx))
	case limited.Err() != nil:
		return failed("it did not answer within %v", timeout)
	case err != nil && child.ProcessState != nil && !child.ProcessState.Exited():
		return failed("it crashed the process that tried it: %v", child.ProcessState)
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return failed("the process that tried it failed: %v", err)
	}
	var p Probe
	if len(data) > maxProbeBytes || json.Unmarshal(data, &p) != nil || p.Path != path {
		return failed("it ended the process that tried it without an answer")
	}
	return p
}

// AnswerProbe tries the module at path in this process, for ProbeModule, and writes the Probe on descriptor 3. The error is
// INVALID_STATE where that descriptor was not handed over, before anything is loaded: a person typed the command.
func AnswerProbe(ctx context.Context, path string) error {
	if !inherited(probeFD) {
		return wire.Errorf(wire.InvalidState, "", "this command answers another one on descriptor 3; use the one that lists modules")
	}
	answer := os.NewFile(probeFD, "probe")
	closeOnExec(probeFD) // not for programs that the library starts
	defer answer.Close()
	if err := closeInherited(probeFD + 1); err != nil {
		return wire.Errorf(wire.IOError, "", "the descriptors of a probe cannot be told: %w", err)
	}
	endBySignal()
	data, err := json.Marshal(probe(ctx, path))
	if err == nil {
		_, err = answer.Write(data)
	}
	if err != nil {
		return wire.Errorf(wire.IOError, "", "writing the answer of a probe: %w", err)
	}
	return nil
}

// probe tries a module and tells.
func probe(ctx context.Context, path string) Probe {
	p := Probe{Path: path}
	m, err := LoadModule(ctx, path)
	if err == nil {
		err = withModule(ctx, m, 0, func(l *line) error {
			library, err := call(ctx, l, "C_GetInfo", m.Library)
			if err != nil {
				return moduleRefusal("C_GetInfo", err)
			}
			p.Library, p.Manufacturer = library.Description, library.Manufacturer
			p.Version = Version{library.Major, library.Minor}.String()
			slots, err := call(ctx, l, "C_GetSlotList", m.Slots)
			p.Tokens = len(slots)
			return moduleRefusal("C_GetSlotList", err)
		})
	}
	if err != nil {
		p.Trouble = wire.MessageOf(err)
	}
	return p
}
