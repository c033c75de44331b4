#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Flags that only g++ knows, and what its standard library marks deprecated inside itself, are not findings.
# usage: tidy.sh BUILD_DIR [FOLDER…]   clang-tidy 19 over the sources below the folders (default src), with the settings of a
# configured build folder. BUILD_DIR/single has them for every source by itself: configured only, and generated headers written.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1
shift
[ $# -gt 0 ] || set -- src
command -v clang-tidy-19 > /dev/null || { echo "tidy: skipped, no clang-tidy-19 (scripts/setup.sh --checks installs it)"; exit 77; }
mapfile -t settings < <(sed -n '/:INTERNAL=/!s/^\(PACELINE_[A-Z_]*\|CMAKE_BUILD_TYPE\):[A-Z]*=/-D\1=/p' "$build/CMakeCache.txt")
cmake -S . -B "$build/single" -G Ninja "${settings[@]}" -DPACELINE_UNITY=OFF > "$build/single.log" 2>&1 || { tail -n 20 "$build/single.log"; exit 1; }
cmake --build "$build/single" --target paceline_onnx_proto >> "$build/single.log" 2>&1 || { tail -n 20 "$build/single.log"; exit 1; }
for folder in "$@"; do git ls-files -z "$folder/**/*.cc" "$folder/*.cc"; done | sort -zu |
  xargs -0 -r -n 1 -P "$(scripts/jobs.sh)" clang-tidy-19 --quiet --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-unused-command-line-argument --extra-arg=-Wno-deprecated-declarations -p "$build/single" 2> >(grep -v 'warnings generated\|Suppressed\|^Use -header' >&2)
