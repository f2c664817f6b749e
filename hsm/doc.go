// Package hsm holds the keys that sign: on PKCS#11 tokens and in key files, both behind quorum.Signer, which signs
// statements and nothing else.
//
// # Tokens
//
// What using a token means here, each point because modules and people fail there:
//
//  1. A module is the absolute path of a regular file. It is probed step by step before anything uses it, and what the
//     dynamic linker says is in the error (LoadModule).
//  2. Slots that err are passed over. Exactly one token matches the pkcs11: URI, or every token seen is listed by label,
//     serial and model, and no login happens (OpenToken).
//  3. The session is read-only, and calls reach the module one at a time, from one goroutine.
//  4. The PIN state is read before a login: locked is not tried, a final try only with AllowFinalTry. A login is one
//     attempt, never repeated by itself (Token.Login).
//  5. CKR_USER_ALREADY_LOGGED_IN is an error: such a token takes any PIN.
//  6. A PIN comes from a private file, an inherited descriptor or a terminal without echo, with one newline taken off
//     (PINSource). It is never an argument and in no error, and is wiped. An empty one is refused, unless the token has
//     a pin pad, which gets NULL. Without a PIN there is no C_Login.
//  7. A private key is matched by class, type, and id or label. Two that match are "ambiguous", unless the expected
//     public key tells them apart (Token.Key).
//  8. The public half is the expected one; the token's own word is taken only where nothing is expected. Another half on
//     the token is refused, before the login where the token shows it (Token.Public).
//  9. What is signed is a digest of 32 bytes, what comes back 64 bytes, and it verified before it is given out.
//  10. A login for one signature (CKU_CONTEXT_SPECIFIC) happens only for a key with CKA_ALWAYS_AUTHENTICATE, straight
//     after C_SignInit.
//  11. An error in signing ends the session. Nothing is tried again.
//  12. Every call has a deadline and ends with its context. Token.Close logs out and finalizes on every path, but for one:
//     while a call hangs in the module, nothing can be called.
//
// # Key files (WIRE.md §5)
//
// PKCS#8 in PEM, one block, PRIVATE KEY or ENCRYPTED PRIVATE KEY, P-256, DER, nothing besides. Encryption is PBES2 with
// PBKDF2 (HMAC with SHA-1 or SHA-2, up to 10 million iterations) or scrypt (up to 256 MiB), and AES or triple DES in CBC
// mode; every length is exact. Written are PBKDF2-HMAC-SHA256 with 600,000 iterations and AES-256-CBC.
//
// # Worked example
//
// The URI
//
//	pkcs11:token=approver;object=k256?pin-source=file:/run/pin
//
// names the private key labelled "k256" on the token labelled "approver"; a signature by it takes these calls:
//
//	C_Initialize, C_GetSlotList                      LoadModule, OpenToken
//	C_GetTokenInfo                                   each slot; one token must match
//	C_OpenSession                                    CKF_SERIAL_SESSION, read-only
//	C_FindObjects, C_GetAttributeValue               Token.Public, class public, type EC, label "k256"
//	C_GetTokenInfo, C_Login                          Token.Login with "1234" out of the file's "1234\n"
//	C_FindObjects, C_GetAttributeValue               Token.Key, class private, then its public half by its id
//	C_SignInit, C_Sign                               TokenKey.Sign with CKM_ECDSA over SHA-256(signing input)
//	C_Logout, C_CloseSession, C_Finalize             Token.Close
package hsm
