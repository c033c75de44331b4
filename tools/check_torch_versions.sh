#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: check_torch_versions.sh [VERSION…]   (default 2.11.0 2.15.0)
# Builds the LibTorch plug-in against each PyTorch wheel from the package index and runs the plug-in's tests; prints a table.
# A wheel is unpacked once into .deps/torch-VERSION (scripts/wheels.sh), with the CUDA runtime libraries its own metadata names.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/versions.sh
SPEAKER=check_torch_versions
. scripts/wheels.sh
[ $# -gt 0 ] || set -- "$OLDEST_TORCH_VERSION" "$TORCH_VERSION"

rows=""
failed=0
for version in "$@"; do
  torch_release "$version"
  nccl_headers "$TORCH_RELEASE"
  build=build/torch-$version
  scripts/configure.sh "$build" -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DPACELINE_PLUGIN_TORCH=ON \
    -DPACELINE_TORCH_ROOT="$TORCH_RELEASE"
  scripts/build.sh "$build" "$(scripts/jobs.sh)" paceline_plugin_torch plugin_torch
  log=$build/plugin-tests.log
  "$build/tests/plugin_torch" > "$log" 2>&1 || { failed=1; tail -n 30 "$log" >&2; }
  passed=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) tests\?\..*/\1/p' "$log")
  total=$(sed -n 's/^\[==========\] \([0-9]*\) tests\? from .* ran\..*/\1/p' "$log")
  rows+="| $version | ${passed:-0} of ${total:-?} passed |"$'\n'
done
printf '\n| PyTorch | plug-in tests |\n|---|---|\n%s' "$rows"
exit $failed
