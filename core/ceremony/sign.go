// Package ceremony is the last stretch of the one road: what was accepted is signed, the signature is verified, written
// and read back. It is the only caller of an approver's key, whatever is signed: an approval, a decline, a change of the
// approver set.
//
//	review.Review → Accepted → Signed → a file
//
// An Accepted comes from a review without a stop and a person's confirmation. Sign lets the key sign exactly the
// statement of that review, verifies the signature under the public key that was expected, and gives a Signed, which
// holds the signature file as it will stand on disk. WriteFile reads back what it wrote and verifies it once more. Nothing
// is written on a refusal.
//
// Worked example (r is a review, key a quorum.Signer, out a durable.Pending that was made before the PIN was asked for):
//
//	challenge, err := ceremony.NewChallenge(r)         // ask challenge.Questions()
//	accepted, err := challenge.Accept(answers)
//	signed, err := accepted.Sign(ctx, key)
//	err = signed.WriteFile(out)
package ceremony

import (
	"bytes"
	"context"
	"io"

	"github.com/better-compute/approver/core/durable"
	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/core/wire"
)

// A Signed is a signature that verified over the statement that was accepted, in the file that its purpose wants.
type Signed struct {
	key       quorum.PublicKey
	statement quorum.Statement
	signature quorum.Signature
	file      quorum.SignedFile
}

// Sign signs what was accepted. Errors are the key's own, and KEY_UNAVAILABLE (bad-signature, key-mismatch) where what
// the key gave does not verify under the public key that was expected of it.
func (a *Accepted) Sign(ctx context.Context, key quorum.Signer) (*Signed, error) {
	signature, err := sign(ctx, key, a.statement)
	if err != nil {
		return nil, err
	}
	return &Signed{key.Public(), a.statement, signature, a.statement.File(signature)}, nil
}

// sign is the one place where an approver's key is used.
func sign(ctx context.Context, key quorum.Signer, s quorum.Statement) (quorum.Signature, error) {
	expected := key.Public()
	signature, err := key.Sign(ctx, s)
	if err != nil {
		return quorum.Signature{}, err
	}
	if signature.KID != expected.KID() {
		return quorum.Signature{}, wire.Errorf(wire.KeyUnavailable, "key-mismatch",
			"key %s signed where %s was expected", signature.KID, expected.KID())
	}
	if !expected.Verify(s, signature.Sig) {
		return quorum.Signature{}, wire.Errorf(wire.KeyUnavailable, "bad-signature",
			"the signature of key %s does not verify; it is thrown away", expected.KID())
	}
	return signature, nil
}

// Statement gives what was signed.
func (s *Signed) Statement() quorum.Statement { return s.statement }

// Signature gives the signature with the kid of its key.
func (s *Signed) Signature() quorum.Signature { return s.signature }

// File gives the signature's file: that of an approval, a decline or a change of the approver set.
func (s *Signed) File() quorum.SignedFile { return s.file }

// Encode gives the bytes of the file.
func (s *Signed) Encode() []byte { return s.file.Encode() }

// WriteFile writes the signature file to an output that was begun before, names it and reads it back: the signature in
// the file verifies over what the file says. The error is an IO_ERROR, and nothing is left.
func (s *Signed) WriteFile(out *durable.Pending) error {
	if _, err := out.Write(s.Encode()); err != nil {
		return err
	}
	return out.Commit(s.check)
}

// WriteTo writes the signature file to a stream that cannot be read back. The error is an IO_ERROR.
func (s *Signed) WriteTo(w io.Writer) (int64, error) {
	n, err := w.Write(s.Encode())
	if err != nil {
		return int64(n), wire.Errorf(wire.IOError, "", "writing the signature: %w", err)
	}
	return int64(n), nil
}

// check holds what was read back against what was signed.
func (s *Signed) check(r io.Reader) error {
	back, err := io.ReadAll(r)
	if err != nil {
		return wire.Errorf(wire.IOError, "", "reading the signature back: %w", err)
	}
	file, err := s.statement.ParseFile(back)
	if err != nil || !bytes.Equal(back, s.Encode()) || !file.Verifies(s.key) {
		return wire.Errorf(wire.IOError, "", "the signature file does not read back as it was written")
	}
	return nil
}

// ProveKey lets a new key show that its holder has it, and gives the content of PATH.proof (WIRE.md §5).
func ProveKey(ctx context.Context, key quorum.Signer) ([]byte, error) {
	signature, err := sign(ctx, key, quorum.ProofOfKey(key.Public()))
	if err != nil {
		return nil, err
	}
	return quorum.EncodeKeyProof(key.Public(), signature), nil
}
