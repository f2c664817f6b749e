// Package scope takes a batch scope from the bytes of a file to the review that a person sees, and to nothing else: what
// it cannot prove it refuses, and what it proves only the ceremony can sign.
//
// # Format (WIRE.md §5)
//
// A scope file is one JSON object, read strictly: UTF-8 without a byte order mark, no member twice, none unknown, exact
// letter case, integers in plain digits up to 2^53-1, null only for an optional member that is absent, nothing after the
// value, 64 MiB at most. Free texts (reason, createdBy, createdByAgent, delegationId) may hold any escape; every other
// string is an identifier and holds none. Members come in any order.
//
//	{ "format": "better-compute-batch-scope", "version": 1,
//	  "batchId": "batch_01k0", "scopeRoot": "<64 hex>", "scopeSize": 2, "notAfter": 1790000000000,
//	  "trustDomain": "compute.example.com", "reason": "…", "createdBy": "…", "required": 2, "approvals": ["<kid>"],
//	  "leaves": [ { "leafIndex": 0, "subject": "node_a", "kind": "node.reboot", "payloadSha256": "<64 hex or empty>",
//	                "payload": { "typeUrl": "type.googleapis.com/bettercompute.v1.RebootRequest", "value": "CAEQHg==" } } ] }
//
// A bare array of such leaves is taken too; its batch id then comes from elsewhere, and its root is what it gives.
//
// # The road
//
//	Parse            syntax of the whole file, form of the header             → *Parsed
//	Parsed.Verify    leaf by leaf: form, limits, digest, type, canonical
//	                 form, subject; then duplicates, totals, size, leaf
//	                 indexes, root                                             → *Verified
//	Verified.Decode  leaves grouped into distinct operations, the relayed
//	                 address left out; the rare ones found                     → *Decoded
//	Decoded.Review   --root, trust domain, window, opaque, unbound, expected
//	                 list: a Policy held against it, everything in findings    → *review.Review
//
// The first failure in this order is the one that is reported. Each type is made by the stage before it and by nothing
// else, so there is no way past one. Verified.Judge is the other way off the road: whether signatures that were handed over
// make an approval that holds.
//
// # Worked example
//
//	f, err := os.Open("scope.json")
//	parsed, err := scope.Parse(f, 2)
//	verified, err := parsed.Verify(scope.VerifyOptions{Kinds: kinds.Builtin(), Workers: 2})
//	r, err := verified.Decode().Review(scope.Policy{
//		Time:        review.Time{Now: time.Now()},
//		TrustDomain: "compute.example.com",
//	})
//	review.WriteText(os.Stdout, r.Document(), review.Whole)
//	if err := r.Stop(); err != nil { … }               // nothing may be signed
//
// # Time
//
// Reading is one pass over a window that slides through the file; a second goroutine reads ahead and hashes payloads in
// between. Nothing is allocated for a leaf, and every step is linear in the leaves but for their sort.
package scope
