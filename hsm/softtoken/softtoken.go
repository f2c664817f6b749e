package softtoken

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/subtle"

	"github.com/better-compute/approver/core/wire"
	"github.com/better-compute/approver/hsm"
)

// DefaultTries is how many wrong PINs lock a token that does not say otherwise.
const DefaultTries = 3

// A Token is a token as it lies in its slot when the module is made.
type Token struct {
	Label  string // at most 32 bytes
	Serial string // at most 16 bytes
	Model  string // at most 16 bytes; "softtoken" where empty
	PIN    string // not empty, unless PINPad
	PINPad bool   // C_Login wants a NULL PIN, and the PIN is taken as entered at the pad
	Tries  int    // wrong PINs until it locks; 0 is DefaultTries
	Keys   []Key
}

// A Key is a P-256 key pair on a token.
type Key struct {
	Label              string // CKA_LABEL of both halves
	PublicLabel        string // CKA_LABEL of the public half, where it differs
	ID                 []byte // CKA_ID of both halves
	Private            *ecdsa.PrivateKey
	AlwaysAuthenticate bool // CKA_ALWAYS_AUTHENTICATE
	HidePublic         bool // there is no public key object
}

// Module is an hsm.Module over tokens in memory.
type Module struct {
	tokens      []*token
	sessions    map[hsm.Session]*session
	last        hsm.Session
	initialized bool
}

type token struct {
	Token
	objects  []object
	left     int // wrong PINs until it locks
	loggedIn bool
}

type session struct {
	token     *token
	signing   *object // between C_SignInit and C_Sign
	confirmed bool    // the login that the key wants each time has happened
}

// New makes a module with a slot for each token. The error is INVALID_INPUT for a token that could not exist: a field
// too long, no PIN, a key that is not on P-256.
func New(tokens ...Token) (*Module, error) {
	m := &Module{sessions: make(map[hsm.Session]*session)}
	for _, t := range tokens {
		if t.Model == "" {
			t.Model = "softtoken"
		}
		if t.Tries == 0 {
			t.Tries = DefaultTries
		}
		if len(t.Label) > 32 || len(t.Serial) > 16 || len(t.Model) > 16 || t.PIN == "" && !t.PINPad || t.Tries < 1 {
			return nil, wire.Errorf(wire.InvalidInput, "", "no such token: label %q, serial %q, model %q", t.Label, t.Serial, t.Model)
		}
		made := &token{Token: t, left: t.Tries}
		for _, k := range t.Keys {
			if k.Private == nil || k.Private.Curve != elliptic.P256() {
				return nil, wire.Errorf(wire.InvalidInput, "", "key %q is not on P-256", k.Label)
			}
			made.objects = append(made.objects, objectsOf(k)...)
		}
		m.tokens = append(m.tokens, made)
	}
	return m, nil
}

// Initialize is C_Initialize.
func (m *Module) Initialize() error {
	if m.initialized {
		return rvAlreadyInitialized
	}
	m.initialized = true
	return nil
}

// Finalize is C_Finalize; it ends all sessions and logins.
func (m *Module) Finalize() error {
	if !m.initialized {
		return rvNotInitialized
	}
	m.initialized = false
	clear(m.sessions)
	for _, t := range m.tokens {
		t.loggedIn = false
	}
	return nil
}

// Library is C_GetInfo.
func (m *Module) Library() (hsm.LibraryInfo, error) {
	return hsm.LibraryInfo{Manufacturer: "better-compute", Description: "software token", Major: 1}, nil
}

// Slots is C_GetSlotList.
func (m *Module) Slots() ([]hsm.SlotID, error) {
	if !m.initialized {
		return nil, rvNotInitialized
	}
	ids := make([]hsm.SlotID, len(m.tokens))
	for i := range ids {
		ids[i] = hsm.SlotID(i)
	}
	return ids, nil
}

// Slot is C_GetSlotInfo.
func (m *Module) Slot(id hsm.SlotID) (hsm.SlotInfo, error) {
	_, err := m.token(id)
	return hsm.SlotInfo{Description: "software slot", Manufacturer: "better-compute"}, err
}

// Token is C_GetTokenInfo.
func (m *Module) Token(id hsm.SlotID) (hsm.TokenRecord, error) {
	t, err := m.token(id)
	if err != nil {
		return hsm.TokenRecord{}, err
	}
	return hsm.TokenRecord{Label: t.Label, Manufacturer: "better-compute", Model: t.Model, Serial: t.Serial, Flags: t.flags()}, nil
}

