package main

import (
	"fmt"
	"strings"

	"github.com/better-compute/approver/core/wire"
)

// setHint gives what to try after a refusal of a command about approver sets, or "" where it is what other commands say.
func setHint(command string, code wire.Code, reason string, details map[string]any) string {
	switch strings.TrimPrefix(command, "approver batch ") {
	case "sign-approvers":
		return signApproversHint(code, reason, details)
	case "verify-approvers":
		return verifyApproversHint(code, reason, details)
	}
	return ""
}

func signApproversHint(code wire.Code, reason string, details map[string]any) string {
	switch {
	case reason == "not-confirmed" && details["root"] != nil:
		return "run it on a terminal and type the answers, or pin what you reviewed: --digest HEX --epoch N --yes"
	case reason == "already-approved":
		state := ""
		if details["state"] != nil {
			state = fmt.Sprintf(" --state %v", details["state"])
		}
		return fmt.Sprintf("its signature is in the ledger: approver log signature %v --set %v%s", details["seq"], details["set"], state)
	case code == wire.ScopeChanged:
		return "review this set anew: it is not the one you looked at"
	case code == wire.TrustDomainMismatch:
		return "find out which is wrong, your --trust-domain or the file: keep the file"
	case code == wire.ScopeMismatch:
		return "leave that file out: it is for another change"
	case reason == "bad-signature":
		return "get that file again from who made it, and tell them that this one does not verify"
	}
	return ""
}

func verifyApproversHint(code wire.Code, reason string, details map[string]any) string {
	switch {
	case reason == "approver-set-unsigned" && details["fileTrustDomains"] != nil:
		return fmt.Sprintf("compare --trust-domain with the machine's own: the files are for %v", details["fileTrustDomains"])
	case reason == "approver-set-unsigned":
		return "get the missing signatures of approvers of the set that the machine holds; if it missed a change, offer it that one first"
	case reason == "stale-epoch" && details["twoSets"] != nil:
		return "stop, and tell the other approvers: one epoch has two sets, and the machine holds the other"
	}
	return ""
}
