//go:build linux

package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/better-compute/approver/core/quorum"
)

// doctor as a process, on what is really so: limits, masks, disks, terminals, files and tokens.

// doctorIn runs it in a shell line, where "$doctor" is the command with --json.
func (s *session) doctorIn(line string) told {
	s.t.Helper()
	return parseTold(s.t, s.sh(strings.ReplaceAll(line, "$doctor", "$approver doctor --json")))
}

func TestDoctorSeesTheProcess(t *testing.T) {
	s := newSession(t)
	for line, test := range map[string]struct {
		name    string
		want    light
		finding string
	}{
		"umask 022; $doctor":                                {"umask", green, "0022"},
		"umask 002; $doctor":                                {"umask", amber, "0002"},
		"ulimit -c unlimited; $doctor":                      {"core dumps", amber, "any size"},
		"ulimit -c 8; $doctor":                              {"core dumps", amber, "limit of [0-9]+ bytes"},
		"ulimit -c 0; $doctor":                              {"core dumps", green, "none"},
		"LD_LIBRARY_PATH=/nowhere $doctor":                  {"linker", amber, "LD_LIBRARY_PATH=/nowhere"},
		"$doctor":                                           {"linker", green, ""},
		"OPENSSL_CONF=/nowhere $doctor":                     {"linker", amber, "OPENSSL_CONF=/nowhere"},
		"OPENSC_DEBUG=9 $doctor":                            {"linker", amber, "OPENSC_DEBUG=9"},
		"unshare -n $doctor":                                {"network", green, "no interface is up"},
		"unshare -n sh -c 'ip link set lo up; '\"$doctor\"": {"network", green, "no interface is up"},
		"unshare -n sh -c 'ip link add d0 type ifb; ip link set d0 up; '\"$doctor\"": {"network", amber, "^up: d0$"},
		"TZ=Asia/Kolkata $doctor": {"clock", green, `IST \(UTC\+05:30\)`},
		"touch -d 2090-01-01 c.toml; chmod 600 c.toml; $doctor --config c.toml": {"clock", amber, "c.toml is of 2090-01-01 00:00:00 UTC, later than that"},
	} {
		s.write("c.toml", []byte("trust_domain = \"compute.example.com\"\n"))
		s.doctorIn(line).require(t, test.name, test.want, test.finding)
	}
	want := green
	if os.Geteuid() == 0 {
		want = amber
	}
	s.doctor().require(t, "user", want, "root")
}

