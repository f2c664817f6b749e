#!/usr/bin/env bash
# A whole ceremony in a folder of its own: a set of three approvers, a batch built from leaves, two signatures that are given
# without a question because the root was reviewed before, a decline, one approval, the proof that one machine's operation is in
# it, and a change of the set.
#
#   examples/ceremony.sh [FOLDER]        needs approver on PATH, or Go
#
# The keys are files here, encrypted under a passphrase that lives as long as the script. On an air-gapped laptop they are on
# tokens, and each --key is a pkcs11: URI. Everything stays in FOLDER (default: a temporary one, removed at the end).
set -euo pipefail
examples=$(cd "$(dirname "$0")" && pwd)

if [[ $# -gt 0 ]]; then
  mkdir -p "$1"
  cd "$1"
else
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  cd "$folder"
fi
if ! command -v approver >/dev/null; then
  (cd "$examples/.." && go build -o "$OLDPWD/approver.bin" ./approver)
  approver() { "$PWD/approver.bin" "$@"; }
fi

# What this machine is configured for is not this ceremony's.
unset APPROVER_CONFIG BETTER_COMPUTE_APPROVER_KEYS BETTER_COMPUTE_APPROVER_THRESHOLD BETTER_COMPUTE_UNBATCHED_PER_HOUR \
  BETTER_COMPUTE_APPROVER_SET_SIGNATURES BETTER_COMPUTE_TRUST_VERSION
export XDG_CONFIG_HOME="$PWD/.config" XDG_STATE_HOME="$PWD/.state"

domain=compute.example.com
BETTER_COMPUTE_APPROVER_PASSPHRASE=$(head -c 24 /dev/urandom | base64)
export BETTER_COMPUTE_APPROVER_PASSPHRASE

echo '--- once: three approvers make their keys, each on a machine of their own'
for name in alice bob carol; do
  approver batch keygen --out "$name.pem"
done

echo '--- the security officer: two of the three, and what they compare by voice'
approver set build --approvers alice.pem.pub,bob.pem.pub,carol.pem.pub --threshold 2 --out set.json

echo '--- the operator: leaves become a batch that is open for 12 hours'
approver batch build --batch batch_ceremony --trust-domain "$domain" --reason 'Bring rack 12 back with image 24.04' --hours 12 \
  "$examples/small/leaves.json" --out scope.json

echo '--- each approver: the review, held against a list that the scope did not bring'
approver batch show --scope scope.json --trust-domain "$domain" --expect "$examples/small/expected.txt" \
  --approvers alice.pem.pub,bob.pem.pub,carol.pem.pub --json >review.json
root=$(sed -n 's/.*"root":"\([0-9a-f]\{64\}\)".*/\1/p' review.json | head -n 1)

echo '--- two of them sign: that root, on that list, or nothing'
for name in alice bob; do
  approver batch sign --scope scope.json --trust-domain "$domain" --expect "$examples/small/expected.txt" \
    --root "$root" --yes --key "$name.pem" --state "$name.ledger" --receipt "$name.receipt.json" --out "$name.sig.json" 2>"$name.log"
  tail -n 6 "$name.log"
done

echo '--- the third says no, which everybody shall see and which stops nothing'
approver batch decline --scope scope.json --trust-domain "$domain" --expect "$examples/small/expected.txt" --reason 'not before the backup' \
  --yes --key carol.pem --state carol.ledger --out carol.decline.json 2>carol.log

echo '--- one signature is not enough'
if approver batch combine alice.sig.json --scope scope.json --approvers alice.pem.pub,bob.pem.pub,carol.pem.pub --threshold 2 \
  --trust-domain "$domain" --out early; then
  echo 'one of two was taken for enough' >&2
  exit 1
fi

echo '--- two are: the approval that machines take'
approver batch combine alice.sig.json bob.sig.json --scope scope.json --approvers alice.pem.pub,bob.pem.pub,carol.pem.pub --threshold 2 \
  --trust-domain "$domain" --out approval

echo '--- and for each machine the proof that its operation is in the batch'
approver batch prove --scope scope.json --subject gpu-0417 --kind node.firmware --out gpu-0417
approver batch verify approval.binpb --scope scope.json --approvers alice.pem.pub,bob.pem.pub,carol.pem.pub --threshold 2 \
  --trust-domain "$domain"

echo '--- an auditor: who said what, and each ledger against its receipt'
approver batch verify alice.sig.json bob.sig.json carol.decline.json --scope scope.json --approvers set.json --trust-domain "$domain"
for name in alice bob; do
  approver log verify --state "$name.ledger" --receipt "$name.receipt.json"
done

echo '--- carol leaves the set: two of the three in force sign the next one, and a machine takes it'
for name in alice bob; do
  approver batch sign-approvers --epoch 2 --approvers alice.pem.pub,bob.pem.pub --threshold 2 --unbatched 0 --current set.json \
    --trust-domain "$domain" --yes --key "$name.pem" --state "$name.ledger" --out "$name.set-sig.json" 2>>"$name.log"
done
approver batch verify-approvers --set-signature alice.set-sig.json,bob.set-sig.json --current set.json --trust-domain "$domain"

if command -v go >/dev/null; then
  echo '--- what the machine asks, in a program that imports the core library'
  digest=$(sed -n 's/.*"payloadSha256":"\([0-9a-f]\{64\}\)".*/\1/p' gpu-0417.json | head -n 1)
  (cd "$examples/.." && go build -o "$OLDPWD/admits" ./examples/admits)
  ask() {
    ./admits -approval approval.binpb -proof gpu-0417.binpb -approvers alice.pem.pub,bob.pem.pub,carol.pem.pub -threshold 2 \
      -trust-domain "$domain" -kind node.firmware -payload-sha256 "$digest" -subject "$1"
  }
  ask gpu-0417
  if ask gpu-0418; then
    echo 'the proof of one machine was taken for another' >&2
    exit 1
  fi
fi
echo '--- done'
