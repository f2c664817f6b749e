package main

import (
	"context"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// swap tells where memory is written to, and whether that is encrypted as far as the device mapper says so.
func (d *doctor) swap(context.Context) outcome {
	m := &d.laptop
	data, err := fs.ReadFile(m.files, "proc/swaps")
	if err != nil {
		return warn("whether there is swap cannot be told: %s", err)
	}
	var plain, all []string
	for i, line := range strings.Split(string(data), "\n") {
		fields := strings.Fields(line)
		if i == 0 || len(fields) == 0 {
			continue
		}
		name := unescapeOctal(fields[0])
		all = append(all, name)
		if device := m.device(name); !m.encrypts(device, mostLayers) && !m.inMemory(name, device) {
			plain = append(plain, name)
		}
	}
	switch {
	case len(plain) > 0:
		return warn("on %s, which is not encrypted as far as can be seen", strings.Join(plain, ", ")).note("plain", plain)
	case len(all) > 0:
		return fine("encrypted, or in memory: %s", strings.Join(all, ", "))
	}
	return fine("none")
}

// mostLayers bounds how many devices are looked through to the one below.
const mostLayers = 8

// encrypts tells whether a device is one of dm-crypt's, or lies on nothing but such devices.
func (m *laptop) encrypts(device string, layers int) bool {
	if device == "" || layers == 0 {
		return false
	}
	folder := "sys/dev/block/" + device
	if strings.HasPrefix(m.read(folder+"/dm/uuid"), "CRYPT-") {
		return true
	}
	below, err := fs.ReadDir(m.files, folder+"/slaves")
	if err != nil || len(below) == 0 {
		return false
	}
	for _, s := range below {
		if !m.encrypts(m.read("sys/class/block/"+s.Name()+"/dev"), layers-1) {
			return false
		}
	}
	return true
}

// inMemory tells whether a device is compressed memory with nothing behind it.
func (m *laptop) inMemory(name, device string) bool {
	if !strings.HasPrefix(path.Base(name), "zram") || device == "" {
		return false
	}
	behind := m.read("sys/dev/block/" + device + "/backing_dev")
	return behind == "" || behind == "none"
}

// unescapeOctal reads a name of /proc, in which a space is \040.
func unescapeOctal(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+4 <= len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
