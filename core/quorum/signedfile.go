package quorum

import "github.com/better-compute/approver/core/wire"

// A SignedFile is the file in which a signature over a statement is handed over: a *SignatureFile, *DeclineFile or
// *SetSignatureFile.
type SignedFile interface {
	// Encode gives the bytes of the file.
	Encode() []byte
	// Verifies tells whether the file's signature is the key's over what the file says was signed.
	Verifies(PublicKey) bool
}

// A fileForm is how the signed file of a purpose is made and read.
type fileForm struct {
	make  func(Statement, Signature) SignedFile
	parse func([]byte) (SignedFile, error)
}

// fileForms gives each purpose that is reviewed its file. The proof of a key has its own (EncodeKeyProof), for it needs
// the key itself, and a trial of a key has none.
var fileForms = map[Purpose]fileForm{
	PurposeBatchApproval: newFileForm(NewSignatureFile, ParseSignatureFile),
	PurposeBatchDecline:  newFileForm(NewDeclineFile, ParseDeclineFile),
	PurposeApproverSet:   newFileForm(NewSetSignatureFile, ParseSetSignatureFile),
}

func newFileForm[F SignedFile](create func(Statement, Signature) F, parse func([]byte) (F, error)) fileForm {
	return fileForm{
		func(s Statement, signature Signature) SignedFile { return create(s, signature) },
		func(data []byte) (SignedFile, error) {
			f, err := parse(data)
			if err != nil {
				return nil, err
			}
			return f, nil
		},
	}
}

// File gives the file of a signature over the statement, by its purpose. It panics for a statement that has none: the zero
// Statement, the proof of a key and the trial of one.
func (s Statement) File(signature Signature) SignedFile {
	form, ok := fileForms[s.purpose]
	if !ok {
		panic("quorum: a signature over a " + string(s.purpose) + " has no file")
	}
	return form.make(s, signature)
}

// ParseFile reads the file of a signature over a statement of this purpose, strictly; what it says was signed is only a
// claim, and may be of another statement. The error is INVALID_INPUT.
func (s Statement) ParseFile(data []byte) (SignedFile, error) {
	form, ok := fileForms[s.purpose]
	if !ok {
		return nil, wire.Errorf(wire.InvalidInput, "", "a signature over a %q has no file", s.purpose)
	}
	return form.parse(data)
}
