#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: scripts/release.sh [DIR]
# What is published of a version, in DIR (default build/dist/VERSION): wheel, archive, .deb, the list of components of others in them (SPDX),
# the changelog's section, checksums of all. From the tag vVERSION; from another commit it is a snapshot, and that is said.
set -euo pipefail
case ${1:-} in -h | --help) sed -n '3,/^[^#]/ s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
folder=$(realpath -m -- "${1:-$(dirname "$0")/../build/dist/$(cat "$(dirname "$0")/../VERSION")}")
cd "$(dirname "$0")/.."
. scripts/versions.sh
version=$(cat VERSION)
name=paceline-$version

# section VERSION: of CHANGELOG.md, without the heading.
section() { awk -v heading="## [$1]" 'index($0, heading) == 1 {on = 1; next} /^## \[/ {on = 0} on' CHANGELOG.md; }

if [ "$(git describe --exact-match --match "v$version" 2> /dev/null)" != "v$version" ] || [ -n "$(git status --porcelain)" ]; then
  echo "release: not the commit of the tag v$version: a snapshot"
fi
changes=$(section "$version")
[ -n "$changes" ] || { echo "release: CHANGELOG.md has no section '## [$version]'" >&2; exit 1; }
if [ -e "$folder" ] && [ ! -f "$folder/SHA256SUMS" ] && [ -n "$(ls -A -- "$folder" 2> /dev/null || echo file)" ]; then
  echo "release: $folder is not empty, and is no folder of a release; name another one" >&2
  exit 1
fi
rm -rf "$folder"
mkdir -p "$folder"
scripts/bundle.sh --torch "$TORCH_RELEASES" "$folder/$name-py3-none-manylinux_2_35_x86_64.whl" "$folder/$name-linux-x86_64.tar.xz" \
  "$folder/paceline_${version}_amd64.deb" "$folder/$name.spdx.json"
printf '%s\n' "$changes" > "$folder/CHANGES.md"
(cd "$folder" && sha256sum -- * > ../SHA256SUMS.partial && mv ../SHA256SUMS.partial SHA256SUMS && cat SHA256SUMS)
echo "release: $folder"
