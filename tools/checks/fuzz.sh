#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: fuzz.sh BUILD_DIR SECONDS [SEED]   Runs every fuzz target that long, one per CPU; new inputs go to BUILD_DIR, failing ones are named. SEED 0, the
# default, is another one each time.
set -euo pipefail
cd "$(dirname "$0")/../.."

# fuzz CORPUS BUILD_DIR SECONDS SEED
fuzz() {
  local corpus=$1 build=$2 seconds=$3 seed=$4 target
  target=$(basename "$corpus")
  local found=$build/fuzz/found/$target
  mkdir -p "$found"
  if "$build/fuzz/$target" -seed="$seed" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=4096 \
    -artifact_prefix="$build/fuzz/$target-" "$found" "$corpus" > "$build/fuzz/$target.log" 2>&1; then
    tail -n 1 "$build/fuzz/$target.log" | sed "s/^/$target: /"
  else
    echo "$target failed; after the fix keep its input in $corpus. End of $build/fuzz/$target.log:" >&2
    tail -n 40 "$build/fuzz/$target.log" >&2
    return 1
  fi
}
export -f fuzz
printf '%s\0' tests/fuzz/corpus/*/ | xargs -0 -n 1 -P "$(nproc)" bash -c 'fuzz "$3" "$0" "$1" "$2"' "$1" "$2" "${3:-0}"
