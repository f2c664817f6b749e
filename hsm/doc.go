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
//  3. The session is read-only (an Admin's is not), and calls reach the module one at a time, from one goroutine.
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
//     while a call hangs in the module, nothing can be called. A login that was interrupted may still have succeeded, and
//     is logged out too. A module that crashes ends the process: CatchCrashes has it say so, without the registers, which
//     can hold a PIN.
//
// # Finding modules
//
// FindModules gives what p11-kit is configured for and what lies at well-known paths, unloaded. A library runs code as soon
// as it is loaded, and one that crashes or hangs would take its caller along, so each is tried in a process of its own:
// ProbeModule starts our program again, AnswerProbe there loads, initialises, describes and finalizes the library and
// answers on descriptor 3. pkcs11-spy, which writes PINs into a file, is not looked for.
//
// # Looking at tokens
//
// ListSlots reads every slot without opening anything. Token.Objects lists keys and certificates, private keys after a
// login, each attribute read by itself, and for each the URI that names it again (TokenInfo.URI, serial included).
// Token.Check holds one key against what an approver's key is: P-256; CKA_LOCAL, CKA_SENSITIVE, CKA_ALWAYS_SENSITIVE and
// CKA_NEVER_EXTRACTABLE true and CKA_EXTRACTABLE false, all five shown; on the token and private; CKA_SIGN, and neither
// CKA_DECRYPT, CKA_UNWRAP, CKA_DERIVE nor CKA_SIGN_RECOVER; the expected public half; a key-trial signature that verifies.
//
// # Changing tokens
//
// Manager is what changes a token, beside Module; an Admin is an open token with a read-write session. The rules for PINs
// and errors are those above, for the security officer's PIN too. Beside them:
//
//  1. No private key is put on a token: PublicObject, all that C_CreateObject takes, is a public key or a certificate.
//  2. A new key (Admin.GenerateKey) is private, sensitive, not extractable and for signing only. No key is made for a label
//     that a private or public key has. Its id is the first 20 bytes of the SHA-256 of its point (RFC 7093, section 2,
//     method 1); the pair is made under a random one, since the point is not known before.
//  3. A new key is checked (Token.Check, the id and label read back) before it is given out, and else destroyed again.
//     Calls that make or take back are waited for though the context ends, so that nothing is left behind unknown; only
//     the deadline leaves them, and then the error says what to look for.
//  4. What is imported (Admin.Import) belongs to a private key that has none such: a key-trial by that key verifies under
//     it, before anything is made.
//  5. What cannot be undone is looked up first and shown: PlanDeletion, then Deletion.Run. InitToken takes a Blank token, or
//     one to Erase by the label and serial that a person confirmed, compared with the token's straight before.
//  6. A new PIN is held to the token's bounds before the token sees it. The old one was right at the login.
//
// # Keys of other jobs
//
// An approver's key is reached by Token.Key alone, and signs statements. A CA's key and the like open as crypto.Signer by
// Token.NonApproverSigner: P-256 with ASN.1 signatures, Ed25519 with pure ones, each verified. Which files may call it is
// held by a test.
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
//
// A new key on the same token, proved, takes these:
//
//	C_Initialize, C_GetSlotList, C_GetTokenInfo      OpenAdmin with "pkcs11:token=approver"
//	C_OpenSession                                    CKF_SERIAL_SESSION | CKF_RW_SESSION
//	C_GetTokenInfo, C_Login                          Admin.Login
//	C_FindObjects, twice                             Admin.GenerateKey: no private and no public key has the label
//	C_GetInfo, C_GenerateKeyPair                     CKM_EC_KEY_PAIR_GEN with prime256v1, a random id
//	C_GetAttributeValue, C_SetAttributeValue         the point is read, the id set on both halves, both read back
//	C_GetAttributeValue, C_SignInit, C_Sign          the check: 14 attributes, and a key-trial that verifies
//	C_SignInit, C_Sign                               NewKey.Signer, for the proof of the key (WIRE.md §5)
//	C_Logout, C_CloseSession, C_Finalize             Admin.Close
//
// A user's PIN that is locked is set anew so:
//
//	C_GetTokenInfo, C_Login with CKU_SO              Admin.LoginSO, after a look at the state of that PIN
//	C_InitPIN                                        Admin.SetUserPIN
//
// and a blank token is made ready with C_InitToken (InitToken), then the same two.
package hsm
