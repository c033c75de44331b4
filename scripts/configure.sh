#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: configure.sh BUILD_DIR CMAKE_ARGUMENT…   Configures when the arguments changed or nothing was configured yet.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
shift
mkdir -p "$build"
[ -f "$build/build.ninja" ] && [ "$(cat "$build/.configured" 2> /dev/null)" = "$*" ] && exit 0
echo "configuring $build (log: $build/configure.log)"
if ! cmake "$@" > "$build/configure.log" 2>&1; then
  echo "configuring failed; end of $build/configure.log:" >&2
  tail -n 25 "$build/configure.log" >&2
  exit 1
fi
echo "$*" > "$build/.configured"
