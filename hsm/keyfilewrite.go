package hsm

import (
	"crypto"
	"crypto/x509"
	"encoding/pem"

	"github.com/better-compute/approver/core/wire"
	"github.com/youmark/pkcs8"
)

// seal is how a key file is written (WIRE.md §5): PBES2 with PBKDF2-HMAC-SHA256, 600,000 iterations, and AES-256-CBC.
var seal = &pkcs8.Opts{
	Cipher:  pkcs8.AES256CBC,
	KDFOpts: pkcs8.PBKDF2Opts{SaltSize: 16, IterationCount: 600_000, HMACHash: crypto.SHA256},
}

// Encode gives the content of a key file, encrypted under the passphrase. An empty passphrase is INVALID_INPUT.
func (k *FileKey) Encode(passphrase []byte) ([]byte, error) {
	if len(passphrase) == 0 { // for which the library would write plaintext
		return nil, wire.Errorf(wire.InvalidInput, "", "the passphrase is empty")
	}
	der, err := pkcs8.MarshalPrivateKey(k.private(), passphrase, seal)
	if err != nil {
		return nil, wire.Errorf(wire.InvalidInput, "", "the key cannot be encrypted: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: encryptedBlock, Bytes: der}), nil
}

// EncodePlaintext gives the content of a key file that anybody can use who reads it. The caller wipes it.
func (k *FileKey) EncodePlaintext() ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(k.private())
	if err != nil {
		return nil, wire.Errorf(wire.InvalidInput, "", "the key cannot be encoded: %w", err)
	}
	defer clear(der)
	return pem.EncodeToMemory(&pem.Block{Type: plainBlock, Bytes: der}), nil
}
