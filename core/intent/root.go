package intent

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"

	"github.com/better-compute/approver/core/wire"
)

// A Root is a command-signing root: the X.509 certificate of an authority that certifies worker keys. It is immutable;
// the zero Root is none. Whether it is in its time is for whoever verifies a command, at that time.
type Root struct{ der []byte }

// ParseRoot reads X.509 DER (RFC 5280) with nothing after it, of a certificate authority that may sign certificates: a leaf
// among the roots would be trusted for itself. The error is INVALID_INPUT.
func ParseRoot(der []byte) (Root, error) {
	c, err := x509.ParseCertificate(der)
	switch {
	case err != nil:
		return Root{}, wire.Errorf(wire.InvalidInput, "", "a command-signing root is no X.509 certificate: %w", err)
	case !c.BasicConstraintsValid || !c.IsCA:
		return Root{}, wire.Errorf(wire.InvalidInput, "", "the command-signing root %q is not of a certificate authority", c.Subject)
	case c.KeyUsage != 0 && c.KeyUsage&x509.KeyUsageCertSign == 0:
		return Root{}, wire.Errorf(wire.InvalidInput, "", "the key usage of the command-signing root %q does not let it sign certificates", c.Subject)
	}
	return Root{bytes.Clone(der)}, nil
}

// DER gives the certificate as it came.
func (r Root) DER() []byte { return bytes.Clone(r.der) }

// SHA256 gives the SHA-256 of the certificate.
func (r Root) SHA256() [sha256.Size]byte { return sha256.Sum256(r.der) }

// Certificate gives the certificate read anew, the caller's own; nil for the zero Root.
func (r Root) Certificate() *x509.Certificate {
	if r.der == nil {
		return nil
	}
	c, err := x509.ParseCertificate(r.der)
	if err != nil {
		panic("intent: a parsed root does not parse: " + err.Error())
	}
	return c
}