// A folder that takes no signature is red, and nothing is left in one that does.
func TestDoctorOutputFolder(t *testing.T) {
	s := newSession(t)
	require.NoError(t, os.Mkdir(s.path("out"), 0o700))
	d := s.doctor("--out-dir", "out")
	d.require(t, "output folder", green, "^out takes a file")
	d.require(t, "free space", green, "MiB in out$")
	require.Empty(t, listing(t, s.path("out")))

	small := s.tmpfs("small", 0)
	d = s.doctor("--out-dir", "small")
	d.require(t, "output folder", green, "")
	d.require(t, "free space", red, "^[0-9]+ KiB in small")
	require.Empty(t, listing(t, small))
	require.NoError(t, os.WriteFile(small+"/full", make([]byte, 60<<10), 0o600))
	s.doctor("--out-dir", "small").require(t, "output folder", red, "^IO_ERROR: .*no space left")
	require.Len(t, listing(t, small), 1)

	middle := s.path("middle")
	require.NoError(t, os.Mkdir(middle, 0o700))
	require.NoError(t, unix.Mount("tmpfs", middle, "tmpfs", 0, "size=8m"))
	t.Cleanup(func() { unix.Unmount(middle, unix.MNT_DETACH) })
	s.doctor("--out-dir", "middle").require(t, "free space", amber, "^8 MiB in middle: enough for signatures")
	require.NoError(t, unix.Mount("", middle, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	s.doctor("--out-dir", "middle").require(t, "output folder", red, "^IO_ERROR: .*read-only file system")

	d = s.doctor("--out-dir", "absent")
	d.require(t, "output folder", red, "no such file")
	d.require(t, "free space", dark, "there is no such folder")
	s.doctor("--out-dir", "alice.pem").require(t, "output folder", red, "not a directory")
}

func TestDoctorTerminal(t *testing.T) {
	s := newSession(t)
	d := s.doctor()
	d.require(t, "terminal", amber, "no terminal controls")
	d.require(t, "terminal size", dark, "there is no terminal")
	d.require(t, "QR code", dark, "there is no terminal")
	for _, test := range []struct {
		columns, rows    int
		size, code       light
		sizeSays, qrSays string
	}{
		{60, 60, red, amber, "60 columns and 60 rows; the review takes 80", "needs a terminal of"},
		{79, 60, red, green, "79 columns and 60 rows; the review takes 80", "fits"},
		{80, 23, amber, amber, "fewer than 24 rows", "this one has 80 and 23"},
		{100, 30, green, amber, "^100 columns and 30 rows$", "this one has 100 and 30"},
		{100, 60, green, green, "^100 columns and 60 rows$", "fits on the screen"},
	} {
		c := s.onScreen(test.columns, test.rows, "$approver doctor --json >told.json 2>/dev/null; $approver doctor")
		status := c.end()
		drawn, _, ok := strings.Cut(c.text(), " red, ")
		require.True(t, ok, "%s", c.text())
		for line := range strings.SplitSeq(drawn, "\n") {
			require.LessOrEqual(t, cells(line), test.columns, "it wraps: %q", line)
		}
		d := parseTold(t, result{status: status, stdout: string(s.read("told.json"))})
		d.require(t, "terminal", green, "")
		d.require(t, "terminal size", test.size, test.sizeSays)
		d.require(t, "QR code", test.code, test.qrSays)
	}
}

// Whatever config show refuses is red, and so is what would be refused once a key is known.
func TestDoctorConfiguration(t *testing.T) {
	s := newSession(t)
	require.NoError(t, os.Mkdir(s.path("lists"), 0o700))
	s.write("lists/batch_1.txt", []byte("node_a\n"))
	s.write("kinds.toml", []byte("descriptor_set = \"absent.binpb\"\n[[kind]]\nname = \"acme.flashNic\"\nmessage = \"acme.fleet.v1.FlashNicRequest\"\ndestructive = true\n"))
	good := map[string]string{
		"trust_domain": `"compute.example.com"`, "key": `"alice.pem"`, "public_key": `"alice.pem.pub"`, "approvers": `"set.json"`, "expected_lists": `"lists"`,
	}
	write := func(change map[string]string, more string) {
		var b strings.Builder
		for name, value := range good {
			if changed, ok := change[name]; ok {
				value = changed
			}
			if value != "" {
				fmt.Fprintf(&b, "%s = %s\n", name, value)
			}
		}
		for name, value := range change {
			if _, ok := good[name]; !ok {
				fmt.Fprintf(&b, "%s = %s\n", name, value)
			}
		}
		s.write("config.toml", []byte(b.String()+more))
	}
	write(nil, "")
	d := s.doctor("--config", "config.toml")
	require.Zero(t, d.Red)
	d.require(t, "configuration", green, "^config.toml, by --config$")
	d.require(t, "trust domain", green, "^compute.example.com$")
	d.require(t, "expected lists", green, "^lists has 1$")
	d.require(t, "module", dark, "the key is a file")
	d.require(t, "key", amber, "^alice.pem, a file, for key "+kid("alice"))
	d.require(t, "approver set", green, "^2 of 3 keys, 1 for up to 2 operations; digest [0-9a-f]{64}$")
	d.require(t, "trial", dark, "only with --login")

	digest := fmt.Sprintf("%x", sha256.Sum256([]byte("another")))
	for name, test := range map[string]struct {
		change         map[string]string
		more           string
		check, finding string
		shownToo       bool // config show refuses it as well
	}{
		"unknown key":      {map[string]string{"colour": `"red"`}, "", "configuration", "INVALID_CONFIG: .*colour", true},
		"no such key file": {map[string]string{"key": `"absent.pem"`}, "", "configuration", "absent.pem: there is no such file", true},
		"another's key":    {map[string]string{"public_key": `"dave.pem.pub"`}, "", "approver set", "is not in the approver set", true},
		"kinds":            {map[string]string{"kinds": `"kinds.toml"`}, "", "kinds", "absent.binpb", true},
		"module's digest":  {nil, "[module]\npath = \"" + softHSMModule + "\"\nsha256 = \"" + digest + "\"\n", "module", "wanted: " + digest, true},
		"module is absent": {nil, "[module]\npath = \"/nowhere.so\"\nsha256 = \"" + digest + "\"\n", "module", "no such file", true},
		"foreign key":      {map[string]string{"key": `"dave.pem"`, "public_key": ""}, "", "approver set", "is not in the approver set", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := *s
			s.t = t
			write(test.change, test.more)
			s.doctor("--config", "config.toml").require(t, test.check, red, test.finding)
			require.Equal(t, test.shownToo, s.run("config", "show", "--config", "config.toml").status == 1)
		})
	}
	write(map[string]string{"colour": `"red"`}, "")
	for _, name := range []string{"trust domain", "kinds", "expected lists", "module", "key", "approver set"} {
		s.doctor("--config", "config.toml").require(t, name, dark, "the configuration cannot be read")
	}

	write(nil, "")
	for file, finding := range map[string]string{"batch_1.json": "both there", "batch_2.txt": "INVALID_INPUT"} {
		s.write("lists/"+file, []byte("no subject!\n"))
		s.doctor("--config", "config.toml").require(t, "expected lists", red, finding)
		require.NoError(t, os.Remove(s.path("lists/"+file)))
	}
	require.NoError(t, os.Remove(s.path("lists/batch_1.txt")))
	s.doctor("--config", "config.toml").require(t, "expected lists", amber, "^lists has no list of any batch")
	require.NoError(t, os.Chmod(s.path("lists"), 0o770))
	s.doctor("--config", "config.toml").require(t, "configuration", red, "others can change the folder")
}

func TestDoctorApproverSet(t *testing.T) {
	s := newSession(t)
	s.doctor().require(t, "approver set", amber, "^none is known$")
	s.doctor("--approvers", "alice.pem.pub,bob.pem.pub").require(t, "approver set", amber, "^2 keys, and how many of them must sign is not known")
	s.doctor("--approvers", "set.json").require(t, "approver set", amber, "which key is yours is not known")
	s.doctor("--approvers", "set.json", "--pub", "bob.pem.pub").require(t, "approver set", green, "^2 of 3 keys")
	s.doctor("--approvers", "set.json", "--pub", "dave.pem.pub").require(t, "approver set", red, "KEY_UNAVAILABLE: .* not in the approver set")
	s.doctor("--approvers", "ok-2.json").require(t, "approver set", red, "INVALID_INPUT")
	set, epoch, err := quorum.ParseSetFile(s.read("set.json"))
	require.NoError(t, err)
	for _, k := range []uint32{1, 3} {
		other, err := quorum.NewSet(quorum.SetDraft{Keys: set.Keys(), Threshold: k})
		require.NoError(t, err)
		s.write("other.json", quorum.EncodeSetFile(other, epoch))
		s.doctor("--approvers", "other.json", "--pub", "bob.pem.pub").require(t, "approver set", amber, fmt.Sprintf("^%d of 3 keys; digest", k))
	}
}

// A key file is opened only where that is asked for.
func TestDoctorKeyFile(t *testing.T) {
	s := newSession(t)
	s.env = append(s.env, passphraseVariable+"="+testPassphrase)
	s.ok("batch", "keygen", "--out", "mine.pem")
	s.doctor("--key", "mine.pem").require(t, "trial", dark, "only with --login")
	s.doctor("--key", "mine.pem", "--login").require(t, "trial", green, "the passphrase opens the file; it holds key ")
	s.env = append(s.env, passphraseVariable+"=another than "+"it was made with")
	s.doctor("--key", "mine.pem", "--login").require(t, "trial", red, "INVALID_INPUT")
	s.doctor("--key", "mine.pem", "--pub", "alice.pem.pub").require(t, "trial", dark, "")
	require.NoError(t, os.Chmod(s.path("mine.pem"), 0o644))
	s.doctor("--key", "mine.pem").require(t, "key", red, "mine.pem")
	s.doctor("--key", "absent.pem").require(t, "key", red, "absent.pem")
}

func TestDoctorToken(t *testing.T) {
	f := newFaultyToken(t)
	args := func(more ...string) []string {
		return append([]string{"--key", tokenKey, "--module", f.module, "--pub", "k256.pem.pub", "--pin-file", "pin.txt"}, more...)
	}
	d := f.doctor(args()...)
	require.Zero(t, d.Red)
	d.require(t, "module", amber, "SHA-256 [0-9a-f]{64}, held against nothing$")
	d.require(t, "token", amber, `^label "approver", serial "[0-9a-f]+", "SoftHSM v2" of "SoftHSM project": its keys are files`)
	d.require(t, "PIN", green, "PIN ready")
	d.require(t, "key", amber, "^[A-Za-z0-9_-]{43}, as expected; only the public half was seen$")
	d.require(t, "trial", dark, "only with --login")
	require.Len(t, d.NotLookedAt, 1)
	require.Equal(t, 1, f.run(append([]string{"doctor"}, args()...)...).status, "nobody knows whether the key signs")
	f.set()
	d = f.doctor(args()...)
	require.Zero(t, f.count("C_Login"), "nobody asked for a login")
	require.Equal(t, []string{"C_CloseSession", "C_Finalize"}, f.calls()[len(f.calls())-2:])

	f.set()
	d = f.doctor(args("--login")...)
	d.require(t, "trial", red, "CKA_DECRYPT is true: the key may decrypt, which is another job")
	require.Equal(t, 2, f.count("C_Login"), "one for each of the two runs")
	require.Equal(t, []string{"C_Logout", "C_CloseSession", "C_Finalize"}, f.calls()[len(f.calls())-3:])
	require.Equal(t, d.facts(t, "trial")["reasons"], f.reasonsOfCheck(tokenKey, "--pub", "k256.pem.pub"), "check and doctor judge by one measure")

	for name, test := range map[string]struct {
		rules           []string
		args            []string
		check           string
		want            light
		finding, logsIn string
	}{
		"error state":      {[]string{"C_GetTokenInfo 0 0 flags 0x1000000"}, args(), "token", red, "CKF_ERROR_STATE", ""},
		"no login":         {[]string{"C_GetTokenInfo 0 0 noflags 0x4"}, args(), "token", amber, `^label "approver".*wants no login \(CKF_LOGIN_REQUIRED`, ""},
		"locked":           {[]string{"C_GetTokenInfo 0 0 flags 0x40000"}, args("--login"), "PIN", red, "PIN locked", ""},
		"final try":        {[]string{"C_GetTokenInfo 0 0 flags 0x20000"}, args("--login"), "PIN", red, "one try left", ""},
		"locked, trial":    {[]string{"C_GetTokenInfo 0 0 flags 0x40000"}, args("--login"), "trial", red, "locked", ""},
		"count low":        {[]string{"C_GetTokenInfo 0 0 flags 0x10000"}, args(), "PIN", amber, "wrong PIN was entered", ""},
		"to be changed":    {[]string{"C_GetTokenInfo 0 0 flags 0x80000"}, args(), "PIN", amber, "to be changed", ""},
		"no answer":        {[]string{"C_GetTokenInfo 0 0 rv 5"}, args(), "token", red, "token-not-found|slots did not answer", ""},
		"no start":         {[]string{"C_Initialize 0 0 rv 5"}, args(), "module", red, `C_Initialize gave CKR_GENERAL_ERROR`, ""},
		"no list":          {[]string{"C_GetFunctionList 0 0 rv 5"}, args(), "module", red, "CKR_GENERAL_ERROR", ""},
		"bad signature":    {[]string{"C_Sign 0 0 flip 5"}, args("--login"), "trial", red, "signature", "yes"},
		"a hang":           {[]string{"C_GetSlotList 0 0 hang 1"}, args("--timeout", "1s"), "module", red, "did not answer within 1s", ""},
		"a late hang":      {[]string{"C_OpenSession 0 0 hang 1"}, args("--timeout", "1s"), "token", red, "1s", ""},
		"a crash":          {[]string{"C_GetSlotList 0 0 exit 1"}, args(), "module", red, "the process that tried it", ""},
		"another token":    {nil, []string{"--key", "pkcs11:token=absent;object=k256", "--module", f.module}, "token", red, `no token matches.*label "approver"`, ""},
		"another key":      {nil, []string{"--key", tokenKey, "--module", f.module, "--pub", "alice.pem.pub"}, "key", red, "not the expected " + kid("alice"), ""},
		"no key":           {nil, []string{"--key", "pkcs11:token=approver;object=absent", "--module", f.module, "--pin-file", "pin.txt", "--login"}, "key", red, "^the token has no such key", "yes"},
		"no key, no login": {nil, []string{"--key", "pkcs11:token=approver;object=absent", "--module", f.module}, "key", red, "^the token shows no key that the URI names", ""},
		"no key at all":    {nil, []string{"--module", f.module}, "key", red, "^nothing says which key signs$", ""},
		"no trial":         {nil, []string{"--key", "pkcs11:token=approver;object=absent", "--module", f.module, "--pin-file", "pin.txt", "--login"}, "trial", dark, "no key", "yes"},
		"unpinned":         {nil, []string{"--key", tokenKey, "--module", f.module}, "key", amber, "by the token's own word, and only the public half was seen", ""},
		"no module":        {nil, []string{"--key", tokenKey, "--module", "/nowhere.so"}, "module", red, "/nowhere.so", ""},
		"no PIN file":      {nil, []string{"--key", tokenKey, "--module", f.module, "--pin-file", "absent.txt", "--login"}, "PIN", red, "absent.txt", ""},
		"no PIN at all":    {nil, []string{"--key", tokenKey, "--module", f.module, "--login"}, "trial", red, "no login was tried", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := f.in(t)
			f.set(test.rules...)
			d := f.doctor(test.args...)
			d.require(t, test.check, test.want, test.finding)
			require.Equal(t, test.logsIn != "", f.count("C_Login") > 0, "%v", f.calls())
		})
	}
	f.set()
}

