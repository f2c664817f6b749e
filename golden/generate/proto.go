package main

import (
	"encoding/binary"
	"math"
	"slices"
)

// The naive protobuf writer: every function gives the bytes of one field, or of a value, exactly as asked for, canonical
// or not; a payload is their concatenation.

const (
	wireVarint = 0
	wire64     = 1
	wireBytes  = 2
	wireGroup  = 3
	wireEnd    = 4
	wire32     = 5
)

func varint(n uint64) []byte { return binary.AppendUvarint(nil, n) }

// overlong is a varint in one byte more than it needs.
func overlong(n uint64) []byte {
	b := varint(n)
	b[len(b)-1] |= 0x80
	return append(b, 0)
}

func tag(number, wireType int) []byte { return varint(uint64(number)<<3 | uint64(wireType)) }

// vint is a varint field; negative numbers come as ten bytes.
func vint(number int, n int64) []byte { return append(tag(number, wireVarint), varint(uint64(n))...) }

// zigzag is an sint32 or sint64 field.
func zigzag(number int, n int64) []byte {
	return append(tag(number, wireVarint), varint(uint64(n<<1)^uint64(n>>63))...)
}

func fixed32(number int, n uint32) []byte {
	return binary.LittleEndian.AppendUint32(tag(number, wire32), n)
}

func fixed64(number int, n uint64) []byte {
	return binary.LittleEndian.AppendUint64(tag(number, wire64), n)
}

func float(number int, f float32) []byte  { return fixed32(number, math.Float32bits(f)) }
func double(number int, f float64) []byte { return fixed64(number, math.Float64bits(f)) }

// str is a length-delimited field: a string, bytes, a message, a packed chunk or a map entry.
func str(number int, s string) []byte { return sub(number, []byte(s)) }

func sub(number int, parts ...[]byte) []byte {
	content := slices.Concat(parts...)
	return slices.Concat(tag(number, wireBytes), varint(uint64(len(content))), content)
}

func msg(fields ...[]byte) []byte { return slices.Concat(fields...) }

// entry is a map entry of two strings.
func entry(number int, key, value string) []byte { return sub(number, str(1, key), str(2, value)) }

const typePrefix = "type.googleapis.com/"

// A platformKind is a row of the table in WIRE.md §7.
type platformKind struct {
	Kind        string   `json:"kind"`
	TypeURL     string   `json:"typeUrl"`
	Destructive bool     `json:"destructive"`
	Roles       []string `json:"roles"`
}

func kindTable() []platformKind {
	row := func(kind, message string, destructive bool, roles ...string) platformKind {
		return platformKind{kind, typePrefix + "bettercompute.v1." + message, destructive, roles}
	}
	return []platformKind{
		row("node.reboot", "RebootRequest", true, "node", "ramdisk"),
		row("node.reimage", "ReimageRequest", true, "node", "ramdisk"),
		row("node.wipe", "WipeRequest", true, "node", "ramdisk"),
		row("node.firmware", "FirmwareRequest", true, "node", "ramdisk"),
		row("gpu.reset", "GpuResetRequest", true, "node"),
		row("bmc.power", "BmcOperationRequest", true, "site"),
		row("bmc.boot", "BmcOperationRequest", true, "site"),
		row("bmc.rotate", "BmcOperationRequest", true, "site"),
		row("bmc.sensors", "BmcOperationRequest", false, "site"),
		row("site.httpProxy", "HttpProxyRequest", true, "site"),
		row("node.inspect", "InspectRequest", false, "node", "node-tenant", "ramdisk"),
	}
}

// typeURL gives a kind's type, or "" for one that is not in the table.
func typeURL(kind string) string {
	for _, k := range kindTable() {
		if k.Kind == kind {
			return k.TypeURL
		}
	}
	return ""
}

// Payloads as a control plane would write them.
func reboot(reason string) []byte { return msg(vint(1, 1), vint(2, 30), str(3, reason)) }

func reimage(image string) []byte {
	return msg(str(1, image), sub(2, sum([]byte(image))), vint(3, 1), str(4, "/srv/models"), str(4, "/var/lib/etcd"))
}

func wipe() []byte { return msg(vint(1, 3), str(2, "/dev/nvme0n1"), str(2, "/dev/nvme1n1")) }

func firmware(component, version string) []byte {
	return msg(str(1, component), str(2, version),
		str(3, "https://firmware.compute.example.com/"+component+"-"+version+".bin"), sub(4, sum([]byte(component+version))))
}

func gpuReset(pci ...string) []byte {
	var b []byte
	for _, address := range pci {
		b = append(b, str(1, address)...)
	}
	return b
}

func bmcPower(address string, action int64) []byte { return msg(str(1, address), vint(2, action)) }

func bmcSensors(address string) []byte {
	if address == "" {
		return sub(5)
	}
	return msg(str(1, address), sub(5))
}

func httpProxy(target, method, path string, body string) []byte {
	return msg(str(1, target), str(2, method), str(3, path), entry(4, "content-type", "application/yaml"),
		entry(4, "x-request-id", "req-01"), str(5, body))
}

const powerCycle = 3
