package main

import (
	"fmt"
	"strings"

	"github.com/better-compute/approver/core/wire"
)

type hintKey struct {
	code   wire.Code
	reason string
}

// hints say what to try after a refusal, by code and reason, or by code alone.
var hints = map[hintKey]string{
	{code: wire.ScopeMismatch}:                    "get the scope again from who made it, and compare its root by voice; do not sign this file",
	{code: wire.ScopeChanged}:                     "review this scope anew: it is not the one you looked at",
	{code: wire.ScopeUnexpected}:                  "find out which is right, the batch or your list, before anything is signed",
	{code: wire.UnboundScope}:                     "ask for a batch with its payloads bound; --allow-unbound accepts whatever they will be",
	{code: wire.OpaqueScope}:                      "give your installation's table, --kinds FILE, or ask for the payloads; --allow-opaque signs what nobody can read",
	{code: wire.TrustDomainMismatch}:              "check which deployment this batch is for",
	{code: wire.InvalidConfig}:                    "see what is configured with 'approver config show'; who gave it to you mends it",
	{wire.InvalidState, "window-closed"}:          "ask for a new batch",
	{wire.InvalidState, "window-long"}:            "ask for a shorter window, or accept more hours with --max-hours (at most 720)",
	{wire.InvalidState, "clock"}:                  "set the clock, or give the right time: --now YYYY-MM-DDThh:mm:ssZ",
	{wire.InvalidState, "not-confirmed"}:          "run it again, and type what the review shows",
	{wire.InvalidState, "already-approved"}:       "nothing needs signing again: the file of the approval is what to hand over",
	{wire.InvalidState, "ledger-in-use"}:          "finish the other review first",
	{code: wire.Conflict}:                         "stop, and tell the other approvers: one of the two is not what it says it is",
	{code: wire.AuditTampered}:                    "keep the folder as it is, and tell whoever audits; --state DIR begins another ledger, which is a finding",
	{wire.AccessDenied, "stale-epoch"}:            "ask for the epoch in force; a change takes a higher one",
	{wire.AccessDenied, "epoch-too-high"}:         "a first set has an epoch of at most 2^32",
	{wire.AccessDenied, "approver-set-unsigned"}:  "get the missing signatures of approvers of the set that the machine holds",
	{wire.AccessDenied, "no-trust-domain"}:        "give the machine's own, --trust-domain NAME",
	{wire.AccessDenied, "pin-mismatch"}:           "compare the pin with 'approver set digest' of the set you mean",
	{wire.InvalidState, "unfit-key"}:              "make another key with 'approver hsm keygen'; do not enrol this one",
	{code: wire.MissingEnv}:                       "set BETTER_COMPUTE_APPROVER_PASSPHRASE, or run it on a terminal",
	{wire.KeyUnavailable, "pin-incorrect"}:        "check the PIN before you try again: each wrong one counts",
	{wire.KeyUnavailable, "pin-locked"}:           "the security officer unlocks it: approver hsm pin unlock",
	{wire.KeyUnavailable, "pin-final-try"}:        "one more wrong PIN locks the token; --allow-final-try takes the risk",
	{wire.KeyUnavailable, "pin-missing"}:          "give --pin-file, --pin-fd or pin-source in the URI, or run it on a terminal",
	{wire.KeyUnavailable, "token-not-found"}:      "plug the token in, and compare its label and serial with the list above",
	{wire.KeyUnavailable, "ambiguous"}:            "add serial= to the URI, or id= and --pub",
	{wire.KeyUnavailable, "key-not-found"}:        "check object= or id= in the URI; 'approver hsm list --login' prints URIs",
	{wire.KeyUnavailable, "key-mismatch"}:         "compare the kid with your own note of it; do not sign with this key",
	{wire.KeyUnavailable, "module"}:               "check --module; 'approver hsm modules' lists those that work here",
	{wire.KeyUnavailable, "device-removed"}:       "plug the token in and start again",
	{wire.KeyUnavailable, "timeout"}:              "unplug the token, plug it in and start again; --timeout allows more time",
	{wire.Unsupported, "terminal"}:                "make the terminal larger, or write a picture with --png",
	{wire.AccessDenied, "too-few-approvals"}:      "get the missing approvals",
	{wire.AccessDenied, "expired"}:                "to judge it as of an earlier time, give --now",
	{wire.InvalidInput, "ambiguous"}:              "say which leaf: --payload-sha256 HEX, or --unbound",
	{wire.InvalidInput, "payload-digest"}:         "do not sign: what the file shows is not what it binds",
	{wire.InvalidInput, "payload-type"}:           "do not sign: the payload is labelled as something it is not",
	{wire.InvalidInput, "payload-unknown-fields"}: "do not sign: the payload holds what nobody can be shown",
	{wire.InvalidInput, "payload-subject"}:        "do not sign: the operation is not for the subject it is listed under",
}

