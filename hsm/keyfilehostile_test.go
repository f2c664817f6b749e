package hsm

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	encasn1 "encoding/asn1"
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/better-compute/approver/core/wire"
	"github.com/stretchr/testify/require"
)

func givenPassphrase(s string) Passphrase {
	return func(context.Context) ([]byte, error) { return []byte(s), nil }
}

// The forms that are built here are read where nothing is changed in them: what the refusals below prove is the change.
func TestPlainKeyFiles(t *testing.T) {
	key, other := generate(t), generate(t)
	foreign := newPlainForm(other).half
	point := newPlainForm(key).half[1:]
	compressed := append([]byte{0, 2 + point[64]&1}, point[1:33]...)
	for name, test := range map[string]struct {
		change func(*plainForm)
		says   string // empty: read
	}{
		"as it is":              {func(*plainForm) {}, ""},
		"no public half":        {func(f *plainForm) { f.half = nil }, ""},
		"parameters":            {func(f *plainForm) { f.parameters = oidP256 }, ""},
		"compressed half":       {func(f *plainForm) { f.half = compressed }, ""},
		"version 2, half":       {func(f *plainForm) { f.version, f.halfV2 = 1, f.half }, ""},
		"foreign half":          {func(f *plainForm) { f.half = foreign }, "public half"},
		"foreign half, v2":      {func(f *plainForm) { f.version, f.halfV2 = 1, foreign }, "public half"},
		"half with loose bits":  {func(f *plainForm) { f.half = append([]byte{1}, f.half[1:]...) }, "public half"},
		"half cut":              {func(f *plainForm) { f.half = f.half[:40] }, "public half"},
		"half empty":            {func(f *plainForm) { f.half = []byte{} }, "public half"},
		"half v2 in version 1":  {func(f *plainForm) { f.halfV2 = f.half }, "more beside"},
		"version 3":             {func(f *plainForm) { f.version = 2 }, "PKCS#8"},
		"EC version 2":          {func(f *plainForm) { f.ecVersion = 2 }, "ECPrivateKey"},
		"another algorithm":     {func(f *plainForm) { f.algorithm = oidPBES2 }, "P-256"},
		"another curve":         {func(f *plainForm) { f.curve = encasn1.ObjectIdentifier{1, 3, 132, 0, 10} }, "P-256"},
		"another inner curve":   {func(f *plainForm) { f.parameters = encasn1.ObjectIdentifier{1, 3, 132, 0, 10} }, "another curve"},
		"scalar zero":           {func(f *plainForm) { f.scalar = make([]byte, 32) }, "32 bytes"},
		"scalar the order":      {func(f *plainForm) { f.scalar = elliptic.P256().Params().N.Bytes() }, "32 bytes"},
		"scalar of 31 bytes":    {func(f *plainForm) { f.scalar = f.scalar[1:] }, "32 bytes"},
		"scalar of 33 bytes":    {func(f *plainForm) { f.scalar = append([]byte{0}, f.scalar...) }, "32 bytes"},
		"attributes":            {func(f *plainForm) { f.attributes = true }, "attributes"},
		"bytes after":           {func(f *plainForm) { f.tail = []byte{0} }, "PKCS#8"},
		"bytes after the inner": {func(f *plainForm) { f.innerTail = []byte{5, 0} }, "ECPrivateKey"},
	} {
		t.Run(name, func(t *testing.T) {
			form := newPlainForm(key)
			test.change(&form)
			k, err := ParseKeyFile(t.Context(), pemOf(plainBlock, form.der()), nil)
			if test.says == "" {
				require.NoError(t, err)
				require.True(t, k.Public().ECDSA().Equal(&key.PublicKey))
				return
			}
			require.Equal(t, wire.InvalidInput, wire.CodeOf(err))
			require.ErrorContains(t, err, test.says)
		})
	}
}

