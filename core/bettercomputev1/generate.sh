#!/bin/sh
# Regenerates the Go code of the .proto files beside it. Needs Go, and protoc with the well-known types:
#   apt-get install --no-install-recommends protobuf-compiler libprotobuf-dev
# The plugin is the version go.mod names. The header of each file also records protoc's own version.
set -eu
cd "$(dirname "$0")/.."
plugin=$(go tool -n protoc-gen-go)
protoc --plugin=protoc-gen-go="$plugin" --proto_path=. --go_out=. --go_opt=paths=source_relative \
	bettercomputev1/approval.proto bettercomputev1/trust.proto bettercomputev1/command.proto bettercomputev1/kinds.proto
