package scope

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/kinds"
	"github.com/better-compute/approver/core/merkle"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/golden"
)

// verified reads and verifies, with both numbers of workers, which must agree.
func verified(t testing.TB, data []byte, batch string) (*Verified, error) {
	p, err := Parse(bytes.NewReader(data), 2)
	if err != nil {
		require.Nil(t, p)
		return nil, err
	}
	v, err := p.Verify(VerifyOptions{Kinds: kinds.Builtin(), BatchID: batch, Workers: 2})
	if len(data) > 8<<20 { // minutes under the race detector, and nothing depends on the size
		return v, err
	}
	p1, _ := Parse(bytes.NewReader(data), 1)
	_, err1 := p1.Verify(VerifyOptions{Kinds: kinds.Builtin(), BatchID: batch, Workers: 1})
	require.Equal(t, err1 == nil, err == nil)
	if err != nil {
		require.Nil(t, v, "a refusal gives nothing to go on with")
		require.Equal(t, err1.Error(), err.Error(), "the first failure does not depend on the number of workers")
	}
	return v, err
}

func checkOutcome(t *testing.T, want golden.Outcome, err error) bool {
	require.NoError(t, want.Check(err, string(wire.CodeOf(err)), wire.ReasonOf(err)))
	return want.OK()
}

func TestScopeFiles(t *testing.T) {
	for _, c := range golden.ScopeFiles() {
		t.Run(c.Name, func(t *testing.T) {
			data := c.Bytes()
			v, err := verified(t, data, c.Batch)
			if !checkOutcome(t, c.Outcome, err) {
				return
			}
			require.Equal(t, c.Root, v.Scope().Root().String())
			require.Equal(t, c.Size, v.Scope().Size())
			for i, given := range c.Order {
				require.Equal(t, given, v.Scope().Given(i))
			}
			d := v.Decode()
			opaque, unboundLeaves := 0, 0
			for i := range d.operations {
				switch o := &d.operations[i]; o.class {
				case digestOnly, unknown:
					opaque += o.size()
				case unbound:
					unboundLeaves += o.size()
				}
			}
			require.Equal(t, c.Opaque, opaque)
			require.Equal(t, c.Unbound, unboundLeaves)
			h := v.Header()
			texts := map[string]string{"reason": h.Reason, "createdBy": h.CreatedBy, "createdByAgent": h.CreatedByAgent, "delegationId": h.DelegationID}
			for member, text := range c.Texts {
				require.Equal(t, text, texts[member], member)
			}
			checkReencoded(t, v)
		})
	}
}

// checkReencoded writes the scope in our own form, reads it back, and writes the same bytes again.
func checkReencoded(t *testing.T, v *Verified) {
	p := Policy{NotAfter: v.Header().NotAfter, TrustDomain: v.Header().TrustDomain}
	if p.NotAfter == 0 {
		p.NotAfter = 4102444800000
	}
	if p.TrustDomain == "" {
		p.TrustDomain = "compute.example.com"
	}
	var first, second bytes.Buffer
	require.NoError(t, v.Decode().Encode(&first, p))
	back, err := verified(t, first.Bytes(), "")
	require.NoError(t, err)
	require.Equal(t, v.Scope().Root(), back.Scope().Root())
	require.NoError(t, back.Decode().Encode(&second, p))
	require.Equal(t, first.String(), second.String())
}

// policy is what a test holds a scope against where nothing else is said.
func policy(now uint64) Policy {
	return Policy{Time: review.Time{Now: time.UnixMilli(int64(now))}, Location: time.UTC}
}

func TestScopePolicies(t *testing.T) {
	for _, c := range golden.ScopePolicies() {
		t.Run(c.Name, func(t *testing.T) {
			v, err := verified(t, c.Bytes(), "")
			require.NoError(t, err)
			p := policy(c.Given.Now)
			p.TrustDomain, p.NotAfter, p.MaxHours = c.Given.TrustDomain, c.Given.NotAfter, c.Given.MaxHours
			p.AllowOpaque, p.AllowUnbound = c.Given.AllowOpaque, c.Given.AllowUnbound
			if c.Given.Root != "" {
				b, err := wire.ParseHex("root", c.Given.Root, 32)
				require.NoError(t, err)
				root := merkle.Hash(b)
				p.Root = &root
			}
			r, err := v.Decode().Review(p)
			if err == nil {
				if stop := r.Stop(); stop != nil {
					err = stop
				}
			}
			checkOutcome(t, c.Outcome, err)
		})
	}
}

