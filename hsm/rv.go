package hsm

import "fmt"

// An RV is the return value of a PKCS#11 function (CK_RV) other than CKR_OK. It is the error of every Module call, so
// that a refusal names the code as the standard and the vendor's manual do.
type RV uint

// The return values that this package acts on (PKCS#11 v2.40, section 3.6).
const (
	rvCancel             RV = 0x01
	rvGeneralError       RV = 0x05
	rvAttributeSensitive RV = 0x11
	rvAttributeInvalid   RV = 0x12
	rvDeviceError        RV = 0x30
	rvDeviceRemoved      RV = 0x32
	rvAttributeReadOnly  RV = 0x10
	rvFunctionCanceled   RV = 0x50
	rvNotSupported       RV = 0x54
	rvMechanismInvalid   RV = 0x70
	rvObjectHandle       RV = 0x82
	rvPINIncorrect       RV = 0xA0
	rvPINInvalid         RV = 0xA1
	rvPINLenRange        RV = 0xA2
	rvPINExpired         RV = 0xA3
	rvPINLocked          RV = 0xA4
	rvSessionClosed      RV = 0xB0
	rvSessionHandle      RV = 0xB3
	rvSessionReadOnly    RV = 0xB5
	rvTemplateIncomplete RV = 0xD0
	rvTokenNotPresent    RV = 0xE0
	rvWriteProtected     RV = 0xE2
	rvAlreadyLoggedIn    RV = 0x100
	rvNotLoggedIn        RV = 0x101
	rvPINNotInitialized  RV = 0x102
	rvAnotherLoggedIn    RV = 0x104
	rvAlreadyInitialized RV = 0x191
)

// rvNames has the names of PKCS#11 v2.40 without their CKR_. The binding has them too, but a build without cgo, whose
// software token answers in the same codes, does not have the binding.
var rvNames = map[RV]string{
	0x00: "OK", 0x01: "CANCEL", 0x02: "HOST_MEMORY", 0x03: "SLOT_ID_INVALID", 0x05: "GENERAL_ERROR",
	0x06: "FUNCTION_FAILED", 0x07: "ARGUMENTS_BAD", 0x08: "NO_EVENT", 0x09: "NEED_TO_CREATE_THREADS",
	0x0A: "CANT_LOCK", 0x10: "ATTRIBUTE_READ_ONLY", 0x11: "ATTRIBUTE_SENSITIVE", 0x12: "ATTRIBUTE_TYPE_INVALID",
	0x13: "ATTRIBUTE_VALUE_INVALID", 0x1B: "ACTION_PROHIBITED", 0x20: "DATA_INVALID", 0x21: "DATA_LEN_RANGE",
	0x30: "DEVICE_ERROR", 0x31: "DEVICE_MEMORY", 0x32: "DEVICE_REMOVED", 0x50: "FUNCTION_CANCELED",
	0x51: "FUNCTION_NOT_PARALLEL", 0x54: "FUNCTION_NOT_SUPPORTED", 0x60: "KEY_HANDLE_INVALID", 0x62: "KEY_SIZE_RANGE",
	0x63: "KEY_TYPE_INCONSISTENT", 0x68: "KEY_FUNCTION_NOT_PERMITTED", 0x70: "MECHANISM_INVALID",
	0x71: "MECHANISM_PARAM_INVALID", 0x82: "OBJECT_HANDLE_INVALID", 0x90: "OPERATION_ACTIVE",
	0x91: "OPERATION_NOT_INITIALIZED", 0xA0: "PIN_INCORRECT", 0xA1: "PIN_INVALID", 0xA2: "PIN_LEN_RANGE",
	0xA3: "PIN_EXPIRED", 0xA4: "PIN_LOCKED", 0xB0: "SESSION_CLOSED", 0xB1: "SESSION_COUNT",
	0xB3: "SESSION_HANDLE_INVALID", 0xB4: "SESSION_PARALLEL_NOT_SUPPORTED", 0xB5: "SESSION_READ_ONLY",
	0xB6: "SESSION_EXISTS", 0xB7: "SESSION_READ_ONLY_EXISTS", 0xB8: "SESSION_READ_WRITE_SO_EXISTS",
	0xC0: "SIGNATURE_INVALID", 0xC1: "SIGNATURE_LEN_RANGE", 0xD0: "TEMPLATE_INCOMPLETE", 0xD1: "TEMPLATE_INCONSISTENT",
	0xE0: "TOKEN_NOT_PRESENT", 0xE1: "TOKEN_NOT_RECOGNIZED", 0xE2: "TOKEN_WRITE_PROTECTED",
	0x100: "USER_ALREADY_LOGGED_IN", 0x101: "USER_NOT_LOGGED_IN", 0x102: "USER_PIN_NOT_INITIALIZED",
	0x103: "USER_TYPE_INVALID", 0x104: "USER_ANOTHER_ALREADY_LOGGED_IN", 0x105: "USER_TOO_MANY_TYPES",
	0x120: "RANDOM_SEED_NOT_SUPPORTED", 0x121: "RANDOM_NO_RNG", 0x130: "DOMAIN_PARAMS_INVALID",
	0x140: "CURVE_NOT_SUPPORTED", 0x150: "BUFFER_TOO_SMALL", 0x170: "INFORMATION_SENSITIVE",
	0x190: "CRYPTOKI_NOT_INITIALIZED", 0x191: "CRYPTOKI_ALREADY_INITIALIZED", 0x1B0: "NEW_PIN_MODE",
	0x1B1: "NEXT_OTP", 0x200: "FUNCTION_REJECTED",
}

// Error gives the name and the number, as in "CKR_PIN_INCORRECT (0xa0)".
func (rv RV) Error() string {
	switch name, ok := rvNames[rv]; {
	case ok:
		return fmt.Sprintf("CKR_%s (0x%02x)", name, uint(rv))
	case rv >= 0x80000000:
		return fmt.Sprintf("CKR_VENDOR_DEFINED (0x%x)", uint(rv))
	}
	return fmt.Sprintf("a code outside PKCS#11 (0x%x)", uint(rv))
}

// removed tells whether rv is how modules report that a token is gone, or that the session died with it. None of these
// sessions recovers.
func (rv RV) removed() bool {
	switch rv {
	case rvObjectHandle, rvDeviceError, rvGeneralError, rvDeviceRemoved, rvSessionClosed, rvSessionHandle, rvTokenNotPresent:
		return true
	}
	return false
}
