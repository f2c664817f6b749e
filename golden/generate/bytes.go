package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"slices"
)

// u32 is four bytes, big-endian (WIRE.md §1).
func u32(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }

// u64 is eight bytes, big-endian.
func u64(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// lp is the length of x as u32, and x.
func lp(x []byte) []byte { return append(u32(len(x)), x...) }

func sum(parts ...[]byte) []byte {
	h := sha256.Sum256(bytes.Join(parts, nil))
	return h[:]
}

func hexOf(b []byte) string { return hex.EncodeToString(b) }
func b64(b []byte) string   { return base64.StdEncoding.EncodeToString(b) }
func b64url(b []byte) string {
	return base64.RawURLEncoding.EncodeToString(b)
}
func fromURL(s string) []byte { return must(base64.RawURLEncoding.DecodeString(s)) }

// signingInput is what a signature for a purpose covers (WIRE.md §1).
func signingInput(purpose string, parts ...[]byte) []byte {
	input := slices.Concat(lp([]byte("better-compute/v1")), lp([]byte(purpose)))
	for _, p := range parts {
		input = append(input, lp(p)...)
	}
	return input
}

// leafHash is the hash of a leaf; digest is 32 bytes, or empty for a leaf that admits any payload (WIRE.md §2).
func leafHash(batchID, subject, kind string, digest []byte) []byte {
	return sum([]byte{0}, lp([]byte(batchID)), lp([]byte(subject)), lp([]byte(kind)), lp(digest))
}

// treeHash is MTH of RFC 6962 §2.1 over leaf hashes, by its recursive definition.
func treeHash(hashes [][]byte) []byte {
	if len(hashes) == 1 {
		return hashes[0]
	}
	k := split(len(hashes))
	return sum([]byte{1}, treeHash(hashes[:k]), treeHash(hashes[k:]))
}

// auditPath is PATH of RFC 6962 §2.1.1: the siblings of leaf m from leaf to root.
func auditPath(m int, hashes [][]byte) [][]byte {
	if len(hashes) == 1 {
		return [][]byte{}
	}
	k := split(len(hashes))
	if m < k {
		return append(auditPath(m, hashes[:k]), treeHash(hashes[k:]))
	}
	return append(auditPath(m-k, hashes[k:]), treeHash(hashes[:k]))
}

// split is the largest power of two below n.
func split(n int) int {
	k := 1
	for 2*k < n {
		k *= 2
	}
	return k
}

// inHashOrder sorts leaf hashes; order[i] is the place in hashes of the i-th in hash order.
func inHashOrder(hashes [][]byte) (sorted [][]byte, order []int) {
	for i := range hashes {
		order = append(order, i)
	}
	slices.SortFunc(order, func(a, b int) int { return bytes.Compare(hashes[a], hashes[b]) })
	for _, i := range order {
		sorted = append(sorted, hashes[i])
	}
	return sorted, order
}
