package main

import "fmt"

// A request is a leaf of an example and the same payload as somebody writes it who makes a batch by hand: the JSON form of
// protobuf, written here apart from the bytes, so that whoever encodes it must come to the same root.
type request struct {
	leaf
	json object // nil where the leaf is written as a scope has it
}

// leavesFile gives the file of leaves of which batch build makes the scope.
func leavesFile(requests []request) string {
	var entries []string
	for i, r := range requests {
		entry := object{{"subject", quote(r.subject)}, {"kind", quote(r.kind)}}
		if r.json == nil || i == 0 { // a digest beside a payload is held against it
			entry = append(entry, member{"payloadSha256", quote(hexOf(r.digest))})
		}
		payload := object{{"typeUrl", quote(r.typeURL)}, {"value", quote(b64(r.value))}}
		if r.json != nil {
			payload = object{{"json", r.json.String()}}
		}
		entries = append(entries, append(entry, member{"payload", payload.String()}).String())
	}
	return lines(entries) + "\n"
}

func leavesOf(requests []request) (leaves []leaf) {
	for _, r := range requests {
		leaves = append(leaves, r.leaf)
	}
	return leaves
}

func smallRequests() []request {
	const body = "machine:\n  kubelet:\n    extraArgs:\n      rotate-server-certificates: \"true\"\n"
	return []request{
		{bound("gpu-0417", "node.firmware", firmware("bios", "2.19.1")), object{
			{"component", `"bios"`}, {"version", `"2.19.1"`}, {"url", `"https://firmware.compute.example.com/bios-2.19.1.bin"`},
			{"sha256", quote(b64(sum([]byte("bios2.19.1"))))}}},
		{bound("gpu-0418", "node.reboot", reboot("PCIe link retrain after riser swap")), object{
			{"reason", `"PCIe link retrain after riser sw\u0061p"`}, {"graceSeconds", "30"}, {"force", "true"}}},
		{bound("gpu-0420", "gpu.reset", gpuReset("0000:17:00.0", "0000:65:00.0")), nil},
		{bound("gpu-0423", "node.reimage", image("20261127")), imageJSON("20261127")},
		{bound("bmc:fra1-agent/10.40.7.12", "bmc.power", bmcPower("10.40.7.12", powerCycle)), powerJSON("10.40.7.12")},
		{bound("node:fra1-talos-07", "site.httpProxy", httpProxy("fra1-talos-07", "POST", "/v1alpha1/machine/config", body)), object{
			{"body", quote(b64([]byte(body)))}, {"path", `"/v1alpha1/machine/config"`}, {"method", `"POST"`},
			{"headers", `{"content-type":"application/yaml","x-request-id":"req-01"}`}, {"targetNodeId", `"fra1-talos-07"`}}},
	}
}

// rolloutRequests is 412 reimages of one operation, but for one machine whose image has another digest, and 3 power cycles.
func rolloutRequests() (requests []request) {
	for i := range 412 {
		build := "20261127"
		if i == 230 {
			build = "20260814" // the digest of an older build under the name of the new one
		}
		requests = append(requests, request{bound(fmt.Sprintf("gpu-%04d", i+1), "node.reimage", image(build)), imageJSON(build)})
	}
	for _, address := range []string{"10.40.7.12", "10.40.7.31", "idrac-7x2k9.mgmt.fra1.example.com"} {
		requests = append(requests, request{bound("bmc:fra1-agent/"+address, "bmc.power", bmcPower(address, powerCycle)), powerJSON(address)})
	}
	return requests
}

// imageJSON is image as JSON, its members not in the order of their numbers.
func imageJSON(build string) object {
	return object{{"wipeDisks", "true"}, {"preserveMounts", `["/srv/models"]`}, {"image", `"ubuntu-24.04-gpu-20261127"`},
		{"imageSha256", quote(b64(sum([]byte("ubuntu-24.04-gpu-" + build))))}}
}

// powerJSON has the member of its oneof before the address.
func powerJSON(address string) object {
	return object{{"power", `"CYCLE"`}, {"address", quote(address)}}
}
