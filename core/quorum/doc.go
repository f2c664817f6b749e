// Package quorum holds approver keys, what they sign, and when enough of them have signed.
package quorum
