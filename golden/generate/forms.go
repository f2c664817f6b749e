package main

import "strings"

// A form is a text and whether it has the form of its field (WIRE.md §2).
type form struct {
	text string
	good bool
}

func goods(texts ...string) (f []form) {
	for _, t := range texts {
		f = append(f, form{t, true})
	}
	return f
}

func bads(texts ...string) (f []form) {
	for _, t := range texts {
		f = append(f, form{t, false})
	}
	return f
}

func rep(s string, n int) string { return strings.Repeat(s, n) }

// ids is batch ids, command ids and node ids.
func ids() []form {
	return append(goods("batch_01k0", "a", "0", "Z", "a.b-c_d", "a..b", "a-", "a_", "a.", rep("a", 128)),
		bads("", ".", "..", "-a", "_a", ".a", "a b", " a", "a ", "a/b", "a:b", "a@b", "a+b", "a,b", "b\u00e4tch", "node_\u0430", "a\u200bb", "a\x7f",
			rep("a", 129))...)
}

func kindForms() []form {
	return append(goods("acme.defrost", "a.b", "a.b.c", "acme.v1.x", "a1_-B.z9", "x.y_", "x.y-", "a."+rep("b", 62)),
		bads("", "node", ".", "a.", ".a", "a..b", "Node.reboot", "node.Reboot", "1a.b", "a.1b", "_a.b", "-a.b", "a.-b", "a b.c", " a.b", "a.b ",
			"a/b", "a:b.c", "n\u00f6de.reboot", "node.reb\u043eot", "a."+rep("b", 63))...)
}

func trustDomains() []form {
	return append(goods("compute.example.com", "a", "0", "a-b_c.d", "-", "..", rep("a", 255)),
		bads("", "Compute.example.com", "a b", "a/b", "a:b", "spiffe://a", "c\u00f6mpute", "a\x7f", rep("a", 256))...)
}

// addresses is BMC addresses. Forms of IPv6 with an IPv4 tail are left out but for the IPv4-mapped ones, which are refused
// by name.
func addresses() []form {
	label63 := rep("a", 63)
	name253 := label63 + "." + label63 + "." + label63 + "." + rep("b", 61)
	return append(goods("10.0.7.12", "0.0.0.0", "255.255.255.255", "10.0.7.12:1", "10.0.7.12:443", "10.0.7.12:65535",
		"::", "::1", "1::", "fd00::7", "fd00:0:0:1::7", "2001:db8:0:1:1:1:1:1", "2001:db8::1:0:0:1", "2001:db8:1:2:3:4:5:6", "fd00::8:443",
		"[::]", "[fd00::8]", "[fd00::8]:443", "[2001:db8:1:2:3:4:5:6]:65535",
		"localhost", "A", "idrac-7X2K9.mgmt", "bmc_07.mgmt:8443", "_bmc.x", "a_.b", "0a.b", "10.0.7.a", "1.2.3.4.x", "0x0a.x", "a--b.c", "a.b9", "a.b-c",
		"xn--bcher-kva.example", label63, label63+".b:1", name253, name253+":65535"), badAddresses(label63, name253)...)
}

func badAddresses(label63, name253 string) []form {
	return bads("", "010.0.7.12", "10.0.07.12", "10.0.7.00", "10.0.7.256", "10.0.7", "10.0.7.12.1", "10.0.7.12.", "0x0a.0.7.12", "167774988", "10..7.12",
		"10.0.7.-1", "1.2.3.4x", "10.0.7.12:", "10.0.7.12:0", "10.0.7.12:0443", "10.0.7.12:65536", "10.0.7.12:443443", "10.0.7.12:4a", "10.0.7.12:+443",
		"10.0.7.12:443:443", ":443", ":",
		"FD00::7", "fd00::00a7", "fd00:0::7", "fd00:0:0:0:0:0:0:7", "2001:db8::1:1:1:1:1", "2001:db8:0:0:1::1", "fd00::7::8", "fd00:::7", "1:2:3:4:5:6:7",
		"1:2:3:4:5:6:7:8:9", "12345::", "fd00::g", "fe80::1%eth0", "fe80::1%25eth0", "::ffff:10.0.7.12", "::ffff:a00:70c", "[::ffff:10.0.7.12]",
		"[fe80::1%eth0]", "[FD00::7]:443", "[fd00::8", "fd00::8]", "[fd00::8]:", "[fd00::8]:0", "[fd00::8]:65536", "[fd00::8]:0443", "[fd00::8]443",
		"[fd00::8]x", "[[fd00::8]]", "[]", "[]:443", "[10.0.7.12]", "[10.0.7.12]:443", "[localhost]:443",
		"host.", ".host", "a..b", "-a.b", "a-.b", "a.-b", "a.b-", "a.9", "9", "a.9x", "a.-x", "a._x", "h\u00f6st", "host\u200b", "a b", "a/b", "a@b", "a%b", "a,b",
		"http://host", "host/", "host:port", label63+"a", label63+"a.b", name253+"b", name253+"b:443")
}

// subjects is subjects of every form; of BMCs those that addresses does not show.
func subjects() []form {
	return append(goods("node_a", "0", "bmc", "node", rep("n", 128), "N.o-d_e", "bmc:node_site1/10.0.7.12", "bmc:"+rep("s", 128)+"/bmc.x", "node:node_b", "node:"+rep("t", 128)),
		bads("", "-n", "_n", ".n", "..", "node a", "node/a", "node_a/", "bmc:", "bmc:node_site1", "bmc:node_site1/", "bmc:/10.0.7.12", "bmc:-s/10.0.7.12",
			"bmc:node_site1//10.0.7.12", "bmc:node_site1/10.0.7.12/", "bmc: node_site1/10.0.7.12", "bmc:bmc:node_site1/10.0.7.12", "BMC:node_site1/10.0.7.12",
			"bmc/node_site1:10.0.7.12", "node:", "node:-x", "node:a/b", "node:node:a", "Node:node_b", "gpu:node_b", ":node_b", "node_\u0430", "node_a\u200b",
			"node_a\x7f", rep("n", 129), "node:"+rep("t", 129), "bmc:"+rep("s", 129)+"/bmc.x")...)
}
