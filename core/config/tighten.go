package config

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// What a flag may do to a configured setting stands in Keys. The functions of this file settle the two: each takes what the
// flag says, and where nothing is configured gives it back. Their refusals are INVALID_CONFIG, for a trust domain
// TRUST_DOMAIN_MISMATCH, with both values and where the configured one stands.

// contradicts is the refusal of a flag that would loosen or exchange a setting.
func contradicts(code wire.Code, flag, given, configured string, o Origin, may string) *wire.Error {
	err := wire.Errorf(code, "", "%s says %s, the configuration says %s (%s); a flag may only %s", flag, given, configured, o, may).
		With("flag", flag).With("given", given).With("configured", configured)
	if o.File != "" {
		err.With("file", o.File).With("line", o.Line)
	}
	if o.Variable != "" {
		err.With("variable", o.Variable)
	}
	return err
}

const mayRepeat = "repeat it"

// TightenTrustDomain settles --trust-domain; "" is a flag that is not given.
func (s *Settings) TightenTrustDomain(given string) (string, error) {
	switch own := s.TrustDomain; {
	case !own.IsSet() || given == own.Value:
		return given, nil
	case given == "":
		return own.Value, nil
	default:
		return "", contradicts(wire.TrustDomainMismatch, "--trust-domain", given, own.Value, own.Origin, mayRepeat)
	}
}

// TightenHours settles the hours that a window may stay open, as a flag says them (--max-hours, or those of a window that
// is made), or 0 where it is not given. 0 comes back where nothing says it.
func (s *Settings) TightenHours(flag string, given int) (int, error) {
	switch own := s.MaxHours; {
	case !own.IsSet() || given != 0 && given <= own.Value:
		return given, nil
	case given == 0:
		return own.Value, nil
	default:
		return 0, contradicts(wire.InvalidConfig, flag, strconv.Itoa(given), strconv.Itoa(own.Value), own.Origin, "lower it")
	}
}

// TightenKey settles --key, a path or a pkcs11: URI; isURI tells them apart.
func (s *Settings) TightenKey(given string, isURI func(string) bool) (string, error) {
	own := s.Key
	if !own.IsSet() {
		return given, nil
	}
	configured := own.Value
	if !isURI(configured) {
		configured = s.Resolve(configured)
	}
	if given == "" || given == configured || !isURI(given) && !isURI(configured) && samePath(given, configured) {
		return configured, nil
	}
	return "", contradicts(wire.InvalidConfig, "--key", given, configured, own.Origin, mayRepeat)
}

// TightenPublicKey settles --pub, the key of a .pub file; the zero PublicKey is a flag that is not given.
func (s *Settings) TightenPublicKey(given PublicKey) (PublicKey, error) {
	own := s.PublicKey
	if !own.IsSet() || !given.Key.IsZero() && given.Key.Equal(own.Value.Key) {
		return given, nil
	}
	if given.Key.IsZero() {
		return own.Value, nil
	}
	return PublicKey{}, contradicts(wire.InvalidConfig, "--pub", named(given), named(own.Value), own.Origin, mayRepeat)
}

func named(k PublicKey) string { return k.Path + " (key " + k.Key.KID().String() + ")" }

// TightenModule settles a module's path, which said gives as --module or the URI's module-path; "" is one that is not given.
// pinned is the digest that the module must have, nil where none is configured.
func (s *Settings) TightenModule(said, given string) (path string, pinned *[sha256.Size]byte, err error) {
	own := s.Module
	if !own.IsSet() {
		return given, nil, nil
	}
	if given != "" && given != own.Value.Path && !samePath(given, own.Value.Path) {
		return "", nil, contradicts(wire.InvalidConfig, said, given, own.Value.Path, own.Origin, mayRepeat)
	}
	digest := own.Value.SHA256
	return own.Value.Path, &digest, nil
}

