//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/better-compute/approver/core/wire"
)

// BenchmarkReviewProcess measures the screen on 50,000 leaves against batch sign with the same file and key, each as a process
// on a terminal, in turns, as the median of the ratios: the time until the Overview stands, over the time until the questions
// do; and the most memory each had by then, as the kernel counts it. What is walked went through all screens. Beside it stand the
// ratios to batch show, which records nothing and writes to a pipe.
func BenchmarkReviewProcess(b *testing.B) {
	for name, distinct := range map[string]bool{"four-payloads": false, "distinct-payloads": true} {
		b.Run(name, func(b *testing.B) {
			s := newSession(b)
			s.fleet(wire.MaxLeaves, distinct)
			args := []string{"--key", "alice.pem", "--now", now, "--trust-domain", "compute.example.com"}
			var took, times, peaks, walked, shows, showTimes, mib []float64
			for b.Loop() {
				show := s.measured("batch", "show", "--scope", "fleet.json", "--now", now)
				require.Zero(b, show.status, "%s", show.stderr)
				command := s.onTerminal(append([]string{"batch", "sign", "--scope", "fleet.json"}, args...)...)
				command.await(question)
				asked, peak := command.since(), command.peak()
				command.leave()
				program := s.onTerminal(append([]string{"review", "fleet.json"}, args...)...)
				program.await("Overview")
				shown, programPeak := program.since(), program.peak()
				program.walk()
				took, times, showTimes = append(took, shown*1e3), append(times, shown/asked), append(showTimes, shown/show.took.Seconds())
				peaks, walked = append(peaks, programPeak/peak), append(walked, program.peak()/peak)
				shows = append(shows, program.peak()*(1<<10)/float64(show.maxRSS))
				mib = append(mib, program.peak()/(1<<10))
				program.leave()
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(took), "ms")
			b.ReportMetric(median(times), "×sign-time")
			b.ReportMetric(median(showTimes), "×show-time")
			b.ReportMetric(median(peaks), "×sign-peak")
			b.ReportMetric(median(walked), "×sign-peak-walked")
			b.ReportMetric(median(shows), "×show-peak-walked")
			b.ReportMetric(median(mib), "MiB-walked")
		})
	}
}

// An atTerminal is a process on a terminal of the kernel's, and what it has written there.
type atTerminal struct {
	s      *session
	cmd    *exec.Cmd
	master *os.File
	begun  time.Time
	mu     sync.Mutex
	shown  []byte        // since the last key
	wanted string        // what is waited for
	came   chan struct{} // closed when it comes
}

// onTerminal starts a command line on a terminal of 24 rows of 80 columns.
func (s *session) onTerminal(args ...string) *atTerminal {
	s.t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(s.t, err)
	require.NoError(s.t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	require.NoError(s.t, unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}))
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	require.NoError(s.t, err)
	tty, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(s.t, err)
	defer tty.Close()
	p := &atTerminal{s: s, cmd: s.prepare(args...), master: master}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = tty, tty, tty
	p.cmd.Env = append(p.cmd.Env, "TERM=xterm-256color")
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	go p.listen()
	p.begun = time.Now()
	require.NoError(s.t, p.cmd.Start())
	return p
}

// listen takes what the process writes, and tells when what is waited for has come.
func (p *atTerminal) listen() {
	buf := make([]byte, 64<<10)
	for {
		n, err := p.master.Read(buf)
		p.mu.Lock()
		p.shown = append(p.shown[max(0, len(p.shown)-4<<10):], buf[:n]...) // of more than a screen, the end
		p.look()
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (p *atTerminal) look() {
	if p.came != nil && bytes.Contains(p.shown, []byte(p.wanted)) {
		close(p.came)
		p.came = nil
	}
}

// await waits until the process has written something since the last key.
func (p *atTerminal) await(text string) {
	p.s.t.Helper()
	came := make(chan struct{})
	p.mu.Lock()
	p.wanted, p.came = text, came
	p.look()
	p.mu.Unlock()
	select {
	case <-came:
	case <-time.After(time.Minute):
		p.mu.Lock()
		defer p.mu.Unlock()
		require.Fail(p.s.t, "it does not come", "%q: %q", text, p.shown)
	}
}

// since gives the seconds since the process was started.
func (p *atTerminal) since() float64 { return time.Since(p.begun).Seconds() }

// peak gives the most memory that the process had, in KiB.
func (p *atTerminal) peak() float64 {
	p.s.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	require.NoError(p.s.t, err)
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	require.NoError(p.s.t, err)
	return float64(kib)
}

// keys types, and waits for what comes of it.
func (p *atTerminal) keys(keys, text string) {
	p.s.t.Helper()
	p.mu.Lock()
	p.shown = nil
	p.mu.Unlock()
	_, err := p.master.WriteString(keys)
	require.NoError(p.s.t, err)
	p.await(text)
}

// walk goes through the screens that a review has, up to the questions of a decline, whose review is another.
func (p *atTerminal) walk() {
	p.s.t.Helper()
	for _, step := range [][2]string{
		{"2", "Operations: "}, {"\r", " of "}, {"1", "Overview"}, {"3", "Subjects: 50,000 of"}, {"/", "search"}, {"g", "g"}, {"0", "g0"}, {"1", "g01"}, {"\x7f", "g0"}, {"\x1b", "50,000 of"},
		{"f", "Which subjects"}, {"G", "operation "}, {"\r", "Subjects: "}, {"\r", "verified: with these"}, {"4", "Findings: "}, {"\r", "Finding: "},
		{"?", "Keys"}, {"\x1b", "Finding: "}, {"D", "Why do you decline"},
	} {
		p.keys(step[0], step[1])
	}
	time.Sleep(time.Second) // the keyboard is still, or what is typed is dropped
	p.keys("not now", "not now")
	p.keys("\r", "Confirm: DECLINE")
}

// leave interrupts the process, and waits for its end.
func (p *atTerminal) leave() {
	p.s.t.Helper()
	_, err := p.master.WriteString("\x03")
	require.NoError(p.s.t, err)
	require.Error(p.s.t, p.cmd.Wait(), "something was signed")
	p.master.Close()
}
