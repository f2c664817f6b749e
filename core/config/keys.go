package config

import "slices"

// A Rule says what a flag may do where a setting is configured. It never loosens.
type Rule string

// The rules.
const (
	NoFlag Rule = "no flag"
	Repeat Rule = "repeat" // give the same value or content
	Lower  Rule = "lower"  // give at most the configured number
	Inside Rule = "inside" // name a file of the configured folder
	Differ Rule = "differ" // say something else, which is a finding
)

// A Key is a key of the configuration file.
type Key struct {
	Name     string // dotted, as in a TOML file
	Value    string // its form
	Variable string // the environment variable that says the same, or ""
	Flag     string // the flag that says the same, or ""
	Rule     Rule   // what the flag may do
}

// Keys gives every key, in the order of docs/formats/configuration.md.
func Keys() []Key { return slices.Clone(keys) }

var keys = []Key{
	{"trust_domain", "a-z 0-9 . - _, 1 to 255 bytes", "", "--trust-domain", Repeat},
	{"key", "a key file, or a pkcs11: URI", "", "--key", Repeat},
	{"public_key", "a .pub file", "", "--pub", Repeat},
	{"approvers", "an approver set file", "", "--approvers", Repeat},
	{"max_hours", "1 to 720", "", "--max-hours", Lower},
	{"kinds", "a table of kinds", "", "--kinds", Repeat},
	{"expected_lists", "a folder", "", "--expect", Inside},
	{"state", "a folder", "", "--state", Differ},
	{"module.path", "an absolute path", "", "--module", Repeat},
	{"module.sha256", "64 hex digits", "", "", NoFlag},
	{"pki.command_signing", "a file of certificates", "", "", NoFlag},
	{"pki.trust_version", "1 to 2^53-1", trustVersionVariable, "", NoFlag},
	{"pki.approvers.keys", ".pub files", keysVariable, "--approvers", Repeat},
	{"pki.approvers.threshold", "1 to the number of keys", thresholdVariable, "--threshold", Repeat},
	{"pki.approvers.tiers", "tables of max_scope_size and threshold", "", "--tiers", Repeat},
	{"pki.approvers.unbatched_destructive_per_hour", "0 to 2^32-1", unbatchedVariable, "", NoFlag},
	{"pki.approvers.epoch", "1 to 2^53-1", "", "", NoFlag},
	{"pki.approvers.set_signatures", "approver-set signature files", signaturesVariable, "", NoFlag},
}

// The environment variables that stand beside [pki.approvers] and pki.trust_version.
const (
	keysVariable         = "BETTER_COMPUTE_APPROVER_KEYS"
	thresholdVariable    = "BETTER_COMPUTE_APPROVER_THRESHOLD"
	unbatchedVariable    = "BETTER_COMPUTE_UNBATCHED_PER_HOUR"
	signaturesVariable   = "BETTER_COMPUTE_APPROVER_SET_SIGNATURES"
	trustVersionVariable = "BETTER_COMPUTE_TRUST_VERSION"
)