// TightenSet settles --approvers: given is a set, or with keysAlone the keys of one, in any set. nil is a flag that is not
// given. ok tells whether the configured set is the one that counts.
func (s *Settings) TightenSet(given *quorum.Set, keysAlone bool) (set *quorum.Set, ok bool, err error) {
	own := s.ApproverSet()
	if !own.IsSet() {
		return given, false, nil
	}
	configured := own.Value.Set
	same := given == nil || given.Digest() == configured.Digest()
	if keysAlone {
		same = slices.EqualFunc(given.Keys(), configured.Keys(), quorum.PublicKey.Equal)
	}
	if !same {
		return nil, false, contradicts(wire.InvalidConfig, "--approvers", describe(given, keysAlone), describe(configured, keysAlone), own.Origin, mayRepeat)
	}
	return configured, true, nil
}

// TightenCurrent settles --current, the set in force that a change is held against, at its epoch.
func (s *Settings) TightenCurrent(given *quorum.Set, epoch uint64) error {
	own := s.ApproverSet()
	if !own.IsSet() || given.Digest() == own.Value.Set.Digest() && epoch == own.Value.Epoch {
		return nil
	}
	at := func(set *quorum.Set, epoch uint64) string {
		return fmt.Sprintf("%s, epoch %d", describe(set, false), epoch)
	}
	return contradicts(wire.InvalidConfig, "--current", at(given, epoch), at(own.Value.Set, own.Value.Epoch), own.Origin, mayRepeat)
}

// describe names a set by what a person compares.
func describe(s *quorum.Set, keysAlone bool) string {
	if keysAlone {
		var kids []string
		for _, key := range s.Keys() {
			kids = append(kids, key.KID().String())
		}
		return "keys " + strings.Join(kids, ", ")
	}
	return fmt.Sprintf("set %x", s.Digest())
}

// TightenThreshold settles --threshold and --tiers, whose absence is 0 and nil, beside a configured set.
func (s *Settings) TightenThreshold(threshold uint32, tiers []quorum.Tier) error {
	own := s.ApproverSet()
	if !own.IsSet() {
		return nil
	}
	set := own.Value.Set
	if threshold != 0 && threshold != set.Threshold() {
		return contradicts(wire.InvalidConfig, "--threshold", fmt.Sprint(threshold), fmt.Sprint(set.Threshold()), own.Origin, mayRepeat)
	}
	if tiers != nil && !slices.Equal(tiers, set.Tiers()) {
		return contradicts(wire.InvalidConfig, "--tiers", writeTiers(tiers), writeTiers(set.Tiers()), own.Origin, mayRepeat)
	}
	return nil
}

// writeTiers gives tiers as --tiers takes them.
func writeTiers(tiers []quorum.Tier) string {
	if len(tiers) == 0 {
		return "none"
	}
	var parts []string
	for _, t := range tiers {
		parts = append(parts, fmt.Sprintf("%d:%d", t.MaxScopeSize, t.Threshold))
	}
	return strings.Join(parts, ",")
}

// TightenKinds settles --kinds. same tells whether two tables, by their paths, are the same with all they name; it is asked
// about two different files only.
func (s *Settings) TightenKinds(given string, same func(given, configured string) (bool, error)) (string, error) {
	own := s.Kinds
	if !own.IsSet() {
		return given, nil
	}
	if given == "" || samePath(given, own.Value) {
		return own.Value, nil
	}
	if ok, err := same(given, own.Value); err != nil {
		return "", err
	} else if !ok {
		return "", contradicts(wire.InvalidConfig, "--kinds", given, own.Value, own.Origin, mayRepeat)
	}
	return own.Value, nil
}

// StateFolder settles --state, the folder of the ledger; "" is a flag that is not given. The flag counts, since a refusal would
// help nobody who can take another machine; elsewhere is the configured folder where it names another one, and "" where it
// does not. folder is "" where nothing says one.
func (s *Settings) StateFolder(given string) (folder, elsewhere string) {
	switch own := s.State; {
	case !own.IsSet():
		return given, ""
	case given == "" || samePath(given, own.Value):
		return own.Value, ""
	default:
		return given, own.Value
	}
}

// samePath tells whether two paths lead to one file. Their text decides only where neither leads anywhere: after a symbolic
// link ".." is not where it says.
func samePath(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	if errA != nil && errB != nil {
		return filepath.Clean(a) == filepath.Clean(b)
	}
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}
