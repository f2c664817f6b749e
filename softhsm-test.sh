#!/usr/bin/env bash
# Tests everything: formatting, generated files, builds without cgo, all tests with tokens of SoftHSM, a TPM in software,
# openCryptoki and p11-kit, every fuzz target for a few seconds, and a whole ceremony whose signature OpenSSL and Node verify.
#
#   ./softhsm-test.sh            installs what is missing with apt where it may (Debian 12, as root), and names it where not
#   FUZZ_TIME=1000000x ./softhsm-test.sh
#
# Needs Go, gcc and git. Keys and tokens are thrown away with the folder they are made in; nothing of yours is touched.
set -euo pipefail
cd "$(dirname "$0")"

# So many runs, some seconds each: when a time is given instead, a run that stands at its end now and then fails on that.
FUZZ_TIME=${FUZZ_TIME:-20000x}

# What this machine is configured for is not the tests'.
unset APPROVER_CONFIG BETTER_COMPUTE_APPROVER_KEYS BETTER_COMPUTE_APPROVER_THRESHOLD BETTER_COMPUTE_UNBATCHED_PER_HOUR \
  BETTER_COMPUTE_APPROVER_SET_SIGNATURES BETTER_COMPUTE_TRUST_VERSION BETTER_COMPUTE_APPROVER_PASSPHRASE
MODULE=/usr/lib/softhsm/libsofthsm2.so
work=$(mktemp -d)
export XDG_CONFIG_HOME=$work/config
trap 'rm -rf "$work"' EXIT
log=$work/log
SECONDS=0
steps=0

fail() {
  printf 'FAIL %s\n' "$*" >&2
  exit 1
}

# step NAME COMMAND… runs a command and keeps quiet about it unless it fails.
step() {
  local name=$1 begun=$SECONDS
  shift
  # A subshell of its own with -e: a function that is tested by `if` would go on after a failure.
  set +e
  (set -euo pipefail; "$@") >"$log" 2>&1
  local status=$?
  set -e
  if ((status != 0)); then
    cat "$log" >&2
    fail "$name (status $status)"
  fi
  steps=$((steps + 1))
  printf 'ok   %-58s %3d s\n' "$name" $((SECONDS - begun))
}

# --- what is needed -------------------------------------------------------------------------------------------------

