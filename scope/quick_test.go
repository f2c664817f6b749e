package scope

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/better-compute/approver/core/kinds"
	"github.com/better-compute/approver/core/wire"
)

func TestQuick(t *testing.T) {
	b, _ := os.ReadFile("/work/shared/cases/scopes.json")
	var j struct{ Cases []struct{ File, Code, Reason string } }
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
