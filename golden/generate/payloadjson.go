package main

import (
	"math"
	"strings"
)

// A jsonVector is protobuf JSON of a kind's message, and the one canonical encoding of it with the entries of maps in the
// order of their keys.
type jsonVector struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	JSON  string `json:"json"`
	Value string `json:"value"` // base64; empty also where it is refused
	outcome
}

type jsonList struct{ vectors []jsonVector }

func (l *jsonList) ok(kind, name, json string, fields ...[]byte) {
	l.vectors = append(l.vectors, jsonVector{kind + ": " + name, kind, json, b64(msg(fields...)), ok})
}

func (l *jsonList) bad(kind, name, json string) {
	l.vectors = append(l.vectors, jsonVector{kind + ": " + name, kind, json, "", unclear})
}

// payloadJSON is payloads as JSON, taken or refused by one rule.
func payloadJSON() any {
	l := &jsonList{}
	builtinJSON(l)
	richJSON(l)
	refusedJSON(l)
	return l.vectors
}

func builtinJSON(l *jsonList) {
	l.ok("node.reboot", "every field", `{"force":true,"graceSeconds":30,"reason":"kernel CVE"}`, reboot("kernel CVE"))
	l.ok("node.reboot", "in any order, with the names of the .proto file", ` { "reason" : "kernel CVE", "grace_seconds" : 30, "force" : true } `, reboot("kernel CVE"))
	l.ok("node.reboot", "nothing", `{}`)
	l.ok("node.reboot", "all at their defaults", `{"force":false,"graceSeconds":0,"reason":""}`)
	l.ok("node.reboot", "null is absent", `{"force":null,"graceSeconds":null,"reason":null}`)
	l.ok("node.reboot", "a number as a string", `{"graceSeconds":"30"}`, vint(2, 30))
	l.ok("node.reboot", "a number with an exponent", `{"graceSeconds":3e1}`, vint(2, 30))
	l.ok("node.reboot", "largest uint32", `{"graceSeconds":4294967295}`, vint(2, 1<<32-1))
	l.ok("node.reboot", "escapes", `{"reason":"\u0061\n\ud83d\udca5"}`, str(3, "a\n\U0001f4a5"))
	l.ok("node.wipe", "an enum by name", `{"method":"CRYPTO_ERASE","devices":["/dev/nvme0n1","/dev/nvme1n1"]}`, wipe())
	l.ok("node.wipe", "an enum by number", `{"method":3,"devices":["/dev/nvme0n1","/dev/nvme1n1"]}`, wipe())
	l.ok("node.wipe", "elements that are empty", `{"devices":["",""]}`, str(2, ""), str(2, ""))
	l.ok("node.wipe", "an empty list", `{"devices":[],"allDevices":true}`, vint(3, 1))
	l.ok("node.reimage", "bytes as base64", `{"imageSha256":"AAEC/w=="}`, sub(2, []byte{0, 1, 2, 255}))
	l.ok("node.reimage", "bytes as base64url, unpadded", `{"imageSha256":"AAEC_w"}`, sub(2, []byte{0, 1, 2, 255}))
	l.ok("bmc.power", "a member of a oneof", `{"power":"CYCLE","address":"10.0.7.12"}`, bmcPower("10.0.7.12", 3))
	l.ok("bmc.power", "a member of a oneof at its default", `{"power":"POWER_ACTION_UNSPECIFIED"}`, vint(2, 0))
	l.ok("bmc.sensors", "an empty message", `{"address":"10.0.7.12","sensors":{}}`, bmcSensors("10.0.7.12"))
	l.ok("site.httpProxy", "a map, by key", `{"targetNodeId":"n","headers":{"b":"2","":"","a":"1"}}`,
		str(1, "n"), entry(4, "", ""), entry(4, "a", "1"), entry(4, "b", "2"))
}

