#!/usr/bin/env bash
# Fails unless the committed Go code of protos/kvasir is what its files say.
set -euo pipefail
cd "$(dirname "$0")"

fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
./generate.sh "$fresh"
cd kvasir/v1
for f in *.pb.go; do
  diff -q -I '^// *protoc  *v' "$f" "$fresh/kvasir/v1/$f" >/dev/null || { echo "protos/kvasir/v1/$f is not what its .proto file says: run make protos"; exit 1; }
done
test "$(ls ./*.pb.go | wc -l)" = "$(ls "$fresh"/kvasir/v1/*.pb.go | wc -l)" || { echo "protos/kvasir/v1 lacks generated files: run make protos"; exit 1; }
