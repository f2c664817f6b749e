package hsm

import "fmt"

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
	PIN    PINState // the user's
	SOPIN  PINState // the security officer's; PINNotSet stands for a token that was never initialised
	PINPad bool     // PINs are entered at the token (CKF_PROTECTED_AUTHENTICATION_PATH)
	Flags  uint     // CK_TOKEN_INFO.flags

	MinPIN, MaxPIN     int // the length of a PIN in bytes; 0 and MaxPINBytes where the token tells nothing that can be
	Hardware, Firmware Version
}

// Initialized tells whether the token was initialised (CKF_TOKEN_INITIALIZED).
func (i TokenInfo) Initialized() bool { return i.Flags&FlagTokenInitialized != 0 }

// flagNames are the flags of CK_TOKEN_INFO without their CKF_ (PKCS#11 v2.40, section 3.2).
var flagNames = []struct {
	flag uint
	name string
}{
	{0x1, "RNG"}, {0x2, "WRITE_PROTECTED"}, {0x4, "LOGIN_REQUIRED"}, {FlagPINInitialized, "USER_PIN_INITIALIZED"},
	{0x20, "RESTORE_KEY_NOT_NEEDED"}, {0x40, "CLOCK_ON_TOKEN"}, {FlagPINPad, "PROTECTED_AUTHENTICATION_PATH"},
	{0x200, "DUAL_CRYPTO_OPERATIONS"}, {FlagTokenInitialized, "TOKEN_INITIALIZED"}, {0x800, "SECONDARY_AUTHENTICATION"},
	{FlagPINCountLow, "USER_PIN_COUNT_LOW"}, {FlagPINFinalTry, "USER_PIN_FINAL_TRY"}, {FlagPINLocked, "USER_PIN_LOCKED"},
	{FlagPINToBeChanged, "USER_PIN_TO_BE_CHANGED"}, {FlagSOPINCountLow, "SO_PIN_COUNT_LOW"},
	{FlagSOPINFinalTry, "SO_PIN_FINAL_TRY"}, {FlagSOPINLocked, "SO_PIN_LOCKED"},
	{FlagSOPINToBeChanged, "SO_PIN_TO_BE_CHANGED"}, {0x1000000, "ERROR_STATE"},
}

// FlagNames gives the flags that are set by the names of the standard, without their CKF_, a flag outside it in hex.
func (i TokenInfo) FlagNames() []string {
	names, rest := []string{}, i.Flags
	for _, f := range flagNames {
		if rest&f.flag != 0 {
			names = append(names, f.name)
			rest &^= f.flag
		}
	}
	if rest != 0 {
		names = append(names, fmt.Sprintf("0x%x", rest))
	}
	return names
}

func newTokenInfo(slot SlotID, r TokenRecord) TokenInfo {
	info := TokenInfo{
		Label: r.Label, Serial: r.Serial, Model: r.Model, Manufacturer: r.Manufacturer,
		Slot: slot, PINPad: r.Flags&FlagPINPad != 0, Flags: r.Flags,
		MaxPIN: MaxPINBytes, Hardware: r.Hardware, Firmware: r.Firmware,
	}
	// Bounds that hold no PIN at all are no bounds: some modules give zeros, or CK_UNAVAILABLE_INFORMATION.
	if r.MaxPIN > 0 && r.MaxPIN < MaxPINBytes {
		info.MaxPIN = int(r.MaxPIN)
	}
	if r.MinPIN <= uint(info.MaxPIN) {
		info.MinPIN = int(r.MinPIN)
	}
	info.PIN = pinState(r.Flags, FlagPINLocked, FlagPINFinalTry, FlagPINCountLow, FlagPINToBeChanged, FlagPINInitialized)
	info.SOPIN = pinState(r.Flags, FlagSOPINLocked, FlagSOPINFinalTry, FlagSOPINCountLow, FlagSOPINToBeChanged, FlagTokenInitialized)
	return info
}

func pinState(flags, locked, finalTry, countLow, toBeChanged, set uint) PINState {
	switch {
	case flags&locked != 0:
		return PINLocked
	case flags&finalTry != 0:
		return PINFinalTry
	case flags&countLow != 0:
		return PINCountLow
	case flags&toBeChanged != 0:
		return PINToBeChanged
	case flags&set == 0:
		return PINNotSet
	}
	return PINReady
}
