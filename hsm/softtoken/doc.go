// Package softtoken is a PKCS#11 module in software and in memory, for demonstrations and tests: it protects nothing.
//
// It answers hsm.Module as a C library would, in the same codes, so that the code above it is the code that uses
// hardware. It is made in Go only; no path, flag or URI leads to it.
//
// # What it does (PKCS#11 v2.40)
//
// Each Token given to New stands in a slot of its own, from slot 0. Sessions are read-only; the login state belongs to
// the token, not to a session. Private keys are found only after a login, public keys always. A wrong PIN counts down
// Tries and shows as CKF_USER_PIN_COUNT_LOW, on the last but one as CKF_USER_PIN_FINAL_TRY, then as
// CKF_USER_PIN_LOCKED; a right one restores the count. A key with AlwaysAuthenticate wants a login of its own between
// C_SignInit and C_Sign.
//
// Worked example: New(Token{Label: "approver", Serial: "01", PIN: "1234", Keys: []Key{{Label: "k256", ID: []byte{1},
// Private: key}}}) is the token that "pkcs11:token=approver;object=k256" names a key on.
package softtoken
