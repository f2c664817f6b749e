package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/better-compute/approver/core/config"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
	"github.com/better-compute/approver/scope"
)

// The functions of this file settle a flag with what is configured (config.Keys says what a flag may do). Without
// configuration they give what the flag says.

// trustDomain gives the trust domain of --trust-domain and the configuration, "" where neither has one.
func (a *app) trustDomain(flag string) (string, error) {
	if flag != "" {
		if err := wire.CheckTrustDomain("--trust-domain", flag); err != nil {
			return "", err
		}
	}
	s, err := a.settings()
	if err != nil {
		return "", err
	}
	return s.TightenTrustDomain(flag)
}

// maxHours gives the longest time a window may stay open, 1 to 720 hours.
func (a *app) maxHours(given int, isGiven bool) (int, error) {
	if isGiven && (given < 1 || given > wire.MaxWindowHours) {
		return 0, usage(fmt.Sprintf("--max-hours is 1 to %d", wire.MaxWindowHours))
	}
	if !isGiven {
		given = 0
	}
	s, err := a.settings()
	if err != nil {
		return 0, err
	}
	hours, err := s.TightenHours("--max-hours", given)
	if hours == 0 && err == nil {
		hours = scope.DefaultMaxHours
	}
	return hours, err
}

// hoursFor gives the hours of a window that is made: those of --hours, else otherwise, or fewer where fewer are configured.
func (a *app) hoursFor(given, otherwise int, isGiven bool) (int, error) {
	s, err := a.settings()
	if err != nil {
		return 0, err
	}
	if isGiven {
		return s.TightenHours("--hours", given)
	}
	longest, err := s.TightenHours("--hours", 0)
	if longest == 0 || err != nil {
		return otherwise, err
	}
	return min(otherwise, longest), nil
}

// checkWindow refuses the end of a window that is made, where fewer hours are configured.
func (a *app) checkWindow(notAfter uint64, now time.Time) error {
	s, err := a.settings()
	if err != nil {
		return err
	}
	open := time.UnixMilli(int64(notAfter)).Sub(now)
	hours := int(open / time.Hour)
	if open%time.Hour > 0 {
		hours++
	}
	_, err = s.TightenHours("--not-after", max(1, hours))
	return err
}

// registerKinds is the flag for the kinds of an installation, on every command that reads operations.
func registerKinds(c *cobra.Command, path *string) {
	c.Flags().StringVar(path, "kinds", "", "table of your installation's own kinds, `FILE` (TOML)")
}

// approverSet gives the approver set of --approvers and the configuration, nil where neither has one. Of .pub files alone
// the threshold is not known.
func (a *app) approverSet(files []string) (set *quorum.Set, thresholdUnknown bool, err error) {
	s, err := a.settings()
	if err != nil {
		return nil, false, err
	}
	if len(files) > 0 {
		if set, thresholdUnknown, err = readApprovers(files); err != nil {
			return nil, false, err
		}
	}
	set, own, err := s.TightenSet(set, thresholdUnknown)
	return set, thresholdUnknown && !own, err
}

// verifierSet gives the approver set that signatures are judged by; with .pub files --threshold and --tiers make it one.
func (a *app) verifierSet(files []string, threshold uint32, tiersText string) (*quorum.Set, error) {
	set, keysAlone, err := a.approverSet(files)
	if err != nil {
		return nil, err
	}
	if set == nil {
		return nil, usage("--approvers is missing: it does not come from a file under test")
	}
	tiers, err := parseTiers(tiersText)
	if err != nil {
		return nil, err
	}
	s, err := a.settings()
	switch {
	case err != nil:
		return nil, err
	case s.ApproverSet().IsSet():
		return set, s.TightenThreshold(threshold, tiers)
	case !keysAlone && (threshold != 0 || tiersText != ""):
		return nil, usage("the set file has its own threshold and tiers; --threshold and --tiers go with .pub files")
	case !keysAlone:
		return set, nil
	case threshold == 0:
		return nil, usage("--threshold is needed with .pub files")
	}
	return quorum.NewSet(quorum.SetDraft{Keys: set.Keys(), Threshold: threshold, Tiers: tiers})
}

// fileNames takes the lists of --approvers apart.
func fileNames(given []string) (paths []string, err error) { return listed("--approvers", given) }

// listed takes the lists of a flag apart, file names with commas between.
func listed(flag string, given []string) (paths []string, err error) {
	for _, list := range given {
		for path := range strings.SplitSeq(list, ",") {
			if path = strings.Trim(path, " "); path == "" {
				return nil, usage(flag + ": a file name in the list is empty")
			}
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// expectedPublic gives the public key of --pub and the configuration, zero where neither has one.
func (a *app) expectedPublic(flag string) (k config.PublicKey, err error) {
	s, err := a.settings()
	if err != nil {
		return k, err
	}
	if hsm.IsURI(flag) || config.HidesURI(flag) { // its PIN is not repeated as the name of a file
		return k, usage("--pub is a file; a pkcs11: URI goes with --key")
	}
	if flag != "" {
		k.Path = flag
		if k.Key, err = readPublicKey(flag); err != nil {
			return k, err
		}
	}
	return s.TightenPublicKey(k)
}

// signingKey gives the key file or URI of --key and the configuration, "" where neither has one.
func (a *app) signingKey(flag string) (string, error) {
	if hsm.IsURI(flag) {
		if _, err := hsm.ParseURI(flag); err != nil { // before any error could repeat it
			return "", err
		}
	}
	if config.HidesURI(flag) {
		return "", usage("--key has a pkcs11: URI that does not begin the text; a path is wanted, or pkcs11: first")
	}
	s, err := a.settings()
	if err != nil {
		return "", err
	}
	return s.TightenKey(flag, hsm.IsURI)
}
