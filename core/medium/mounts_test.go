package medium

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// laptop makes a system of a disk, a stick with a partition, a disk on USB, a card reader without one, and what a desktop
// mounted that is no block device.
func laptop(t *testing.T) system {
	root := t.TempDir()
	write := func(path, text string) {
		path = filepath.Join(root, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	block := func(numbers, device string) {
		require.NoError(t, os.MkdirAll(filepath.Join(root, "sys/devices", device), 0o755))
		link := filepath.Join(root, "sys/dev/block", numbers)
		require.NoError(t, os.MkdirAll(filepath.Dir(link), 0o755))
		require.NoError(t, os.Symlink("../../devices/"+device, link))
	}
	block("259:2", "pci0/nvme/nvme0n1/nvme0n1p2")
	write("sys/devices/pci0/nvme/nvme0n1/removable", "0\n")
	block("8:17", "pci0/ata/block/sdb/sdb1")
	write("sys/devices/pci0/ata/block/sdb/removable", "1\n")
	block("8:33", "pci0/usb2/2-1/block/sdc/sdc1")
	write("sys/devices/pci0/usb2/2-1/block/sdc/removable", "0\n")
	block("179:0", "pci0/mmc/block/mmcblk0")
	write("sys/devices/pci0/mmc/block/mmcblk0/removable", "1\n")
	write("proc/self/mountinfo", `22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw
23 22 0:5 / /proc rw,nosuid - proc proc rw
40 22 8:17 / /mnt/the\040stick rw,nosuid shared:7 master:2 - vfat /dev/sdb1 rw
41 22 8:33 / /srv/disk ro - ext4 /dev/sdc1 ro
42 22 179:0 / /mnt/card rw - exfat /dev/mmcblk0 rw
43 22 0:60 / /run/media/anna/back\134slash rw - fuse.x x rw
44 22 0:61 / /mediathek rw - tmpfs tmpfs rw
45 22 8:17
nonsense
`)
	return system(root)
}

func TestPlugged(t *testing.T) {
	require.Equal(t, []Mount{
		{"/mnt/the stick", "/dev/sdb1"}, {"/srv/disk", "/dev/sdc1"}, {"/mnt/card", "/dev/mmcblk0"}, {`/run/media/anna/back\slash`, "x"},
	}, laptop(t).plugged())
}

func TestPluggedWhereNothingTells(t *testing.T) {
	require.Empty(t, system(t.TempDir()).plugged())
}
