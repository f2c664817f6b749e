package main

import (
	"fmt"
	"strings"
)

// exampleFiles gives the scopes of examples/ with the lists of what they should hold, by path.
func exampleFiles() map[string][]byte {
	files := map[string][]byte{}
	add := func(dir, title string, s *scope, leaves []leaf) {
		files[dir+"/scope.json"] = []byte(s.ordered().text())
		files[dir+"/expected.txt"] = []byte(expectedLines(title, leaves))
		files[dir+"/expected.json"] = []byte(expectedEntries(leaves))
	}
	few, many := smallLeaves(), rolloutLeaves()
	add("small", "Site fra1, repairs of the week", described(newScope("batch_01k9qf3x8e", few...),
		"Repairs at fra1: BIOS 2.19.1 on gpu-0417, stuck fans, GPU fallen off the bus", "id_marta"), few)
	add("415", "GPU fleet roll-out, inventory of 28 November", described(newScope("batch_01k9qh7m2r", many...),
		"GPU fleet to ubuntu-24.04-gpu 20261127 (kernel CVE-2026-31337); three BMCs that do not answer are power cycled first", "id_jonas"), many)
	return files
}

func described(s *scope, reason, createdBy string) *scope {
	return s.set("reason", quote(reason)).set("createdBy", quote(createdBy)).set("createdByAgent", `"agent_fleet_ops"`).
		set("delegationId", `"del_01k9qe55tz"`).set("required", "2").set("approvals", "[]")
}

func smallLeaves() []leaf {
	return []leaf{
		bound("gpu-0417", "node.firmware", firmware("bios", "2.19.1")),
		bound("gpu-0418", "node.reboot", reboot("PCIe link retrain after riser swap")),
		bound("gpu-0420", "gpu.reset", gpuReset("0000:17:00.0", "0000:65:00.0")),
		bound("gpu-0423", "node.reimage", image("20261127")),
		bound("bmc:fra1-agent/10.40.7.12", "bmc.power", bmcPower("10.40.7.12", powerCycle)),
		bound("node:fra1-talos-07", "site.httpProxy", httpProxy("fra1-talos-07", "POST", "/v1alpha1/machine/config",
			"machine:\n  kubelet:\n    extraArgs:\n      rotate-server-certificates: \"true\"\n")),
	}
}

// rolloutLeaves is 412 reimages of one operation, but for one machine whose image has another digest, and 3 power cycles.
func rolloutLeaves() (leaves []leaf) {
	for i := range 412 {
		build := "20261127"
		if i == 230 {
			build = "20260814" // the digest of an older build under the name of the new one
		}
		leaves = append(leaves, bound(fmt.Sprintf("gpu-%04d", i+1), "node.reimage", image(build)))
	}
	for _, address := range []string{"10.40.7.12", "10.40.7.31", "idrac-7x2k9.mgmt.fra1.example.com"} {
		leaves = append(leaves, bound("bmc:fra1-agent/"+address, "bmc.power", bmcPower(address, powerCycle)))
	}
	return leaves
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
