package hsm_test

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
	"github.com/better-compute/approver/hsm/softtoken"
	"github.com/stretchr/testify/require"
)

// fitKey is what a fit private key shows of CK_BBOOLs.
var fitKey = map[hsm.Attribute]byte{
	hsm.AttrLocal: 1, hsm.AttrSensitive: 1, hsm.AttrAlwaysSensitive: 1, hsm.AttrExtractable: 0, hsm.AttrNeverExtractable: 1,
	hsm.AttrToken: 1, hsm.AttrPrivate: 1, hsm.AttrSign: 1, hsm.AttrDecrypt: 0, hsm.AttrUnwrap: 0, hsm.AttrDerive: 0,
	hsm.AttrSignRecover: 0, hsm.AttrAlwaysAuthenticate: 0, hsm.AttrModifiable: 1,
}

// showing has a token answer for these attributes as shows says, and not at all for those it lacks.
func showing(shows map[hsm.Attribute]byte) func(hsm.Object, hsm.Attribute, []byte, error) ([]byte, error) {
	return func(_ hsm.Object, a hsm.Attribute, value []byte, err error) ([]byte, error) {
		if _, looked := fitKey[a]; !looked {
			return value, err
		}
		if b, has := shows[a]; has {
			return []byte{b}, nil
		}
		return nil, hsm.RV(0x12)
	}
}

func checked(t *testing.T, m *spy, expected quorum.PublicKey) (*hsm.Fitness, error) {
	token := open(t, m, approverURI)
	defer token.Close()
	require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
	return token.Check(t.Context(), expected)
}

// Each attribute by itself: the wrong answer makes a key unfit, none only where the answer is the proof.
func TestEachAttributeCounts(t *testing.T) {
	key := newP256(t)
	proof := map[hsm.Attribute]bool{hsm.AttrLocal: true, hsm.AttrSensitive: true, hsm.AttrAlwaysSensitive: true, hsm.AttrExtractable: true, hsm.AttrNeverExtractable: true}
	told := map[hsm.Attribute]bool{hsm.AttrModifiable: true, hsm.AttrAlwaysAuthenticate: true}
	m := newSpy(t, approverToken(key))
	m.attribute = showing(fitKey)
	f, err := checked(t, m, publicOf(t, key))
	require.NoError(t, err)
	require.True(t, f.Fit(), "%v", f.Reasons())
	require.Len(t, f.Rows, len(fitKey)+4)
	for a, fit := range fitKey {
		shows := maps.Clone(fitKey)
		shows[a] = 1 - fit
		m.attribute = showing(shows)
		f, err := checked(t, m, publicOf(t, key))
		require.NoError(t, err)
		require.Equal(t, told[a], f.Fit(), "attribute %#x wrong", a)
		if !told[a] {
			require.Len(t, f.Reasons(), 1)
		}
		delete(shows, a)
		m.attribute = showing(shows)
		f, err = checked(t, m, publicOf(t, key))
		require.NoError(t, err)
		require.Equal(t, !proof[a], f.Fit(), "attribute %#x not available", a)
		found := map[string]int{}
		for _, r := range f.Rows {
			found[r.Found]++
		}
		require.Equal(t, 1, found["not available"])
	}
	text, err := json.Marshal([]hsm.Answer{hsm.NotAvailable, hsm.No, hsm.Yes})
	require.NoError(t, err)
	require.Equal(t, `["not available","false","true"]`, string(text))
}

