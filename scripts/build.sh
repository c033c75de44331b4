#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: build.sh BUILD_DIR JOBS TARGET…   Quiet on success; on failure shows the compiler's words.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1 jobs=$2
shift 2
start=$SECONDS
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$PWD}
if [ -t 1 ]; then
  cmake --build "$build" -j "$jobs" --target "$@"   # ninja shows one changing line
  exit
fi
echo "building $build: $* ($jobs jobs, log: $build/build.log)"
if ! cmake --build "$build" -j "$jobs" --target "$@" > "$build/build.log" 2>&1; then
  echo "building failed; what the compiler said ($build/build.log):" >&2
  grep -v '^\[[0-9]*/[0-9]*\] \(Building\|Linking\|Generating\)' "$build/build.log" | tail -n 60 >&2
  exit 1
fi
echo "built in $((SECONDS - start)) s"
