package hsm

import (
	"github.com/better-compute/approver/core/wire"
)

// The attributes, users, mechanisms, classes and key types that making, checking and listing keys need beside those of
// signing (PKCS#11 v2.40; EdDSA is of v3.0).
const (
	AttrToken             Attribute = 0x001  // CKA_TOKEN
	AttrPrivate           Attribute = 0x002  // CKA_PRIVATE
	AttrValue             Attribute = 0x011  // CKA_VALUE
	AttrCertificateType   Attribute = 0x080  // CKA_CERTIFICATE_TYPE
	AttrIssuer            Attribute = 0x081  // CKA_ISSUER
	AttrSerialNumber      Attribute = 0x082  // CKA_SERIAL_NUMBER
	AttrSubject           Attribute = 0x101  // CKA_SUBJECT
	AttrSensitive         Attribute = 0x103  // CKA_SENSITIVE
	AttrEncrypt           Attribute = 0x104  // CKA_ENCRYPT
	AttrDecrypt           Attribute = 0x105  // CKA_DECRYPT
	AttrWrap              Attribute = 0x106  // CKA_WRAP
	AttrUnwrap            Attribute = 0x107  // CKA_UNWRAP
	AttrSign              Attribute = 0x108  // CKA_SIGN
	AttrSignRecover       Attribute = 0x109  // CKA_SIGN_RECOVER
	AttrVerify            Attribute = 0x10A  // CKA_VERIFY
	AttrDerive            Attribute = 0x10C  // CKA_DERIVE
	AttrModulus           Attribute = 0x120  // CKA_MODULUS
	AttrExtractable       Attribute = 0x162  // CKA_EXTRACTABLE
	AttrLocal             Attribute = 0x163  // CKA_LOCAL
	AttrNeverExtractable  Attribute = 0x164  // CKA_NEVER_EXTRACTABLE
	AttrAlwaysSensitive   Attribute = 0x165  // CKA_ALWAYS_SENSITIVE
	AttrModifiable        Attribute = 0x170  // CKA_MODIFIABLE
	AttrPublicExponent    Attribute = 0x122  // CKA_PUBLIC_EXPONENT
	certificateTypeX509   uint      = 0      // CKC_X_509
	ClassCertificate      uint      = 1      // CKO_CERTIFICATE
	KeyTypeRSA            uint      = 0      // CKK_RSA
	KeyTypeEdwards        uint      = 0x40   // CKK_EC_EDWARDS
	UserSecurityOfficer   UserType  = 0      // CKU_SO
	MechanismECKeyPairGen Mechanism = 0x1040 // CKM_EC_KEY_PAIR_GEN
	MechanismEdKeyPairGen Mechanism = 0x1055 // CKM_EC_EDWARDS_KEY_PAIR_GEN
	MechanismEdDSA        Mechanism = 0x1057 // CKM_EDDSA, over a message
)

// A Manager is the part of a PKCS#11 library that changes a token, beside Module; what signs never sees it. Every error
// that the C function returned is an RV; a function that the library does not have gives CKR_FUNCTION_NOT_SUPPORTED. The
// libraries that LoadModule gives are Managers.
type Manager interface {
	Module
	OpenWritableSession(SlotID) (Session, error)                                                             // C_OpenSession, CKF_RW_SESSION
	GenerateKeyPair(s Session, m Mechanism, public, private []Match) (publicKey, privateKey Object, e error) // C_GenerateKeyPair
	CreateObject(Session, PublicObject) (Object, error)                                                      // C_CreateObject
	SetAttribute(Session, Object, Match) error                                                               // C_SetAttributeValue, of one attribute
	DestroyObject(Session, Object) error                                                                     // C_DestroyObject
	SetPIN(s Session, old, next []byte) error                                                                // C_SetPIN; nil and nil for a pin pad
	InitPIN(s Session, next []byte) error                                                                    // C_InitPIN; nil for a pin pad
	InitToken(slot SlotID, soPIN []byte, label string) error                                                 // C_InitToken; nil for a pin pad
}

// A PublicObject is what C_CreateObject may make: a public key or a certificate. Nothing makes one of a private key, so
// no private key can be put on a token. The zero PublicObject is none and is refused.
type PublicObject struct{ template []Match }

// Template gives the attributes of the object, none for the zero PublicObject.
func (o PublicObject) Template() []Match { return append([]Match(nil), o.template...) }

func yes(a Attribute) Match { return Match{a, []byte{1}} }
func no(a Attribute) Match  { return Match{a, []byte{0}} }

// managerOf gives the management part of a module.
func managerOf(m Module) (Manager, error) {
	if manager, ok := m.(Manager); ok {
		return manager, nil
	}
	return nil, wire.Errorf(wire.Unsupported, "", "this module can sign, but cannot be used to change a token")
}
