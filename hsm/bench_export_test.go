package hsm

import (
	"context"

	"github.com/better-compute/approver/core/quorum"
)

// SignUnverified is Sign without the verification, to be measured.
func (k *TokenKey) SignUnverified(ctx context.Context, s quorum.Statement) ([]byte, error) {
	if err := k.token.take(ctx); err != nil {
		return nil, err
	}
	defer k.token.release()
	digest := s.Digest()
	return k.sign(ctx, digest[:])
}

// BenchHandles gives the key's session and object, for the calls below Sign.
func BenchHandles(k *TokenKey) (Session, Object) { return k.token.session, k.handle }
