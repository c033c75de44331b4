#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: check_torch_versions.sh [VERSION…]   (default 2.11.0 2.15.0)
# Builds the LibTorch plug-in against each PyTorch wheel from the package index and runs the plug-in's tests; prints a table.
# A wheel is unpacked once into .deps/torch-VERSION, with the CUDA runtime libraries its own metadata names.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/versions.sh
[ $# -gt 0 ] || set -- 2.11.0 2.15.0

pip_install() {
  python3 -m pip --disable-pip-version-check --no-input install --no-cache-dir --no-deps --only-binary=:all: --root-user-action=ignore -q \
    --python-version "$WHEEL_PYTHON" --target "$@"
}

# Only what libtorch_cpu.so itself loads; versions as the wheel's metadata says, newest where it names only a meta-package.
cuda_parts() {
  python3 - "$1" <<'PY'
import pathlib, re, sys
text = "".join(p.read_text() for p in pathlib.Path(sys.argv[1]).glob("torch-*.dist-info/METADATA"))
library = (pathlib.Path(sys.argv[1]) / "torch/lib/libtorch_cpu.so").read_bytes()
major = re.search(rb"libcudart\.so\.(\d+)", library)
pinned = re.search(r"cuda-toolkit\[[^]]*\]==([\d.]+)", text)
version = ".".join(pinned.group(1).split(".")[:2]) + ".*" if pinned else (major.group(1).decode() + ".*" if major else "")
if version:
    print(f"nvidia-cuda-runtime=={version} nvidia-cuda-cupti=={version}")
PY
}

unpack() {
  local folder=.deps/torch-$1
  [ -f "$folder/.complete" ] && return
  rm -rf "$folder"
  pip_install "$folder" "torch==$1"
  local parts
  parts=$(cuda_parts "$folder")
  # shellcheck disable=SC2086
  [ -z "$parts" ] || pip_install "$folder" $parts
  touch "$folder/.complete"
}

rows=""
failed=0
for version in "$@"; do
  unpack "$version"
  build=build/torch-$version
  scripts/configure.sh "$build" -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DPACELINE_PLUGIN_TORCH=ON \
    -DPACELINE_TORCH_ROOT="$PWD/.deps/torch-$version/torch"
  scripts/build.sh "$build" "$(scripts/jobs.sh)" paceline_plugin_torch plugin_torch
  log=$build/plugin-tests.log
  "$build/tests/plugin_torch" > "$log" 2>&1 || { failed=1; tail -n 30 "$log" >&2; }
  passed=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) tests\?\..*/\1/p' "$log")
  total=$(sed -n 's/^\[==========\] \([0-9]*\) tests\? from .* ran\..*/\1/p' "$log")
  rows+="| $version | ${passed:-0} of ${total:-?} passed |"$'\n'
done
printf '\n| PyTorch | plug-in tests |\n|---|---|\n%s' "$rows"
exit $failed
