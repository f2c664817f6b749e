package main

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"math"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/better-compute/approver/core/review"
)

// A laptop is what doctor looks at beside the configuration, the terminal and the token.
type laptop struct {
	files      fs.FS                           // all there are, from the root on
	interfaces func() ([]net.Interface, error) // of the network
	uptime     func() time.Duration            // by a clock that nobody sets
	device     func(path string) string        // where the swap of that path lies, as MAJOR:MINOR, or ""
	getenv     func(string) string
	root       bool
	umask      int
	coreLimit  uint64 // bytes of a core dump of a program that is started here; this one has lowered its own
	exposed    bool   // this process leaves a core dump, or others of its user can trace it
}

// read gives a file's text without the space around it, "" where there is none.
func (m *laptop) read(path string) string {
	data, err := fs.ReadFile(m.files, path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// clock holds the time against this release, and against files that cannot be younger than now.
func (d *doctor) clock(context.Context) outcome {
	now := d.app.now()
	shows := fmt.Sprintf("%s; in this time zone %s", now.UTC().Format("2006-01-02 15:04:05 UTC"), now.Format("15:04:05 MST (UTC-07:00)"))
	if now.Before(review.ReleaseDate) {
		return bad("%s, before this release was made (%s)", shows, review.ReleaseDate.Format(time.DateOnly)).note("now", now.UnixMilli())
	}
	for _, path := range d.writtenFiles() {
		if info, err := os.Stat(path); err == nil && info.ModTime().After(now.Add(clockSlack)) {
			return warn("%s, and %s is of %s, later than that: the clock is slow, or was set back", shows, path,
				info.ModTime().UTC().Format("2006-01-02 15:04:05 UTC")).note("now", now.UnixMilli())
		}
	}
	return fine("%s", shows).note("now", now.UnixMilli())
}

// clockSlack is how much two clocks that are both right may differ.
const clockSlack = time.Minute

// writtenFiles gives files that were written before now.
func (d *doctor) writtenFiles() (paths []string) {
	if program, err := os.Executable(); err == nil {
		paths = append(paths, program)
	}
	if s, err := d.app.settings(); err == nil {
		paths = append(paths, s.File, s.PublicKey.Value.Path, s.Kinds.Value, s.Module.Value.Path)
		if own := s.ApproverSet(); own.IsSet() {
			paths = append(paths, own.Value.Paths...)
		}
	}
	return slices.DeleteFunc(paths, func(path string) bool { return path == "" })
}

// pace holds the time that went by since the beginning against a clock that nobody sets.
func (d *doctor) pace(context.Context) outcome {
	shown, real := d.app.now().Round(0).Sub(d.begun), d.laptop.uptime()-d.uptime
	if off := shown - real; off.Abs() > time.Second {
		return bad("it went %.1f s while %.1f s went by", shown.Seconds(), real.Seconds())
	}
	return fine("even, for the %.1f s of this run", real.Seconds())
}

func (d *doctor) user(context.Context) outcome {
	if d.laptop.root {
		return warn("this runs as root")
	}
	return fine("not root")
}

func (d *doctor) umask(context.Context) outcome {
	if d.laptop.umask&0o022 != 0o022 {
		return warn("%04o: others could write what is made here", d.laptop.umask)
	}
	return fine("%04o", d.laptop.umask)
}

// What to do about dumps of other programs that see a PIN.
const (
	coreLimitAdvice   = "ulimit -c 0, for other programs that see a PIN (pcscd, a vendor's tool)"
	corePatternAdvice = "sysctl -w kernel.core_pattern=core and ulimit -c 0, for other programs that see a PIN (pcscd, a vendor's tool)"
)

// coreDumps tells of this process, which must leave none, and of others.
func (d *doctor) coreDumps(context.Context) outcome {
	m := &d.laptop
	pattern := m.read("proc/sys/kernel/core_pattern")
	switch {
	case m.exposed:
		return bad("this program can be dumped or traced").do("do not sign here: a crash would write the PIN to a file")
	case strings.HasPrefix(pattern, "|"): // whatever the limit is, core(5)
		return warn("none of this program; every other one's go to %s", strings.TrimPrefix(pattern, "|")).do(corePatternAdvice)
	case m.coreLimit > 0:
		return warn("none of this program; others, with a limit of %s, write %q", limitText(m.coreLimit), cmp.Or(pattern, "core"))
	}
	return fine("none: the limit is 0, and this program cannot be dumped")
}

func limitText(bytes uint64) string {
	if bytes == math.MaxUint64 {
		return "any size"
	}
	return fmt.Sprintf("%d bytes", bytes)
}

func (d *doctor) tracing(context.Context) outcome {
	switch scope := d.laptop.read("proc/sys/kernel/yama/ptrace_scope"); scope {
	case "":
		return warn("this program cannot be traced; of others nothing here says who may (no yama/ptrace_scope)").
			do("a kernel with Yama keeps programs of one user out of one another's memory; without it, run nothing else beside the ceremony")
	case "0":
		return warn("this program cannot be traced; any other can be, by any program of the same user (ptrace_scope 0)")
	default:
		return fine("ptrace_scope %s", scope)
	}
}

// codeVariables have libraries loaded (the linker's, iconv's, OpenSSL's), or a PIN logged or sent elsewhere (OpenSC's,
// pkcs11-spy's, p11-kit's, pcsc-lite's).
var codeVariables = []string{"LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "GCONV_PATH", "OPENSSL_CONF", "OPENSSL_MODULES", "OPENSSL_ENGINES",
	"OPENSC_CONF", "OPENSC_DEBUG", "PKCS11SPY", "PKCS11SPY_OUTPUT", "P11_KIT_SERVER_ADDRESS", "PCSCLITE_CSOCK_NAME"}

// linker tells of libraries that run in this process without anybody having configured them.
func (d *doctor) linker(context.Context) outcome {
	var set []string
	for _, variable := range codeVariables {
		if value := d.laptop.getenv(variable); value != "" {
			set = append(set, variable+"="+value)
		}
	}
	if preloaded := d.laptop.read("etc/ld.so.preload"); preloaded != "" {
		set = append(set, "/etc/ld.so.preload: "+preloaded)
	}
	if len(set) > 0 {
		return warn("%s", strings.Join(set, ", "))
	}
	return fine("nothing is loaded but what programs ask for")
}

func (d *doctor) network(context.Context) outcome {
	all, err := d.laptop.interfaces()
	if err != nil {
		return warn("interfaces cannot be listed: %s", err).do("")
	}
	var up []string
	for _, i := range all {
		if i.Flags&net.FlagUp != 0 && i.Flags&net.FlagLoopback == 0 {
			up = append(up, i.Name)
		}
	}
	if len(up) > 0 {
		return warn("up: %s", strings.Join(up, ", ")).note("up", up)
	}
	return fine("no interface is up")
}
