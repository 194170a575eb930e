#!/bin/sh
# Fails, and shows the difference, if the committed assembly is not what this folder generates.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$here/generate.sh" "$folder"
for f in avx2_amd64.s avx2_amd64.go; do
  diff -u "$here/../$f" "$folder/$f"
done
