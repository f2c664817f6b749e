package config

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
)

// parseRoots reads the command-signing roots: PEM blocks CERTIFICATE and nothing else, each a certificate authority on
// P-256 that may sign certificates. During a change of roots there are two. Whether a root is in its time is for whoever
// verifies a command, at that time.
func parseRoots(data []byte) (roots []*x509.Certificate, err error) {
	rest := bytes.TrimSpace(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")))
	for len(rest) > 0 {
		if !bytes.HasPrefix(rest, []byte("-----BEGIN CERTIFICATE-----\n")) {
			return nil, errors.New("wanted: PEM blocks CERTIFICATE and nothing else")
		}
		block, after := pem.Decode(rest)
		if block == nil || len(block.Headers) > 0 {
			return nil, errors.New("wanted: PEM blocks CERTIFICATE and nothing else")
		}
		root, err := parseRoot(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("certificate %d: %w", len(roots)+1, err)
		}
		for i, other := range roots {
			if root.Equal(other) {
				return nil, fmt.Errorf("certificates %d and %d are the same", i+1, len(roots)+1)
			}
		}
		roots = append(roots, root)
		rest = bytes.TrimSpace(after)
	}
	if len(roots) == 0 {
		return nil, errors.New("it has no certificate")
	}
	return roots, nil
}

func parseRoot(der []byte) (*x509.Certificate, error) {
	c, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	key, ok := c.PublicKey.(*ecdsa.PublicKey)
	switch {
	case !ok || key.Curve != elliptic.P256():
		return nil, errors.New("its key is not on P-256")
	case !c.BasicConstraintsValid || !c.IsCA:
		return nil, errors.New("it is not of a certificate authority")
	case c.KeyUsage != 0 && c.KeyUsage&x509.KeyUsageCertSign == 0:
		return nil, errors.New("its key usage does not let it sign certificates")
	case !bytes.Equal(c.RawIssuer, c.RawSubject) || c.CheckSignatureFrom(c) != nil:
		return nil, errors.New("it is not a root: it does not sign itself")
	}
	return c, nil
}
