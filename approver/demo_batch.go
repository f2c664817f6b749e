package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/better-compute/approver/core/bettercomputev1"
	"github.com/better-compute/approver/core/quorum"
)

const (
	demoDomain   = "compute.example.com"
	demoBatch    = "batch_gpu-reimage-demo"
	demoMachines = 412
	demoOdd      = 287 // the machine that gets another image
)

type (
	demoPayload struct {
		TypeURL string `json:"typeUrl"`
		Value   string `json:"value"`
	}
	demoLeaf struct {
		Subject string      `json:"subject"`
		Kind    string      `json:"kind"`
		Digest  string      `json:"payloadSha256"`
		Payload demoPayload `json:"payload"`
	}
	demoScope struct {
		Format      string     `json:"format"`
		Version     int        `json:"version"`
		BatchID     string     `json:"batchId"`
		ScopeRoot   string     `json:"scopeRoot"`
		ScopeSize   int        `json:"scopeSize"`
		NotAfter    int64      `json:"notAfter"`
		TrustDomain string     `json:"trustDomain"`
		Reason      string     `json:"reason"`
		CreatedBy   string     `json:"createdBy"`
		Leaves      []demoLeaf `json:"leaves"`
	}
)

func demoSubject(i int) string { return fmt.Sprintf("gpu-%c%02d-n%02d", 'a'+i/160, i/16%10+1, i%16+1) }

func demoReimage(i int) *bettercomputev1.ReimageRequest {
	image := sha256.Sum256([]byte("ubuntu-24.04-gpu"))
	if i == demoOdd {
		image = sha256.Sum256([]byte("not the image that was tested"))
	}
	return &bettercomputev1.ReimageRequest{
		Image: "ubuntu-24.04-gpu", ImageSha256: image[:], WipeDisks: true, PreserveMounts: []string{"/srv/models"},
		UserData: "#!/bin/sh\nset -eu\nsystemctl enable --now bcd\n",
	}
}

func newDemoLeaf(subject, kind string, message proto.Message) demoLeaf {
	value, err := proto.MarshalOptions{Deterministic: true}.Marshal(message)
	if err != nil {
		panic("demo: " + err.Error())
	}
	digest := sha256.Sum256(value)
	return demoLeaf{subject, kind, fmt.Sprintf("%x", digest), demoPayload{
		"type.googleapis.com/" + string(message.ProtoReflect().Descriptor().FullName()), base64.StdEncoding.EncodeToString(value)}}
}

// seal computes the root and size that the leaves give.
func (s *demoScope) seal() error {
	entries := make([]quorum.Entry, len(s.Leaves))
	for i, l := range s.Leaves {
		value, err := base64.StdEncoding.DecodeString(l.Payload.Value)
		if err != nil {
			return err
		}
		digest := sha256.Sum256(value)
		entries[i] = quorum.Entry{Subject: l.Subject, Kind: l.Kind, PayloadSHA256: digest[:]}
	}
	tree, err := quorum.NewScope(s.BatchID, entries)
	if err != nil {
		return err
	}
	s.ScopeRoot, s.ScopeSize = tree.Root().String(), tree.Size()
	return nil
}

// makeBatch writes what a control plane would export, and the list of machines that somebody else kept. It gives the root.
func (d *demo) makeBatch(now time.Time) string {
	s := demoScope{
		Format: "better-compute-batch-scope", Version: 1, BatchID: demoBatch, NotAfter: now.Add(8 * time.Hour).UnixMilli(),
		TrustDomain: demoDomain, Reason: "Reimage the GPU racks for the new driver", CreatedBy: "ops@example.com",
	}
	var machines strings.Builder
	machines.WriteString("# the racks that were drained on purpose\n")
	for i := range demoMachines {
		s.Leaves = append(s.Leaves, newDemoLeaf(demoSubject(i), "node.reimage", demoReimage(i)))
		machines.WriteString(demoSubject(i) + "\n")
	}
	d.write("machines.txt", []byte(machines.String()), 0o644)
	d.writeScope("scope.json", &s, true)
	return s.ScopeRoot
}

func (d *demo) writeScope(name string, s *demoScope, seal bool) {
	if d.err == nil && seal {
		d.err = s.seal()
	}
	var b bytes.Buffer
	if d.err == nil {
		d.err = json.NewEncoder(&b).Encode(s)
	}
	d.write(name, b.Bytes(), 0o644)
	if name == "scope.json" {
		d.exported = s
	}
}

// tamper changes copies of the exported scope, and sees each refused with its own reason.
func (d *demo) tamper() {
	wipe := newDemoLeaf(demoSubject(0), "node.wipe", &bettercomputev1.WipeRequest{Method: bettercomputev1.WipeRequest_DISCARD, AllDevices: true})
	for _, c := range []struct {
		says, file, want string
		change           func(*demoScope)
		seal             bool
	}{
		{"a machine is left out", "left-out.json", "SCOPE_MISMATCH", func(s *demoScope) { s.Leaves = s.Leaves[1:] }, false},
		{"a payload is exchanged, its digest kept", "exchanged.json", "INVALID_INPUT payload-digest", func(s *demoScope) { s.Leaves[0].Payload = wipe.Payload }, false},
		{"a reimage is labelled as a reboot", "labelled.json", "INVALID_INPUT payload-type", func(s *demoScope) {
			s.Leaves[0].Payload.TypeURL = "type.googleapis.com/bettercompute.v1.RebootRequest"
		}, false},
		{"a wipe is added and the root computed anew: a sound scope, but not the one that was signed", "added.json", "SCOPE_MISMATCH", func(s *demoScope) {
			s.Leaves = append(s.Leaves, wipe)
		}, true},
	} {
		if d.err != nil {
			return
		}
		s := *d.exported
		s.Leaves = append([]demoLeaf(nil), d.exported.Leaves...)
		c.change(&s)
		d.writeScope(c.file, &s, c.seal)
		d.say("\n" + c.says + ":\n")
		d.run(c.want, verifyArgs(c.file)...)
	}
}
