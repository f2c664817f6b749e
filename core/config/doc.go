// Package config reads what an operator has configured once, so that it is not typed each time: who signs with which key, by
// which approver set, for which trust domain. A configuration only ever adds checks: a flag may repeat what is configured or
// tighten it, and is refused where it says anything else, so that a pasted command line loosens nothing.
//
// # The file
//
// TOML 1.0, at most 1 MiB, read strictly: no unknown key, exact letter case, no value of another type. Every key is optional.
//
//	trust_domain = "compute.example.com"
//	key = "pkcs11:token=approver;object=k256"   # or a key file
//	public_key = "k256.pub"
//	approvers = "set.json"
//	max_hours = 24
//	kinds = "kinds.toml"
//	expected_lists = "/srv/expected"
//	state = "/var/lib/approver"
//
//	[module]
//	path = "/usr/lib/softhsm/libsofthsm2.so"
//	sha256 = "<64 hex digits>"
//
//	[pki]
//	command_signing = "command-root.crt"
//	trust_version = 7
//
//	[pki.approvers]
//	keys = ["alice.pub", "bob.pub", "carol.pub"]
//	threshold = 2
//	tiers = [{ max_scope_size = 5, threshold = 1 }]
//	unbatched_destructive_per_hour = 0
//	epoch = 2
//	set_signatures = ["alice.set.json"]
//
// Relative paths start at the folder of the file. The file, each file it names and the folder of each belong to root or to
// the user, and nobody else can write them (ReadTrusted). Whoever could change the configuration could take every check of
// it away.
//
// Of the file above Load makes Settings whose approver set has three keys, needs two approvals and for up to five leaves
// one. The set of "approvers" must be the same; --approvers with another set file is INVALID_CONFIG, --max-hours 12 holds, and
// --max-hours 48 is refused.
//
// # The key
//
// A pkcs11: URI is text here: what it may say is hsm's to know, which this package does not import. Whoever uses Load gives
// Key.Value, where hsm.IsURI tells it is one, to hsm.ParseURI before anything else, for a PIN in it is refused there; until
// then no error and no screen may repeat it. Load itself refuses a URI where a path is wanted, or behind another word.
//
// # The environment
//
// BETTER_COMPUTE_APPROVER_KEYS, _APPROVER_THRESHOLD, _UNBATCHED_PER_HOUR and _APPROVER_SET_SIGNATURES say what
// [pki.approvers] says, and BETTER_COMPUTE_TRUST_VERSION what pki.trust_version does. Beside the file they must say the same.
//
// A new key means that older builds refuse the file, which is what they must do with a check they do not know.
package config
