package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/better-compute/approver/core/config"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/scope"
)

// readSettings reads the configuration; where parts of it are refused, the rest is gone on with, since everything that is wrong
// is to be told at once.
func (d *doctor) readSettings() {
	if _, err := d.app.settings(); err == nil {
		return
	}
	s, refused, err := config.Survey(d.app.configPath, d.app.getenv)
	if err != nil {
		return // it is that of settings
	}
	if err := checkKeyURI(s); err != nil {
		refused, s.Key = append(refused, config.Refusal{Part: "key", Err: err}), config.Setting[string]{}
	}
	d.app.configured, d.refused = s, refused
}

// configured runs a check that needs the configuration, and these parts of it.
func (d *doctor) configured(check func(*config.Settings) outcome, parts ...string) outcome {
	s, err := d.app.settings()
	if err != nil {
		return unseen("the configuration cannot be read")
	}
	for _, part := range parts {
		if slices.ContainsFunc(d.refused, func(r config.Refusal) bool { return r.Part == part }) {
			return unseen("what is configured for it is refused: " + part)
		}
	}
	return check(s)
}

func (d *doctor) configuration(context.Context) outcome {
	s, err := d.app.settings()
	if err != nil {
		return failed(err)
	}
	if len(d.refused) > 0 {
		var texts []string
		for _, r := range d.refused {
			texts = append(texts, wire.MessageOf(r.Err))
		}
		o := failed(d.refused[0].Err)
		o.found = string(wire.InvalidConfig) + ": " + strings.Join(texts, "; ")
		return o
	}
	if err := s.CheckKey(modulePathOf); err != nil { // the module has a row of its own
		return failed(err)
	}
	if s.File == "" {
		return warn("there is no configuration file")
	}
	return fine("%s, by %s", s.File, s.NamedBy)
}

func (d *doctor) trustDomain(context.Context) outcome {
	return d.configured(func(s *config.Settings) outcome {
		if !s.TrustDomain.IsSet() {
			return warn("none is configured")
		}
		return fine("%s", s.TrustDomain.Value)
	}, "trust_domain")
}

// kinds reads the table that reviews are decoded by, with the digest of its descriptor set to compare.
func (d *doctor) kinds(context.Context) outcome {
	return d.configured(func(*config.Settings) outcome {
		file, err := d.app.kindTable(d.flags.kinds)
		if err != nil {
			return failed(err)
		}
		if file.path == "" {
			return fine("the %d built-in ones", len(file.table.Kinds()))
		}
		own, destructive := 0, 0
		for _, k := range file.table.Kinds() {
			if !k.Builtin() {
				own++
				destructive += boolInt(k.Destructive())
			}
		}
		digest := fmt.Sprintf("%x", sha256.Sum256(file.descriptorSet))
		return fine("%s has %d, %d of them destructive; SHA-256 of the descriptor set %s", file.path, own, destructive, digest).note("descriptorSetSha256", digest)
	}, "kinds")
}

// expectedLists reads every list of the configured folder, each as a review of its batch would.
func (d *doctor) expectedLists(context.Context) outcome {
	return d.configured(func(s *config.Settings) outcome {
		if !s.ExpectedLists.IsSet() {
			return warn("no folder is configured").do("configure expected_lists, or give --expect with each batch: without a list nobody knows that these are the right machines")
		}
		folder := s.ExpectedLists.Value
		entries, err := os.ReadDir(folder)
		if err != nil {
			return bad("%s", err)
		}
		var lists []string
		for _, e := range entries {
			id, isText := strings.CutSuffix(e.Name(), ".txt")
			id, isJSON := strings.CutSuffix(id, ".json")
			if !isText && !isJSON || !wire.IsID(id) {
				continue
			}
			_, data, err := s.ReadExpected("", id)
			if err == nil {
				_, err = scope.ParseExpected(data)
			}
			if err != nil {
				return failed(fmt.Errorf("list of batch %s: %w", id, err)).do("mend the list, or take it away: the review of its batch would be refused")
			}
			lists = append(lists, e.Name())
		}
		if len(lists) == 0 {
			return warn("%s has no list of any batch", folder)
		}
		return fine("%s has %d", folder, len(lists)).note("lists", lists)
	}, "expected_lists")
}

// approverSet holds the key that will sign against the set, and says what the set wants.
func (d *doctor) approverSet(context.Context) outcome {
	return d.configured(func(*config.Settings) outcome {
		set, thresholdUnknown, err := d.app.approverSet(d.flags.approvers)
		if err == nil && set != nil {
			err = checkMember(set, d.member)
		}
		switch {
		case err != nil:
			return failed(err)
		case set == nil:
			return warn("none is known")
		case thresholdUnknown:
			return warn("%d keys, and how many of them must sign is not known", len(set.Keys()))
		}
		digest := fmt.Sprintf("%x", set.Digest())
		o := judgeSet(set, "digest "+digest)
		if d.member.IsZero() && o.light == green {
			o = warn("%s; which key is yours is not known", o.found).do("see what stands above: the key")
		}
		return o.note("setSha256", digest).note("threshold", set.Threshold())
	}, "approvers", "pki")
}

// judgeSet says what a set demands; what one person could do alone, or one lost token stop, is amber.
func judgeSet(set *quorum.Set, digest string) outcome {
	needs := fmt.Sprintf("%d of %d keys", set.Threshold(), len(set.Keys()))
	for _, tier := range set.Tiers() {
		needs += fmt.Sprintf(", %d for up to %d operations", tier.Threshold, tier.MaxScopeSize)
	}
	needs += "; " + digest
	switch {
	case set.Threshold() == 1:
		return warn("%s", needs).do("one person alone can approve any batch: ask your security officer whether that is meant")
	case int(set.Threshold()) == len(set.Keys()):
		return warn("%s", needs).do("every key is needed: where one token is lost or locked, nothing can be approved")
	}
	return fine("%s", needs)
}
