//go:build unix

package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/better-compute/approver/core/wire"
)

// Inputs that are no files, or too much of one, in every place where the command takes a file.
func TestHostileInputs(t *testing.T) {
	s := newSession(t)
	require.NoError(t, unix.Mkfifo(s.path("fifo"), 0o600))
	require.NoError(t, os.Mkdir(s.path("folder"), 0o700))
	require.NoError(t, os.Symlink("/dev/zero", s.path("linked")))
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	require.NoError(t, err)
	defer unix.Close(fd)
	require.NoError(t, unix.Bind(fd, &unix.SockaddrUnix{Name: s.path("socket")}))
	code := map[string]string{"socket": "(INVALID_INPUT|IO_ERROR)", "nothing": "NOT_FOUND"}
	for _, input := range []string{"fifo", "folder", "/dev/zero", "linked", "socket", "nothing", "/dev/tty", "/dev/stdin"} {
		want := code[input]
		if want == "" || input == "/dev/tty" {
			want = "(INVALID_INPUT|IO_ERROR)"
		}
		for place, args := range map[string][]string{
			"scope":     {"batch", "show", "--now", now, "--scope", input},
			"expect":    {"batch", "show", "--now", now, "--scope", "ok-2.json", "--expect", input},
			"approvers": {"batch", "show", "--now", now, "--scope", "ok-2.json", "--approvers", input},
			"key":       {"batch", "sign", "--now", now, "--scope", "ok-2.json", "--yes", "--key", input},
			"pub":       {"batch", "sign", "--now", now, "--scope", "ok-2.json", "--yes", "--key", "alice.pem", "--pub", input},
			"signature": {"batch", "verify", input, "--now", now, "--scope", "ok-2.json", "--approvers", "set.json", "--trust-domain", "d"},
		} {
			t.Run(place+" "+strings.TrimPrefix(input, "/dev/"), func(t *testing.T) {
				r := s.measured(args...)
				require.Equal(t, 1, r.status)
				require.Regexp(t, "(?m)^"+want+": ", r.stderr)
				requireCheap(t, r, 0)
			})
		}
	}
}

// requireCheap holds a refusal against a second or two of work, and against four times what it read beside what the command itself takes.
func requireCheap(t *testing.T, r result, read int64) {
	t.Helper()
	require.Less(t, r.cpu, 2*time.Second, "a second, on a machine that does nothing else")
	require.Less(t, r.took, 10*time.Second, "it waited; a busy machine alone is no reason for so much")
	require.Less(t, r.maxRSS, 4*read+64<<20, "memory")
}

func TestHostileScopes(t *testing.T) {
	brackets := strings.Repeat("[", 200_000)
	inMember := func(value string) []byte {
		return bytes.Replace(caseFile("ok-2.json"), []byte(`"case"`), []byte(value), 1)
	}
	padded := func(size int) []byte {
		scope := caseFile("ok-2.json")
		return append(scope, bytes.Repeat([]byte{'\n'}, size-len(scope))...)
	}
	for name, scope := range map[string][]byte{
		"200,000 brackets":             []byte(brackets),
		"200,000 closed brackets":      []byte(brackets + strings.Repeat("]", 200_000)),
		"200,000 brackets in a member": inMember(brackets),
		"200,000 braces":               []byte(strings.Repeat(`{"a":`, 200_000)),
		"a reason of 8 MiB":            inMember(`"` + strings.Repeat("x", 8<<20) + `"`),
		"a number of 1 MiB":            bytes.Replace(caseFile("ok-2.json"), []byte("4102444800000"), bytes.Repeat([]byte("9"), 1<<20), 1),
		"one byte over 64 MiB":         padded(wire.MaxFileBytes + 1),
		"one byte over, of zeros":      make([]byte, wire.MaxFileBytes+1),
		"nothing":                      nil,
		"one string of 64 MiB":         append([]byte(`{"format":"`), bytes.Repeat([]byte("x"), wire.MaxFileBytes-11)...),
		"a million empty leaves":       []byte("[" + strings.Repeat("{},", 1_000_000) + "{}]"),
	} {
		t.Run(name, func(t *testing.T) {
			s := newSession(t)
			s.write("hostile.json", scope)
			r := s.measured("batch", "show", "--scope", "hostile.json", "--now", now, "--batch", "b", "--not-after", "4102444800000", "--trust-domain", "d")
			require.Equal(t, 1, r.status)
			require.Regexp(t, "(?m)^INVALID_INPUT: ", r.stderr)
			require.Less(t, len(r.stderr), 2000, "an error repeats what it read")
			requireCheap(t, r, int64(len(scope)))
		})
	}
	t.Run("exactly 64 MiB", func(t *testing.T) {
		s := newSession(t)
		s.write("large.json", padded(wire.MaxFileBytes))
		r := s.measured("batch", "show", "--scope", "large.json", "--now", now)
		require.Zero(t, r.status)
		require.Less(t, r.maxRSS, int64(3*wire.MaxFileBytes))
	})
	for place, args := range map[string][]string{
		"expect":    {"batch", "show", "--now", now, "--scope", "ok-2.json", "--expect", "large"},
		"approvers": {"batch", "show", "--now", now, "--scope", "ok-2.json", "--approvers", "large"},
		"pub":       {"batch", "sign", "--now", now, "--scope", "ok-2.json", "--yes", "--key", "alice.pem", "--pub", "large"},
		"key":       {"batch", "sign", "--now", now, "--scope", "ok-2.json", "--yes", "--key", "large"},
		"signature": {"batch", "verify", "large", "--now", now, "--scope", "ok-2.json", "--approvers", "set.json", "--trust-domain", "compute.example.com"},
	} {
		t.Run("a large "+place, func(t *testing.T) {
			s := newSession(t)
			s.write("large", append([]byte("{"), padded(wire.MaxFileBytes)...))
			r := s.measured(args...)
			require.Equal(t, 1, r.status)
			require.Regexp(t, "(?m)^INVALID_INPUT: ", r.stderr)
			requireCheap(t, r, wire.MaxFileBytes)
		})
	}
}

