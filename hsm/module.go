package hsm

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unsafe"

	"github.com/better-compute/approver/core/wire"
)

// Numbers of the PKCS#11 interface, each a CK_ULONG.
type (
	SlotID    uint // CK_SLOT_ID
	Session   uint // CK_SESSION_HANDLE
	Object    uint // CK_OBJECT_HANDLE
	Attribute uint // CK_ATTRIBUTE_TYPE
	UserType  uint // CK_USER_TYPE
	Mechanism uint // CK_MECHANISM_TYPE
)

// The attributes, users, mechanism and object classes that finding a key and signing with it need (PKCS#11 v2.40).
const (
	AttrClass              Attribute = 0x000 // CKA_CLASS
	AttrLabel              Attribute = 0x003 // CKA_LABEL
	AttrKeyType            Attribute = 0x100 // CKA_KEY_TYPE
	AttrID                 Attribute = 0x102 // CKA_ID
	AttrECParams           Attribute = 0x180 // CKA_EC_PARAMS
	AttrECPoint            Attribute = 0x181 // CKA_EC_POINT
	AttrAlwaysAuthenticate Attribute = 0x202 // CKA_ALWAYS_AUTHENTICATE

	UserNormal          UserType = 1 // CKU_USER
	UserContextSpecific UserType = 2 // CKU_CONTEXT_SPECIFIC

	MechanismECDSA Mechanism = 0x1041 // CKM_ECDSA, over a digest

	ClassPublicKey  uint = 2 // CKO_PUBLIC_KEY
	ClassPrivateKey uint = 3 // CKO_PRIVATE_KEY
	KeyTypeEC       uint = 3 // CKK_EC
)

// Flags of CK_TOKEN_INFO.
const (
	FlagTokenInitialized uint = 0x00000400 // CKF_TOKEN_INITIALIZED
	FlagPINPad           uint = 0x00000100 // CKF_PROTECTED_AUTHENTICATION_PATH
	FlagPINInitialized   uint = 0x00000008 // CKF_USER_PIN_INITIALIZED
	FlagPINCountLow      uint = 0x00010000 // CKF_USER_PIN_COUNT_LOW
	FlagPINFinalTry      uint = 0x00020000 // CKF_USER_PIN_FINAL_TRY
	FlagPINLocked        uint = 0x00040000 // CKF_USER_PIN_LOCKED
	FlagPINToBeChanged   uint = 0x00080000 // CKF_USER_PIN_TO_BE_CHANGED

	FlagSOPINCountLow    uint = 0x00100000 // CKF_SO_PIN_COUNT_LOW
	FlagSOPINFinalTry    uint = 0x00200000 // CKF_SO_PIN_FINAL_TRY
	FlagSOPINLocked      uint = 0x00400000 // CKF_SO_PIN_LOCKED
	FlagSOPINToBeChanged uint = 0x00800000 // CKF_SO_PIN_TO_BE_CHANGED
)

// LibraryInfo is the part of CK_INFO that a pkcs11: URI can name, without the padding.
type LibraryInfo struct {
	Manufacturer, Description string
	Major, Minor              byte // the library's version
}

// SlotInfo is the part of CK_SLOT_INFO that a pkcs11: URI can name, without the padding.
type SlotInfo struct{ Description, Manufacturer string }

// TokenRecord is the part of CK_TOKEN_INFO that is looked at, without the padding.
type TokenRecord struct {
	Label, Manufacturer, Model, Serial string
	Flags                              uint
	MinPIN, MaxPIN                     uint // ulMinPinLen, ulMaxPinLen, in bytes
	Hardware, Firmware                 Version
}

// Version is CK_VERSION.
type Version struct{ Major, Minor byte }

// String gives both in decimal, as in "2.6".
func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// A Match is one attribute of a search template, with the value an object must have.
type Match struct {
	Attribute Attribute
	Value     []byte
}

