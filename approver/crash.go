package main

import (
	"bytes"
	"context"

	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
)

// load loads a module. Every one is loaded by it, so that none logs PINs, or ends the process without a word that is ours.
func (a *app) load(ctx context.Context, f hsm.ModuleFile) (hsm.Module, error) {
	if err := refuseSpy(f.Path); err != nil {
		return nil, err
	}
	a.catchCrashes(f.Path)
	return a.loadModule(ctx, f)
}

// catchCrashes says beforehand what to say where a module ends the process, and has it remove the temporary files. What was
// being written is whole or not there.
func (a *app) catchCrashes(module string) {
	var text bytes.Buffer
	if a.onScreen { // to be read on the screen that was there before
		text.WriteString("\x1b[?1049l\r\n")
	}
	crashed := *a
	crashed.stderr = &text
	err := wire.Errorf(wire.KeyUnavailable, "module", "the PKCS#11 module %q crashed, and this program with it; an output is there whole or not at all", module)
	if a.json {
		crashed.reportJSON(wire.CodeOf(err), wire.ReasonOf(err), err.Message, map[string]any{})
	} else {
		text.WriteString(string(wire.CodeOf(err)) + ": " + review.Escape(err.Message).String() + "\n")
	}
	hsm.CatchCrashes(text.String())
	durable.Watch(hsm.RemoveInCrash)
}
