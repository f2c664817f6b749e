package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/better-compute/approver/core/quorum"
)

// TestScripts runs testdata/*.txtar, which read as terminal sessions. Beside the commands of testscript they have
//
//	refused CODE[/REASON] COMMAND…   the command ends with status 1 and that code and reason, as JSON and then as text
//	usage COMMAND…                   it ends with status 2, as JSON and then as text
//	status N COMMAND…                it ends with that status
//	scope OUT FROM [-MEMBER|MEMBER=JSON]…   a scope file with members left out or changed
//	leaves OUT FROM                  the leaves of a scope alone
//	set OUT K TIERS PUB…             an approver set file; TIERS is - or SIZE:K,…
//	keypair PATH                     PATH.pub and PATH.proof are of one key, whose kid becomes $KID
//	mode OCTAL FILE                  the file has that mode
//
// and the folder and variables of prepareScript. Each command has a ledger of its own, as if it were the first, unless the
// script sets XDG_STATE_HOME.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata", Setup: prepareScript, RequireExplicitExec: true, RequireUniqueNames: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"refused": scriptRefused, "usage": scriptUsage, "status": scriptStatus, "scope": scriptScope, "leaves": scriptLeaves,
			"set": scriptSet, "keypair": scriptKeypair, "mode": scriptMode,
		},
	})
}

func prepareScript(env *testscript.Env) error {
	examples, err := filepath.Abs("../examples")
	if err != nil {
		return err
	}
	for name, value := range map[string]string{
		"EXAMPLES": examples, "TZ": "UTC", "NOW": now, "GORACE": "atexit_sleep_ms=0", // a second for each process, under -race
		"PASSPHRASE": testPassphrase, passphraseVariable: "",
		"ALICE": kid("alice"), "BOB": kid("bob"), "CAROL": kid("carol"), "DAVE": kid("dave"),
		"ROOT": "d8c8a941333d17fb5ecc95c3f54dc2ccb2ff0f92a3bbedf5208fe01504ee869f", // of ok-2.json
	} {
		env.Setenv(name, value)
	}
	return writeFixtures(env.WorkDir)
}

// scriptRun runs a command line and gives its exit status.
func scriptRun(ts *testscript.TestScript, args []string) int {
	if ts.Getenv("XDG_STATE_HOME") == "" {
		state, err := os.MkdirTemp(ts.Getenv("WORK"), ".state-")
		ts.Check(err)
		ts.Setenv("XDG_STATE_HOME", state)
		defer ts.Setenv("XDG_STATE_HOME", "")
	}
	err := ts.Exec(args[0], args[1:]...)
	t := scriptT{ts}
	requirePrintable(t, ts.ReadFile("stderr"))
	requireNoSecret(t, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		ts.Check(err)
		return 0
	}
	return exit.ExitCode()
}

// A scriptT lets testify end a script.
type scriptT struct{ *testscript.TestScript }

func (t scriptT) Errorf(format string, args ...any) { t.Fatalf(format, args...) }
func (t scriptT) FailNow()                          { t.Fatalf("it ends here") }

func scriptStatus(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := scriptRun(ts, args[1:]); got != want {
		ts.Fatalf("exit status %d, wanted %d", got, want)
	}
}

func scriptRefused(ts *testscript.TestScript, _ bool, args []string) {
	code, reason, _ := strings.Cut(args[0], "/")
	status := scriptRun(ts, append(args[1:len(args):len(args)], "--json"))
	requireRefusal(scriptT{ts}, result{status: status, stderr: ts.ReadFile("stderr")}, code, reason)
	if status := scriptRun(ts, args[1:]); status != 1 || !strings.Contains("\n"+ts.ReadFile("stderr"), "\n"+code+": ") {
		ts.Fatalf("exit status %d, wanted 1 and %s on standard error", status, code)
	}
}

func scriptUsage(ts *testscript.TestScript, _ bool, args []string) {
	if status := scriptRun(ts, append(args[:len(args):len(args)], "--json")); status != 2 {
		ts.Fatalf("exit status %d, wanted 2", status)
	}
	if got := parseRefusal(scriptT{ts}, strings.TrimSuffix(ts.ReadFile("stderr"), "\n")); got != "INVALID_INPUT usage" {
		ts.Fatalf("got %s", got)
	}
	stderr := func() string { return ts.ReadFile("stderr") }
	if status := scriptRun(ts, args); status != 2 || !strings.Contains(stderr(), "\nusage: approver") || ts.ReadFile("stdout") != "" {
		ts.Fatalf("exit status %d, wanted 2, the usage on standard error and nothing on standard output", status)
	}
}

func scriptScope(ts *testscript.TestScript, _ bool, args []string) {
	var members map[string]json.RawMessage
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[1])), &members))
	for _, change := range args[2:] {
		name, value, given := strings.Cut(change, "=")
		if given {
			members[name] = json.RawMessage(value)
		} else {
			delete(members, strings.TrimPrefix(name, "-"))
		}
	}
	data, err := json.Marshal(members)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o600))
}

func scriptLeaves(ts *testscript.TestScript, _ bool, args []string) {
	var members map[string]json.RawMessage
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[1])), &members))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), members["leaves"], 0o600))
}

func scriptSet(ts *testscript.TestScript, _ bool, args []string) {
	threshold, err := strconv.ParseUint(args[1], 10, 32)
	ts.Check(err)
	draft := quorum.SetDraft{Threshold: uint32(threshold)}
	if args[2] != "-" {
		draft.Tiers, err = parseTiers(args[2])
		ts.Check(err)
	}
	for _, pub := range args[3:] {
		key, err := quorum.ParsePublicPEM([]byte(ts.ReadFile(pub)))
		ts.Check(err)
		draft.Keys = append(draft.Keys, key)
	}
	set, err := quorum.NewSet(draft)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), quorum.EncodeSetFile(set, 1), 0o600))
}

func scriptKeypair(ts *testscript.TestScript, _ bool, args []string) {
	public, err := quorum.ParsePublicPEM([]byte(ts.ReadFile(args[0] + ".pub")))
	ts.Check(err)
	proven, err := quorum.ParseKeyProof([]byte(ts.ReadFile(args[0] + ".proof")))
	ts.Check(err)
	if !proven.Equal(public) {
		ts.Fatalf("the proof is of key %s, the public key is %s", proven.KID(), public.KID())
	}
	ts.Setenv("KID", public.KID().String())
}

func scriptMode(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.ParseUint(args[0], 8, 32)
	ts.Check(err)
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := info.Mode().Perm(); got != os.FileMode(want) {
		ts.Fatalf("%s has mode %04o, wanted %04o", args[1], got, want)
	}
}
