//go:build unix

package docs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The pictures of the screen are what approver review shows of examples/415 in a terminal of tmux, letter by letter and
// colour by colour. Only the running clock is stopped.
func TestThePicturesOfTheScreenAreWhatApproverShows(t *testing.T) {
	_, err := exec.LookPath("tmux")
	require.NoError(t, err, "run ./softhsm-test.sh, which installs what these tests need")
	d := newDesk(t)
	made := exec.Command(filepath.Join(binaries, "approver"), "batch", "keygen", "--out", "alice.pem")
	made.Dir, made.Env = d.dir, append(os.Environ(), "BETTER_COMPUTE_APPROVER_PASSPHRASE=a picture only")
	out, err := made.CombinedOutput()
	require.NoError(t, err, "%s", out)
	c := newCamera(t, d.dir, 90, 28, filepath.Join(binaries, "approver")+" review examples/415/scope.json --expect examples/415/expected.json "+
		"--trust-domain compute.example.com --key alice.pem --now 2099-12-31T12:00:00Z")
	c.await("Overview", "Root, to compare by voice")
	requirePicture(t, "screen-overview.svg", draw("The overview of a review on the screen: the verdict, what is still to be opened, the window, the root in words",
		c.width(), c.lines(), paintScreen))
	c.press("2")
	c.await("Operations", "OUTLIER")
	c.press("Enter")
	c.await("Operation 1 ", "most have")
	requirePicture(t, "screen-operation.svg", draw("An operation on the screen: one machine gets another image than all others",
		c.width(), c.lines(), paintScreen))
	c.press("q")
}

// A camera is a terminal of tmux that pictures are taken of.
type camera struct {
	t       *testing.T
	socket  string
	columns int
}

func newCamera(t *testing.T, dir string, columns, rows int, command string) *camera {
	t.Helper()
	short, err := os.MkdirTemp("", "tmux-") // the path of a socket is short
	require.NoError(t, err)
	c := &camera{t, filepath.Join(short, "socket"), columns}
	start := exec.Command("tmux", "-u", "-S", c.socket, "-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(columns), "-y", fmt.Sprint(rows+1), "exec "+command)
	// nothing of the environment: NO_COLOR, CI and others of the caller's choose colours
	start.Dir, start.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + short, "XDG_STATE_HOME=" + filepath.Join(short, "state"), "LC_ALL=C.UTF-8", "TZ=UTC"}
	out, err := start.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Cleanup(func() {
		exec.Command("tmux", "-S", c.socket, "kill-server").Run()
		os.RemoveAll(short)
	})
	return c
}

// shot gives what stands on the screen, with its colours where they are wanted.
func (c *camera) shot(more ...string) string {
	c.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", c.socket, "capture-pane", "-p"}, more...)...).CombinedOutput()
	require.NoError(c.t, err, "%s", out)
	return string(out)
}

// await waits until the screen of a title shows a text.
func (c *camera) await(title, text string) {
	c.t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		shot := c.shot()
		if strings.HasPrefix(shot, title) && strings.Contains(shot, text) {
			return
		}
		if time.Now().After(end) {
			require.Fail(c.t, fmt.Sprintf("the screen %q with %q does not come", title, text), "%s", shot)
		}
	}
}

func (c *camera) press(key string) {
	c.t.Helper()
	require.NoError(c.t, exec.Command("tmux", "-S", c.socket, "send-keys", key).Run())
}

var runningClock = regexp.MustCompile(`open for \d\d:\d\d:\d\d more`)

func (c *camera) lines() []string {
	shot := runningClock.ReplaceAllString(c.shot("-e"), "open for 11:59:58 more")
	return strings.Split(strings.TrimRight(shot, "\n"), "\n")
}

// width is that of the picture.
func (c *camera) width() int { return 40 + c.columns*17/2 }

// sgr is what a terminal is told about how to draw what follows.
var sgr = regexp.MustCompile(`\x1b\[([\d;]*)m`)

var terminalColours = map[string]string{"31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "34": "#79c0ff", "35": "#d2a8ff", "36": "#76e3ea"}

// paintScreen colours a line as the terminal was told to.
func paintScreen(line string) string {
	var b strings.Builder
	style := map[string]string{}
	for line != "" {
		at := sgr.FindStringSubmatchIndex(line)
		text := line
		if at != nil {
			text = line[:at[0]]
		}
		if text != "" {
			if attributes := svgStyle(style); attributes != "" {
				fmt.Fprintf(&b, "<tspan%s>%s</tspan>", attributes, escaped(text))
			} else {
				b.WriteString(escaped(text))
			}
		}
		if at == nil {
			break
		}
		for _, code := range strings.Split(line[at[2]:at[3]], ";") {
			applySGR(style, code)
		}
		line = line[at[1]:]
	}
	return b.String()
}

func applySGR(style map[string]string, code string) {
	switch code {
	case "", "0":
		clear(style)
	case "1":
		style["font-weight"] = "bold"
	case "2":
		style["fill-opacity"] = "0.6"
	case "7":
		style["fill"] = "#f0f6fc"
		style["text-decoration"] = "underline"
	case "39":
		delete(style, "fill")
	default:
		if colour := terminalColours[code]; colour != "" {
			style["fill"] = colour
		}
	}
}

func svgStyle(style map[string]string) (attributes string) {
	for _, name := range []string{"fill", "fill-opacity", "font-weight", "text-decoration"} {
		if value := style[name]; value != "" {
			attributes += fmt.Sprintf(` %s="%s"`, name, value)
		}
	}
	return attributes
}
