package quorum

import (
	"bytes"
	"strconv"

	"github.com/better-compute/approver/core/wire"
)

type keyJSON struct {
	KID  *string      `json:"kid"`
	SPKI *wire.Base64 `json:"spkiDer"`
}

type tierJSON struct {
	MaxScopeSize *uint64 `json:"maxScopeSize"`
	Threshold    *uint64 `json:"threshold"`
}

type setJSON struct {
	Keys      []keyJSON  `json:"keys"`
	Threshold *uint64    `json:"threshold"`
	Tiers     []tierJSON `json:"tiers"`
	Unbatched *uint64    `json:"unbatchedDestructivePerHour"`
}

// ParseSetFile reads an unsigned approver set file and gives the set with its epoch, 1 to 2^53-1 (WIRE.md §5). The error
// is INVALID_INPUT; where a rule of the set is broken its reason is malformed-set.
func ParseSetFile(data []byte) (*Set, uint64, error) {
	const what = "approver set"
	var j struct {
		Format  *string  `json:"format"`
		Version *uint64  `json:"version"`
		Epoch   *uint64  `json:"epoch"`
		Set     *setJSON `json:"set"`
	}
	if err := wire.DecodeJSON(what, data, &j); err != nil {
		return nil, 0, err
	}
	if err := checkHeader(what, FormatApproverSet, j.Format, j.Version); err != nil {
		return nil, 0, err
	}
	switch {
	case j.Epoch == nil:
		return nil, 0, missing(what, "epoch")
	case j.Set == nil:
		return nil, 0, missing(what, "set")
	}
	if err := checkEpoch(*j.Epoch); err != nil {
		return nil, 0, err
	}
	set, err := j.Set.set()
	return set, *j.Epoch, err
}

func (j *setJSON) set() (*Set, error) {
	const what = "approver set"
	switch {
	case j.Keys == nil:
		return nil, missing(what, "keys")
	case j.Threshold == nil:
		return nil, missing(what, "threshold")
	case j.Tiers == nil:
		return nil, missing(what, "tiers")
	case j.Unbatched == nil:
		return nil, missing(what, "unbatchedDestructivePerHour")
	}
	var d SetDraft
	for _, k := range j.Keys {
		key, err := parseListedKey(what, "malformed-set", k.KID, k.SPKI)
		if err != nil {
			return nil, err
		}
		d.Keys = append(d.Keys, key)
	}
	for i, t := range j.Tiers {
		if t.MaxScopeSize == nil || t.Threshold == nil {
			return nil, missing(what, "tiers["+strconv.Itoa(i)+"]")
		}
		size, threshold, err := narrow2(*t.MaxScopeSize, *t.Threshold)
		if err != nil {
			return nil, err
		}
		d.Tiers = append(d.Tiers, Tier{size, threshold})
	}
	var err error
	if d.Threshold, d.UnbatchedPerHour, err = narrow2(*j.Threshold, *j.Unbatched); err != nil {
		return nil, err
	}
	return NewSet(d)
}

// narrow2 takes two numbers that the wire holds in 32 bits.
func narrow2(a, b uint64) (uint32, uint32, error) {
	if a > 1<<32-1 || b > 1<<32-1 {
		return 0, 0, malformed("a number is over 2^32-1")
	}
	return uint32(a), uint32(b), nil
}

func checkEpoch(epoch uint64) error {
	if epoch < 1 || epoch > wire.MaxInteger {
		return malformed("epoch %d; wanted: 1 to 2^53-1", epoch)
	}
	return nil
}

// EncodeSetFile gives the unsigned approver set file.
func EncodeSetFile(s *Set, epoch uint64) []byte {
	var b bytes.Buffer
	b.WriteString(`{"format":"` + FormatApproverSet + `","version":1,"epoch":` + strconv.FormatUint(epoch, 10) + `,"set":`)
	s.encode(&b)
	b.WriteString("}\n")
	return b.Bytes()
}

// encode writes the set as it stands in files, one key and one tier a line.
func (s *Set) encode(b *bytes.Buffer) {
	type listed struct {
		KID  KID         `json:"kid"`
		SPKI wire.Base64 `json:"spkiDer"`
	}
	var keys []listed
	for _, k := range s.keys {
		keys = append(keys, listed{k.KID(), k.SPKI()})
	}
	b.WriteString(`{"keys":`)
	b.Write(encodeList(keys))
	b.WriteString(`,"threshold":` + strconv.FormatUint(uint64(s.threshold), 10) + `,"tiers":`)
	b.Write(encodeList(s.tiers))
	b.WriteString(`,"unbatchedDestructivePerHour":` + strconv.FormatUint(uint64(s.unbatched), 10) + "}")
}