// Lists of far more elements than a batch can hold, in files of 64 MiB: refused at the first element too many.
func TestHostileLists(t *testing.T) {
	const set, end = `{"format":"better-compute-approver-set","version":1,"epoch":1,"set":{"keys":[`, `],"threshold":1,"tiers":[],"unbatchedDestructivePerHour":0}}`
	filled := func(begin, element, end string) []byte {
		n := (wire.MaxFileBytes - len(begin) - len(end)) / len(element)
		return []byte(begin + strings.Repeat(element, n-1) + strings.TrimSuffix(element, ",") + end)
	}
	expect := []string{"batch", "show", "--now", now, "--scope", "ok-2.json", "--expect", "list"}
	approvers := []string{"batch", "show", "--now", now, "--scope", "ok-2.json", "--approvers", "list"}
	const many = "an array of more than 50000 elements"
	for name, test := range map[string]struct {
		list []byte
		args []string
		says string
	}{
		"expected numbers":          {filled("[", "0,", "]"), expect, many},
		"expected subjects":         {filled("[", `"a",`, "]"), expect, many},
		"expected entries":          {filled("[", "{},", "]"), expect, many},
		"expected arrays":           {filled("[", "[],", "]"), expect, many},
		"expected lines":            {filled("", "a\n", ""), expect, "more than 50000 subjects"},
		"expected lines of nothing": {filled("", "#\n", ""), expect, "it is empty"},
		"keys of a set":             {filled(set, "{},", end), approvers, many},
		"tiers of a set":            {filled(set+`],"threshold":1,"tiers":[`, "{},", `],"unbatchedDestructivePerHour":0}}`), approvers, many},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSession(t)
			s.write("list", test.list)
			r := s.measured(test.args...)
			require.Equal(t, 1, r.status)
			require.Regexp(t, "(?m)^INVALID_INPUT: .*"+test.says, r.stderr)
			requireCheap(t, r, wire.MaxFileBytes)
		})
	}
}

// A file that may not be read. Root may read everything, so this runs as nobody in a folder that nobody can enter.
func TestUnreadable(t *testing.T) {
	require.Zero(t, os.Geteuid(), "the tests of file modes run as root: ./softhsm-test.sh")
	s := newSession(t)
	require.NoError(t, os.Chmod(s.path("ok-2.json"), 0o000))
	line := "chmod 711 . .. ../.. && cp $approver ./approver && chmod 755 approver && " +
		"exec setpriv --reuid 65534 --regid 65534 --clear-groups ./approver batch show --now " + now + " --scope ok-2.json"
	r := s.sh(line)
	require.Equal(t, 1, r.status)
	require.Regexp(t, `^IO_ERROR: open ok-2.json: permission denied\n`, r.stderr)
	require.NoError(t, os.Chmod(s.path("ok-2.json"), 0o444))
	require.Zero(t, s.sh(line).status)
}
