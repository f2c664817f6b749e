package main

const bmcSubject = "bmc:node_site1/10.0.7.12"

func powerPayloads() *payloadList {
	const address = "10.0.7.12"
	l := &payloadList{kind: "bmc.power", subject: bmcSubject}
	l.ok("cycle", bmcPower(address, powerCycle))
	l.bad("two members of the oneof", str(1, address), vint(2, 3), sub(5))
	l.bad("a member of the oneof twice", str(1, address), vint(2, 3), vint(2, 3))
	l.bad("oneof order: a member before a lower field", vint(2, 3), str(1, address))
	l.bad("action without a name", str(1, address), vint(2, 6))
	l.bad("unknown member of the oneof", str(1, address), vint(6, 1))
	l.add(foreign, "no operation", str(1, address))
	l.add(foreign, "action unspecified", str(1, address), vint(2, 0))
	l.add(foreign, "another kind's operation", bmcSensors(address))
	l.add(foreign, "another address", bmcPower("10.0.7.13", powerCycle))
	l.add(foreign, "no address", vint(2, powerCycle))
	l.add(foreign, "the address with a port", bmcPower("10.0.7.12:443", powerCycle))
	l.add(foreign, "the whole subject as address", bmcPower(bmcSubject, powerCycle))
	l.subject = "bmc:node_site1/[fd00::8]:443"
	l.ok("bracketed IPv6 with a port", bmcPower("[fd00::8]:443", powerCycle))
	l.add(foreign, "IPv6 without the subject's port", bmcPower("fd00::8", powerCycle))
	l.subject = "bmc:node_site1/iDRAC-7.mgmt"
	l.ok("a name", bmcPower("iDRAC-7.mgmt", powerCycle))
	l.add(foreign, "the name in other letter case", bmcPower("idrac-7.mgmt", powerCycle))
	l.subject = "node_site1"
	l.add(foreign, "subject a node id", bmcPower(address, powerCycle))
	l.subject = "node:node_site1"
	l.add(foreign, "subject a target node", bmcPower(address, powerCycle))
	return l
}

func bootPayloads() *payloadList {
	const address = "10.0.7.12"
	l := &payloadList{kind: "bmc.boot", subject: bmcSubject}
	l.ok("pxe", str(1, address), sub(3, str(1, "pxe"), vint(2, 1)))
	l.ok("an empty Boot", str(1, address), sub(3))
	l.bad("unknown field in Boot", str(1, address), sub(3, str(1, "pxe"), vint(3, 1)))
	l.bad("default written in Boot", str(1, address), sub(3, str(1, "pxe"), vint(2, 0)))
	l.bad("order in Boot", str(1, address), sub(3, vint(2, 1), str(1, "pxe")))
	l.bad("overlong varint in Boot", str(1, address), sub(3, tag(2, wireVarint), overlong(1)))
	l.bad("Boot in two pieces", str(1, address), sub(3, str(1, "pxe")), sub(3, vint(2, 1)))
	l.bad("Boot as a group", str(1, address), tag(3, wireGroup), tag(3, wireEnd))
	l.bad("length in Boot past its end", str(1, address), tag(3, wireBytes), varint(2), []byte{0x0a, 3}, []byte("pxe"))
	l.add(foreign, "a power action", bmcPower(address, powerCycle))
	return l
}

func rotatePayloads() *payloadList {
	l := &payloadList{kind: "bmc.rotate", subject: bmcSubject}
	l.ok("credential", str(1, "10.0.7.12"), sub(4, str(1, "admin")))
	l.bad("not UTF-8 in Rotate", str(1, "10.0.7.12"), sub(4, str(1, "\xc3")))
	l.add(foreign, "no operation", str(1, "10.0.7.12"))
	return l
}

func sensorsPayloads() *payloadList {
	l := &payloadList{kind: "bmc.sensors", subject: bmcSubject}
	l.ok("sensors", bmcSensors("10.0.7.12"))
	l.bad("unknown field in Sensors", str(1, "10.0.7.12"), sub(5, vint(1, 1)))
	l.bad("power and sensors", str(1, "10.0.7.12"), vint(2, 3), sub(5))
	l.add(foreign, "a power action", bmcPower("10.0.7.12", powerCycle))
	return l
}

func proxyPayloads() *payloadList {
	l := &payloadList{kind: "site.httpProxy", subject: "node:node_talos7"}
	head := msg(str(1, "node_talos7"), str(2, "POST"), str(3, "/apply"))
	l.ok("post", httpProxy("node_talos7", "POST", "/apply", "machine:\n"))
	l.ok("get", str(1, "node_talos7"), str(2, "GET"), str(3, "/version"))
	l.ok("map entries in any order", head, entry(4, "b", "2"), entry(4, "a", "1"))
	l.ok("an empty header value, written", head, entry(4, "a", ""))
	l.ok("an empty header name, written", head, entry(4, "", "1"))
	l.ok("a body of any bytes", head, sub(5, []byte{0, 0xff}))
	l.bad("map entry without value", head, sub(4, str(1, "a")))
	l.bad("map entry without key", head, sub(4, str(2, "1")))
	l.bad("empty map entry", head, sub(4))
	l.bad("map entry value before key", head, sub(4, str(2, "1"), str(1, "a")))
	l.bad("map entry with two keys", head, sub(4, str(1, "a"), str(1, "b"), str(2, "1")))
	l.bad("map entry with two values", head, sub(4, str(1, "a"), str(2, "1"), str(2, "2")))
	l.bad("map entry with a third field", head, sub(4, str(1, "a"), str(2, "1"), vint(3, 1)))
	l.bad("a key in two entries", head, entry(4, "a", "1"), entry(4, "a", "1"))
	l.bad("a key in two entries, apart", head, entry(4, "a", "1"), entry(4, "b", "1"), entry(4, "a", "2"))
	l.bad("map torn apart", head, entry(4, "a", "1"), str(5, "x"), entry(4, "b", "1"))
	l.bad("map key not UTF-8", head, entry(4, "\xff", "1"))
	l.bad("map value not UTF-8", head, entry(4, "a", "\xff"))
	l.bad("map key of another wire type", head, sub(4, vint(1, 1), str(2, "1")))
	l.bad("map entry as a varint", head, vint(4, 1))
	l.bad("overlong length in a map entry", head, sub(4, tag(1, wireBytes), overlong(1), []byte("a"), str(2, "1")))
	l.bad("default body written", head, sub(5))
	l.add(foreign, "another target", httpProxy("node_talos8", "POST", "/apply", "x"))
	l.add(foreign, "no target", str(2, "GET"), str(3, "/version"))
	l.subject = "bmc:node_site1/node_talos7.x"
	l.add(foreign, "subject a BMC", str(1, "node_talos7.x"), str(2, "GET"), str(3, "/version"))
	l.subject = "node_talos7"
	l.add(foreign, "subject a node id", str(1, "node_talos7"), str(2, "GET"), str(3, "/version"))
	return l
}
