package config

import (
	"crypto/sha256"
	"fmt"
	"io"
	"path/filepath"

	"github.com/better-compute/approver/core/wire"
)

// module takes the two keys of [module] together: a library that sees the PIN is named with its digest, or not at all.
func (l *loader) module() error {
	m := l.file.Module
	if m == nil {
		return nil
	}
	path, o, hasPath, err := l.text("module.path", m.Path)
	if err != nil {
		return err
	}
	digest, _, hasDigest, err := l.text("module.sha256", m.SHA256)
	switch {
	case err != nil:
		return err
	case !hasPath:
		return l.refuse("module", "path is missing")
	case !hasDigest:
		return l.refuse("module", "sha256 is missing; sha256sum %s gives it", path)
	case !filepath.IsAbs(path):
		return l.refuse("module.path", "%q; wanted: an absolute path", path)
	}
	b, err := wire.ParseHex("it", digest, sha256.Size)
	if err != nil {
		return l.refuse("module.sha256", "%s", wire.MessageOf(err))
	}
	l.s.Module = Setting[Module]{Module{path, [sha256.Size]byte(b)}, o}
	return nil
}

// CheckModule tells whether the file of the configured module is one that nobody else could have changed, with the digest
// that is configured. Whoever loads it has the digest looked at again. The error is INVALID_CONFIG.
func (s *Settings) CheckModule() error {
	if !s.Module.IsSet() {
		return nil
	}
	m, refused := s.Module.Value, func(format string, args ...any) error {
		return refuse("module.path", s.Module.Origin, format, args...)
	}
	f, err := openTrusted(m.Path)
	if err != nil {
		return refused("%s", wire.MessageOf(err))
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return refused("%s", err)
	}
	if found := [sha256.Size]byte(h.Sum(nil)); found != m.SHA256 {
		return refuse("module.sha256", s.written["module.sha256"].Origin, "%s has %x; wanted: %x", m.Path, found, m.SHA256).
			With("found", fmt.Sprintf("%x", found)).With("wanted", fmt.Sprintf("%x", m.SHA256))
	}
	return nil
}
