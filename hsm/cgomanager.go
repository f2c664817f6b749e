//go:build cgo && unix

package hsm

/*
// The same as in cgo.go; each file of a package has a preamble of its own.
typedef unsigned long rv_t;
typedef void (*function_t)(void);
struct function_list {
	unsigned char version[2];
	function_t f[68];
};

static rv_t set_pin(void *list, unsigned long session, unsigned char *old, unsigned long n, unsigned char *next, unsigned long m)
{
	return ((rv_t (*)(unsigned long, unsigned char *, unsigned long, unsigned char *, unsigned long))
		((struct function_list *)list)->f[11])(session, old, n, next, m);
}

static rv_t init_pin(void *list, unsigned long session, unsigned char *next, unsigned long n)
{
	return ((rv_t (*)(unsigned long, unsigned char *, unsigned long))((struct function_list *)list)->f[10])(session, next, n);
}

static rv_t init_token(void *list, unsigned long slot, unsigned char *pin, unsigned long n, unsigned char *label)
{
	return ((rv_t (*)(unsigned long, unsigned char *, unsigned long, unsigned char *))((struct function_list *)list)->f[9])(slot, pin, n, label);
}
*/
import "C"

import (
	"bytes"
	"unsafe"

	"github.com/miekg/pkcs11"
)

// Places in CK_FUNCTION_LIST, C_Initialize being 0. A library may leave a function out that signing does not need.
const (
	atInitToken       = 9
	atInitPIN         = 10
	atSetPIN          = 11
	atCreateObject    = 20
	atDestroyObject   = 22
	atSetAttribute    = 25
	atGenerateKeyPair = 59
)

// has gives CKR_FUNCTION_NOT_SUPPORTED where the library left the function out, which the binding would call anyway.
func (l *library) has(at int) error {
	if l.list.f[at] == nil {
		return rvNotSupported
	}
	return nil
}

func (l *library) OpenWritableSession(id SlotID) (Session, error) {
	s, err := l.ctx.OpenSession(uint(id), pkcs11.CKF_SERIAL_SESSION|pkcs11.CKF_RW_SESSION)
	return Session(s), asRV(err)
}

func attributesOf(template []Match) []*pkcs11.Attribute {
	attributes := make([]*pkcs11.Attribute, len(template))
	for i, m := range template {
		attributes[i] = pkcs11.NewAttribute(uint(m.Attribute), m.Value)
	}
	return attributes
}

func (l *library) GenerateKeyPair(s Session, m Mechanism, public, private []Match) (Object, Object, error) {
	if err := l.has(atGenerateKeyPair); err != nil {
		return 0, 0, err
	}
	p, k, err := l.ctx.GenerateKeyPair(pkcs11.SessionHandle(s), []*pkcs11.Mechanism{pkcs11.NewMechanism(uint(m), nil)},
		attributesOf(public), attributesOf(private))
	return Object(p), Object(k), asRV(err)
}

func (l *library) CreateObject(s Session, o PublicObject) (Object, error) {
	if err := l.has(atCreateObject); err != nil {
		return 0, err
	}
	if len(o.template) == 0 {
		return 0, rvTemplateIncomplete
	}
	h, err := l.ctx.CreateObject(pkcs11.SessionHandle(s), attributesOf(o.template))
	return Object(h), asRV(err)
}

func (l *library) SetAttribute(s Session, o Object, m Match) error {
	if err := l.has(atSetAttribute); err != nil {
		return err
	}
	return asRV(l.ctx.SetAttributeValue(pkcs11.SessionHandle(s), pkcs11.ObjectHandle(o), attributesOf([]Match{m})))
}

func (l *library) DestroyObject(s Session, o Object) error {
	if err := l.has(atDestroyObject); err != nil {
		return err
	}
	return asRV(l.ctx.DestroyObject(pkcs11.SessionHandle(s), pkcs11.ObjectHandle(o)))
}

// PINs do not go through the binding, which leaves copies behind, as with C_Login.

func (l *library) SetPIN(s Session, old, next []byte) error {
	if err := l.has(atSetPIN); err != nil {
		return err
	}
	return answer(C.set_pin(unsafe.Pointer(l.list), C.ulong(s), memory(old), C.ulong(len(old)), memory(next), C.ulong(len(next))))
}

func (l *library) InitPIN(s Session, next []byte) error {
	if err := l.has(atInitPIN); err != nil {
		return err
	}
	return answer(C.init_pin(unsafe.Pointer(l.list), C.ulong(s), memory(next), C.ulong(len(next))))
}

func (l *library) InitToken(slot SlotID, soPIN []byte, label string) error {
	if err := l.has(atInitToken); err != nil {
		return err
	}
	padded := bytes.Repeat([]byte{' '}, 32)
	copy(padded, label)
	return answer(C.init_token(unsafe.Pointer(l.list), C.ulong(slot), memory(soPIN), C.ulong(len(soPIN)), memory(padded)))
}

// memory gives the bytes to C, NULL for none.
func memory(b []byte) *C.uchar {
	if len(b) == 0 {
		return nil
	}
	return (*C.uchar)(unsafe.Pointer(unsafe.SliceData(b)))
}

func answer(rv C.rv_t) error {
	if rv != 0 {
		return RV(rv)
	}
	return nil
}