// Every parameter out of its bounds is refused before a passphrase is asked for, and at once.
func TestSealedKeyFiles(t *testing.T) {
	plain := newPlainForm(generate(t)).der()
	huge := new(big.Int).Lsh(big.NewInt(1), 100)
	scrypt := func(n, r, p int64) func(*sealForm) {
		return func(f *sealForm) {
			f.derivation, f.n, f.r, f.p = oidScrypt, big.NewInt(n), big.NewInt(r), big.NewInt(p)
		}
	}
	for name, test := range map[string]struct {
		change func(*sealForm)
		says   string // empty: read
	}{
		"as it is":                 {func(*sealForm) {}, ""},
		"AES-128":                  {func(f *sealForm) { f.cipher = 0 }, ""},
		"AES-192":                  {func(f *sealForm) { f.cipher = 1 }, ""},
		"triple DES":               {func(f *sealForm) { f.cipher = 3 }, ""},
		"key length":               {func(f *sealForm) { f.keyLength = 32 }, ""},
		"named PRF":                {func(f *sealForm) { f.prf = prfs[0].oid }, ""},
		"no iterations":            {func(f *sealForm) { f.iterations = new(big.Int) }, "iterations"},
		"negative iterations":      {func(f *sealForm) { f.iterations = big.NewInt(-1) }, "iterations"},
		"iterations over the cap":  {func(f *sealForm) { f.iterations = big.NewInt(maxIterations + 1) }, "iterations"},
		"2^31 iterations":          {func(f *sealForm) { f.iterations = big.NewInt(1 << 31) }, "iterations"},
		"2^100 iterations":         {func(f *sealForm) { f.iterations = huge }, "PBKDF2"},
		"no salt":                  {func(f *sealForm) { f.salt = nil }, "salt"},
		"salt over the cap":        {func(f *sealForm) { f.salt = make([]byte, maxSaltBytes+1) }, "salt"},
		"foreign key length":       {func(f *sealForm) { f.keyLength = 16 }, "key length"},
		"key length of a gigabyte": {func(f *sealForm) { f.keyLength = 1 << 30 }, "key length"},
		"unknown PRF":              {func(f *sealForm) { f.prf = oidPBES2 }, "pseudo-random"},
		"unknown derivation":       {func(f *sealForm) { f.derivation = oidPBES2 }, "neither"},
		"unknown cipher":           {func(f *sealForm) { f.cipherOID = oidPBES2 }, "cipher"},
		"GCM":                      {func(f *sealForm) { f.cipherOID = encasn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 1, 46} }, "cipher"},
		"PBES1":                    {func(f *sealForm) { f.scheme = encasn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 3} }, "PBES2"},
		"PKCS#12 encryption":       {func(f *sealForm) { f.scheme = encasn1.ObjectIdentifier{1, 2, 840, 113549, 1, 12, 1, 3} }, "PBES2"},
		"IV of 15 bytes":           {func(f *sealForm) { f.iv = make([]byte, 15); f.ciphertext = make([]byte, 144) }, "vector"},
		"IV of 17 bytes":           {func(f *sealForm) { f.iv = make([]byte, 17); f.ciphertext = make([]byte, 144) }, "vector"},
		"no IV":                    {func(f *sealForm) { f.iv = []byte{}; f.ciphertext = make([]byte, 144) }, "vector"},
		"IV of AES, triple DES":    {func(f *sealForm) { f.cipher, f.iv = 3, make([]byte, 16); f.ciphertext = make([]byte, 144) }, "vector"},
		"no ciphertext":            {func(f *sealForm) { f.ciphertext = []byte{} }, "block"},
		"ciphertext of 1.5 blocks": {func(f *sealForm) { f.ciphertext = make([]byte, 24) }, "block"},
		"bytes after":              {func(f *sealForm) { f.tail = []byte{0} }, "DER"},
		"bytes in the parameters":  {func(f *sealForm) { f.schemeExtra = []byte{5, 0} }, "DER"},
		"scrypt N not a power":     {scrypt(1000, 8, 1), "scrypt"},
		"scrypt N 1":               {scrypt(1, 8, 1), "scrypt"},
		"scrypt N 0":               {scrypt(0, 8, 1), "scrypt"},
		"scrypt N negative":        {scrypt(-16, 8, 1), "scrypt"},
		"scrypt r 0":               {scrypt(16, 0, 1), "scrypt"},
		"scrypt p 0":               {scrypt(16, 8, 0), "scrypt"},
		"scrypt of 512 MiB":        {scrypt(1<<19, 8, 1), "scrypt"},
		"scrypt of a lot of time":  {scrypt(1<<14, 8, 1<<20), "scrypt"},
		"scrypt that overflows":    {scrypt(1<<62, 1<<62, 4), "scrypt"},
		"scrypt r alone":           {scrypt(16, 1<<40, 1), "scrypt"},
		"scrypt N alone":           {scrypt(1<<40, 1, 1), "scrypt"},
		"scrypt N of 2^100":        {func(f *sealForm) { f.derivation, f.n = oidScrypt, huge }, "scrypt"},
	} {
		t.Run(name, func(t *testing.T) {
			form := newSealForm(plain)
			test.change(&form)
			asked := false
			start := time.Now()
			_, err := ParseKeyFile(t.Context(), pemOf(encryptedBlock, form.der()), func(context.Context) ([]byte, error) {
				asked = true
				return []byte(testPassphrase), nil
			})
			if test.says == "" {
				require.NoError(t, err)
				return
			}
			require.Equal(t, wire.InvalidInput, wire.CodeOf(err))
			require.ErrorContains(t, err, test.says)
			require.False(t, asked)
			require.Less(t, time.Since(start), time.Minute)
		})
	}
}

