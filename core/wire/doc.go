// Package wire holds what every format of the system is made of: framing, text forms, limits, strict JSON and errors.
//
// # Framing (WIRE.md §1)
//
//	u32(n), u64(n)  big-endian
//	lp(x)           u32(len(x)) ‖ x
//	signing input   lp("better-compute/v1") ‖ lp(purpose) ‖ lp(parts[0]) ‖ … ‖ lp(parts[n-1])
//
// A signature for a purpose covers the SHA-256 of the signing input. The first four bytes of every signing input are
// 00000011, the length of the context, which no other form that a key of this system signs begins with.
//
// Worked example: purpose "approver-key" over one part, the kid "k", is
//
//	00000011 6265747465722d636f6d707574652f7631   lp("better-compute/v1")
//	0000000c 617070726f7665722d6b6579             lp("approver-key")
//	00000001 6b                                   lp("k")
//
// # Text forms
//
// Hex is lower case. base64url is unpadded and base64 padded, both canonical: no stray bits, no white space, no line
// breaks. The forms of identifiers, subjects and trust domains are those of the table in WIRE.md §2.
package wire