func (m *Module) token(id hsm.SlotID) (*token, error) {
	switch {
	case !m.initialized:
		return nil, rvNotInitialized
	case uint(id) >= uint(len(m.tokens)):
		return nil, rvSlotIDInvalid
	}
	return m.tokens[id], nil
}

func (t *token) flags() uint {
	flags := hsm.FlagTokenInitialized | hsm.FlagPINInitialized
	if t.PINPad {
		flags |= hsm.FlagPINPad
	}
	switch {
	case t.left == 0:
		flags |= hsm.FlagPINLocked
	case t.left == t.Tries:
	case t.left == 1:
		flags |= hsm.FlagPINFinalTry
	default:
		flags |= hsm.FlagPINCountLow
	}
	return flags
}

// OpenSession is C_OpenSession, read-only.
func (m *Module) OpenSession(id hsm.SlotID) (hsm.Session, error) {
	t, err := m.token(id)
	if err != nil {
		return 0, err
	}
	m.last++
	m.sessions[m.last] = &session{token: t}
	return m.last, nil
}

// CloseSession is C_CloseSession; the last one of a token ends its login.
func (m *Module) CloseSession(h hsm.Session) error {
	s, err := m.session(h)
	if err != nil {
		return err
	}
	delete(m.sessions, h)
	for _, other := range m.sessions {
		if other.token == s.token {
			return nil
		}
	}
	s.token.loggedIn = false
	return nil
}

func (m *Module) session(h hsm.Session) (*session, error) {
	s, ok := m.sessions[h]
	switch {
	case !m.initialized:
		return nil, rvNotInitialized
	case !ok:
		return nil, rvSessionHandle
	}
	return s, nil
}

// Login is C_Login, for CKU_USER and CKU_CONTEXT_SPECIFIC.
func (m *Module) Login(h hsm.Session, user hsm.UserType, pin []byte) error {
	s, err := m.session(h)
	if err != nil {
		return err
	}
	switch user {
	case hsm.UserNormal:
		if s.token.loggedIn {
			return rvAlreadyLoggedIn
		}
		if err := s.token.try(pin); err != nil {
			return err
		}
		s.token.loggedIn = true
		return nil
	case hsm.UserContextSpecific:
		if s.signing == nil {
			return rvNotStarted
		}
		if err := s.token.try(pin); err != nil {
			return err
		}
		s.confirmed = true
		return nil
	}
	return rvUserType
}

// try checks a PIN and counts.
func (t *token) try(pin []byte) error {
	switch {
	case t.left == 0:
		return rvPINLocked
	case t.PINPad:
		if pin != nil {
			return rvArgumentsBad
		}
	case subtle.ConstantTimeCompare(pin, []byte(t.PIN)) != 1:
		t.left--
		return rvPINIncorrect
	}
	t.left = t.Tries
	return nil
}

// Logout is C_Logout.
func (m *Module) Logout(h hsm.Session) error {
	s, err := m.session(h)
	if err != nil {
		return err
	}
	if !s.token.loggedIn {
		return rvNotLoggedIn
	}
	s.token.loggedIn = false
	return nil
}

// SignInit is C_SignInit, with CKM_ECDSA and a private key.
func (m *Module) SignInit(h hsm.Session, mechanism hsm.Mechanism, key hsm.Object) error {
	s, err := m.session(h)
	if err != nil {
		return err
	}
	o, ok := s.token.object(key)
	switch {
	case s.signing != nil:
		return rvOperationActive
	case mechanism != hsm.MechanismECDSA:
		return rvMechanismInvalid
	case !ok || o.private == nil:
		return rvKeyHandle
	}
	s.signing, s.confirmed = o, false
	return nil
}

// Sign is C_Sign: r ‖ s over a digest of 32 bytes. It ends what SignInit began, whatever comes of it.
func (m *Module) Sign(h hsm.Session, digest []byte) ([]byte, error) {
	s, err := m.session(h)
	if err != nil {
		return nil, err
	}
	o := s.signing
	s.signing = nil
	switch {
	case o == nil:
		return nil, rvNotStarted
	case !s.token.loggedIn, o.always && !s.confirmed:
		return nil, rvNotLoggedIn
	case len(digest) != 32:
		return nil, rvDataLenRange
	}
	r, t, err := ecdsa.Sign(rand.Reader, o.private, digest)
	if err != nil {
		return nil, rvFunctionFailed
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	t.FillBytes(signature[32:])
	return signature, nil
}
