package hsm

// A PINState is what a token shows about its user PIN, by the flags of CK_TOKEN_INFO. Tokens differ in what they show:
// some lock without having shown anything.
type PINState uint8

// The states, by rising trouble.
const (
	PINReady       PINState = iota // nothing known against it
	PINNotSet                      // CKF_USER_PIN_INITIALIZED is missing
	PINToBeChanged                 // CKF_USER_PIN_TO_BE_CHANGED
	PINCountLow                    // CKF_USER_PIN_COUNT_LOW
	PINFinalTry                    // CKF_USER_PIN_FINAL_TRY
	PINLocked                      // CKF_USER_PIN_LOCKED
)

// String gives the state in words.
func (s PINState) String() string {
	switch s {
	case PINReady:
		return "PIN ready"
	case PINNotSet:
		return "no PIN set"
	case PINToBeChanged:
		return "PIN to be changed"
	case PINCountLow:
		return "a wrong PIN was entered since the last login"
	case PINFinalTry:
		return "one try left before the PIN locks"
	case PINLocked:
		return "PIN locked"
	}
	return "unknown"
}

// TokenInfo is what a token says about itself, text as it came.
type TokenInfo struct {
	Label, Serial, Model, Manufacturer string

	Slot   SlotID
	PIN    PINState
	PINPad bool // the PIN is entered at the token (CKF_PROTECTED_AUTHENTICATION_PATH)
	Flags  uint // CK_TOKEN_INFO.flags
}

func newTokenInfo(slot SlotID, r TokenRecord) TokenInfo {
	info := TokenInfo{
		Label: r.Label, Serial: r.Serial, Model: r.Model, Manufacturer: r.Manufacturer,
		Slot: slot, PINPad: r.Flags&FlagPINPad != 0, Flags: r.Flags,
	}
	switch {
	case r.Flags&FlagPINLocked != 0:
		info.PIN = PINLocked
	case r.Flags&FlagPINFinalTry != 0:
		info.PIN = PINFinalTry
	case r.Flags&FlagPINCountLow != 0:
		info.PIN = PINCountLow
	case r.Flags&FlagPINToBeChanged != 0:
		info.PIN = PINToBeChanged
	case r.Flags&FlagPINInitialized == 0:
		info.PIN = PINNotSet
	}
	return info
}
