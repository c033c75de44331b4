#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Flags that only g++ knows, and what its standard library marks deprecated inside itself, are not findings.
# usage: tidy.sh BUILD_DIR [FOLDER…]   clang-tidy 19 over the sources below the folders (default src); needs compile_commands.json.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1
shift
[ $# -gt 0 ] || set -- src
command -v clang-tidy-19 > /dev/null || { echo "tidy: skipped, no clang-tidy-19 (scripts/setup.sh --checks installs it)"; exit 77; }
for folder in "$@"; do git ls-files -z "$folder/**/*.cc" "$folder/*.cc"; done | sort -zu |
  xargs -0 -r -n 1 -P "$(scripts/jobs.sh)" clang-tidy-19 --quiet --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-deprecated-declarations -p "$build" 2> >(grep -v 'warnings generated\|Suppressed\|^Use -header' >&2)
