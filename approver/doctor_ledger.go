package main

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/better-compute/approver/core/ledger"
	"github.com/better-compute/approver/core/wire"
)

// leastLedgerSpace is the room that the record of the largest batch takes, with what its pages need.
const leastLedgerSpace = 64 << 20

// ledger verifies the ledger that the ceremony will use, and says where it stands, to be compared with what was written down.
func (d *doctor) ledger(context.Context) outcome {
	folder, _, err := d.app.stateFolder("")
	if err != nil {
		return bad("%s", wire.MessageOf(err)).do("give each review --state DIR, or configure state")
	}
	l, err := ledger.OpenReadOnly(folder)
	if wire.CodeOf(err) == wire.NotFound {
		return warn("there is none in %s: the first review begins it", folder).note("folder", folder).
			do("if this laptop, or another, has signed before, find its ledger first: this one will know nothing of it")
	}
	if err != nil {
		return failed(err).note("folder", folder)
	}
	defer l.Close()
	chain, err := l.Verify()
	if err != nil {
		return failed(err).note("folder", folder)
	}
	head := chain.Head()
	o := fine("%s verified in %s", counted(int(head.Seq), "record", "records"), folder)
	if head.Seq > 0 {
		o.found += "; compare the head with what you wrote down: " + head.Hash.String() + ", " + strings.Join(head.Words(), " ")
	}
	var stat unix.Statfs_t
	if err := unix.Statfs(folder, &stat); err == nil {
		if free := uint64(stat.Bavail) * uint64(stat.Bsize); free < leastLedgerSpace {
			o.light, o.found = amber, o.found+fmt.Sprintf("; %d MiB are free there", free>>20)
			o.advice = "make room: the record of a large batch may not fit, and is then not signed"
		}
	}
	return o.note("folder", folder).note("records", head.Seq).note("head", head.Hash.String()).note("words", strings.Join(head.Words(), " "))
}
