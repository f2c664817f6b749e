package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/better-compute/approver/core/bettercomputev1"
)

// machine gives the name of a machine of a fleet.
func machine(i int) string { return fmt.Sprintf("gpu-a%03d-n%04d", i/4096, i%4096) }

// fleet writes the file "fleet.json", a scope that reimages many machines, with payloads of about 160 bytes: one of four
// for each machine, or one of its own.
func (s *session) fleet(size int, distinct bool) {
	s.t.Helper()
	image := sha256.Sum256([]byte("image"))
	var b bytes.Buffer
	for i := range size {
		host := i % 4
		if distinct {
			host = i
		}
		payload, err := proto.MarshalOptions{Deterministic: true}.Marshal(&bettercomputev1.ReimageRequest{
			Image: "ubuntu-24.04-gpu", ImageSha256: image[:], WipeDisks: true, PreserveMounts: []string{"/srv/models", "/var/lib/etcd"},
			UserData: fmt.Sprintf("#!/bin/sh\nhostnamectl set-hostname gpu-node-%06d\nsystemctl enable bcd\n", host),
		})
		require.NoError(s.t, err)
		fmt.Fprintf(&b, `,{"subject":"%s","kind":"node.reimage","payload":{"typeUrl":"type.googleapis.com/bettercompute.v1.ReimageRequest","value":"%s"}}`,
			machine(i), base64.StdEncoding.EncodeToString(payload))
	}
	s.write("leaves.json", append(append([]byte("["), b.Bytes()[1:]...), ']'))
	s.ok("batch", "show", "--scope", "leaves.json", "--batch", "batch_fleet", "--not-after", "4102444800000",
		"--trust-domain", "compute.example.com", "--now", now, "--scope-out", "fleet.json")
}
