package main

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"rsc.io/qr"
)

// scan reads a QR code with a program of others and gives its bytes as they stand.
func (s *session) scan(picture string) string {
	s.t.Helper()
	_, err := exec.LookPath("zbarimg")
	require.NoError(s.t, err, "run ./softhsm-test.sh, which installs what these tests need")
	cmd := exec.Command("zbarimg", "--quiet", "--raw", "--oneshot", "-Sdisable", "-Sqrcode.enable", "-Sbinary", s.path(picture))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	data, err := cmd.Output()
	require.NoError(s.t, err, "%s", stderr.String())
	return string(data)
}

// requirePicture wants a picture that scans to the bytes of a file, at least 600 pixels wide, with its quiet zone.
func (s *session) requirePicture(picture, file string) {
	s.t.Helper()
	data := string(s.read(file))
	require.Equal(s.t, data, s.scan(picture))
	img, err := png.Decode(bytes.NewReader(s.read(picture)))
	require.NoError(s.t, err)
	code, err := qr.Encode(data, qr.L)
	require.NoError(s.t, err)
	side, modules := img.Bounds().Dx(), code.Size+8
	require.Equal(s.t, side, img.Bounds().Dy())
	require.GreaterOrEqual(s.t, side, 600)
	require.Zero(s.t, side%modules, "a module is a whole number of pixels")
	for y := range side {
		for x := range side {
			black := code.Black(x*modules/side-4, y*modules/side-4)
			require.Equal(s.t, black, color.GrayModel.Convert(img.At(x, y)).(color.Gray).Y == 0, "pixel %d, %d", x, y)
		}
	}
}

func TestQRPicture(t *testing.T) {
	s := newSession(t)
	r := s.ok(append(sign("ok-2.json"), "--out", "sig.json", "--qr-png", "sig.png")...)
	require.Contains(t, r.stderr, "\npicture   sig.png\n")
	s.requirePicture("sig.png", "sig.json")
	info, err := os.Stat(s.path("sig.png"))
	require.NoError(t, err)
	require.EqualValues(t, 0o644, info.Mode().Perm())

	r = s.ok(append(sign("ok-2.json"), "--qr-png", "stdout.png", "--json")...)
	require.Contains(t, r.stderr, `"qrPng":"stdout.png"`)
	s.write("stdout.json", []byte(r.stdout))
	s.requirePicture("stdout.png", "stdout.json")
}

// What a terminal draws scans too.
func TestQRScans(t *testing.T) {
	s := newSession(t)
	r := s.ok(append(sign("ok-2.json"), "--qr")...)
	var rows [][]rune
	for line := range strings.SplitSeq(r.stderr, "\n") {
		if line, ok := strings.CutPrefix(line, "\x1b[30;47m"); ok {
			rows = append(rows, []rune(strings.TrimSuffix(line, "\x1b[0m")))
		}
	}
	require.NotEmpty(t, rows)
	const scale = 8
	img := image.NewGray(image.Rect(0, 0, len(rows[0])*scale, 2*len(rows)*scale))
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			black := map[rune][2]bool{'▀': {true, false}, '▄': {false, true}, '█': {true, true}}[rows[y/scale/2][x/scale]]
			if !black[y/scale%2] {
				img.SetGray(x, y, color.Gray{Y: 255})
			}
		}
	}
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, img))
	s.write("drawn.png", b.Bytes())
	require.Equal(t, r.stdout, s.scan("drawn.png"))
}

// The picture and the signature come together or not at all, and nothing is overwritten.
func TestQRPictureIsWrittenTogether(t *testing.T) {
	s := newSession(t)
	s.write("existing", []byte("do not touch"))
	for _, args := range [][]string{
		{"--out", "existing", "--qr-png", "new.png"},
		{"--out", "new.json", "--qr-png", "existing"},
		{"--out", "new.json", "--qr-png", "nowhere/new.png"},
		{"--qr-png", "existing"},
	} {
		s.refused("IO_ERROR", "", append(sign("ok-2.json"), args...)...)
	}
	require.Equal(t, "do not touch", string(s.read("existing")))
	s.refused("UNBOUND_SCOPE", "unbound", append(sign("policy-unbound.json"), "--out", "new.json", "--qr-png", "new.png")...)
	s.refused("KEY_UNAVAILABLE", "key-mismatch", append(sign("ok-2.json"), "--pub", "bob.pem.pub", "--out", "new.json", "--qr-png", "new.png", "--operations-out", "new")...)

	before := s.files() // standard output is full: the picture, named already, and the operations go again
	r := s.sh(`"$approver" ` + strings.Join(append(sign("ok-2.json"), "--qr-png", "new.png", "--operations-out", "new"), " ") + " >/dev/full")
	require.Equal(t, 1, r.status)
	require.Regexp(t, "(?m)^IO_ERROR: the signature is made and recorded, and was not handed out: writing the signature", r.stderr)
	require.Equal(t, before, s.files())

	for _, args := range [][]string{{"--out", "x", "--qr-png", "x"}, {"--operations-out", "x", "--qr-png", "x"}} {
		require.Equal(t, 2, s.run(append(sign("ok-2.json"), args...)...).status)
	}
	require.Equal(t, before, s.files())
}

func TestQRPictureOfAnUncheckedSignature(t *testing.T) {
	s := newSession(t)
	c := s.onScreen(100, 40, uncheckedOnScreen+" --qr-png sig.png")
	c.await("Type the batch id: ")
	c.say("batch_ok2")
	require.Zero(t, c.end())
	require.Contains(t, string(s.read("sig.json")), `"unchecked":true`)
	s.requirePicture("sig.png", "sig.json")

	s = newSession(t)
	c = s.onScreen(100, 40, uncheckedOnScreen+" --qr-png sig.png")
	c.await("Type the batch id: ")
	c.say("batch_ok3")
	require.Equal(t, 1, c.end())
	require.NotContains(t, s.files(), "sig.png")
	require.NotContains(t, strings.Join(s.files(), " "), ".tmp-")
}
