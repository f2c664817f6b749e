//go:build linux

package hsm_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// pseudoTerminal gives the two ends of a terminal: the one a person sits at, and the one a program has.
func pseudoTerminal(t *testing.T) (person, program *os.File) {
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { person.Close() })
	require.NoError(t, unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { program.Close() })
	return person, program
}

func echoes(t *testing.T, tty *os.File) bool {
	state, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	require.NoError(t, err)
	return state.Lflag&unix.ECHO != 0
}

// readUntil reads from the terminal until what was read ends in end.
func readUntil(t *testing.T, f *os.File, end string) string {
	var read []byte
	for !strings.HasSuffix(string(read), end) {
		b := make([]byte, 1)
		_, err := f.Read(b)
		require.NoError(t, err)
		read = append(read, b...)
	}
	return string(read)
}

func TestPINTerminal(t *testing.T) {
	person, program := pseudoTerminal(t)
	token := hsm.TokenInfo{Label: "appr\x1b[2Jover", Serial: "0a1b", PIN: hsm.PINCountLow}
	type answer struct {
		pin []byte
		err error
	}
	ask := func(ctx context.Context) chan answer {
		answers := make(chan answer, 1)
		go func() {
			pin, err := hsm.NewPINTerminal(program).PIN(ctx, token)
			answers <- answer{pin, err}
		}()
		return answers
	}
	noEcho := func() bool { return !echoes(t, program) }

	answers := ask(t.Context())
	prompt := readUntil(t, person, ": ")
	require.Equal(t, `PIN for token "appr\x1b[2Jover", serial "0a1b"`+"\r\n(a wrong PIN was entered since the last login): ", prompt)
	require.Eventually(t, noEcho, 5*time.Second, time.Millisecond)
	_, err := person.WriteString("1234\n")
	require.NoError(t, err)
	a := <-answers
	require.NoError(t, a.err)
	require.Equal(t, "1234", string(a.pin))
	require.NotContains(t, readUntil(t, person, "\n"), "1", "the PIN is not echoed")
	require.True(t, echoes(t, program))

	answers = ask(t.Context())
	readUntil(t, person, ": ") // what is typed between the end of the echo and the question is dropped
	require.Eventually(t, noEcho, 5*time.Second, time.Millisecond)
	_, err = person.WriteString("\n")
	require.NoError(t, err)
	requireRefused(t, (<-answers).err, wire.KeyUnavailable, "pin-missing")

	ctx, cancel := context.WithCancel(t.Context())
	answers = ask(ctx)
	require.Eventually(t, noEcho, 5*time.Second, time.Millisecond)
	cancel()
	require.ErrorIs(t, (<-answers).err, context.Canceled)
	require.True(t, echoes(t, program), "an interrupted prompt puts the terminal back")
	_, err = person.WriteString("late\n")
	require.NoError(t, err)
	for range 4 { // require.Never looks once more after its end
		time.Sleep(25 * time.Millisecond)
		require.True(t, echoes(t, program), "and a line that comes later leaves it so")
	}
}

// A line that was typed before the question is no answer to it, and costs no try.
func TestPINTerminalDropsWhatWasTypedAhead(t *testing.T) {
	person, program := pseudoTerminal(t)
	_, err := person.WriteString("typed ahead\nand more\nand a line without its end")
	require.NoError(t, err)
	readUntil(t, person, "its end") // its echo: it has arrived
	answers := make(chan string, 1)
	go func() {
		pin, err := hsm.NewPINTerminal(program).PIN(t.Context(), hsm.TokenInfo{Label: "approver"})
		answers <- fmt.Sprint(string(pin), err)
	}()
	readUntil(t, person, "): ")
	require.Eventually(t, func() bool { return !echoes(t, program) || len(answers) > 0 }, 5*time.Second, time.Millisecond)
	_, err = person.WriteString("1234\n")
	require.NoError(t, err)
	require.Equal(t, "1234<nil>", <-answers)
}

