package scope

import (
	"fmt"
	"time"

	"github.com/better-compute/approver/core/merkle"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

// DefaultMaxHours is how long a window may stay open where nothing else is said (WIRE.md §9).
const DefaultMaxHours = 72

// A Policy is what an approver holds a scope against. Nothing in it comes from the scope.
type Policy struct {
	Time             review.Time
	Location         *time.Location // in which local times are shown; nil is time.Local
	Root             *merkle.Hash   // the root that was reviewed before, or nil
	TrustDomain      string         // configured or given; "" takes the file's word, which is a finding
	Configured       bool           // TrustDomain is configured, whether it was given too or not
	Configuration    []string       // the configuration file, and what it stands instead of, for the review to name
	NotAfter         uint64         // given end of the window, Unix milliseconds; 0 takes the file's
	MaxHours         int            // 1 to 720; 0 is DefaultMaxHours
	AllowUnbound     bool
	AllowOpaque      bool
	Expected         *Expected        // or nil, which is a finding
	ExpectedFrom     string           // the file that it was read from, for the review to name
	Approvers        *quorum.Set      // verifies the file's signatures; nil leaves them claims
	ThresholdUnknown bool             // Approvers are keys alone: how many must sign is not known
	KeyUnpinned      bool             // the key that would sign was found, not named
	Key              quorum.KID       // the key that would sign, where it is known already
	Other            []review.Finding // about how the files came here
}

// terms are what an approval of this scope would say beside its root.
type terms struct {
	trustDomain string
	pinned      bool // the trust domain is the approver's own
	notAfter    uint64
}

// terms settles the trust domain and the end of the window, and refuses what contradicts the file.
func (v *Verified) terms(p *Policy) (t terms, err error) {
	if p.Root != nil && *p.Root != v.scope.Root() {
		return t, wire.Errorf(wire.ScopeChanged, "", "the scope's root is %s, the one that was reviewed is %s", v.scope.Root(), *p.Root).
			With("computed", v.scope.Root()).With("reviewed", *p.Root)
	}
	switch t.trustDomain, t.pinned = v.header.TrustDomain, p.TrustDomain != ""; {
	case t.pinned && t.trustDomain != "" && t.trustDomain != p.TrustDomain:
		return t, wire.Errorf(wire.TrustDomainMismatch, "", "the file is for trust domain %q, yours is %q", t.trustDomain, p.TrustDomain).
			With("file", t.trustDomain).With("own", p.TrustDomain)
	case t.pinned:
		t.trustDomain = p.TrustDomain
	case t.trustDomain == "":
		return t, wire.Errorf(wire.InvalidInput, "", "neither the file nor a flag names the trust domain")
	}
	switch t.notAfter = v.header.NotAfter; {
	case t.notAfter != 0 && p.NotAfter != 0 && t.notAfter != p.NotAfter:
		return t, wire.Errorf(wire.InvalidInput, "", "the file ends at %s, --not-after says %s", wire.Stamp(t.notAfter), wire.Stamp(p.NotAfter))
	case p.NotAfter != 0:
		t.notAfter = p.NotAfter
	case t.notAfter == 0:
		return t, wire.Errorf(wire.InvalidInput, "", "the file does not say when the approval ends, and --not-after is not given")
	}
	return t, nil
}

// KeyFindings judges the key that would sign: key-unpinned where KeyUnpinned says so.
func (p *Policy) KeyFindings() []review.Finding {
	if !p.KeyUnpinned {
		return nil
	}
	return []review.Finding{review.NewFinding(review.KeyUnpinned, review.Escape("the token says which public key it has; nobody else did"))}
}

// WindowFindings judges the window: the clock itself, then now <= not_after <= now + max-hours.
func (p *Policy) WindowFindings(notAfter uint64) []review.Finding {
	end := time.UnixMilli(int64(notAfter))
	found := review.ClockFindings(p.Time, end)
	if len(found) > 0 && found[0].Severity == review.Stop {
		return found
	}
	details := map[string]any{"notAfter": notAfter, "now": p.Time.Now.UnixMilli()}
	longest := time.Duration(p.maxHours()) * time.Hour
	switch open := end.Sub(p.Time.Now); {
	case open < 0:
		f := review.NewFinding(review.WindowClosed, review.Escape("the window closed "+duration(-open)+" ago, at "+utc(end)))
		f.Details = details
		found = append(found, f)
	case open > longest:
		f := review.NewFinding(review.WindowLong, review.Escape(fmt.Sprintf("the window stays open for %s; at most %d h are allowed", duration(open), p.maxHours())))
		f.Details = details
		found = append(found, f)
	}
	return found
}

func (p *Policy) maxHours() int {
	if p.MaxHours == 0 {
		return DefaultMaxHours
	}
	return p.MaxHours
}

func utc(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// duration gives days, hours and minutes, or seconds below a minute.
func duration(d time.Duration) string {
	switch {
	case d < 0: // the farthest that can be told turned around
		return "more than 290 years"
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%d days %d h", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
}
