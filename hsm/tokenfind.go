package hsm

import (
	"context"
	"fmt"
	"strings"

	"github.com/better-compute/approver/core/wire"
)

// findToken looks for the one token that the URI names. Slots are listed first, which some modules want before any other
// call on a slot; a slot that errs is passed over and so is a token that was never initialised.
func findToken(ctx context.Context, l *line, m Module, u URI) (TokenInfo, error) {
	slots, err := call(ctx, l, "C_GetSlotList", m.Slots)
	if err != nil {
		return TokenInfo{}, moduleRefusal("C_GetSlotList", err)
	}
	if u.namesLibrary() {
		library, err := call(ctx, l, "C_GetInfo", m.Library)
		if err != nil {
			return TokenInfo{}, moduleRefusal("C_GetInfo", err)
		}
		if !u.matchesLibrary(library) {
			return TokenInfo{}, wire.Errorf(wire.KeyUnavailable, "token-not-found",
				"the pkcs11: URI names another library; this is %q version %d.%d of %q",
				library.Description, library.Major, library.Minor, library.Manufacturer)
		}
	}
	var seen, matching []TokenInfo
	silent := 0
	for _, slot := range slots {
		info, matches, err := look(ctx, l, m, u, slot)
		switch {
		case wire.CodeOf(err) != "": // a deadline or the end of the context, not an answer of the slot
			return TokenInfo{}, err
		case err != nil:
			silent++
		case info.Flags&FlagTokenInitialized != 0:
			seen = append(seen, info)
			if matches {
				matching = append(matching, info)
			}
		}
	}
	if len(matching) == 1 {
		return matching[0], nil
	}
	return TokenInfo{}, notOneToken(seen, matching, silent)
}

// look reads what one slot says. The error is an RV where the slot gave one.
func look(ctx context.Context, l *line, m Module, u URI, slot SlotID) (TokenInfo, bool, error) {
	record, err := call(ctx, l, "C_GetTokenInfo", func() (TokenRecord, error) { return m.Token(slot) })
	if err != nil {
		return TokenInfo{}, false, err
	}
	matches := u.matchesToken(slot, record)
	if matches && u.namesSlot() {
		described, err := call(ctx, l, "C_GetSlotInfo", func() (SlotInfo, error) { return m.Slot(slot) })
		if err != nil {
			return TokenInfo{}, false, err
		}
		matches = u.matchesSlot(described)
	}
	return newTokenInfo(slot, record), matches, nil
}

func notOneToken(seen, matching []TokenInfo, silent int) error {
	reason, text, listed := "token-not-found", "no token matches what was given", seen
	if len(matching) > 1 {
		reason, text, listed = "ambiguous", fmt.Sprintf("%d tokens match what was given; give the serial of the one that is meant", len(matching)), matching
	}
	var lines []string
	tokens := make([]map[string]string, 0, len(listed))
	for _, i := range listed {
		lines = append(lines, fmt.Sprintf("label %q serial %q model %q", i.Label, i.Serial, i.Model))
		tokens = append(tokens, map[string]string{"label": i.Label, "serial": i.Serial, "model": i.Model})
	}
	if len(lines) == 0 {
		lines = []string{"none"}
	}
	if silent > 0 {
		lines = append(lines, fmt.Sprintf("%d slots did not answer", silent))
	}
	return wire.Errorf(wire.KeyUnavailable, reason, "%s; seen: %s", text, strings.Join(lines, ", ")).With("tokens", tokens)
}
