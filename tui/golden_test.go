package tui

import (
	"regexp"
	"strings"
	"testing"
)

// sampled varies from run to run: the sample is drawn at random.
var sampled = regexp.MustCompile(`n00[0-9][0-9]|[0-9]+ of 90 on`)

// The screens, as a person read them and committed them.
func TestGoldenScreens(t *testing.T) {
	batch := func() *driver { return driveOpened(t, openedScope(t, scopeFile(t, 15, mixed), testPolicy())) }
	fleet := func() *driver { return driveOpened(t, openedScope(t, scopeFile(t, 90, reimages(0)), testPolicy())) }
	change := func() *driver {
		return driveOpened(t, openedChange(t, testSet(t, 2, 0, 1, 2), testSet(t, 2, 0, 1, 3), "dave.pub"))
	}
	removal := func() *driver { return driveOpened(t, openedChange(t, testSet(t, 2, 0, 1, 2), testSet(t, 0), "")) }
	for name, d := range map[string]*driver{
		"overview":        batch(),
		"overview-below":  batch().keys("end"),
		"overview-read":   batch().readAll().keys("1"),
		"operations":      batch().keys("2"),
		"operation":       batch().keys("2", "enter"),
		"operation-end":   batch().keys("2", "enter", "end"),
		"subjects":        batch().keys("3"),
		"subjects-search": batch().keys("3", "/", "S", "i", "t", "e", "-", "1"),
		"filters":         batch().keys("3", "f"),
		"subjects-site":   batch().keys("3", "f", "end", "up", "up", "up", "enter"),
		"leaf":            batch().keys("3", "enter"),
		"findings":        batch().keys("4"),
		"finding":         batch().keys("4", "enter"),
		"help":            batch().keys("?"),
		"not-yet":         batch().keys("A"),
		"summary":         fleet().keys("2", "enter"),
		"operations-many": fleet().keys("2"),
		"change-overview": change(),
		"changes":         change().keys("2"),
		"change":          change().keys("2", "enter"),
		"removal":         removal().keys("2", "enter"),
	} {
		t.Run(name, func(t *testing.T) {
			if strings.HasSuffix(name, "-many") || name == "summary" {
				golden(t, name, d, sampled)
			} else {
				golden(t, name, d)
			}
		})
	}
}