// reasonsOfCheck gives why check finds a key on the token of newToken unfit.
func (s *session) reasonsOfCheck(uri string, more ...string) any {
	s.t.Helper()
	r := s.run(append([]string{"hsm", "check", uri, "--module", softHSMModule, "--pin-file", "pin.txt", "--json"}, more...)...)
	requireRefusal(s.t, r, "INVALID_STATE", "unfit-key")
	var said struct {
		Error struct {
			Details struct{ Reasons any }
		}
	}
	_, line, _ := strings.Cut(r.stderr, "{")
	require.NoError(s.t, json.Unmarshal([]byte("{"+line), &said), r.stderr)
	require.NotEmpty(s.t, said.Error.Details.Reasons)
	return said.Error.Details.Reasons
}

// A key that our own command made on the token is all that it should be.
func TestDoctorFitKey(t *testing.T) {
	s := newToken(t)
	s.ok("hsm", "keygen", "--module", softHSMModule, "--token", "approver", "--label", "fit", "--type", "p256", "--pin-file", "pin.txt", "--out", "fit")
	key := []string{"--key", "pkcs11:token=approver;object=fit", "--module", softHSMModule, "--pub", "fit.pub", "--pin-file", "pin.txt", "--login"}
	d := s.doctor(key...)
	d.require(t, "trial", green, "^the key signed a trial, which verifies; it is what an approver's key should be: [A-Za-z0-9_-]{43}$")
	require.Zero(t, d.Red)
	key[1] = "pkcs11:token=approver;id=01"
	s.doctor(key[:4]...).require(t, "key", red, "shows no key that the URI names.*; .*id=%01")
	s.doctor(append(slices.Clone(key[:4]), "--pin-file", "pin.txt", "--login")...).require(t, "key", red, "^the token has no such key.*id=%01")
}

