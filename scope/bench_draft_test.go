package scope

import (
	"bytes"
	"fmt"
	"io"
	"testing"
)

// draftFleet is the file of leaves of newFleet's machines, their payloads as JSON.
func draftFleet(size int) []byte {
	var b bytes.Buffer
	for i := range size {
		fmt.Fprintf(&b, ",\n"+`{"subject":"node_gpu-a%03d-n%04d","kind":"node.reimage","payload":{"json":{"image":"ubuntu-24.04-gpu",`+
			`"imageSha256":"YQXW9bS9hl0zfCLu9yuBRnBCJ2ojzEEcU1vSSFGFXFU=","wipeDisks":true,"preserveMounts":["/srv/models","/var/lib/etcd"],`+
			`"userData":"#!/bin/sh\nhostnamectl set-hostname gpu-node-%06d\nsystemctl enable bcd\n"}}}`, i/4096, i%4096, i)
	}
	return append(append([]byte("["), b.Bytes()[1:]...), ']')
}

// BenchmarkBuild measures the making of a scope, from the leaves to its last byte, against the hashing alone.
func BenchmarkBuild(b *testing.B) {
	for _, size := range []int{1_000, 50_000} {
		f, leaves := newFleet(size, true), draftFleet(size)
		b.Run(fmt.Sprintf("leaves=%d", size), func(b *testing.B) {
			b.ReportAllocs()
			m := interleave(b, f.hashAlone, func() {
				draft, err := ParseLeaves(bytes.NewReader(leaves), builtin, 2)
				if err != nil {
					b.Fatal(err)
				}
				d, err := draft.Build(proposed())
				if err == nil {
					err = d.Encode(io.Discard, Policy{})
				}
				if err != nil {
					b.Fatal(err)
				}
			})
			b.ReportMetric(float64(m[1])/float64(m[0]), "×F1")
			b.ReportMetric(float64(m[1])/1e6, "build-ms")
		})
	}
}
