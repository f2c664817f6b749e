package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/better-compute/approver/core/config"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/hsm"
	"github.com/better-compute/approver/scope"
)

// A shownSetting is a row of config show.
type shownSetting struct {
	Key    string `json:"key"`
	Value  any    `json:"value"`  // null where there is none
	Source string `json:"source"` // file, environment, default or not set
	config.Origin
}

// A shownSet is the approver set of config show.
type shownSet struct {
	Digest     string           `json:"setSha256"`
	Epoch      uint64           `json:"epoch"`
	Threshold  uint32           `json:"threshold"`
	Tiers      []quorum.Tier    `json:"tiers"`
	Unbatched  uint32           `json:"unbatchedDestructivePerHour"`
	Keys       []quorum.KID     `json:"keys"`
	Signatures []shownSignature `json:"signatures"`
	From       string           `json:"from"`
}

type shownSignature struct {
	KID      quorum.KID  `json:"kid"`
	Path     review.Text `json:"path"`
	Verifies bool        `json:"verifies"` // for a key of the set; else its key is not in the set
}

// showConfig prints what is configured once all of it was checked, and then what the check of the machine says.
func (a *app) showConfig() error {
	s, err := a.settings()
	if err != nil {
		return err
	}
	if _, err := a.kindTable(""); err != nil {
		return err
	}
	if err := a.printSettings(s); err != nil {
		return err
	}
	return s.Check(modulePathOf)
}

// modulePathOf gives the module-path of a pkcs11: URI.
func modulePathOf(uri string) (string, error) {
	parsed, err := hsm.ParseURI(uri)
	return parsed.ModulePath(), err
}

func (a *app) printSettings(s *config.Settings) error {
	if a.json {
		return a.printJSON(map[string]any{
			"file": review.Escape(s.File), "namedBy": s.NamedBy, "insteadOf": review.Escape(s.Passed),
			"settings": shownSettings(s), "approverSet": newShownSet(s.ApproverSet()),
		})
	}
	var b bytes.Buffer
	writeConfig(&b, s)
	return a.print(b.Bytes())
}

// defaults are what holds where a key is absent.
var defaults = map[string]any{
	"max_hours": scope.DefaultMaxHours,
	"pki.approvers.unbatched_destructive_per_hour": 0,
	"pki.approvers.epoch":                          1,
}

func shownSettings(s *config.Settings) (rows []shownSetting) {
	for _, key := range config.Keys() {
		row := shownSetting{Key: key.Name, Source: "not set"}
		written, ok := s.Written(key.Name)
		byDefault, has := defaults[key.Name]
		switch {
		case ok && written.Origin.Variable != "":
			row.Source, row.Value, row.Origin = "environment", escapeValue(written.Value), written.Origin
		case ok:
			row.Source, row.Value, row.Origin = "file", escapeValue(written.Value), written.Origin
		case has && (s.Published.IsSet() || !strings.HasPrefix(key.Name, "pki.approvers.")):
			row.Source, row.Value = "default", byDefault
		}
		rows = append(rows, row)
	}
	return rows
}

// escapeValue makes what is written safe to draw.
func escapeValue(v any) any {
	switch v := v.(type) {
	case string:
		return review.Escape(v)
	case []string:
		escaped := []review.Text{}
		for _, s := range v {
			escaped = append(escaped, review.Escape(s))
		}
		return escaped
	}
	return v
}

func newShownSet(own config.Setting[*config.ApproverSet]) *shownSet {
	if !own.IsSet() {
		return nil
	}
	set := own.Value.Set
	shown := &shownSet{
		Digest: fmt.Sprintf("%x", set.Digest()), Epoch: own.Value.Epoch, Threshold: set.Threshold(), Tiers: list(set.Tiers()),
		Unbatched: set.UnbatchedPerHour(), Signatures: []shownSignature{}, From: review.Escape(own.Origin.String()).String(),
	}
	for _, key := range set.Keys() {
		shown.Keys = append(shown.Keys, key.KID())
	}
	for _, signature := range own.Value.Signatures {
		shown.Signatures = append(shown.Signatures, shownSignature{signature.KID, review.Escape(signature.Path), signature.Member})
	}
	return shown
}

// writeConfig writes a line for each setting: key, value, and where it comes from.
func writeConfig(b *bytes.Buffer, s *config.Settings) {
	if s.File == "" {
		b.WriteString("there is no configuration file\n")
	} else {
		fmt.Fprintf(b, "configuration file %s, by %s\n", review.Escape(s.File), s.NamedBy)
		if s.Passed != "" {
			fmt.Fprintf(b, "instead of %s\n", review.Escape(s.Passed))
		}
	}
	for _, row := range shownSettings(s) {
		fmt.Fprintf(b, "%-45s  %s\n", row.Key, row.text())
	}
	set := newShownSet(s.ApproverSet())
	if set == nil {
		return
	}
	fmt.Fprintf(b, "\napprover set %s, from %s\n  epoch %d, threshold %d of %d keys", set.Digest, set.From, set.Epoch, set.Threshold, len(set.Keys))
	for _, t := range set.Tiers {
		fmt.Fprintf(b, ", %d for up to %d leaves", t.Threshold, t.MaxScopeSize)
	}
	fmt.Fprintf(b, ", %d unbatched an hour\n", set.Unbatched)
	for _, kid := range set.Keys {
		fmt.Fprintf(b, "  key %s\n", kid)
	}
	for _, signature := range set.Signatures {
		says := "verifies"
		if !signature.Verifies {
			says = "is of no key of this set"
		}
		fmt.Fprintf(b, "  signature by %s %s (%s)\n", signature.KID, says, signature.Path)
	}
}

func (r shownSetting) text() string {
	value := ""
	switch v := r.Value.(type) {
	case []review.Text:
		var parts []string
		for _, t := range v {
			parts = append(parts, t.String())
		}
		value = strings.Join(parts, ", ")
	case nil:
	default:
		value = fmt.Sprint(v)
	}
	switch r.Source {
	case "file":
		return fmt.Sprintf("%s  (line %d)", value, r.Line)
	case "environment":
		return fmt.Sprintf("%s  (%s)", value, r.Variable)
	case "default":
		return value + "  (default)"
	}
	return "-"
}