// The cases of an independent implementation, at its clock. Those that policy refuses pass with the flag that lifts it.
func TestIndependentCases(t *testing.T) {
	now, cases := golden.Cases()
	for _, c := range cases {
		t.Run(c.File, func(t *testing.T) {
			v, err := verified(t, c.Content(), "")
			if err != nil {
				require.Equal(t, 1, c.Exit)
			} else {
				err = stopOf(v.Decode().Review(policy(now)))
			}
			want := golden.Outcome{Want: "ok", Code: c.Code, Reason: c.Reason}
			if c.Exit != 0 {
				want.Want = "refused"
			}
			checkOutcome(t, want, err)
			if strings.Contains(c.Note, "passes with --allow-") {
				p := policy(now)
				p.AllowOpaque, p.AllowUnbound = strings.Contains(c.Note, "opaque"), strings.Contains(c.Note, "unbound")
				require.NoError(t, stopOf(v.Decode().Review(p)))
			}
		})
	}
}

func stopOf(r *review.Review, err error) error {
	if err != nil {
		return err
	}
	if stop := r.Stop(); stop != nil {
		return stop
	}
	return nil
}

func TestExpectedLists(t *testing.T) {
	file := golden.ExpectedLists()
	scopes := map[string]*Verified{}
	for _, s := range file.Scopes {
		v, err := verified(t, []byte(s.File), "")
		require.NoError(t, err)
		scopes[s.Name] = v
	}
	for _, c := range file.Vectors {
		t.Run(c.Name, func(t *testing.T) {
			e, err := ParseExpected(c.Bytes())
			var d Difference
			if err == nil {
				require.Positive(t, e.Len())
				d = e.Compare(scopes[c.Scope])
				p := policy(4102358400000)
				p.Expected, p.AllowOpaque, p.AllowUnbound = e, true, true
				err = stopOf(scopes[c.Scope].Decode().Review(p))
			}
			checkOutcome(t, c.Outcome, err)
			require.Equal(t, append([]string(nil), c.Missing...), subjectsOf(d.Missing))
			require.Equal(t, append([]string(nil), c.Unexpected...), subjectsOf(d.Unexpected))
			require.Equal(t, append([]string(nil), c.Doubled...), subjectsOf(d.Doubled))
		})
	}
}

// subjectsOf gives the subjects of a difference, without kind and digest.
func subjectsOf(list []string) (subjects []string) {
	for _, entry := range list {
		subject, _, _ := strings.Cut(entry, " ")
		subjects = append(subjects, subject)
	}
	return compacted(subjects)
}

// Payload vectors go through a scope file of one leaf, so that the leaf's checks run in their order.
func TestPayloads(t *testing.T) {
	known := map[string]string{}
	for _, k := range golden.Payloads().Kinds {
		known[k.Kind] = k.TypeURL
	}
	seen := 0
	for _, c := range golden.Payloads().Vectors {
		typeURL, ok := known[c.Kind]
		if !ok {
			continue // of an installation's kind
		}
		seen++
		t.Run(c.Name, func(t *testing.T) {
			file := `[{"subject":"` + c.Subject + `","kind":"` + c.Kind + `","payload":{"typeUrl":"` + typeURL + `","value":"` + c.Value + `"}}]`
			v, err := verified(t, []byte(file), "batch_1")
			if checkOutcome(t, c.Outcome, err) {
				p := policy(4102358400000)
				p.NotAfter, p.TrustDomain = 4102444800000, "compute.example.com"
				require.NoError(t, stopOf(v.Decode().Review(p)))
			}
		})
	}
	require.Greater(t, seen, 100)
}
