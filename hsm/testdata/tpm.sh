#!/bin/sh
# Runs a command beside a TPM of its own: swtpm on a loopback that only this process and its children have, and tpm2-pkcs11
# with its store and one token in a folder that is made for it.
#
#   unshare --net --pid --fork --kill-child --mount-proc sh tpm.sh MODULE FOLDER SO-PIN PIN COMMAND…
set -eu
module=$1 folder=$2 so_pin=$3 pin=$4
shift 4
mkdir -p "$folder/state" "$folder/store"
ip link set lo up
swtpm socket --tpm2 --tpmstate dir="$folder/state" --flags not-need-init,startup-clear --daemon \
	--server type=tcp,port=43321,bindaddr=127.0.0.1 --ctrl type=tcp,port=43322,bindaddr=127.0.0.1
export TPM2_PKCS11_TCTI=swtpm:host=127.0.0.1,port=43321 TPM2TOOLS_TCTI=swtpm:host=127.0.0.1,port=43321
export TPM2_PKCS11_STORE="$folder/store" TPM2_PKCS11_BACKEND=esysdb TSS2_LOG=all+none
pkcs11-tool --module "$module" --slot-index 0 --init-token --label approver --so-pin "$so_pin"
pkcs11-tool --module "$module" --token-label approver --login --login-type so --so-pin "$so_pin" --init-pin --new-pin "$pin"
tpm2_flushcontext --transient-object # the first of these leaves one of the TPM's few
"$@"
