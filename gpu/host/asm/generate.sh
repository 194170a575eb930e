#!/bin/sh
# Writes the assembly of package host and its declarations to a folder: generate.sh FOLDER. Needs Go; the first time it downloads the assembler library.
set -eu
out=$(cd "$1" && pwd)
cd "$(dirname "$0")"
go run . -pkg host -out "$out/avx2_amd64.s" -stubs "$out/avx2_amd64.go"
for f in "$out/avx2_amd64.s" "$out/avx2_amd64.go"; do
  sed '1s|.*|// Code generated from gpu/host/asm by "go generate ./gpu/host". DO NOT EDIT.|' "$f" >"$f.tmp"
  mv "$f.tmp" "$f"
done