// Control characters are no PIN: they are refused with a word, cost no try, and what is typed then is asked for anew.
func TestPINTerminalRefusesControlCharacters(t *testing.T) {
	for _, typed := range []string{"12\x1a34", "\x1b[A1234", "12\u008534"} {
		person, program := pseudoTerminal(t)
		answers := make(chan string, 1)
		go func() {
			pin, err := hsm.NewPINTerminal(program).PIN(t.Context(), hsm.TokenInfo{Label: "approver"})
			answers <- fmt.Sprint(string(pin), err)
		}()
		readUntil(t, person, "): ")
		_, err := person.WriteString(typed + "\n")
		require.NoError(t, err)
		require.NoError(t, person.SetReadDeadline(time.Now().Add(5*time.Second)))
		require.Contains(t, readUntil(t, person, "): "), hsm.ControlRefused)
		require.Eventually(t, func() bool { _, err := person.WriteString("1234\n"); return err == nil && len(answers) > 0 }, 5*time.Second, 10*time.Millisecond)
		require.Equal(t, "1234<nil>", <-answers)
	}
}

// A new PIN is typed twice, and each prompt says whose PIN it is.
func TestPINTerminalForEachPIN(t *testing.T) {
	token := hsm.TokenInfo{Label: "approver", Serial: "01", PIN: hsm.PINLocked, SOPIN: hsm.PINCountLow}
	for _, test := range []struct {
		role   hsm.PINRole
		typed  []string
		prompt string
		pin    string
		code   wire.Code
	}{
		{hsm.SecurityOfficerPIN, []string{"12345678"}, "Security officer's PIN for token \"approver\", serial \"01\"\r\n(a wrong PIN was entered since the last login): ", "12345678", ""},
		{hsm.NewUserPIN, []string{"1234", "1234"}, `New PIN for token "approver", serial "01": `, "1234", ""},
		{hsm.NewUserPIN, []string{"1234", "1243"}, `New PIN for token "approver", serial "01": `, "", wire.InvalidInput},
		{hsm.NewSecurityOfficerPIN, []string{"1234", ""}, `New security officer's PIN for token "approver", serial "01": `, "", wire.KeyUnavailable},
	} {
		person, program := pseudoTerminal(t)
		type answer struct {
			pin []byte
			err error
		}
		answers := make(chan answer, 1)
		go func() {
			pin, err := hsm.NewPINTerminalFor(program, test.role).PIN(t.Context(), token)
			answers <- answer{pin, err}
		}()
		for i, line := range test.typed {
			prompt := readUntil(t, person, ": ")
			if i == 0 {
				require.Equal(t, test.prompt, prompt)
			}
			require.False(t, echoes(t, program), "nothing typed at a prompt is shown, however soon")
			_, err := person.WriteString(line + "\n")
			require.NoError(t, err)
		}
		a := <-answers
		require.Equal(t, test.code, wire.CodeOf(a.err), "%v", a.err)
		require.Equal(t, test.pin, string(a.pin))
		require.True(t, echoes(t, program))
	}
}

func TestPINTerminalWithoutTerminal(t *testing.T) {
	f, err := os.Open("/dev/null")
	require.NoError(t, err)
	defer f.Close()
	require.Equal(t, hsm.PINMissing{}, hsm.NewPINTerminal(f))
	require.Equal(t, hsm.PINMissing{}, hsm.NewPINTerminal(nil))
}

// A token that was never initialised has neither label nor serial to quote.
func TestPINPromptOfABlankToken(t *testing.T) {
	person, program := pseudoTerminal(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		hsm.NewPINTerminalFor(program, hsm.NewSecurityOfficerPIN).PIN(ctx, hsm.TokenInfo{Label: "approver"})
		close(done)
	}()
	require.Equal(t, `New security officer's PIN for token "approver", serial (blank): `, readUntil(t, person, ": "))
	cancel()
	<-done
}