// A Module is the handful of PKCS#11 functions that signing needs, each with its C name. Every error that the C function
// returned is an RV. A Module is used by one goroutine at a time.
type Module interface {
	Initialize() error                                           // C_Initialize, with OS locking
	Finalize() error                                             // C_Finalize
	Library() (LibraryInfo, error)                               // C_GetInfo
	Slots() ([]SlotID, error)                                    // C_GetSlotList, slots with a token
	Slot(SlotID) (SlotInfo, error)                               // C_GetSlotInfo
	Token(SlotID) (TokenRecord, error)                           // C_GetTokenInfo
	OpenSession(SlotID) (Session, error)                         // C_OpenSession, read-only
	CloseSession(Session) error                                  // C_CloseSession
	Login(s Session, u UserType, pin []byte) error               // C_Login; a nil pin is NULL, for a pin pad
	Logout(Session) error                                        // C_Logout
	Find(Session, []Match) ([]Object, error)                     // C_FindObjectsInit, C_FindObjects, C_FindObjectsFinal
	Attributes(Session, Object, ...Attribute) ([][]byte, error)  // C_GetAttributeValue; an error where one of them is not there
	SecretLength(Session, Object) (int, error)                   // C_GetAttributeValue of CKA_VALUE, the length alone; 0 where it is not shown
	SignInit(Session, Mechanism, Object) error                   // C_SignInit
	Sign(s Session, digest []byte) (signature []byte, err error) // C_Sign
}

// defaultTimeout is the deadline of one module call where none is given: long enough to touch a token or use a pin pad.
const defaultTimeout = 60 * time.Second

// A ModuleFile is a PKCS#11 library to load.
type ModuleFile struct {
	Path    string             // absolute, leading to a regular file
	SHA256  *[sha256.Size]byte // that the file must have, or nil: any
	Timeout time.Duration      // of loading, in which a library runs code already; 0 is 60 s
}

// Load loads the library. Loading is tried in steps that each can say what failed (dlerror's text among them) before the
// binding, which would crash there, sees the library. It calls nothing but C_GetFunctionList; a loaded library stays
// loaded, since many crash when they are unloaded. Errors are KEY_UNAVAILABLE with reason "module", "timeout" where
// loading hangs, or UNSUPPORTED in a build without cgo.
//
// A library runs code as soon as it is loaded, so a SHA-256 is taken of the opened file before. The dynamic linker opens the
// path a second time: it must still lead to that file, unchanged, before and after. Whoever may change the file or its
// folder in between could win; that they belong to nobody else is for the caller to see. What a library loads in its turn
// has no pin. Another digest is KEY_UNAVAILABLE, "module", with the details found and pinned.
func (f ModuleFile) Load(ctx context.Context) (Module, error) {
	if !filepath.IsAbs(f.Path) || strings.ContainsRune(f.Path, 0) {
		return nil, wire.Errorf(wire.KeyUnavailable, "module", "the PKCS#11 module is %q; wanted: an absolute path", f.Path)
	}
	if f.SHA256 != nil {
		return f.loadPinned(ctx)
	}
	if info, err := os.Stat(f.Path); err != nil {
		return nil, errUnreadable(err)
	} else if !info.Mode().IsRegular() {
		return nil, errNotRegular(f.Path)
	}
	return f.load(ctx)
}

// LoadModule loads the library at path, whatever its digest is, within 60 s; see ModuleFile.
func LoadModule(ctx context.Context, path string) (Module, error) {
	return ModuleFile{Path: path}.Load(ctx)
}

func errUnreadable(err error) error {
	return wire.Errorf(wire.KeyUnavailable, "module", "the PKCS#11 module cannot be read: %w", err)
}

func errNotRegular(path string) error {
	return wire.Errorf(wire.KeyUnavailable, "module", "the PKCS#11 module %q is not a regular file", path)
}

func (f ModuleFile) load(ctx context.Context) (Module, error) {
	timeout := f.Timeout
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	l := newLine(timeout)
	defer l.stop()
	return call(ctx, l, "dlopen", func() (Module, error) { return openLibrary(f.Path) })
}

// ULong is v as a CK_ULONG in memory, which is as wide as Go's uint on every system with dlopen.
func ULong(v uint) []byte {
	if unsafe.Sizeof(v) == 4 {
		return binary.NativeEndian.AppendUint32(nil, uint32(v))
	}
	return binary.NativeEndian.AppendUint64(nil, uint64(v))
}
