// Package bettercomputev1 holds the protobuf messages of the system (package bettercompute.v1, proto3) as protoc-gen-go
// writes them. The .proto files beside the code are the specification; names, numbers and types stand for good.
//
//	approval.proto  approver keys, approvals, proofs (WIRE.md §2 to §4)
//	trust.proto     trust bundles (§4)
//	command.proto   commands (§6)
//	kinds.proto     the payload of each kind (§7)
//
// A payload that arrives from outside is never unmarshalled unseen: package kinds checks its canonical form first.
//
// Worked example: RebootRequest{Force: true, GraceSeconds: 30} is the four bytes
//
//	08 01   field 1, varint, true
//	10 1e   field 2, varint, 30
package bettercomputev1

//go:generate ./generate.sh
