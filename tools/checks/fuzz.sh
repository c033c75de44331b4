#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: fuzz.sh BUILD_DIR SECONDS   Runs every fuzz target that long, one per CPU; new inputs go to BUILD_DIR, failing ones are named.
set -euo pipefail
cd "$(dirname "$0")/../.."

# fuzz SEEDS BUILD_DIR SECONDS
fuzz() {
  local seeds=$1 build=$2 seconds=$3 target
  target=$(basename "$seeds")
  local found=$build/fuzz/found/$target
  mkdir -p "$found"
  if "$build/fuzz/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=4096 \
    -artifact_prefix="$build/fuzz/$target-" "$found" "$seeds" > "$build/fuzz/$target.log" 2>&1; then
    tail -n 1 "$build/fuzz/$target.log" | sed "s/^/$target: /"
  else
    echo "$target failed; after the fix keep its input in $seeds. End of $build/fuzz/$target.log:" >&2
    tail -n 40 "$build/fuzz/$target.log" >&2
    return 1
  fi
}
export -f fuzz
printf '%s\0' tests/fuzz/corpus/*/ | xargs -0 -n 1 -P "$(nproc)" bash -c 'fuzz "$2" "$0" "$1"' "$1" "$2"
