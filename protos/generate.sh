#!/usr/bin/env bash
# Writes the Go code of protos/kvasir to the directory OUT (default: beside the files). Needs protoc 3.21 (Debian: protobuf-compiler); the generators of Go code are built from protos/tools.
set -euo pipefail
cd "$(dirname "$0")"
out=${1:-.}

command -v protoc >/dev/null || { echo "protoc is not installed; Debian has it in protobuf-compiler"; exit 1; }
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
(cd tools && GOBIN="$bin" go install tool)
PATH="$bin:$PATH" protoc -I. --go_out="$out" --go_opt=paths=source_relative --go-grpc_out="$out" --go-grpc_opt=paths=source_relative kvasir/v1/*.proto
