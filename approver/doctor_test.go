//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/better-compute/approver/core/review"
)

// A told is what doctor --json tells.
type told struct {
	Light  light `json:"light"`
	Green  int   `json:"green"`
	Amber  int   `json:"amber"`
	Red    int   `json:"red"`
	Checks []struct {
		Check, Found, Advice string
		Light                light
		Facts                map[string]any
	} `json:"checks"`
	Ready       bool     `json:"ready"`
	NotLookedAt []string `json:"notLookedAt"`
	NotNeeded   []string `json:"notNeeded"`
}

func parseTold(t testing.TB, r result) (d told) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &d), "%s%s", r.stdout, r.stderr)
	require.Equal(t, 1, strings.Count(r.stdout, "\n"))
	require.Less(t, strings.IndexFunc(r.stdout, func(r rune) bool { return r != '\n' && (r < ' ' || r > '~') }), 0, "not plain ASCII")
	require.Equal(t, len(checks), len(d.Checks)+len(d.NotLookedAt)+len(d.NotNeeded), "a check says nothing")
	count := map[light]int{}
	for _, c := range d.Checks {
		count[c.Light]++
		require.NotEmpty(t, c.Found, c.Check)
		require.Equal(t, c.Light == green, c.Advice == "", "%s: %s is green and says what to do, or is not and says nothing", c.Check, c.Found)
	}
	require.Equal(t, map[light]int{green: d.Green, amber: d.Amber, red: d.Red}, map[light]int{green: count[green], amber: count[amber], red: count[red]})
	require.Equal(t, d.Red == 0 && len(d.NotLookedAt) == 0, d.Ready, "%s", r.stdout)
	require.Equal(t, d.Ready, r.status == 0, "%s", r.stdout)
	return d
}

// facts gives what a check tells programs.
func (d told) facts(t testing.TB, name string) map[string]any {
	t.Helper()
	for _, c := range d.Checks {
		if c.Check == name {
			return c.Facts
		}
	}
	require.Fail(t, "not looked at", name)
	return nil
}

// doctor runs the command, as text and as JSON, which say the same.
func (s *session) doctor(args ...string) told {
	s.t.Helper()
	text := s.run(append([]string{"doctor"}, args...)...)
	requireNarrow(s.t, text.stdout)
	r := s.run(append([]string{"doctor", "--json"}, args...)...)
	require.Equal(s.t, text.status, r.status)
	d := parseTold(s.t, r)
	for _, c := range d.Checks {
		require.Regexp(s.t, `(?m)^`+string(c.Light)+` +`+regexp.QuoteMeta(c.Check)+`  `, text.stdout)
	}
	switch {
	case d.Red > 0:
		requireRefusal(s.t, r, "INVALID_STATE", "")
		require.Regexp(s.t, "(?m)^INVALID_STATE: this machine is not ready: ", text.stderr)
		require.Contains(s.t, text.stdout, "\nRED: ")
	case !d.Ready:
		requireRefusal(s.t, r, "INVALID_STATE", "")
		require.Regexp(s.t, "(?m)^INVALID_STATE: nobody knows whether this machine is ready; not looked at: ", text.stderr)
		require.Regexp(s.t, fmt.Sprintf("\nINCOMPLETE: %d of %d not looked at: 0 red, ", len(d.NotLookedAt), len(checks)), text.stdout)
	default:
		require.Regexp(s.t, "\n(GREEN|AMBER): 0 red, ", text.stdout)
	}
	return d
}

func requireNarrow(t testing.TB, text string) {
	t.Helper()
	for line := range strings.SplitSeq(text, "\n") {
		require.LessOrEqual(t, cells(line), widestRow, "%q", line)
	}
}

// require finds a check with that light, whose finding matches.
func (d told) require(t testing.TB, name string, want light, finding string) {
	t.Helper()
	for _, c := range d.Checks {
		if c.Check == name {
			require.Equal(t, want, c.Light, "%s: %s", name, c.Found)
			require.Regexp(t, finding, c.Found)
			return
		}
	}
	require.Equal(t, dark, want, "%s was not looked at", name)
	require.Contains(t, strings.Join(append(slices.Clone(d.NotLookedAt), d.NotNeeded...), "\n")+"\n", name+" ("+finding)
}

