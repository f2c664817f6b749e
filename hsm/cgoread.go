//go:build cgo && unix

package hsm

/*
#include <stdlib.h>

// The same as in cgo.go; each file of a package has a preamble of its own.
typedef unsigned long rv_t;
typedef void (*function_t)(void);
struct function_list {
	unsigned char version[2];
	function_t f[68];
};

static rv_t get_slots(void *list, unsigned long *slots, unsigned long *n)
{
	return ((rv_t (*)(unsigned char, unsigned long *, unsigned long *))((struct function_list *)list)->f[4])(1, slots, n);
}

static rv_t find_objects(void *list, unsigned long session, unsigned long *found, unsigned long room, unsigned long *n)
{
	return ((rv_t (*)(unsigned long, unsigned long *, unsigned long, unsigned long *))((struct function_list *)list)->f[27])(session, found, room, n);
}

// get_attributes reads n attributes. values has the rooms one after the other, and lengths how much each has; NULL asks for
// the lengths. It gives CKR_HOST_MEMORY where there is none.
static rv_t get_attributes(void *list, unsigned long session, unsigned long object, const unsigned long *types, unsigned long n,
	unsigned char *values, unsigned long *lengths)
{
	struct { unsigned long type; void *value; unsigned long n; } *a = calloc(n, sizeof *a); // CK_ATTRIBUTE
	if (!a)
		return 2;
	for (unsigned long i = 0; i < n; i++) {
		a[i].type = types[i];
		if (values) {
			a[i].value = values;
			a[i].n = lengths[i];
			values += lengths[i];
		}
	}
	rv_t rv = ((rv_t (*)(unsigned long, unsigned long, void *, unsigned long))((struct function_list *)list)->f[24])(session, object, a, n);
	for (unsigned long i = 0; i < n; i++)
		lengths[i] = a[i].n;
	free(a);
	return rv;
}

static rv_t sign(void *list, unsigned long session, unsigned char *data, unsigned long length, unsigned char *signature, unsigned long *n)
{
	return ((rv_t (*)(unsigned long, unsigned char *, unsigned long, unsigned char *, unsigned long *))
		((struct function_list *)list)->f[43])(session, data, length, signature, n);
}
*/
import "C"

import (
	"unsafe"

	"github.com/better-compute/approver/core/wire"
)

// What a library writes into memory does not go through the binding, which believes every length that it says, also one
// longer than the room that it was given: memory that is not there, or somebody else's.

// The most that is taken: handles of slots, bytes of an attribute and of a signature.
const (
	maxSlots          = 1 << 16
	maxAttributeBytes = 1 << 20
	maxSignatureBytes = 1 << 16
)

// taken holds the length that a library says against the room that there is.
func taken(function string, n C.ulong, room int) (int, error) {
	if n > C.ulong(room) {
		return 0, wire.Errorf(wire.KeyUnavailable, "module", "%s says a length of %d where at most %d can be", function, uint(n), room)
	}
	return int(n), nil
}

func (l *library) Slots() ([]SlotID, error) {
	var n C.ulong
	if err := answer(C.get_slots(unsafe.Pointer(l.list), nil, &n)); err != nil {
		return nil, err
	}
	room, err := taken("C_GetSlotList", n, maxSlots)
	if err != nil {
		return nil, err
	}
	ids := make([]C.ulong, room+1) // never NULL, which would ask for the number once more
	if err := answer(C.get_slots(unsafe.Pointer(l.list), &ids[0], &n)); err != nil {
		return nil, err
	}
	got, err := taken("C_GetSlotList", n, room)
	slots := make([]SlotID, got)
	for i := range slots {
		slots[i] = SlotID(ids[i])
	}
	return slots, err
}

func (l *library) findSome(s Session) ([]Object, error) {
	var n C.ulong
	var found [findBatch]C.ulong
	if err := answer(C.find_objects(unsafe.Pointer(l.list), C.ulong(s), &found[0], findBatch, &n)); err != nil {
		return nil, err
	}
	got, err := taken("C_FindObjects", n, findBatch)
	objects := make([]Object, got)
	for i := range objects {
		objects[i] = Object(found[i])
	}
	return objects, err
}

// unavailable is CK_UNAVAILABLE_INFORMATION, the length of a value that is not shown.
const unavailable = ^C.ulong(0)

func (l *library) Attributes(s Session, o Object, asked ...Attribute) ([][]byte, error) {
	if len(asked) == 0 {
		return nil, nil
	}
	types, lengths := make([]C.ulong, len(asked)), make([]C.ulong, len(asked))
	for i, a := range asked {
		types[i] = C.ulong(a)
	}
	get := func(values *C.uchar) error {
		return answer(C.get_attributes(unsafe.Pointer(l.list), C.ulong(s), C.ulong(o), &types[0], C.ulong(len(types)), values, &lengths[0]))
	}
	if err := get(nil); err != nil {
		return nil, err
	}
	rooms, all := make([]int, len(asked)), 0
	for i, n := range lengths {
		if n == unavailable {
			lengths[i] = 0
			continue
		}
		room, err := taken("C_GetAttributeValue", n, maxAttributeBytes)
		if err != nil {
			return nil, err
		}
		rooms[i], all = room, all+room
	}
	memory := make([]byte, all+1) // never NULL, which would ask for the lengths once more
	if err := get((*C.uchar)(&memory[0])); err != nil {
		return nil, err
	}
	values := make([][]byte, len(asked))
	for i, n := range lengths {
		if n != unavailable {
			got, err := taken("C_GetAttributeValue", n, rooms[i])
			if err != nil {
				return nil, err
			}
			values[i] = memory[:got:got]
		}
		memory = memory[rooms[i]:]
	}
	return values, nil
}

// SecretLength asks with pValue NULL, so the value comes nowhere.
func (l *library) SecretLength(s Session, o Object) (int, error) {
	kind, n := C.ulong(AttrValue), C.ulong(0)
	if err := answer(C.get_attributes(unsafe.Pointer(l.list), C.ulong(s), C.ulong(o), &kind, 1, nil, &n)); err != nil || n == unavailable {
		return 0, err
	}
	return taken("C_GetAttributeValue", n, maxAttributeBytes)
}

func (l *library) Sign(s Session, digest []byte) ([]byte, error) {
	var n C.ulong
	if err := answer(C.sign(unsafe.Pointer(l.list), C.ulong(s), memory(digest), C.ulong(len(digest)), nil, &n)); err != nil {
		return nil, err
	}
	room, err := taken("C_Sign", n, maxSignatureBytes)
	if err != nil {
		return nil, err
	}
	signature := make([]byte, room+1)
	if err := answer(C.sign(unsafe.Pointer(l.list), C.ulong(s), memory(digest), C.ulong(len(digest)), memory(signature), &n)); err != nil {
		return nil, err
	}
	got, err := taken("C_Sign", n, room)
	return signature[:got:got], err
}
