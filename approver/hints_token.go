package main

import "github.com/better-compute/approver/hsm"

// pinHint gives what to try after a refusal that is about a PIN, by how the command takes it, whose it is and how it stands now;
// "" where that says no more than the reason.
func pinHint(command, reason string, details map[string]any) string {
	officer := details["whose"] == "security officer"
	state := details["pinState"]
	locked := reason == "pin-locked" || state == hsm.PINLocked.String()
	switch {
	case reason == "pin-missing" && details["descriptor"] != nil:
		return "hand it over in the shell: --pin-fd N N<FILE"
	case reason == "pin-missing" && (command == "approver hsm pin unlock" || command == "approver hsm init"):
		return "give --so-pin-file and --new-pin-file, or descriptors of those names, or run it on a terminal"
	case reason == "pin-missing" && command == "approver hsm pin change":
		return "give --pin-file, with --so --so-pin-file, and --new-pin-file, or run it on a terminal"
	case details["delivered"] != nil:
		return "this maker delivers it with an SO PIN: enter that"
	case reason == "" && state == hsm.PINToBeChanged.String():
		if officer {
			return "approver hsm pin change --so"
		}
		return "approver hsm pin change"
	case reason == "pin-missing" && state == hsm.PINNotSet.String():
		return "the security officer sets it: approver hsm pin unlock"
	case reason == "" || state == nil:
		return ""
	case locked && details["tpm"] != nil:
		return "the whole TPM may be locked, for the security officer too: wait for its lockout time, or clear it with the TPM's " +
			"lockout authority (tpm2_dictionarylockout --clear-lockout)"
	case locked && details["soPinState"] == hsm.PINLocked.String():
		return "only the maker's reset helps: the security officer's PIN, which could unlock it, is locked too"
	case locked && officer:
		return "only the maker's reset helps; keys whose user PIN is known still sign"
	case locked:
		return "the security officer unlocks it: approver hsm pin unlock"
	case state == hsm.PINFinalTry.String():
		return finalTryHint(command, reason, officer)
	case state == "not shown":
		return "check the PIN before you try again: each wrong one counts, and nothing shows how many are left"
	}
	return ""
}

// finalTryHint gives what to try where one try is left, before a login or after a wrong PIN.
func finalTryHint(command, reason string, officer bool) string {
	left, then := "", "one more wrong PIN locks the token"
	if officer {
		then = "one more wrong PIN locks the security officer's, and nobody can unlock that"
	}
	if reason == "pin-incorrect" {
		left = "one try is left; do not guess: "
	}
	if command == "approver hsm init" { // which has no flag for it: all that it needs is a login, after which the tries are back
		return left + then + "; 'approver hsm pin change --so --allow-final-try' takes the risk"
	}
	return left + then + "; --allow-final-try takes the risk"
}

// ambiguityHint says how to name one of several tokens or keys, by the flags that the command has.
func ambiguityHint(command, reason string, details map[string]any) string {
	if reason != "ambiguous" {
		return ""
	}
	switch {
	case details["keys"] != nil && (command == "approver batch sign" || command == "approver hsm check"):
		return "add object= or id= to the URI, or give --pub"
	case details["keys"] != nil:
		return "add object= or id= to the URI"
	case details["tokens"] == nil:
		return ""
	}
	switch command {
	case "approver hsm list", "approver hsm init":
		return "add --serial"
	case "approver hsm keygen", "approver hsm pin change", "approver hsm pin unlock":
		return "add --serial, or serial= to the URI"
	}
	return "add serial= to the URI"
}
