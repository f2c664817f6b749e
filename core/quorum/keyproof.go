package quorum

import (
	"github.com/better-compute/approver/core/wire"
)

// EncodeKeyProof gives the content of PATH.proof: the key and its signature over ProofOfKey (WIRE.md §5).
func EncodeKeyProof(key PublicKey, s Signature) []byte {
	return encodeLine(struct {
		Format   string      `json:"format"`
		Version  int         `json:"version"`
		KID      KID         `json:"kid"`
		SPKI     wire.Base64 `json:"spkiDer"`
		SigBytes Sig         `json:"sig"`
	}{FormatApproverKey, fileVersion, key.KID(), key.SPKI(), s.Sig})
}

// ParseKeyProof reads PATH.proof and verifies it: its holder has the private half of the key it gives. Errors are
// INVALID_INPUT, and ACCESS_DENIED (bad-signature) where the signature does not verify.
func ParseKeyProof(data []byte) (PublicKey, error) {
	const what = "proof of a key"
	var j struct {
		Format  *string      `json:"format"`
		Version *uint64      `json:"version"`
		KID     *string      `json:"kid"`
		SPKI    *wire.Base64 `json:"spkiDer"`
		Sig     *string      `json:"sig"`
	}
	if err := wire.DecodeJSON(what, data, &j); err != nil {
		return PublicKey{}, err
	}
	if err := checkHeader(what, FormatApproverKey, j.Format, j.Version); err != nil {
		return PublicKey{}, err
	}
	if j.Sig == nil {
		return PublicKey{}, missing(what, "sig")
	}
	key, err := parseListedKey(what, "", j.KID, j.SPKI)
	if err != nil {
		return PublicKey{}, err
	}
	sig, err := ParseSig(*j.Sig)
	if err != nil {
		return PublicKey{}, err
	}
	if !key.Verify(ProofOfKey(key), sig) {
		return PublicKey{}, wire.Errorf(wire.AccessDenied, "bad-signature", "the proof of key %s does not verify", key.KID())
	}
	return key, nil
}

// parseListedKey reads a key that stands beside its kid, which must be its own; reason is that of the error where it is not.
func parseListedKey(what, reason string, kid *string, spki *wire.Base64) (PublicKey, error) {
	switch {
	case kid == nil:
		return PublicKey{}, missing(what, "kid")
	case spki == nil:
		return PublicKey{}, missing(what, "spkiDer")
	}
	key, err := ParsePublicKey(*spki)
	if err != nil {
		return PublicKey{}, err
	}
	if key.KID().String() != *kid {
		return PublicKey{}, wire.Errorf(wire.InvalidInput, reason, "%s: the key of kid %s stands under kid %q", what, key.KID(), *kid)
	}
	return key, nil
}