// Each check has a name of its own, an advice, and a row on the page.
func TestDoctorChecksAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/doctor.md")
	require.NoError(t, err)
	var have []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		have = append(have, m[1])
	}
	var want []string
	for _, c := range checks {
		want = append(want, c.name)
		require.NotNil(t, c.run)
		require.NotEmpty(t, c.advice, c.name)
	}
	require.Equal(t, want, have, "the table of docs/doctor.md")
}

// A lab is a laptop whose files are those of a folder.
func lab(t *testing.T, files map[string]string) *doctor {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	l := thisLaptop(func(string) string { return "" })
	l.files, l.root, l.umask, l.coreLimit, l.exposed = os.DirFS(root), false, 0o022, 0, false
	a := osApp()
	a.getenv = func(string) string { return "" }
	return newDoctor(a, &doctorFlags{}, l)
}

func TestDoctorSwap(t *testing.T) {
	const head = "Filename\tType\tSize\tUsed\tPriority\n"
	file := filepath.Join(t.TempDir(), "swap file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	at := "sys/dev/block/" + deviceOf(file)
	inProc := strings.ReplaceAll(file, " ", `\040`) + " file 1 0 -2\n"
	node := filepath.Join(t.TempDir(), "zram0")
	require.NoError(t, unix.Mknod(node, unix.S_IFBLK|0o600, int(unix.Mkdev(250, 7))), "this test runs as root, see ./softhsm-test.sh")
	for name, test := range map[string]struct {
		want    light
		finding string
		files   map[string]string
	}{
		"none":              {green, "^none$", map[string]string{"proc/swaps": head}},
		"not told":          {amber, "cannot be told", nil},
		"plain":             {amber, "on .*/swap file, which is not encrypted", map[string]string{"proc/swaps": head + inProc, at + "/dev": "x"}},
		"LVM":               {amber, "not encrypted", map[string]string{"proc/swaps": head + inProc, at + "/dm/uuid": "LVM-1"}},
		"absent device":     {amber, "on /nowhere", map[string]string{"proc/swaps": head + "/nowhere partition 1 0 -2\n"}},
		"encrypted":         {green, "^encrypted, or in memory: .*/swap file$", map[string]string{"proc/swaps": head + inProc, at + "/dm/uuid": "CRYPT-LUKS2-1-x\n"}},
		"LVM on dm-crypt":   {green, "encrypted", map[string]string{"proc/swaps": head + inProc, at + "/dm/uuid": "LVM-1", at + "/slaves/dm-0/x": "", "sys/class/block/dm-0/dev": "253:0\n", "sys/dev/block/253:0/dm/uuid": "CRYPT-LUKS2-1-x\n"}},
		"one layer open":    {amber, "not encrypted", map[string]string{"proc/swaps": head + inProc, at + "/slaves/dm-0/x": "", at + "/slaves/sda1/x": "", "sys/class/block/dm-0/dev": "253:0\n", "sys/dev/block/253:0/dm/uuid": "CRYPT-LUKS2-1-x\n", "sys/class/block/sda1/dev": "8:1\n"}},
		"a loop of layers":  {amber, "not encrypted", map[string]string{"proc/swaps": head + inProc, at + "/slaves/a/x": "", "sys/class/block/a/dev": deviceOf(file)}},
		"one of two":        {amber, "^on /nowhere, which", map[string]string{"proc/swaps": head + inProc + "/nowhere file 1 0 -2\n", at + "/dm/uuid": "CRYPT-PLAIN-x"}},
		"zram":              {green, "in memory", map[string]string{"proc/swaps": head + node + " partition 1 0 -2\n", "sys/dev/block/250:7/backing_dev": "none\n"}},
		"zram with a disk":  {amber, "zram0", map[string]string{"proc/swaps": head + node + " partition 1 0 -2\n", "sys/dev/block/250:7/backing_dev": "/dev/sda3\n"}},
		"a folder as zram0": {amber, "zram0", map[string]string{"proc/swaps": head + "/nowhere/zram0 file 1 0 -2\n"}},
	} {
		t.Run(name, func(t *testing.T) { requireOutcome(t, lab(t, test.files).swap(t.Context()), test.want, test.finding) })
	}
	require.Equal(t, `a b\04c\`, unescapeOctal(`a\040b\04c\`))
}

func requireOutcome(t testing.TB, o outcome, want light, finding string) {
	t.Helper()
	require.Equal(t, want, o.light, o.found)
	require.Regexp(t, finding, o.found)
}

func TestDoctorLaptop(t *testing.T) {
	const core, scope = "proc/sys/kernel/core_pattern", "proc/sys/kernel/yama/ptrace_scope"
	for name, test := range map[string]struct {
		check   func(*doctor) outcome
		want    light
		finding string
		change  func(*doctor)
		files   map[string]string
	}{
		"no dumps":       {coreOf, green, "^none", nil, map[string]string{core: "core\n"}},
		"dumps":          {coreOf, amber, "any size, write \"core.%p\"", func(d *doctor) { d.laptop.coreLimit = 1<<64 - 1 }, map[string]string{core: "core.%p\n"}},
		"some bytes":     {coreOf, amber, "a limit of 4096 bytes", func(d *doctor) { d.laptop.coreLimit = 4096 }, nil},
		"a pattern":      {coreOf, amber, "any size", func(d *doctor) { d.laptop.coreLimit = 1<<64 - 1 }, map[string]string{core: "core\n"}},
		"a pipe":         {coreOf, amber, "go to /usr/lib/collect %P", nil, map[string]string{core: "|/usr/lib/collect %P\n"}},
		"exposed":        {coreOf, red, "can be dumped", func(d *doctor) { d.laptop.exposed = true }, map[string]string{core: "core"}},
		"Yama":           {tracingOf, green, "^ptrace_scope 1$", nil, map[string]string{scope: "1\n"}},
		"no Yama":        {tracingOf, amber, "no yama", nil, nil},
		"Yama off":       {tracingOf, amber, "ptrace_scope 0", nil, map[string]string{scope: "0\n"}},
		"linker":         {linkerOf, green, "nothing is loaded", nil, map[string]string{"etc/ld.so.preload": "\n"}},
		"preloaded file": {linkerOf, amber, "^/etc/ld.so.preload: /x.so$", nil, map[string]string{"etc/ld.so.preload": "/x.so\n"}},
		"no network":     {networkOf, green, "no interface", func(d *doctor) { d.laptop.interfaces = interfaces(nil, "lo") }, nil},
		"network":        {networkOf, amber, "^up: eth0, wlan0$", func(d *doctor) { d.laptop.interfaces = interfaces(nil, "lo", "eth0", "wlan0", "down0") }, nil},
		"no answer":      {networkOf, amber, "cannot be listed", func(d *doctor) { d.laptop.interfaces = interfaces(errors.New("no")) }, nil},
		"root":           {userOf, amber, "as root", func(d *doctor) { d.laptop.root = true }, nil},
		"not root":       {userOf, green, "not root", nil, nil},
		"umask 077":      {umaskOf, green, "0077", func(d *doctor) { d.laptop.umask = 0o077 }, nil},
		"umask 002":      {umaskOf, amber, "0002", func(d *doctor) { d.laptop.umask = 0o002 }, nil},
		"umask 020":      {umaskOf, amber, "0020", func(d *doctor) { d.laptop.umask = 0o020 }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			d := lab(t, test.files)
			if test.change != nil {
				test.change(d)
			}
			requireOutcome(t, test.check(d), test.want, test.finding)
		})
	}
}

// What is so already is not advised.
func TestDoctorCoreAdvice(t *testing.T) {
	for pattern, wanted := range map[string]bool{"core\n": false, "|/usr/lib/collect %P\n": true} {
		d := lab(t, map[string]string{"proc/sys/kernel/core_pattern": pattern})
		d.laptop.coreLimit = 4096
		o := d.coreDumps(t.Context())
		require.Equal(t, amber, o.light)
		advice := o.advice
		for _, c := range checks {
			if c.name == "core dumps" && advice == "" {
				advice = c.advice
			}
		}
		require.Contains(t, advice, "ulimit -c 0")
		require.Equal(t, wanted, strings.Contains(advice, "core_pattern"), advice)
	}
}

func coreOf(d *doctor) outcome    { return d.coreDumps(context.Background()) }
func tracingOf(d *doctor) outcome { return d.tracing(context.Background()) }
func linkerOf(d *doctor) outcome  { return d.linker(context.Background()) }
func networkOf(d *doctor) outcome { return d.network(context.Background()) }
func userOf(d *doctor) outcome    { return d.user(context.Background()) }
func umaskOf(d *doctor) outcome   { return d.umask(context.Background()) }

func interfaces(err error, names ...string) func() (all []net.Interface, _ error) {
	return func() (all []net.Interface, _ error) {
		for _, name := range names {
			flags := map[string]net.Flags{"lo": net.FlagUp | net.FlagLoopback, "down0": net.FlagBroadcast}[name]
			if flags == 0 {
				flags = net.FlagUp | net.FlagBroadcast
			}
			all = append(all, net.Interface{Name: name, Flags: flags})
		}
		return all, err
	}
}

func TestDoctorClock(t *testing.T) {
	d := lab(t, nil)
	at := func(now time.Time) { d.app.now = func() time.Time { return now } }
	at(review.ReleaseDate.Add(-time.Second))
	requireOutcome(t, d.clock(t.Context()), red, "before this release was made")
	program, err := os.Executable()
	require.NoError(t, err)
	info, err := os.Stat(program)
	require.NoError(t, err)
	built := info.ModTime()
	at(built.Add(-clockSlack + time.Second).In(time.FixedZone("IST", 19800)))
	requireOutcome(t, d.clock(t.Context()), green, `UTC; in this time zone [0-9:]+ IST \(UTC\+05:30\)$`)
	at(built.Add(-clockSlack - time.Second))
	requireOutcome(t, d.clock(t.Context()), amber, "later than that: the clock is slow")

	real, shown := time.Second, time.Now()
	d.laptop.uptime = func() time.Duration { return real }
	d.uptime, d.begun = 0, shown.Round(0)
	for step, want := range map[time.Duration]light{time.Second: green, 1900 * time.Millisecond: green, 3 * time.Second: red, -time.Second: red, time.Hour: red} {
		at(shown.Add(step))
		requireOutcome(t, d.pace(t.Context()), want, "1.0 s")
	}
}

// Whatever is found, no line of it is wider than the terminal, and all of it stands there.
func TestDoctorRowsDoNotWrap(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		words := rapid.SliceOfN(rapid.OneOf(rapid.String(), rapid.StringMatching("[0-9a-f]{64}[,;]?"), rapid.StringMatching("[a-z]{1,90}")), 0, 6).Draw(r, "words")
		text := review.Escape(strings.Join(words, " ")).String()
		width := rapid.SampledFrom([]int{leastWidth, 60, 80, 200}).Draw(r, "width")
		drawn := drawRow(width, strings.Repeat("x", rowIndent), text)
		for i, line := range strings.Split(strings.TrimSuffix(drawn, "\n"), "\n") {
			if cells(line) > width {
				r.Fatalf("%d cells: %q", cells(line), line)
			}
			if i > 0 && !strings.HasPrefix(line, strings.Repeat(" ", leastIndent)) {
				r.Fatalf("it can pose as a row: %q", line)
			}
			if line != strings.TrimRight(line, " ") {
				r.Fatalf("spaces at the end: %q", line)
			}
		}
		for _, digest := range regexp.MustCompile("(^| )([0-9a-f]{64})( |$)").FindAllStringSubmatch(text, -1) {
			if width >= widestRow && !strings.Contains(drawn, digest[2]) {
				r.Fatalf("a digest is broken: %q", drawn)
			}
		}
		squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if got := squeeze(strings.TrimPrefix(drawn, strings.Repeat("x", rowIndent))); got != squeeze(text) {
			r.Fatalf("%q, wanted %q", got, squeeze(text))
		}
	})
}