func TestWrongPassphrase(t *testing.T) {
	plain := newPlainForm(generate(t)).der()
	data := pemOf(encryptedBlock, newSealForm(plain).der())
	wiped := []byte("wrong")
	_, err := ParseKeyFile(t.Context(), data, func(context.Context) ([]byte, error) { return wiped, nil })
	require.Equal(t, wire.InvalidInput, wire.CodeOf(err))
	require.ErrorContains(t, err, "wrong passphrase")
	require.NotContains(t, err.Error(), "horse")
	require.Equal(t, make([]byte, 5), wiped)

	_, err = ParseKeyFile(t.Context(), data, nil)
	require.Equal(t, wire.MissingEnv, wire.CodeOf(err))
	cause := errors.New("not now")
	_, err = ParseKeyFile(t.Context(), data, func(context.Context) ([]byte, error) { return nil, cause })
	require.ErrorIs(t, err, cause)

	for name, padding := range map[string]func([]byte) []byte{
		"zero":             func(b []byte) []byte { b[len(b)-1] = 0; return b },
		"too long":         func(b []byte) []byte { b[len(b)-1] = 17; return b },
		"a block and more": func(b []byte) []byte { return append(b[:len(b)-17], bytes.Repeat([]byte{17}, 17)...) },
		"inconsistent":     func(b []byte) []byte { b[len(b)-2]++; return b },
	} {
		form := newSealForm(append(bytes.Clone(plain), 0)[:len(plain)])
		form.padding = padding
		_, err := ParseKeyFile(t.Context(), pemOf(encryptedBlock, form.der()), givenPassphrase(testPassphrase))
		require.ErrorContains(t, err, "wrong passphrase", name)
	}
}

func TestKeyFileIsOnePEMBlock(t *testing.T) {
	der := newPlainForm(generate(t)).der()
	good := pemOf(plainBlock, der)
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	require.NoError(t, err)
	p384DER, err := x509.MarshalPKCS8PrivateKey(p384)
	require.NoError(t, err)
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	edDER, err := x509.MarshalPKCS8PrivateKey(ed)
	require.NoError(t, err)
	_, err = ParseKeyFile(t.Context(), append(bytes.ReplaceAll(good, []byte("\n"), []byte("\r\n")), " \n"...), nil)
	require.NoError(t, err)
	for name, data := range map[string][]byte{
		"empty": nil, "no PEM": der, "two blocks": append(bytes.Clone(good), good...), "text before": append([]byte("key:\n"), good...),
		"text after": append(bytes.Clone(good), "x"...), "cut": good[:len(good)/2], "P-384": pemOf(plainBlock, p384DER),
		"Ed25519": pemOf(plainBlock, edDER), "SEC 1": pemOf("EC PRIVATE KEY", der), "public": pemOf("PUBLIC KEY", der),
		"plain as encrypted": pemOf(encryptedBlock, der), "too long": append(bytes.Clone(good), bytes.Repeat([]byte(" "), MaxKeyFileBytes)...),
		"a broken block first":  append([]byte("-----BEGIN PRIVATE KEY-----\n!\n-----END PRIVATE KEY-----\n"), good...),
		"headers":               []byte("-----BEGIN PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END PRIVATE KEY-----\n"),
		"long form of a length": pemOf(plainBlock, append([]byte{0x30, 0x82, 0, der[2]}, der[3:]...)),
	} {
		_, err := ParseKeyFile(t.Context(), data, givenPassphrase(testPassphrase))
		require.Equal(t, wire.InvalidInput, wire.CodeOf(err), "%s: %v", name, err)
	}
}