// A key that was imported signs well, and is not what an approver's key should be.
func TestDoctorImportedKey(t *testing.T) {
	s := newToken(t)
	s.tool("softhsm2-util", "--import", "alice.pem", "--token", "approver", "--label", "imported", "--id", "09", "--pin", testPIN)
	d := s.doctor("--key", "pkcs11:token=approver;object=imported", "--module", softHSMModule, "--approvers", "set.json", "--pin-file", "pin.txt", "--login")
	d.require(t, "trial", red, "CKA_LOCAL is false")
	require.Equal(t, d.facts(t, "trial")["reasons"], s.reasonsOfCheck("pkcs11:token=approver;object=imported"))
	d.require(t, "approver set", green, "2 of 3")
}

// The configured module is held against its digest; the PIN is typed.
func TestDoctorOnTheLaptop(t *testing.T) {
	s := newToken(t)
	s.ok("hsm", "keygen", "--module", softHSMModule, "--token", "approver", "--label", "fit", "--pin-file", "pin.txt", "--out", "fit")
	module, err := os.ReadFile(softHSMModule)
	require.NoError(t, err)
	s.write("config.toml", fmt.Appendf(nil, "key = %q\npublic_key = \"fit.pub\"\n[module]\npath = %q\nsha256 = \"%x\"\n", "pkcs11:token=approver;object=fit", softHSMModule, sha256.Sum256(module)))
	d := s.doctor("--config", "config.toml")
	d.require(t, "module", green, "as configured$")
	d.require(t, "key", amber, "as expected; only the public half was seen")
	require.Equal(t, 1, s.run("doctor", "--config", "config.toml").status, "INCOMPLETE")
	c := s.onScreen(100, 60, "$approver doctor --config config.toml --login")
	c.await("PIN for token")
	c.say(testPIN)
	require.Zero(t, c.end(), "%s", c.text())
	require.Contains(t, c.text(), "the key signed a trial")
	c = s.onScreen(100, 60, "exec $approver doctor --config config.toml --login")
	c.await("PIN for token")
	c.press("C-c")
	require.Equal(t, 1, c.end())
	require.Contains(t, c.text(), "INVALID_STATE: interrupted at key")
}

func TestDoctorUsage(t *testing.T) {
	s := newSession(t)
	s.write("a.txt", nil)
	for _, args := range [][]string{{"x"}, {"--timeout", "0s"}, {"--approvers", "a,,b"}, {"--key", " pkcs11:token=a?pin-value=4711"}, {"--out-dir", ""}, {"--pub", "pkcs11:token=a"}} {
		r := s.run(append([]string{"doctor"}, args...)...)
		require.Equal(t, 2, r.status, "%q: %s", args, r.stderr)
		require.Empty(t, r.stdout)
		require.NotContains(t, r.stderr, "4711")
	}
	for _, line := range []string{"$approver doctor >/dev/full", "$approver doctor --json >/dev/full"} {
		start := time.Now()
		r := s.sh(line)
		require.Equal(t, 1, r.status)
		require.Regexp(t, `IO_ERROR`, r.stderr)
		require.Less(t, time.Since(start), time.Minute)
	}
}
