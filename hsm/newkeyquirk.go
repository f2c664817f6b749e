package hsm

import (
	"context"
	"slices"
)

// TPMLibrary is CK_INFO.manufacturerID of tpm2-pkcs11. Its tokens keep none of the flags that count PIN tries, and lock for all
// their PINs at once. Its key gets each usage that a template mentions, with CK_FALSE too,
// so that those which are not wanted must not be there; other modules give a key every usage that a template does not
// mention. To try one after the other is no way: a refusal costs the TPM one of its few handles. Token.Check holds the
// key that comes out to the same, whichever way it was asked for.
const TPMLibrary = "tpm2-software.github.io"

// templatesFor gives the templates as the module understands them.
func (a *Admin) templatesFor(ctx context.Context, spec NewKeySpec, id []byte) (m Mechanism, public, private []Match, err error) {
	m, public, private = templates(spec, id)
	library, err := call(ctx, a.token.line, "C_GetInfo", a.token.module.Library)
	if err != nil {
		return m, nil, nil, moduleRefusal("C_GetInfo", err)
	}
	if library.Manufacturer == TPMLibrary {
		public = without(public, AttrVerify, AttrEncrypt)
		private = without(private, AttrDecrypt)
	}
	return m, public, private, nil
}

func without(template []Match, attributes ...Attribute) []Match {
	return slices.DeleteFunc(template, func(m Match) bool { return slices.Contains(attributes, m.Attribute) })
}
