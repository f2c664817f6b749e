package hsm_test

import (
	"testing"
	"time"

	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
	"github.com/better-compute/approver/hsm/softtoken"
	"github.com/stretchr/testify/require"
)

func TestListSlots(t *testing.T) {
	m := &silent{newSpy(t, softtoken.Token{Label: "a", Serial: "1", PIN: "1"}, softtoken.Token{Label: "b", Serial: "2", PIN: "1"})}
	i, err := hsm.ListSlots(t.Context(), m, 0)
	require.NoError(t, err)
	require.Len(t, i.Slots, 2)
	require.Equal(t, "a", i.Slots[0].Token.Label)
	require.Equal(t, "software slot", i.Slots[0].Description)
	require.NoError(t, i.Slots[0].Trouble)
	require.ErrorContains(t, i.Slots[1].Trouble, "CKR_TOKEN_NOT_RECOGNIZED")
	require.Zero(t, m.count("C_OpenSession")+m.count("C_Login"))
	require.Equal(t, 1, m.count("C_Finalize"))

	s := newSpy(t)
	s.fail["C_GetSlotList"] = hsm.RV(0x30)
	_, err = hsm.ListSlots(t.Context(), s, time.Second)
	requireRefused(t, err, wire.KeyUnavailable, "module")
	require.Equal(t, 1, s.count("C_Finalize"))
	s.fail["C_Initialize"] = hsm.RV(0x191)
	_, err = hsm.ListSlots(t.Context(), s, time.Second)
	requireRefused(t, err, wire.KeyUnavailable, "module")
	require.Equal(t, 1, s.count("C_Finalize"), "it was not ours to finalize")
}

// silent has a slot 1 that does not answer.
type silent struct{ *spy }

func (s *silent) Token(id hsm.SlotID) (hsm.TokenRecord, error) {
	if id == 1 {
		return hsm.TokenRecord{}, hsm.RV(0xE1)
	}
	return s.spy.Token(id)
}

func TestObjectsAreListedWithWhatTheyShow(t *testing.T) {
	a, b := newP256(t), newP256(t)
	token := softtoken.Token{Label: "approver", Serial: "01", PIN: "1234", Keys: []softtoken.Key{
		{Label: "a", ID: []byte{1}, Private: a}, {Label: "b", ID: []byte{2}, Private: b, HidePublic: true},
	}}
	list := func(m hsm.Module, login bool, s string) []hsm.KeyObject {
		h := open(t, m, s)
		defer h.Close()
		if login {
			require.NoError(t, h.Login(t.Context(), fixedPIN("1234")))
		}
		objects, err := h.Objects(t.Context())
		require.NoError(t, err)
		return objects
	}
	before := list(newSpy(t, token), false, "pkcs11:token=approver")
	require.Len(t, before, 1, "private keys are not shown before the login")
	require.Equal(t, hsm.PublicKey, before[0].Class)
	after := list(newSpy(t, token), true, "pkcs11:token=approver")
	require.Len(t, after, 3)
	require.Equal(t, publicOf(t, a).KID().String(), after[0].KID(), "a private key has the kid of its public half")
	require.Equal(t, "pkcs11:token=approver;serial=01;object=a;id=%01", after[0].URI.String())
	require.Empty(t, after[1].KID())
	require.Nil(t, after[1].PublicPEM())
	require.Equal(t, hsm.AlgorithmP256, after[1].Algorithm)
	require.Len(t, list(newSpy(t, token), true, "pkcs11:token=approver;id=%02"), 1)

	// Where ids repeat, the label pairs the halves too.
	twins := newSpy(t, softtoken.Token{Label: "approver", PIN: "1234", Keys: []softtoken.Key{{Label: "a", ID: []byte{1}, Private: a}, {Label: "b", ID: []byte{1}, Private: b}}})
	of := list(twins, true, "pkcs11:token=approver")
	require.Equal(t, publicOf(t, a).KID().String(), of[0].KID())
	require.Equal(t, publicOf(t, b).KID().String(), of[1].KID())

	// One attribute that is not there hides no other.
	m := newSpy(t, token)
	m.attribute = without(hsm.AttrLabel)
	for _, o := range list(m, true, "pkcs11:token=approver") {
		require.Nil(t, o.Label)
		require.NotEmpty(t, o.ID)
	}
	m = newSpy(t, token)
	m.attribute = without(hsm.AttrID)
	objects := list(m, true, "pkcs11:token=approver")
	require.Nil(t, objects[0].ID)
	require.Equal(t, publicOf(t, a).KID().String(), objects[0].KID(), "without ids the label pairs the halves")
	m = newSpy(t, token)
	m.attribute = without(hsm.AttrKeyType)
	require.Equal(t, hsm.Algorithm("unknown"), list(m, false, "pkcs11:token=approver")[0].Algorithm)
}