func richJSON(l *jsonList) {
	const k = richKind
	l.ok(k, "negative numbers", `{"i32":-1,"i64":"-1","s32":-1,"s64":-1,"sf32":-1,"sf64":-1}`,
		vint(1, -1), vint(2, -1), zigzag(5, -1), zigzag(6, -1), fixed32(9, math.MaxUint32), fixed64(10, math.MaxUint64))
	l.ok(k, "largest numbers", `{"i64":"9223372036854775807","u64":"18446744073709551615"}`, vint(2, math.MaxInt64), vint(4, -1))
	l.ok(k, "floats", `{"fl":1.5,"db":-2.25}`, float(11, 1.5), double(12, -2.25))
	l.ok(k, "float -0, which is no default", `{"fl":-0.0,"db":-0.0}`, float(11, float32(math.Copysign(0, -1))), double(12, math.Copysign(0, -1)))
	l.ok(k, "infinities", `{"fl":"Infinity","db":"-Infinity"}`, float(11, float32(math.Inf(1))), double(12, math.Inf(-1)))
	l.ok(k, "a negative enum", `{"mode":"BROKEN"}`, vint(14, -1))
	l.ok(k, "optional at its default", `{"opt":0}`, vint(17, 0))
	l.ok(k, "packed", `{"packed":[0,-1]}`, sub(18, varint(0), varint(math.MaxUint64)))
	l.ok(k, "packed=false", `{"loose":[0,1]}`, vint(19, 0), vint(19, 1))
	l.ok(k, "packed enums and bools", `{"packedModes":["SAFE",0],"flags":[false,true]}`, sub(21, varint(1), varint(0)), sub(22, varint(0), varint(1)))
	l.ok(k, "a oneof between other fields", `{"byFlag":{"true":"SAFE"},"c":{"i32":1},"name":"n"}`,
		str(15, "n"), sub(29, vint(1, 1)), sub(30, vint(1, 1), vint(2, 1)))
	l.ok(k, "a message in a map, empty", `{"byName":{"x":{}}}`, sub(26, str(1, "x"), sub(2)))
	l.ok(k, "map keys that are numbers, by their bytes", `{"byNumber":{"10":"b","9":"a"}}`,
		sub(25, vint(1, 9), str(2, "a")), sub(25, vint(1, 10), str(2, "b")))
	deep := []byte{}
	for range 31 {
		deep = sub(23, deep)
	}
	l.ok(k, "32 levels", strings.Repeat(`{"child":`, 31)+`{}`+strings.Repeat(`}`, 31), deep)
}

func refusedJSON(l *jsonList) {
	l.bad("node.reboot", "unknown member", `{"forse":true}`)
	l.bad("node.reboot", "another letter case", `{"Force":true}`)
	l.bad("node.reboot", "member twice", `{"force":true,"force":true}`)
	l.bad("node.reboot", "member twice, once by each name", `{"graceSeconds":1,"grace_seconds":1}`)
	l.bad("node.reboot", "no object", `[]`)
	l.bad("node.reboot", "null", `null`)
	l.bad("node.reboot", "nothing at all", ``)
	l.bad("node.reboot", "something behind", `{}{}`)
	l.bad("node.reboot", "comment", `{/**/}`)
	l.bad("node.reboot", "bool as a string", `{"force":"true"}`)
	l.bad("node.reboot", "bool as a number", `{"force":1}`)
	l.bad("node.reboot", "string as a number", `{"reason":1}`)
	l.bad("node.reboot", "uint32 over its range", `{"graceSeconds":4294967296}`)
	l.bad("node.reboot", "uint32 under its range", `{"graceSeconds":-1}`)
	l.bad("node.reboot", "a fraction", `{"graceSeconds":1.5}`)
	l.bad("node.reboot", "a lone surrogate", `{"reason":"\ud800"}`)
	l.bad("node.reboot", "@type", `{"@type":"type.googleapis.com/bettercompute.v1.RebootRequest"}`)
	l.bad("node.wipe", "enum by a name that is none", `{"method":"zero"}`)
	l.bad("node.wipe", "enum by a number without a name", `{"method":4}`)
	l.bad("node.wipe", "null in a list", `{"devices":[null]}`)
	l.bad("node.reimage", "bytes that are no base64", `{"imageSha256":"*"}`)
	l.bad("bmc.power", "two members of a oneof", `{"power":"CYCLE","sensors":{}}`)
	l.bad("site.httpProxy", "map key twice", `{"headers":{"a":"1","a":"2"}}`)
	l.bad(richKind, "float over its range", `{"fl":1e39}`)
	l.bad(richKind, "NaN bare", `{"fl":NaN}`)
	l.bad(richKind, "Any", `{"any":{}}`)
	l.bad(richKind, "33 levels", strings.Repeat(`{"child":`, 32)+`{}`+strings.Repeat(`}`, 32))
}