needs() { # what to look for (a command, or a path that * may stand in), and the Debian package that has it
  cat <<'LIST'
softhsm2-util softhsm2
pkcs11-tool opensc
swtpm swtpm
/usr/lib/*/libtpm2_pkcs11.so.1 libtpm2-pkcs11-1
/usr/lib/*/libtss2-tcti-swtpm.so.0 libtss2-tcti-swtpm0
tpm2_flushcontext tpm2-tools
/usr/sbin/pkcsslotd opencryptoki
/usr/lib/*/pkcs11/p11-kit-client.so p11-kit-modules
p11-kit p11-kit
openssl openssl
node nodejs
tmux tmux
zbarimg zbar-tools
strace strace
protoc protobuf-compiler
/usr/include/google/protobuf/any.proto libprotobuf-dev
ssh-keygen openssh-client
ps procps
setpriv util-linux
unshare util-linux
mount mount
ip iproute2
zsh zsh
fish fish
/usr/share/bash-completion/bash_completion bash-completion
groff groff
mandoc mandoc
diff diffutils
gcc gcc
/usr/include/dlfcn.h libc6-dev
LIST
}

missing() {
  local what package
  needs | while read -r what package; do
    case $what in
    /*) compgen -G "$what" >/dev/null || echo "$package" ;;
    *) command -v "$what" >/dev/null || echo "$package" ;;
    esac
  done
}

install_missing() {
  local packages
  mapfile -t packages < <(missing)
  ((${#packages[@]})) || return 0
  if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
    echo "missing, please install: ${packages[*]}"
    return 1
  fi
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -qq --no-install-recommends "${packages[@]}"
  mapfile -t packages < <(missing)
  ((${#packages[@]} == 0)) || { echo "still missing: ${packages[*]}"; return 1; }
}

command -v go >/dev/null || fail "Go is not installed (go.mod names the version)"
command -v git >/dev/null || fail "git is not installed"

# --- the source -----------------------------------------------------------------------------------------------------

formatted() {
  local files
  files=$(gofmt -l .)
  [[ -z $files ]] || { printf 'not formatted:\n%s\n' "$files"; return 1; }
}

# Generated files are made anew elsewhere and compared, so that this works on a tree with changes too.
protobuf_current() {
  local copy=$work/protobuf
  mkdir -p "$copy"
  cp -r go.mod go.sum core/bettercomputev1 "$copy"
  rm "$copy"/bettercomputev1/*.pb.go
  sh "$copy/bettercomputev1/generate.sh"
  # The header names protoc's own version, which is the distribution's.
  diff -r -I '^//[[:space:]].*protoc ' core/bettercomputev1 "$copy/bettercomputev1"
}

vectors_current() {
  local made=$work/vectors file
  go run ./golden/generate -out "$made/golden" -examples "$made/examples"
  (cd "$made" && find . -type f) | sort >"$work/made"
  [[ -s $work/made ]]
  while read -r file; do cmp "$made/$file" "$file"; done <"$work/made"
  for file in golden/*.json; do
    grep -qxF "./$file" "$work/made" || { echo "$file is not generated"; return 1; }
  done
}

# --- builds ---------------------------------------------------------------------------------------------------------

without_cgo() {
  export CGO_ENABLED=0
  go vet ./...
  go build -o "$work/approver-nocgo" ./approver
  "$work/approver-nocgo" demo >/dev/null
  go test -count=1 ./hsm/...
}

# What others embed. The command itself writes files by system calls that Linux has.
for_macos() {
  GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 go vet ./core/wire ./core/merkle ./core/quorum ./core/kinds ./core/review ./core/config ./core/medium ./scope ./hsm/...
}

# --- tests ----------------------------------------------------------------------------------------------------------

all_tests() {
  go test -race -count=1 -timeout 22m ./... 2>&1 | tee "$work/tests"
}

# Every fuzz target is run by itself, and one that ran on nothing fails.
fuzz_targets() {
  go test -list '^Fuzz' ./... | awk '/^Fuzz/ { names[++n] = $1 } /^ok/ { for (i = 1; i <= n; i++) print $2, names[i]; n = 0 }'
}

all_fuzz_targets() {
  fuzz_targets >"$work/targets"
  local written listed
  written=$(grep -rEh --include='*_test.go' '^func Fuzz' . | wc -l)
  listed=$(wc -l <"$work/targets")
  ((written == listed && listed > 0)) || { echo "$written fuzz targets are written, $listed are built"; return 1; }
  while read -r package target; do
    fuzz_one "$package" "$target"
  done <"$work/targets"
}

fuzz_one() {
  echo "=== $1 $2"
  # Each run starts from the seeds: what earlier runs on this machine found could take the whole time to go through again.
  go test -run '^$' -fuzz "^$2\$" -fuzztime "$FUZZ_TIME" -fuzzminimizetime 10x -timeout 5m "$1" \
    -args -test.fuzzcachedir="$work/fuzz-cache" </dev/null | tee "$work/fuzz"
  grep -qE 'execs: [1-9]' "$work/fuzz" || { echo "$2 ran on nothing"; return 1; }
}

all_benchmarks() { # once each, to see that they run; the large ones are for a quiet machine
  go test -run '^$' -bench . -benchtime 1x -skip 'leaves=1000000' -timeout 10m ./... | tee "$work/benchmarks"
  grep -q '^Benchmark' "$work/benchmarks"
}

# --- a ceremony, and two verifiers that share no code with it ---------------------------------------------------------

new_token() {
  mkdir -m 700 "$work/tokens"
  printf 'directories.tokendir = %s\nobjectstore.backend = file\nlog.level = ERROR\n' "$work/tokens" >"$SOFTHSM2_CONF"
  softhsm2-util --init-token --free --label approver --so-pin 12345678 --pin 1234
  (umask 077 && echo 1234 >"$work/pin")
  go build -o "$work/approver" ./approver
  local key='pkcs11:token=approver;object=k256' pin=(--module "$MODULE" --pin-file "$work/pin")
  "$work/approver" hsm keygen --token approver --label k256 --out "$work/k256" "${pin[@]}"
  "$work/approver" hsm check "$key" --pub "$work/k256.pub" "${pin[@]}"
}

NOW=2099-12-31T12:00:00Z # the examples' window ends with the century

sign_on_token() {
  "$work/approver" batch sign --scope examples/415/scope.json --key 'pkcs11:token=approver;object=k256' \
    --module "$MODULE" --pin-file "$work/pin" --expect examples/415/expected.json --now "$NOW" --yes --out "$work/sig.json"
  "$work/approver" batch verify "$work/sig.json" --scope examples/415/scope.json --approvers "$work/k256.pub" \
    --threshold 1 --trust-domain compute.example.com --now "$NOW"
}

node_verifies() {
  local said
  said=$(node golden/interop/verify.mjs examples/415/scope.json "$1" "$work/k256.pub")
  [[ $said == "ok "* ]] || { echo "node says: $said"; return 1; }
}

member() { sed -n "s/.*\"$2\":\"\\{0,1\\}\\([^\",}]*\\).*/\\1/p" "$1"; } # of the one line that a signature file is
to_hex() { od -An -v -tx1 | tr -d ' \n'; }
from_hex() { printf '%b' "$(sed 's/../\\x&/g')"; }
lp() { printf '%08x%s' $((${#1} / 2)) "$1"; } # of hex
lp_text() { lp "$(printf %s "$1" | to_hex)"; }

openssl_verifies() {
  local file=$1 sig
  {
    lp_text better-compute/v1
    lp_text batch-approval
    lp_text "$(member "$file" batchId)"
    lp "$(member "$file" scopeRoot)"
    lp "$(printf '%016x' "$(member "$file" scopeSize)")"
    lp "$(printf '%016x' "$(member "$file" notAfter)")"
    lp_text "$(member "$file" trustDomain)"
  } | from_hex >"$work/input"
  sig=$(member "$file" sig | tr '_-' '/+' | sed 's/$/==/' | base64 -d | to_hex)
  ((${#sig} == 128)) || { echo "a signature of ${#sig} hex digits"; return 1; }
  printf 'asn1=SEQUENCE:s\n[s]\nr=INTEGER:0x%s\ns=INTEGER:0x%s\n' "${sig:0:64}" "${sig:64}" >"$work/asn1"
  openssl asn1parse -genconf "$work/asn1" -noout -out "$work/sig.der"
  openssl dgst -sha256 -verify "$work/k256.pub" -signature "$work/sig.der" "$work/input"
}

verified_outside() {
  openssl_verifies "$work/sig.json"
  node_verifies "$work/sig.json"
  # A verifier that says yes to everything proves nothing.
  sed 's/"notAfter":4/"notAfter":3/' "$work/sig.json" >"$work/other.json"
  if cmp -s "$work/sig.json" "$work/other.json"; then echo "the copy is not changed"; return 1; fi
  if openssl_verifies "$work/other.json"; then echo "openssl takes another window"; return 1; fi
  if node_verifies "$work/other.json"; then echo "node takes another window"; return 1; fi
}

export SOFTHSM2_CONF=$work/softhsm2.conf

step "what is needed is installed" install_missing
[[ -e $MODULE ]] || fail "SoftHSM is not at $MODULE"
step "gofmt" formatted
step "go vet" go vet ./...
step "staticcheck" go tool staticcheck ./...
step "generated protobuf code is current" protobuf_current
step "vectors and examples are current" vectors_current
step "without cgo: vet, build, demo, key tests" without_cgo
step "for macOS on arm64: vet of the libraries" for_macos
step "approver demo" go run ./approver demo
step "a token with a key made on it, which is fit" new_token
step "approver batch sign on the token, 415 operations" sign_on_token
step "openssl and node verify it, and refuse another" verified_outside
step "go test -race ./..." all_tests
step "benchmarks run" all_benchmarks
step "$(fuzz_targets | wc -l) fuzz targets, $FUZZ_TIME each" all_fuzz_targets

echo
grep '^ok' "$work/tests"
printf '\nPASS %d steps in %d min %d s\n' "$steps" $((SECONDS / 60)) $((SECONDS % 60))
