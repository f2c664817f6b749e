#!/bin/sh
# Runs a command beside an openCryptoki of its own: its daemon, its soft token in slot 0 and its configuration stand in
# folders in memory that only this process and its children see, so whatever this machine has of openCryptoki is not touched.
#
#   unshare --mount --ipc --pid --fork --kill-child --mount-proc sh opencryptoki.sh MODULE SO-PIN PIN COMMAND…
set -eu
module=$1 so_pin=$2 pin=$3
shift 3
mount --make-rprivate /
for dir in /run /dev/shm /var/log /etc/opencryptoki /var/lib/opencryptoki; do
	mount -t tmpfs tmpfs "$dir"
done
for dir in /run/lock/opencryptoki /var/lib/opencryptoki /var/log/opencryptoki; do
	mkdir -p "$dir/swtok/TOK_OBJ"
	chgrp -R pkcs11 "$dir"
done
printf 'version opencryptoki-3.1\nslot 0\n{\nstdll = libpkcs11_sw.so\n}\n' >/etc/opencryptoki/opencryptoki.conf
pkcsslotd
first=87654321 # the SO PIN of a token that was never initialised
pkcs11-tool --module "$module" --slot-index 0 --init-token --label approver --so-pin "$first"
pkcs11-tool --module "$module" --slot-index 0 --login --login-type so --so-pin "$first" --change-pin --new-pin "$so_pin"
pkcs11-tool --module "$module" --slot-index 0 --login --login-type so --so-pin "$so_pin" --init-pin --new-pin "$pin"
"$@"
