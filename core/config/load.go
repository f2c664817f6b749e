package config

import (
	"crypto/x509"
	"strings"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// Load reads the configuration: the file that named (--config) gives, else the environment's APPROVER_CONFIG, else
// approver/config.toml in XDG_CONFIG_HOME or in HOME/.config where it is; and the variables that stand beside
// [pki.approvers]. Every file it names but the key and the module is read, or looked at. Errors are INVALID_CONFIG naming
// file, line and key or variable; NOT_FOUND for a configuration file that was named and is not there; IO_ERROR.
func Load(named string, getenv func(string) string) (*Settings, error) {
	l, err := begin(named, getenv)
	if err != nil {
		return nil, err
	}
	return l.load()
}

// A Refusal is what is wrong with one part of the configuration.
type Refusal struct {
	Part string // its key, or its table: "trust_domain" … "approvers", "module", "pki", which has the environment's variables too
	Err  error
}

// Survey is Load for whoever tells of everything that is wrong at once, as Load would of the first: the settings that hold,
// and the parts that are refused, which are not set. Nothing may be signed by such settings. The error is about the file as a
// whole.
func Survey(named string, getenv func(string) string) (*Settings, []Refusal, error) {
	l, err := begin(named, getenv)
	if err != nil {
		return nil, nil, err
	}
	var refused []Refusal
	for _, p := range l.parts() {
		if err := p.settle(); err != nil {
			refused = append(refused, Refusal{p.name, err})
			if p.name == "pki" { // the one part of several settings
				l.s.CommandSigning, l.s.TrustVersion, l.s.Published = Setting[[]*x509.Certificate]{}, Setting[uint64]{}, Setting[*ApproverSet]{}
			}
		}
	}
	return l.s, refused, nil
}

// begin reads the file.
func begin(named string, getenv func(string) string) (*loader, error) {
	path, by, passed, err := locate(named, getenv)
	if err != nil {
		return nil, err
	}
	l := &loader{s: &Settings{File: path, NamedBy: by, Passed: passed, written: make(map[string]Written)}, getenv: getenv}
	if path != "" {
		err = l.readFile()
	}
	return l, err
}

// Parse reads a configuration from memory as Load reads the file at path, without any environment.
func Parse(path string, data []byte) (*Settings, error) {
	l := &loader{s: &Settings{File: path, NamedBy: "--config", written: make(map[string]Written)}, getenv: func(string) string { return "" }}
	if err := l.decode(data); err != nil {
		return nil, err
	}
	return l.load()
}

// A loader turns the file and the environment into Settings.
type loader struct {
	s      *Settings
	file   file
	lines  wire.TOMLLines
	getenv func(string) string
}

func (l *loader) readFile() error {
	data, err := ReadTrusted(l.s.File, wire.MaxTOMLBytes)
	if err == nil {
		return l.decode(data)
	}
	code := wire.CodeOf(err)
	if code == wire.InvalidInput { // not a regular file
		code = wire.InvalidConfig
	}
	return wire.Errorf(code, "", "the configuration that %s names: %s", l.s.NamedBy, wire.MessageOf(err)).With("file", l.s.File)
}

// decode reads the text of the file. One that sets nothing is a file of another purpose, or an empty one of root's that
// somebody put in its place: it would take every check away.
func (l *loader) decode(data []byte) (err error) {
	if l.lines, err = wire.DecodeTOML(l.s.File, data, &l.file); err == nil && l.file.setsNothing() {
		err = wire.Errorf(wire.InvalidConfig, "", "%s configures nothing: it sets no key", l.s.File).With("file", l.s.File)
	}
	return err
}

type part struct {
	name   string
	settle func() error
}

// parts are settled one after the other; what a later one needs stands before it.
func (l *loader) parts() []part {
	return []part{{"trust_domain", l.trustDomain}, {"key", l.key}, {"public_key", l.publicKey}, {"max_hours", l.maxHours}, {"kinds", l.kinds},
		{"expected_lists", l.expectedLists}, {"state", l.state}, {"module", l.module}, {"approvers", l.setFile}, {"pki", l.pki}}
}

func (l *loader) load() (*Settings, error) {
	for _, p := range l.parts() {
		if err := p.settle(); err != nil {
			return nil, err
		}
	}
	return l.s, nil
}

func (l *loader) origin(key string) Origin { return Origin{File: l.s.File, Line: l.lines[key]} }

// refuse is the error about a key of the file.
func (l *loader) refuse(key, format string, args ...any) error {
	return refuse(key, l.origin(key), format, args...)
}

// text notes a key that holds one line of text. ok is false where it is absent.
func (l *loader) text(key string, value *string) (text string, o Origin, ok bool, err error) {
	if value == nil {
		return "", Origin{}, false, nil
	}
	o = l.origin(key)
	if err := l.checkPath(key, *value, key == "key"); err != nil {
		return "", o, true, err
	}
	l.s.written[key] = Written{*value, o}
	if *value == "" {
		return "", o, true, l.refuse(key, "it is empty; leave it out")
	}
	return *value, o, true, nil
}

// path is text that names a file, resolved.
func (l *loader) path(key string, value *string) (path string, o Origin, ok bool, err error) {
	path, o, ok, err = l.text(key, value)
	if !ok || err != nil {
		return "", o, ok, err
	}
	return l.s.Resolve(path), o, true, nil
}

func (l *loader) trustDomain() error {
	const key = "trust_domain"
	text, o, ok, err := l.text(key, l.file.TrustDomain)
	if !ok || err != nil {
		return err
	}
	if err := wire.CheckTrustDomain("it", text); err != nil {
		return l.refuse(key, "%s", wire.MessageOf(err))
	}
	l.s.TrustDomain = Setting[string]{text, o}
	return nil
}

func (l *loader) key() error {
	text, o, ok, err := l.text("key", l.file.Key)
	if !ok || err != nil {
		return err
	}
	l.s.Key = Setting[string]{text, o}
	return nil
}

// checkPath refuses a pkcs11: URI in a text that is a path, or before which something stands. It may hold a PIN: it is shown
// nowhere.
func (l *loader) checkPath(key, text string, orURI bool) error {
	switch {
	case HidesURI(text):
		return l.refuse(key, hiddenURI)
	case !orURI && isURI(text):
		return l.refuse(key, misplacedURI)
	}
	return nil
}

const (
	hiddenURI    = "it has a pkcs11: URI that does not begin the text; wanted: a path, or pkcs11: first"
	misplacedURI = "it is a pkcs11: URI; only the key takes one"
)

func isURI(text string) bool { return strings.HasPrefix(strings.ToLower(text), "pkcs11:") }

// HidesURI tells whether what should be a path or a pkcs11: URI is neither, by a space or a word before the URI. It may
// hold a PIN, so nothing may repeat it.
func HidesURI(text string) bool {
	lower := strings.ToLower(text)
	return strings.LastIndex(lower, "pkcs11:") > 0 || strings.Contains(lower, "pin-value=") && !isURI(text)
}

func (l *loader) publicKey() error {
	const key = "public_key"
	path, o, ok, err := l.path(key, l.file.PublicKey)
	if !ok || err != nil {
		return err
	}
	public, err := readPublicKey(path)
	if err != nil {
		return l.refuse(key, "%s", wire.MessageOf(err))
	}
	l.s.PublicKey = Setting[PublicKey]{PublicKey{path, public}, o}
	return nil
}

func (l *loader) maxHours() error {
	const key = "max_hours"
	if l.file.MaxHours == nil {
		return nil
	}
	n, o := *l.file.MaxHours, l.origin(key)
	l.s.written[key] = Written{n, o}
	if n < 1 || n > wire.MaxWindowHours {
		return l.refuse(key, "%d; wanted: 1 to %d", n, wire.MaxWindowHours)
	}
	l.s.MaxHours = Setting[int]{int(n), o}
	return nil
}

func (l *loader) kinds() error {
	path, o, ok, err := l.path("kinds", l.file.Kinds)
	if !ok || err != nil {
		return err
	}
	if err := checkTrusted(path); err != nil {
		return l.refuse("kinds", "%s", wire.MessageOf(err))
	}
	l.s.Kinds = Setting[string]{path, o}
	return nil
}

func (l *loader) expectedLists() error {
	const key = "expected_lists"
	path, o, ok, err := l.path(key, l.file.ExpectedLists)
	if !ok || err != nil {
		return err
	}
	if err = checkFolder(path); err == nil {
		err = checkFolders(path) // whoever can exchange the folder can take every list away
	}
	if err != nil {
		return l.refuse(key, "%s", wire.MessageOf(err))
	}
	l.s.ExpectedLists = Setting[string]{path, o}
	return nil
}

// state notes the folder of the ledger; whether nobody else can write it, the ledger looks itself, each time.
func (l *loader) state() error {
	path, o, ok, err := l.path("state", l.file.State)
	if !ok || err != nil {
		return err
	}
	l.s.State = Setting[string]{path, o}
	return nil
}

func (l *loader) setFile() error {
	const key = "approvers"
	path, o, ok, err := l.path(key, l.file.Approvers)
	if !ok || err != nil {
		return err
	}
	data, err := ReadTrusted(path, wire.MaxFileBytes)
	if err != nil {
		return l.refuse(key, "%s", wire.MessageOf(err))
	}
	set, epoch, err := quorum.ParseSetFile(data)
	switch {
	case err != nil:
		return l.refuse(key, "%s: %s", path, wire.MessageOf(err))
	case set.IsRemoval():
		return l.refuse(key, "%s: the set has no keys: nobody could approve", path)
	}
	l.s.SetFile = Setting[*ApproverSet]{&ApproverSet{Paths: []string{path}, Set: set, Epoch: epoch}, o}
	return nil
}

// readPublicKey reads a .pub file.
func readPublicKey(path string) (quorum.PublicKey, error) {
	data, err := ReadTrusted(path, wire.MaxFileBytes)
	if err != nil {
		return quorum.PublicKey{}, err
	}
	key, err := quorum.ParsePublicPEM(data)
	if err != nil {
		return quorum.PublicKey{}, wire.Errorf(wire.InvalidConfig, "", "%s: %s", path, wire.MessageOf(err))
	}
	return key, nil
}
