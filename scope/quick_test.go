package scope

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/better-compute/approver/core/kinds"
	"github.com/better-compute/approver/core/review"
	"github.com/better-compute/approver/core/wire"
)

func TestQuick(t *testing.T) {
	b, _ := os.ReadFile("/work/shared/cases/scopes.json")
	var j struct {
		Cases []struct{ File, Code, Reason string }
	}
	json.Unmarshal(b, &j)
	for _, c := range j.Cases {
		data, _ := os.ReadFile("/work/shared/cases/scopes/" + c.File)
		p, err := Parse(bytes.NewReader(data))
		var v *Verified
		if err == nil {
			v, err = p.Verify(VerifyOptions{Kinds: kinds.Builtin(), Workers: 2})
		}
		t.Log(c.File, c.Code, c.Reason, "=>", wire.CodeOf(err), wire.ReasonOf(err), err)
		if err == nil {
			d := v.Decode()
			t.Log(len(d.operations))
		}
	}
}

func TestQuickReview(t *testing.T) {
	for _, f := range []string{"ok-415.json", "ok-addresses.json", "show-escapes.json", "ok-map-empty-value.json"} {
		data, _ := os.ReadFile("/work/shared/cases/scopes/" + f)
		p, _ := Parse(bytes.NewReader(data))
		v, err := p.Verify(VerifyOptions{Kinds: kinds.Builtin(), Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		r, err := v.Decode().Review(Policy{Time: review.Time{Now: time.UnixMilli(4102358400000), ByHand: true}})
		if err != nil {
			t.Fatal(err)
		}
		review.WriteText(os.Stdout, r.Document(), review.Brief)
	}
}
