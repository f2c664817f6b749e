package quorum_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/better-compute/approver/core/quorum"
	"github.com/better-compute/approver/golden"
)

// vary damages a good file at up to two places, or not at all for half of the inputs.
func vary(good string, data []byte) []byte {
	text := []byte(good)
	for len(data) >= 4 && data[0]%2 == 0 {
		at := (int(data[1])<<8 | int(data[2])) % len(text)
		switch data[3] % 4 {
		case 0:
			text[at] ^= 1 << (data[0] >> 5)
		case 1:
			text = append(text[:at], text[at+1:]...)
		case 2:
			text = append(text[:at:at], append([]byte{data[3]}, text[at:]...)...)
		case 3:
			text = bytes.Replace(text, []byte("1"), []byte{'1' + data[0]%9}, 1)
		}
		data = data[4:]
	}
	return text
}

// FuzzFiles reads the three files of this package, damaged here and there: what is taken reads the same once it is
// written again.
func FuzzFiles(f *testing.F) {
	signature, set, proof := goodFiles(f)
	for i := range uint8(30) {
		f.Add(i, []byte(strings.Repeat(string(rune(i)), int(i))))
	}
	var b golden.Balance
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		switch which % 3 {
		case 0:
			file, err := quorum.ParseSignatureFile(vary(signature, data))
			count(t, &b, err == nil)
			if err != nil {
				return
			}
			if again, err := quorum.ParseSignatureFile(file.Encode()); err != nil || *again != *file {
				t.Fatalf("%+v is written as %s", file, file.Encode())
			}
		case 1:
			s, epoch, err := quorum.ParseSetFile(vary(set, data))
			count(t, &b, err == nil)
			if err != nil {
				return
			}
			encoded := quorum.EncodeSetFile(s, epoch)
			again, epoch2, err := quorum.ParseSetFile(encoded)
			if err != nil || epoch2 != epoch || !bytes.Equal(encoded, quorum.EncodeSetFile(again, epoch2)) {
				t.Fatalf("written as %s", encoded)
			}
		case 2:
			key, err := quorum.ParseKeyProof(vary(proof, data))
			count(t, &b, err == nil)
			if err == nil && key.IsZero() {
				t.Fatal("a proof of no key")
			}
		}
	})
}

func goodFiles(f *testing.F) (signature, set, proof string) {
	for _, v := range golden.SignatureFiles() {
		if v.OK() && signature == "" {
			signature = string(v.Bytes())
		}
	}
	for _, v := range golden.ApproverSetFiles() {
		if v.OK() && !v.Removal && set == "" {
			set = string(v.Bytes())
		}
	}
	for _, v := range golden.KeyProofs() {
		if v.OK() && proof == "" {
			proof = string(v.Bytes())
		}
	}
	if signature == "" || set == "" || proof == "" {
		f.Fatal("no good files in golden")
	}
	return signature, set, proof
}

// FuzzPublicKey reads public keys in both forms: what is taken is written as it came.
func FuzzPublicKey(f *testing.F) {
	for i := range uint8(16) {
		f.Add(i, []byte{i, 0, i, i})
	}
	keys := golden.Keys()
	var b golden.Balance
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		k := keys[int(which/2)%len(keys)]
		if which%2 == 0 {
			der := vary(string(golden.Base64(k.SPKI)), data)
			key, err := quorum.ParsePublicKey(der)
			count(t, &b, err == nil)
			if err == nil && !bytes.Equal(key.SPKI(), der) {
				t.Fatalf("%x is written as %x", der, key.SPKI())
			}
			return
		}
		text := vary(k.PublicPEM, data)
		key, err := quorum.ParsePublicPEM(text)
		count(t, &b, err == nil)
		if err != nil {
			return
		}
		plain := append(bytes.TrimSuffix(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\n")), '\n')
		if !bytes.Equal(plain, key.PEM()) {
			t.Fatalf("%q is written as %q", text, key.PEM())
		}
	})
}

// count fails a fuzz target that no longer sees both answers.
func count(t testing.TB, b *golden.Balance, accepted bool) {
	if err := b.Count(accepted); err != nil {
		t.Fatal(err)
	}
}

// FuzzDecline reads declines, damaged here and there: what is taken reads the same once it is written again, and is no
// approval.
func FuzzDecline(f *testing.F) {
	var good []string
	for _, v := range golden.DeclineFiles() {
		if v.OK() {
			good = append(good, string(v.Bytes()))
		}
	}
	if len(good) == 0 {
		f.Fatal("no good declines in golden")
	}
	for i := range uint8(30) {
		f.Add(i, []byte(strings.Repeat(string(rune(i)), int(i))))
	}
	var b golden.Balance
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		text := vary(good[int(which)%len(good)], data)
		file, err := quorum.ParseDeclineFile(text)
		count(t, &b, err == nil)
		if err != nil {
			return
		}
		encoded := file.Encode()
		if again, err := quorum.ParseDeclineFile(encoded); err != nil || *again != *file {
			t.Fatalf("%+v is written as %s", file, encoded)
		}
		if _, err := quorum.ParseSubmission(text); err == nil {
			t.Fatalf("%s is handed over as an approval", text)
		}
	})
}

// FuzzSetSignature reads approver-set signatures, damaged here and there: what is taken is written as it reads.
func FuzzSetSignature(f *testing.F) {
	var good []string
	for _, v := range golden.SetDigests().Signatures {
		if v.OK() && v.Canonical && len(v.Bytes()) < 2000 {
			good = append(good, string(v.Bytes()))
		}
	}
	if len(good) == 0 {
		f.Fatal("no good approver-set signatures in golden")
	}
	for i := range uint8(30) {
		f.Add(i, []byte(strings.Repeat(string(rune(i)), int(i))))
	}
	var b golden.Balance
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		file, err := quorum.ParseSetSignatureFile(vary(good[int(which)%len(good)], data))
		count(t, &b, err == nil)
		if err != nil {
			return
		}
		encoded := file.Encode()
		again, err := quorum.ParseSetSignatureFile(encoded)
		if err != nil || !bytes.Equal(encoded, again.Encode()) || again.Epoch != file.Epoch || !again.Set.Equal(file.Set) {
			t.Fatalf("written as %s", encoded)
		}
	})
}
