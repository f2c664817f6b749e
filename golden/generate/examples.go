package main

import (
	"fmt"
	"strings"
)

// exampleFiles gives the scopes of examples/, by path, with the leaves that they are made of and the lists of what they should hold.
func exampleFiles() map[string][]byte {
	files := map[string][]byte{}
	add := func(dir, title string, s *scope, requests []request) {
		leaves := leavesOf(requests)
		files[dir+"/leaves.json"] = []byte(leavesFile(requests))
		files[dir+"/scope.json"] = []byte(s.ordered().text())
		files[dir+"/expected.txt"] = []byte(expectedLines(title, leaves))
		files[dir+"/expected.json"] = []byte(expectedEntries(leaves))
	}
	few, many := smallRequests(), rolloutRequests()
	add("small", "Site fra1, repairs of the week", described(newScope("batch_01k9qf3x8e", leavesOf(few)...),
		"Repairs at fra1: BIOS 2.19.1 on gpu-0417, stuck fans, GPU fallen off the bus", "id_marta"), few)
	add("415", "GPU fleet roll-out, inventory of 28 November", described(newScope("batch_01k9qh7m2r", leavesOf(many)...),
		"GPU fleet to ubuntu-24.04-gpu 20261127 (kernel CVE-2026-31337); three BMCs that do not answer are power cycled first", "id_jonas"), many)
	return files
}

func described(s *scope, reason, createdBy string) *scope {
	return s.set("reason", quote(reason)).set("createdBy", quote(createdBy)).set("createdByAgent", `"agent_fleet_ops"`).
		set("delegationId", `"del_01k9qe55tz"`).set("required", "2").set("approvals", "[]")
}

// image is a reimage to the GPU image, with the digest of one of its builds.
func image(build string) []byte {
	return msg(str(1, "ubuntu-24.04-gpu-20261127"), sub(2, sum([]byte("ubuntu-24.04-gpu-"+build))), vint(3, 1), str(4, "/srv/models"))
}

func expectedLines(title string, leaves []leaf) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", title)
	for _, l := range leaves {
		b.WriteString(l.subject + "\n")
	}
	return b.String()
}

func expectedEntries(leaves []leaf) string {
	var entries []string
	for _, l := range leaves {
		entries = append(entries, expected(l.subject, l.kind))
	}
	return lines(entries) + "\n"
}