// FuzzKeyFile builds key files from the input's bytes and damages some of them. What is read is written and read again,
// and signs; nothing panics or works for long. Both answers have to occur.
func FuzzKeyFile(f *testing.F) {
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), bytes.Repeat([]byte{0x17}, 32)) // the same for every process
	require.NoError(f, err)
	for seed := range 32 {
		f.Add([]byte{byte(seed), byte(seed * 37), byte(seed * 11), byte(seed * 101), byte(seed * 7)})
	}
	var calls, accepted int
	f.Fuzz(func(t *testing.T, data []byte) {
		file := fuzzedKeyFile(key, data)
		calls++
		if k, err := parseQuickly(file); err == nil {
			accepted++
			again, err := k.EncodePlaintext()
			require.NoError(t, err)
			same, err := ParseKeyFile(t.Context(), again, nil)
			require.NoError(t, err)
			require.True(t, same.Public().Equal(k.Public()))
		} else {
			require.Equal(t, wire.InvalidInput, wire.CodeOf(err), "%v", err)
		}
		if calls == 5000 {
			require.Greater(t, accepted, calls/50, "hardly anything is read")
			require.Less(t, accepted, calls-calls/50, "hardly anything is refused")
			calls, accepted = 0, 0
		}
	})
}

// parseQuickly is ParseKeyFile, but for keys whose derivation is within bounds and slow all the same.
func parseQuickly(file []byte) (*FileKey, error) {
	if block, err := onePEMBlock(file); err == nil && block.Type == encryptedBlock {
		if sealed, err := parsePBES2Key(block.Bytes); err == nil && sealed.work > 100_000 {
			return nil, badKeyFile("slow")
		}
	}
	return ParseKeyFile(context.Background(), file, givenPassphrase(testPassphrase))
}

// fuzzedKeyFile takes choices from the bytes of data, one after the other; where they have run out, nothing is changed.
func fuzzedKeyFile(key *ecdsa.PrivateKey, data []byte) []byte {
	next := func() int {
		if len(data) == 0 {
			return 0
		}
		b := data[0]
		data = data[1:]
		return int(b)
	}
	form, damaged := newPlainForm(key), next()
	if next()%2 == 1 {
		form.half = nil
	}
	if next()%3 == 1 {
		form.parameters = oidP256
	}
	if next()%3 == 1 {
		form.version, form.halfV2 = 1, append([]byte{0}, newPlainForm(key).half[1:]...)
	}
	kind, der := plainBlock, form.der()
	if damaged%8 == 7 {
		der = damage(der, next)
	}
	if next()%2 == 1 {
		seal := newSealForm(der)
		seal.cipher, seal.iterations = next()%len(sealCiphers), big.NewInt(int64(1+next()%4))
		seal.salt = bytes.Repeat([]byte{1}, 1+next()%140)
		if next()%4 == 3 {
			seal.derivation, seal.n = oidScrypt, big.NewInt(int64(next()))
		}
		kind, der = encryptedBlock, seal.der()
	}
	if damaged%4 == 3 {
		der = damage(der, next)
	}
	file := pemOf(kind, der)
	if damaged%16 == 5 {
		file = damage(file, next)
	}
	return file
}

// damage changes, cuts or inserts a byte.
func damage(b []byte, next func() int) []byte {
	at := (next()<<8 | next()) % len(b)
	switch next() % 3 {
	case 0:
		b[at] ^= byte(1 + next()%255)
		return b
	case 1:
		return append(b[:at:at], b[at+1:]...)
	}
	return append(append(b[:at:at], byte(next())), b[at:]...)
}
