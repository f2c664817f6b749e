package hsm

import (
	"context"
	"time"

	"github.com/better-compute/approver/core/wire"
)

// A SlotListing is a slot that says it has a token, and what the token says about itself.
type SlotListing struct {
	Slot                      SlotID
	Description, Manufacturer string // of the slot; "" where it does not say
	Token                     TokenInfo
	Trouble                   error // why Token is empty; nil where it is not
}

// An Inventory is what a module shows to somebody who is not logged in.
type Inventory struct {
	Library LibraryInfo
	Slots   []SlotListing // those with a token, initialised or not, in the module's order
}

// ListSlots initialises the module, reads the slots that have a token, and finalizes it. Nothing is opened, and nobody
// logs in. timeout is that of each call; 0 is 60 s. A slot that does not answer is listed with its trouble. Errors are
// KEY_UNAVAILABLE, "module" or "timeout".
func ListSlots(ctx context.Context, m Module, timeout time.Duration) (Inventory, error) {
	var inventory Inventory
	err := withModule(ctx, m, timeout, func(l *line) (err error) {
		inventory, err = listSlots(ctx, l, m)
		return err
	})
	return inventory, err
}

func listSlots(ctx context.Context, l *line, m Module) (inventory Inventory, err error) {
	if inventory.Library, err = call(ctx, l, "C_GetInfo", m.Library); err != nil {
		return inventory, moduleRefusal("C_GetInfo", err)
	}
	slots, err := call(ctx, l, "C_GetSlotList", m.Slots)
	if err != nil {
		return inventory, moduleRefusal("C_GetSlotList", err)
	}
	for _, id := range slots {
		listing := SlotListing{Slot: id}
		described, err := call(ctx, l, "C_GetSlotInfo", func() (SlotInfo, error) { return m.Slot(id) })
		if wire.CodeOf(err) != "" { // a deadline or the end of the context, not an answer of the slot
			return inventory, err
		} else if err == nil {
			listing.Description, listing.Manufacturer = described.Description, described.Manufacturer
		}
		record, err := call(ctx, l, "C_GetTokenInfo", func() (TokenRecord, error) { return m.Token(id) })
		if wire.CodeOf(err) != "" {
			return inventory, err
		} else if err != nil {
			listing.Trouble = refusal("C_GetTokenInfo", err)
		} else {
			listing.Token = newTokenInfo(id, record)
		}
		inventory.Slots = append(inventory.Slots, listing)
	}
	return inventory, nil
}

// withModule calls f between C_Initialize and C_Finalize. The second is left out only while a call hangs; its own error
// is given where f has none.
func withModule(ctx context.Context, m Module, timeout time.Duration, f func(*line) error) error {
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	l := newLine(timeout)
	defer l.stop()
	if _, err := call(ctx, l, "C_Initialize", nothing(m.Initialize)); err != nil {
		return moduleRefusal("C_Initialize", err)
	}
	err := f(l)
	if !l.settle(min(closeGrace, timeout)) {
		return err
	}
	if _, final := call(context.Background(), l, "C_Finalize", nothing(m.Finalize)); err == nil {
		err = moduleRefusal("C_Finalize", final)
	}
	return err
}
