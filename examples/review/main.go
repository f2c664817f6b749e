// Review reads a batch scope with the library alone, as an integrator would in a service of their own, and says what would
// run, what a person must know, and whether anything forbids signing. It has no key and signs nothing.
//
//	go run ./examples/review examples/415/scope.json compute.example.com 2099-12-31T12:00:00Z [EXPECTED]
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/kinds"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/scope"
)

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, review.Escape(err.Error())) // an error may hold text of the file
		os.Exit(1)
	}
}

func run(w io.Writer, args []string) error {
	if len(args) != 3 && len(args) != 4 {
		return errors.New("usage: review SCOPE TRUST-DOMAIN NOW [EXPECTED]")
	}
	now, err := time.Parse(time.RFC3339, args[2])
	if err != nil {
		return err
	}
	// Nothing of the policy comes from the scope: a service has these from its own configuration and clock.
	policy := scope.Policy{TrustDomain: args[1], Time: review.Time{Now: now, ByHand: true}, MaxHours: 24}
	if len(args) == 4 {
		list, err := durable.ReadFile(args[3], wire.MaxFileBytes)
		if err != nil {
			return err
		}
		if policy.Expected, err = scope.ParseExpected(list); err != nil {
			return err
		}
	}
	r, err := read(args[0], policy)
	if err != nil {
		return err
	}
	document := r.Document()
	for i := range document.Operations {
		operation := &document.Operations[i]
		fmt.Fprintf(w, "%5d × %s\n", len(operation.Subjects), operation.Title)
	}
	for _, finding := range document.Findings {
		fmt.Fprintf(w, "%s %s: %s\n", finding.Severity, finding.Rule, finding.Message)
	}
	if stop := r.Stop(); stop != nil {
		return stop
	}
	fmt.Fprintf(w, "root %x\n", document.Root)
	return nil
}

// read walks the one road as far as it goes without a key.
func read(path string, policy scope.Policy) (*review.Review, error) {
	file, err := durable.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	parsed, err := scope.Parse(file, 2)
	if err != nil {
		return nil, err
	}
	verified, err := parsed.Verify(scope.VerifyOptions{Kinds: kinds.Builtin(), Workers: 2})
	if err != nil {
		return nil, err
	}
	return verified.Decode().Review(policy)
}
