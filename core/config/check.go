package config

import (
	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/wire"
)

// Check tells whether what Load does not open is there, and whether a signature can be made of it all: CheckKey and
// CheckModule.
func (s *Settings) Check(modulePath func(uri string) (string, error)) error {
	if err := s.CheckKey(modulePath); err != nil {
		return err
	}
	return s.CheckModule()
}

// CheckKey tells whether the configured key can sign: a key file is a file, a pkcs11: URI names no other module than the
// configured one, and the public key is one of the approver set. modulePath gives the module-path of a pkcs11: URI, or "".
// The key file is not read. Errors are INVALID_CONFIG, and those of modulePath.
func (s *Settings) CheckKey(modulePath func(uri string) (string, error)) error {
	if err := s.checkKey(modulePath); err != nil {
		return err
	}
	return s.checkPublicKey()
}

func (s *Settings) checkKey(modulePath func(uri string) (string, error)) error {
	switch key := s.Key; {
	case !key.IsSet():
		return nil
	case isURI(key.Value):
		path, err := modulePath(key.Value)
		if err == nil {
			_, _, err = s.TightenModule("the key's module-path", path)
		}
		return err
	default:
		f, err := durable.Open(s.Resolve(key.Value))
		if err != nil {
			return refuse("key", key.Origin, "%s", wire.MessageOf(err))
		}
		return f.Close()
	}
}

// checkPublicKey holds the public key against the set: no approval by another one counts.
func (s *Settings) checkPublicKey() error {
	own := s.ApproverSet()
	if !s.PublicKey.IsSet() || !own.IsSet() {
		return nil
	}
	kid := s.PublicKey.Value.Key.KID()
	if _, ok := own.Value.Set.Key(kid); !ok {
		return refuse("public_key", s.PublicKey.Origin, "key %s is not in the approver set of %s", kid, own.Origin)
	}
	return nil
}
