#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: fuzz.sh BUILD_DIR SECONDS   Runs every fuzz target that long; new inputs go to BUILD_DIR, failing ones are named.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1 seconds=$2
status=0
for seeds in tests/fuzz/corpus/*/; do
  target=$(basename "$seeds")
  found=$build/fuzz/found/$target
  mkdir -p "$found"
  if "$build/fuzz/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=4096 \
    -artifact_prefix="$build/fuzz/$target-" "$found" "$seeds" > "$build/fuzz/$target.log" 2>&1; then
    tail -n 1 "$build/fuzz/$target.log" | sed "s/^/$target: /"
  else
    echo "$target failed; after the fix keep its input in $seeds. End of $build/fuzz/$target.log:" >&2
    tail -n 40 "$build/fuzz/$target.log" >&2
    status=1
  fi
done
exit $status
