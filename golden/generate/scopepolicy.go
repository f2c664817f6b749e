package main

import "strconv"

// given is what a person gives beside the file, on the command line or by configuration.
type given struct {
	Root         string `json:"root,omitempty"`
	TrustDomain  string `json:"trustDomain,omitempty"`
	NotAfter     uint64 `json:"notAfter,omitempty"`
	MaxHours     int    `json:"maxHours,omitempty"` // 0: the default, 72
	AllowOpaque  bool   `json:"allowOpaque,omitempty"`
	AllowUnbound bool   `json:"allowUnbound,omitempty"`
	Now          uint64 `json:"now"`
}

type policyVector struct {
	Name string `json:"name"`
	content
	Given given `json:"given"`
	outcome
}

const hour = 3_600_000

// scopePolicies is scopes that verify, and what the checks after the root make of them (WIRE.md §5, from --root on).
func scopePolicies() any {
	var v []policyVector
	add := func(name string, want outcome, file string, g given) {
		if g.Now == 0 {
			g.Now = now
		}
		v = append(v, policyVector{name, text(file), g, want})
	}
	file, root := one().text(), hexOf(one().root)
	at := func(t int64) string { return one().set("notAfter", strconv.FormatInt(t, 10)).text() }
	add("nothing given", ok, file, given{})
	add("the root reviewed", ok, file, given{Root: root})
	add("another root", refused("SCOPE_CHANGED"), file, given{Root: hexOf(pair().root)})
	add("the file's trust domain", ok, file, given{TrustDomain: domain})
	add("another trust domain", refused("TRUST_DOMAIN_MISMATCH"), file, given{TrustDomain: "staging.example.com"})
	add("a trust domain the file's begins with", refused("TRUST_DOMAIN_MISMATCH"), file, given{TrustDomain: "compute.example"})
	add("a trust domain given alone", ok, one().del("trustDomain").text(), given{TrustDomain: domain})
	add("no trust domain anywhere", invalid, one().del("trustDomain").text(), given{})
	add("notAfter given and in the file", ok, file, given{NotAfter: notAfter})
	add("notAfter given alone", ok, one().del("notAfter").text(), given{NotAfter: notAfter})
	add("notAfter null, and given", ok, one().set("notAfter", "null").text(), given{NotAfter: notAfter})
	add("no notAfter anywhere", invalid, one().del("notAfter").text(), given{})
	add("another notAfter than the file's", invalid, file, given{NotAfter: notAfter + 1})
	closed, long, clock := refused("INVALID_STATE window-closed"), refused("INVALID_STATE window-long"), refused("INVALID_STATE clock")
	add("the last millisecond of the window", ok, at(now), given{})
	add("a millisecond after the window", closed, at(now-1), given{})
	add("72 hours", ok, at(now+72*hour), given{})
	add("72 hours and a millisecond", long, at(now+72*hour+1), given{})
	add("72 hours and a millisecond, 73 allowed", ok, at(now+72*hour+1), given{MaxHours: 73})
	add("24 hours, 23 allowed", long, at(now+24*hour), given{MaxHours: 23})
	add("720 hours, allowed", ok, at(now+720*hour), given{MaxHours: 720})
	add("720 hours and a millisecond: the clock is behind", clock, at(now+720*hour+1), given{MaxHours: 720})
	add("a clock before this release", clock, at(2*hour), given{Now: hour})
	v = append(v, leafPolicies()...)
	both := newScope("batch_g1", unbound("node_a", "node.reboot"), digestOnly("node_b", "node.reboot", sum(reboot("x"))))
	add("order: root before trust domain", refused("SCOPE_CHANGED"), file, given{Root: hexOf(pair().root), TrustDomain: "staging.example.com"})
	add("order: trust domain before window", refused("TRUST_DOMAIN_MISMATCH"), at(now-1), given{TrustDomain: "staging.example.com"})
	add("order: window before opaque", closed, both.set("notAfter", strconv.Itoa(now-1)).text(), given{})
	return v
}

func leafPolicies() (v []policyVector) {
	add := func(name string, want outcome, s *scope, g given) {
		g.Now = now
		v = append(v, policyVector{name, text(s.text()), g, want})
	}
	opaque, anyPayload := refused("OPAQUE_SCOPE"), refused("UNBOUND_SCOPE")
	reboots := bound("node_a", "node.reboot", reboot("x"))
	unknown := newScope("batch_g1", reboots, leaf{"node_b", "acme.defrost", richType, []byte{8, 1}, sum([]byte{8, 1})})
	digest := newScope("batch_g1", reboots, digestOnly("node_b", "node.reboot", sum(reboot("x"))))
	loose := newScope("batch_g1", reboots, unbound("node_b", "node.reboot"))
	both := newScope("batch_g1", unbound("node_a", "node.reboot"), digestOnly("node_b", "node.reboot", sum(reboot("x"))))
	add("a kind no table knows", opaque, unknown, given{})
	add("a kind no table knows, opaque allowed", ok, unknown, given{AllowOpaque: true})
	add("a kind no table knows, unbound allowed", opaque, unknown, given{AllowUnbound: true})
	add("a digest without its payload", opaque, digest, given{})
	add("a digest without its payload, allowed", ok, digest, given{AllowOpaque: true})
	add("an unbound leaf", anyPayload, loose, given{})
	add("an unbound leaf, allowed", ok, loose, given{AllowUnbound: true})
	add("an unbound leaf, opaque allowed", anyPayload, loose, given{AllowOpaque: true})
	add("order: opaque before unbound", opaque, both, given{})
	add("opaque and unbound, only opaque allowed", anyPayload, both, given{AllowOpaque: true})
	add("opaque and unbound, both allowed", ok, both, given{AllowOpaque: true, AllowUnbound: true})
	return v
}
