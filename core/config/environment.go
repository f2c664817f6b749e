package config

import (
	"slices"
	"strconv"
	"strings"

	"github.com/better-compute/approver/core/wire"
)

// environment reads the variables that stand beside [pki.approvers] and pki.trust_version. A variable that is set beside the
// file's own value must say the same: an environment loosens no more than a flag.
func (l *loader) environment() error {
	if err := l.environmentVersion(); err != nil {
		return err
	}
	keys := l.getenv(keysVariable)
	if keys == "" {
		for _, name := range []string{thresholdVariable, unbatchedVariable, signaturesVariable} {
			if l.getenv(name) != "" {
				return refuse("", Origin{Variable: name}, "it is set and %s is not", keysVariable)
			}
		}
		return nil
	}
	draft, err := l.environmentDraft(keys)
	if err != nil {
		return err
	}
	parts := map[string]string{".set_signatures": signaturesVariable}
	set, err := l.publish(draft, Origin{Variable: keysVariable}, func(part, format string, args ...any) error {
		name := parts[part]
		if name == "" {
			name = keysVariable
		}
		return refuse("", Origin{Variable: name}, format, args...)
	})
	if err != nil {
		return err
	}
	if !l.s.Published.IsSet() {
		l.s.Published = set
		l.noteEnvironment(draft)
		return nil
	}
	return l.checkEnvironment(set.Value, draft)
}

// noteEnvironment keeps what the variables say as what is written for the keys of [pki.approvers].
func (l *loader) noteEnvironment(d *publishedDraft) {
	note := func(name, variable string, value any) {
		if l.getenv(variable) != "" {
			l.s.written[approversTable+"."+name] = Written{value, Origin{Variable: variable}}
		}
	}
	note("keys", keysVariable, d.paths)
	note("threshold", thresholdVariable, int64(d.Threshold))
	note("unbatched_destructive_per_hour", unbatchedVariable, int64(d.UnbatchedPerHour))
	note("set_signatures", signaturesVariable, d.signatures)
	note("epoch", signaturesVariable, int64(l.s.Published.Value.Epoch))
}

// checkEnvironment holds the environment's set against the file's.
func (l *loader) checkEnvironment(given *ApproverSet, d *publishedDraft) error {
	file := l.s.Published
	if a, b := given.Set.Digest(), file.Value.Set.Digest(); a != b {
		return refuse("", Origin{Variable: keysVariable}, "the environment's set %x is another than that of %s, %x", a, file.Origin, b)
	}
	if len(d.signatures) == 0 {
		return nil
	}
	kids := func(a *ApproverSet) (kids []string) {
		for _, s := range a.Signatures {
			kids = append(kids, s.KID.String())
		}
		slices.Sort(kids)
		return kids
	}
	if given.Epoch != file.Value.Epoch || !slices.Equal(kids(given), kids(file.Value)) {
		return refuse("", Origin{Variable: signaturesVariable}, "epoch %d signed by %v is another than that of %s, epoch %d signed by %v",
			given.Epoch, kids(given), file.Origin, file.Value.Epoch, kids(file.Value))
	}
	return nil
}

func (l *loader) environmentVersion() error {
	o := Origin{Variable: trustVersionVariable}
	text := l.getenv(o.Variable)
	if text == "" {
		return nil
	}
	n, err := parseDigits(o.Variable, text, 1, wire.MaxInteger)
	if err != nil {
		return err
	}
	if file := l.s.TrustVersion; file.IsSet() && file.Value != n {
		return refuse("", o, "%d is another than that of %s, %d", n, file.Origin, file.Value)
	} else if !file.IsSet() {
		l.s.TrustVersion = Setting[uint64]{n, o}
		l.s.written["pki.trust_version"] = Written{int64(n), o}
	}
	return nil
}

// environmentDraft reads a set without tiers; relative paths start at the working folder.
func (l *loader) environmentDraft(keys string) (d *publishedDraft, err error) {
	d = &publishedDraft{}
	if d.paths, err = splitPaths(keysVariable, keys); err != nil {
		return nil, err
	}
	for _, path := range d.paths {
		key, err := readPublicKey(path)
		if err != nil {
			return nil, refuse("", Origin{Variable: keysVariable}, "%s", wire.MessageOf(err))
		}
		d.Keys = append(d.Keys, key)
	}
	text := l.getenv(thresholdVariable)
	if text == "" {
		return nil, refuse("", Origin{Variable: thresholdVariable}, "it is not set, and %s is", keysVariable)
	}
	threshold, err := parseDigits(thresholdVariable, text, 1, uint64(len(d.Keys)))
	if err != nil {
		return nil, err
	}
	d.Threshold = uint32(threshold)
	if text := l.getenv(unbatchedVariable); text != "" {
		unbatched, err := parseDigits(unbatchedVariable, text, 0, maxWord)
		if err != nil {
			return nil, err
		}
		d.UnbatchedPerHour = uint32(unbatched)
	}
	if text := l.getenv(signaturesVariable); text != "" {
		d.signatures, err = splitPaths(signaturesVariable, text)
	}
	return d, err
}

// splitPaths takes a list of file names with commas between and, if need be, spaces around them.
func splitPaths(variable, list string) (paths []string, err error) {
	for path := range strings.SplitSeq(list, ",") {
		if path = strings.Trim(path, " "); path == "" {
			return nil, refuse("", Origin{Variable: variable}, "a file name in the list is empty")
		}
		if HidesURI(path) || isURI(path) {
			return nil, refuse("", Origin{Variable: variable}, misplacedURI)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// parseDigits reads a number in plain digits.
func parseDigits(variable, text string, least, most uint64) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || strconv.FormatUint(n, 10) != text || n < least || n > most {
		return 0, refuse("", Origin{Variable: variable}, "%q; wanted: %d to %d in plain digits", text, least, most)
	}
	return n, nil
}