// What the attributes say is held to what the token does: it must not tell the private value, nor show the key before a login.
func TestCheckBelievesNoAttributeAlone(t *testing.T) {
	key := newP256(t)
	for name, test := range map[string]struct {
		secret func() (int, error)
		bad    string
	}{
		"the value":        {func() (int, error) { return 32, nil }, "CKA_VALUE has 32 bytes"},
		"nothing":          {func() (int, error) { return 0, nil }, ""},
		"sensitive":        {func() (int, error) { return 0, hsm.RV(0x11) }, ""},
		"no such":          {func() (int, error) { return 0, hsm.RV(0x12) }, ""},
		"some other error": {func() (int, error) { return 0, hsm.RV(0x05) }, ""},
	} {
		m := newSpy(t, approverToken(key))
		m.attribute, m.secret = showing(fitKey), test.secret
		f, err := checked(t, m, publicOf(t, key))
		require.NoError(t, err, name)
		require.Equal(t, test.bad == "", f.Fit(), name)
		if test.bad != "" {
			require.Contains(t, f.Reasons()[0], test.bad)
		}
	}
	for name, shows := range map[string]bool{"hidden": false, "shown": true} {
		m := newSpy(t, approverToken(key))
		m.attribute = showing(fitKey)
		if shows { // the handle of the private key, to somebody who is not logged in, who may read it
			m.find = func(template []hsm.Match, found []hsm.Object) []hsm.Object {
				if m.count("C_Login") == 0 && len(found) == 0 {
					return []hsm.Object{1}
				}
				return found
			}
			m.attribute = func(o hsm.Object, a hsm.Attribute, value []byte, err error) ([]byte, error) {
				if err != nil && m.count("C_Login") == 0 {
					return map[hsm.Attribute][]byte{hsm.AttrID: {1}, hsm.AttrLabel: []byte("k256")}[a], nil
				}
				return showing(fitKey)(o, a, value, err)
			}
		}
		token := open(t, m, approverURI)
		require.NoError(t, token.LookBeforeLogin(t.Context()))
		require.NoError(t, token.Login(t.Context(), fixedPIN("1234")))
		requireRefused(t, token.LookBeforeLogin(t.Context()), wire.InvalidState, "")
		f, err := token.Check(t.Context(), publicOf(t, key))
		require.NoError(t, err)
		require.Equal(t, !shows, f.Fit(), "%s: %v", name, f.Reasons())
		require.Equal(t, "before the login", f.Rows[len(f.Rows)-2].Name)
		require.NoError(t, token.Close())
	}
}

// A key that signs badly is unfit; a token that is gone, or a PIN that is refused, is an error.
func TestCheckTellsAnUnfitKeyFromATokenThatFails(t *testing.T) {
	key := newP256(t)
	for name, test := range map[string]struct {
		prepare     func(*spy)
		unfit, code bool
		reason      string
	}{
		"flipped":      {func(m *spy) { m.sign = func(_, s []byte) ([]byte, error) { s[9] ^= 1; return s, nil } }, true, false, ""},
		"short":        {func(m *spy) { m.sign = func(_, s []byte) ([]byte, error) { return s[:63], nil } }, true, false, ""},
		"may not sign": {func(m *spy) { m.fail["C_SignInit"] = hsm.RV(0x68) }, true, false, ""},
		"removed":      {func(m *spy) { m.fail["C_Sign"] = hsm.RV(0x32) }, false, true, "device-removed"},
		"gone before":  {func(m *spy) { m.fail["C_FindObjects"] = hsm.RV(0xE0) }, false, true, "device-removed"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newSpy(t, approverToken(key))
			m.attribute = showing(fitKey)
			test.prepare(m)
			f, err := checked(t, m, publicOf(t, key))
			if test.code {
				requireRefused(t, err, wire.KeyUnavailable, test.reason)
				return
			}
			require.NoError(t, err)
			require.Equal(t, "key-trial signature", f.Rows[len(f.Rows)-1].Name)
			require.Len(t, f.Reasons(), 1)
		})
	}
	// Which key is meant is settled, or nothing is checked.
	other := newP256(t)
	two := softtoken.Token{Label: "approver", PIN: "1234", Keys: []softtoken.Key{{Label: "k256", ID: []byte{1}, Private: key}, {Label: "k256", ID: []byte{2}, Private: other}}}
	_, err := checked(t, newSpy(t, two), quorum.PublicKey{})
	requireRefused(t, err, wire.KeyUnavailable, "ambiguous")
	f, err := checked(t, newSpy(t, two), publicOf(t, other))
	require.NoError(t, err)
	require.Equal(t, publicOf(t, other).KID().String(), f.Key.KID())
	_, err = checked(t, newSpy(t, softtoken.Token{Label: "approver", PIN: "1234"}), quorum.PublicKey{})
	requireRefused(t, err, wire.KeyUnavailable, "key-not-found")
	// Without a public half there is nothing to verify under, unless it is expected.
	hidden := softtoken.Token{Label: "approver", PIN: "1234", Keys: []softtoken.Key{{Label: "k256", ID: []byte{1}, Private: key, HidePublic: true}}}
	m := newSpy(t, hidden)
	m.attribute = showing(fitKey)
	f, err = checked(t, m, quorum.PublicKey{})
	require.NoError(t, err)
	require.Equal(t, []string{"the token does not show the public half, so it cannot be told which key this is", "without a public half no signature can be verified"}, f.Reasons())
	f, err = checked(t, m, publicOf(t, key))
	require.NoError(t, err)
	require.True(t, f.Fit(), "%v", f.Reasons())
	f, err = checked(t, m, publicOf(t, other))
	require.NoError(t, err)
	require.False(t, f.Fit())
}
