//go:build cgo && unix

package hsm

/*
#cgo linux LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long rv_t;
typedef void (*function_t)(void);

// CK_FUNCTION_LIST of PKCS#11 v2.x: the version, then the functions in their fixed order, C_Initialize first.
struct function_list {
	unsigned char version[2];
	function_t f[68];
};
enum { F_LOGIN = 18 };

// The functions behind Module, from C_Initialize to C_Sign.
static const unsigned char needed[] = { 0, 1, 2, 4, 5, 6, 12, 13, F_LOGIN, 19, 24, 26, 27, 28, 42, 43 };

// probe_module does step by step what the binding does at once and unchecked. It returns NULL and the functions, or
// what went wrong, to be freed; *rv is C_GetFunctionList's answer where that was it.
static char *probe_module(const char *path, struct function_list **list, rv_t *rv)
{
	*rv = 0;
	*list = NULL;
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return strdup(dlerror());
	rv_t (*get)(struct function_list **) = (rv_t (*)(struct function_list **))dlsym(handle, "C_GetFunctionList");
	if (!get)
		return strdup(dlerror());
	*rv = get(list);
	if (*rv)
		return strdup("C_GetFunctionList failed");
	if (!*list)
		return strdup("C_GetFunctionList gave no functions");
	if ((*list)->version[0] != 2 && (*list)->version[0] != 3)
		return strdup("C_GetFunctionList gave functions of a version other than 2 and 3");
	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
		if (!(*list)->f[needed[i]])
			return strdup("C_GetFunctionList left out a function that signing needs");
	return NULL;
}

static rv_t login(struct function_list *list, unsigned long session, unsigned long user, unsigned char *pin, unsigned long n)
{
	return ((rv_t (*)(unsigned long, unsigned long, unsigned char *, unsigned long))list->f[F_LOGIN])(session, user, pin, n);
}
*/
import "C"

import (
	"errors"
	"reflect"
	"strings"
	"unsafe"

	"github.com/better-compute/approver/core/wire"
	"github.com/miekg/pkcs11"
)

// A library is a Module over a shared object. C_Login does not go through the binding, which copies the PIN into memory
// that nobody wipes and has no way to say NULL to a pin pad.
type library struct {
	ctx  *pkcs11.Ctx
	list *C.struct_function_list
}

func openLibrary(path string) (Module, error) {
	cpath := C.CString(path)
	defer C.free(unsafe.Pointer(cpath))
	var list *C.struct_function_list
	var rv C.rv_t
	if trouble := C.probe_module(cpath, &list, &rv); trouble != nil {
		defer C.free(unsafe.Pointer(trouble))
		text := C.GoString(trouble)
		if rv != 0 {
			return nil, wire.Errorf(wire.KeyUnavailable, "module", "the PKCS#11 module %q cannot be used: %s: %w", path, text, RV(rv))
		}
		return nil, wire.Errorf(wire.KeyUnavailable, "module", "the PKCS#11 module %q cannot be used: %s", path, text)
	}
	ctx := pkcs11.New(path)
	if ctx == nil {
		return nil, wire.Errorf(wire.KeyUnavailable, "module", "the PKCS#11 module %q could be loaded once, but not again", path)
	}
	return &library{ctx, bound(ctx)}, nil
}

// bound gives the functions that the binding calls. They need not be those of the probe: p11-kit's client gives other ones,
// with a connection of their own, at each C_GetFunctionList. The binding keeps them in a C structure of two pointers,
// the handle of dlopen and the list, and shows neither.
func bound(ctx *pkcs11.Ctx) *C.struct_function_list {
	held := reflect.ValueOf(ctx).Elem().FieldByName("ctx").UnsafePointer()
	return (*struct {
		handle unsafe.Pointer
		list   *C.struct_function_list
	})(held).list
}

// asRV turns the binding's error into ours.
func asRV(err error) error {
	if code, ok := errors.AsType[pkcs11.Error](err); ok {
		return RV(code)
	}
	return err
}

// unpadded takes off what fills a text of a fixed length: spaces by the standard, and NULs in some modules.
func unpadded(s string) string { return strings.TrimRight(s, " \x00") }

func (l *library) Initialize() error { return asRV(l.ctx.Initialize()) }
func (l *library) Finalize() error   { return asRV(l.ctx.Finalize()) }

func (l *library) Library() (LibraryInfo, error) {
	i, err := l.ctx.GetInfo()
	return LibraryInfo{unpadded(i.ManufacturerID), unpadded(i.LibraryDescription), i.LibraryVersion.Major, i.LibraryVersion.Minor}, asRV(err)
}

func (l *library) Slot(id SlotID) (SlotInfo, error) {
	i, err := l.ctx.GetSlotInfo(uint(id))
	return SlotInfo{unpadded(i.SlotDescription), unpadded(i.ManufacturerID)}, asRV(err)
}

func (l *library) Token(id SlotID) (TokenRecord, error) {
	i, err := l.ctx.GetTokenInfo(uint(id))
	return TokenRecord{
		Label: unpadded(i.Label), Manufacturer: unpadded(i.ManufacturerID), Model: unpadded(i.Model), Serial: unpadded(i.SerialNumber), Flags: i.Flags,
		MinPIN: i.MinPinLen, MaxPIN: i.MaxPinLen,
		Hardware: Version{i.HardwareVersion.Major, i.HardwareVersion.Minor},
		Firmware: Version{i.FirmwareVersion.Major, i.FirmwareVersion.Minor},
	}, asRV(err)
}

func (l *library) OpenSession(id SlotID) (Session, error) {
	s, err := l.ctx.OpenSession(uint(id), pkcs11.CKF_SERIAL_SESSION)
	return Session(s), asRV(err)
}

func (l *library) CloseSession(s Session) error {
	return asRV(l.ctx.CloseSession(pkcs11.SessionHandle(s)))
}

func (l *library) Login(s Session, u UserType, pin []byte) error {
	return answer(C.login(l.list, C.ulong(s), C.ulong(u), memory(pin), C.ulong(len(pin))))
}

func (l *library) Logout(s Session) error { return asRV(l.ctx.Logout(pkcs11.SessionHandle(s))) }

// findBatch is how many handles are asked for at a time, maxObjects how many of one search there may be. More is an error:
// what is not seen may be the twin of what is deleted, or the private key of what is taken for left over.
const (
	findBatch  = 64
	maxObjects = 1 << 14
)

func (l *library) Find(s Session, template []Match) (found []Object, err error) {
	sh := pkcs11.SessionHandle(s)
	if err := l.ctx.FindObjectsInit(sh, attributesOf(template)); err != nil {
		return nil, asRV(err)
	}
	defer func() {
		if final := l.ctx.FindObjectsFinal(sh); err == nil {
			err = asRV(final)
		}
	}()
	for len(found) <= maxObjects {
		some, err := l.findSome(s)
		if err != nil {
			return nil, err
		}
		if len(some) == 0 {
			return found, nil
		}
		found = append(found, some...)
	}
	return nil, wire.Errorf(wire.KeyUnavailable, "module", "the token shows more than %d objects", maxObjects)
}

func (l *library) SignInit(s Session, m Mechanism, key Object) error {
	return asRV(l.ctx.SignInit(pkcs11.SessionHandle(s),
		[]*pkcs11.Mechanism{pkcs11.NewMechanism(uint(m), nil)}, pkcs11.ObjectHandle(key)))
}
