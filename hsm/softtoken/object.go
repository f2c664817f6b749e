package softtoken

import (
	"bytes"
	"crypto/ecdsa"

	"github.com/better-compute/approver/hsm"
)

// The return values it gives (PKCS#11 v2.40, section 3.6).
const (
	rvSlotIDInvalid      hsm.RV = 0x03
	rvFunctionFailed     hsm.RV = 0x06
	rvArgumentsBad       hsm.RV = 0x07
	rvAttributeSensitive hsm.RV = 0x11
	rvAttributeInvalid   hsm.RV = 0x12
	rvDataLenRange       hsm.RV = 0x21
	rvKeyHandle          hsm.RV = 0x60
	rvMechanismInvalid   hsm.RV = 0x70
	rvObjectHandle       hsm.RV = 0x82
	rvOperationActive    hsm.RV = 0x90
	rvNotStarted         hsm.RV = 0x91
	rvPINIncorrect       hsm.RV = 0xA0
	rvPINLocked          hsm.RV = 0xA4
	rvSessionHandle      hsm.RV = 0xB3
	rvAlreadyLoggedIn    hsm.RV = 0x100
	rvNotLoggedIn        hsm.RV = 0x101
	rvUserType           hsm.RV = 0x103
	rvNotInitialized     hsm.RV = 0x190
	rvAlreadyInitialized hsm.RV = 0x191
)

// An object is a key object with its attributes as C memory has them. Handles count from 1.
type object struct {
	attributes map[hsm.Attribute][]byte
	private    *ecdsa.PrivateKey // nil for a public key
	always     bool
}

// p256 is the object identifier 1.2.840.10045.3.1.7 in DER.
var p256 = []byte{0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07}

// objectsOf makes the private key object of a key and, unless it is hidden, the public one. As on most tokens, only the
// public one has CKA_EC_POINT: the point in an OCTET STRING.
func objectsOf(k Key) []object {
	common := func(class uint, label string) map[hsm.Attribute][]byte {
		return map[hsm.Attribute][]byte{
			hsm.AttrClass: hsm.ULong(class), hsm.AttrKeyType: hsm.ULong(hsm.KeyTypeEC), hsm.AttrECParams: p256,
			hsm.AttrLabel: []byte(label), hsm.AttrID: k.ID,
		}
	}
	secret := object{common(hsm.ClassPrivateKey, k.Label), k.Private, k.AlwaysAuthenticate}
	secret.attributes[hsm.AttrAlwaysAuthenticate] = []byte{0}
	if k.AlwaysAuthenticate {
		secret.attributes[hsm.AttrAlwaysAuthenticate][0] = 1
	}
	if k.HidePublic {
		return []object{secret}
	}
	label := k.Label
	if k.PublicLabel != "" {
		label = k.PublicLabel
	}
	shown := object{attributes: common(hsm.ClassPublicKey, label)}
	point, err := k.Private.PublicKey.Bytes()
	if err != nil {
		return []object{secret}
	}
	shown.attributes[hsm.AttrECPoint] = append([]byte{0x04, byte(len(point))}, point...)
	return []object{secret, shown}
}

// object gives the object of a handle, where it can be seen.
func (t *token) object(h hsm.Object) (*object, bool) {
	if h < 1 || uint(h) > uint(len(t.objects)) {
		return nil, false
	}
	o := &t.objects[h-1]
	return o, o.private == nil || t.loggedIn
}

// Find is C_FindObjects, whole.
func (m *Module) Find(h hsm.Session, template []hsm.Match) ([]hsm.Object, error) {
	s, err := m.session(h)
	if err != nil {
		return nil, err
	}
	var found []hsm.Object
next:
	for i := range s.token.objects {
		handle := hsm.Object(i + 1)
		o, visible := s.token.object(handle)
		if !visible {
			continue
		}
		for _, match := range template {
			if value, has := o.attributes[match.Attribute]; !has || !bytes.Equal(value, match.Value) {
				continue next
			}
		}
		found = append(found, handle)
	}
	return found, nil
}

// SecretLength is C_GetAttributeValue of CKA_VALUE with pValue NULL, which no private key answers.
func (m *Module) SecretLength(h hsm.Session, key hsm.Object) (int, error) {
	s, err := m.session(h)
	if err != nil {
		return 0, err
	}
	switch o, visible := s.token.object(key); {
	case !visible:
		return 0, rvObjectHandle
	case o.private != nil:
		return 0, rvAttributeSensitive
	}
	return 0, rvAttributeInvalid
}

// Attributes is C_GetAttributeValue.
func (m *Module) Attributes(h hsm.Session, key hsm.Object, asked ...hsm.Attribute) ([][]byte, error) {
	s, err := m.session(h)
	if err != nil {
		return nil, err
	}
	o, visible := s.token.object(key)
	if !visible {
		return nil, rvObjectHandle
	}
	values := make([][]byte, len(asked))
	for i, a := range asked {
		value, has := o.attributes[a]
		if !has {
			return nil, rvAttributeInvalid
		}
		values[i] = bytes.Clone(value)
	}
	return values, nil
}