// hint gives what to try after a refusal of a command, given with those above it. The same code can mean two things, which the command or its details
// tell apart.
func hint(command string, code wire.Code, reason string, details map[string]any) string {
	if hint := setHint(command, code, reason, details); hint != "" {
		return hint
	}
	if hint := ledgerHint(command, code, reason, details); hint != "" {
		return hint
	}
	switch {
	case reason == "not-confirmed" && command == "approver batch decline" && details["root"] != nil:
		return "run it on a terminal and type the answers, or decline without the question: --root HEX --yes"
	case command == "approver batch build" && strings.HasPrefix(reason, "payload-"): // who makes the batch can mend it
		return "mend that leaf, and build again"
	case reason == "not-confirmed" && command == "approver review" && details["root"] != nil: // there was nobody to ask
		return "run it on a terminal; 'approver batch sign' can sign without one"
	case reason == "not-confirmed" && command == "approver review":
		return "run it again once you have decided; it asks for what the review shows"
	case reason == "not-confirmed" && details["root"] != nil: // there was nobody to ask
		return "run it on a terminal and type the answers, or pin what you reviewed: --root HEX --yes"
	case code == wire.ScopeMismatch && details["field"] != nil: // a signature for another batch
		return "leave that file out, or find the scope it was made for; the other signatures were not judged"
	case code == wire.InvalidConfig && command == "approver kinds check":
		return "mend the table or the descriptor set"
	case command == "approver kinds show" && code == wire.NotFound:
		return "your installation's own kinds are those of --kinds FILE"
	case details["member"] == "json" && command != "approver batch build": // a file of leaves
		return "make a scope of it first: approver batch build"
	case code == wire.InvalidConfig && command == "approver config show":
		return "who gave you the configuration mends it"
	case code == wire.InvalidConfig && details["flag"] != nil:
		return "leave the flag out: what is configured holds"
	case details["spy"] != nil:
		return "name the module itself, and change a PIN that was given to this one"
	case command == "approver doctor" && details["notLookedAt"] != nil:
		return "do what stands behind each, as --login, and run it again"
	case details["red"] != nil: // doctor as a whole
		return "do what stands below each red line, and run it again"
	case reason == "not-confirmed" && details["terminal"] == "none":
		return "run it on a terminal, and type what it asks for"
	case reason == "not-confirmed" && strings.HasPrefix(command, "approver hsm "):
		return "run it again, and type what stands on the screen"
	case code == wire.Conflict && command == "approver hsm keygen":
		return "choose another --label; 'approver hsm list --login' shows what the token has"
	case code == wire.Conflict && command == "approver hsm import":
		return "the key needs no import; 'approver hsm list --login' shows what it has"
	case reason == "unfit-key" && details["lacksHalf"] != nil:
		return "--pub FILE, or 'approver hsm import': the token lacks the public half"
	case reason == "key-mismatch" && command == "approver hsm import":
		return "the file that belongs to this key"
	case details["writeProtected"] != nil:
		return "take the write protection off the token, its reader or its module; signing needs no writing"
	}
	if hint := pinHint(command, reason, details); hint != "" {
		return hint
	}
	if hint := ambiguityHint(command, reason, details); hint != "" {
		return hint
	}
	if hint := hints[hintKey{code, reason}]; hint != "" {
		return hint
	}
	return hints[hintKey{code: code}]
}

// ledgerHint gives what to try after a refusal that has to do with the ledger, or "".
func ledgerHint(command string, code wire.Code, reason string, details map[string]any) string {
	switch {
	case details["ledger"] != nil:
		return "make room there, or a place that can be written; --state DIR names another ledger, and nothing that was signed is known there"
	case details["seq"] != nil && (code == wire.IOError || reason == "already-approved"):
		return fmt.Sprintf("its signature is in the ledger: approver log signature %v", details["seq"])
	case code == wire.AuditTampered && strings.HasPrefix(command, "approver log"):
		return "keep it as it is, and compare it with an export or a head from before"
	case reason == "clock" && details["seq"] != nil:
		return fmt.Sprintf("look at both, by a watch and with 'approver log show': set the clock if it is behind; if record %v was made with it ahead, review with --now and the right time until then", details["seq"])
	}
	return ""
}
