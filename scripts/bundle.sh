#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: scripts/bundle.sh [--torch VERSION] DIR|FILE.tar.xz
# Makes a folder or an archive that runs on another Linux (x86-64, glibc 2.35 or later) with python3 and PyTorch VERSION, and nothing
# else: the tool, its plug-ins, the tests for GPUs, plans, tools. VERSION: the one that scripts/versions.sh names unless given.
# TENSORRT_ROOT=DIR (its headers) gives it the plug-in for TensorRT. What it holds and how it is used: docs/gpu.md.
set -euo pipefail
start=$SECONDS
target_words='usage: scripts/bundle.sh [--torch VERSION] DIR|FILE.tar.xz'
version='' target=''
while [ $# -gt 0 ]; do
  case $1 in
    --torch) version=${2-missing}; shift; [ $# = 0 ] || shift ;;
    --torch=*) version=${1#*=}; shift ;;
    -h | --help) echo "$target_words"; exit 0 ;;
    -*) echo "bundle: unknown option '$1'; $target_words" >&2; exit 2 ;;
    *) [ -z "$target" ] || { echo "bundle: two places to write to: '$target' and '$1'; $target_words" >&2; exit 2; }; target=$1; shift ;;
  esac
done
[ -n "$target" ] || { echo "bundle: where to? $target_words" >&2; exit 2; }
target=$(realpath -m -- "$target")
cd "$(dirname "$0")/.."
. scripts/versions.sh
SPEAKER=bundle
. scripts/wheels.sh

LIMIT_MB=30
version=${version:-$TORCH_VERSION}
case $version in *[!0-9.]* | '') echo "bundle: '$version' is no version of PyTorch; such as --torch 2.11.0" >&2; exit 2 ;; esac
case $target in
  *.tar.xz) [ ! -d "$target" ] || fail "'$target' is a folder" ;;
  *) if [ -e "$target" ] && [ ! -f "$target/bundle.json" ] && [ -n "$(ls -A "$target")" ]; then fail "'$target' holds something that is no bundle; name another folder"; fi ;;
esac
name=paceline-$(cat VERSION)-torch-$version
build=build/bundle-$version

compile() {
  local targets=(tool)
  scripts/configure.sh "$build" -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DPACELINE_WERROR="${PACELINE_WERROR:-OFF}" \
    -DPACELINE_BUNDLE=ON -DPACELINE_PLUGIN_TORCH=ON -DPACELINE_TORCH_ROOT="$TORCH_RELEASE" -DPACELINE_PLUGIN_ONNXRUNTIME=OFF \
    -DPACELINE_PLUGIN_OPENVINO=OFF -DPACELINE_TENSORRT_ROOT="${TENSORRT_ROOT:-}"
  is_built cuda && targets+=(gpu_cuda gpu_cuda_training)
  # Some targets run when they are built, to list their tests.
  LD_LIBRARY_PATH=$TORCH_RELEASE/lib scripts/build.sh "$build" "$(scripts/jobs.sh)" "${targets[@]}"
}

is_built() { grep -q '"not_built_because": ""' "$build/lib/paceline/plugins/$1.json"; }

# copy STAGE: everything but the libraries of others.
copy() {
  local stage=$1 plugin
  rm -rf "$build/prefix"
  cmake --install "$build" --prefix "$build/prefix" --strip > /dev/null
  mkdir -p "$stage/tests" "$stage/scripts" "$stage/lib/paceline"
  cp -R "$build/prefix/bin" "$stage/"
  cp -R "$build/prefix/lib/paceline/plugins" "$stage/lib/paceline/"
  mkdir -p "$stage/share/paceline"
  cp share/topologies.yaml share/device_peaks.csv "$stage/share/paceline/"
  for plugin in gpu_cuda gpu_cuda_training; do
    if is_built cuda; then strip -o "$stage/tests/$plugin" "$build/tests/$plugin"; fi
  done
  cp -R tests/cli examples docs tools python notebooks LICENSE CHANGELOG.md "$stage/"
  mv "$stage/cli" "$stage/tests/cli"
  rm -rf "$stage/tools/checks" "$stage/tests/cli/CMakeLists.txt"
  find "$stage" -name __pycache__ -prune -exec rm -rf {} +
  cp "$build"/prefix/share/paceline/scripts/* scripts/bundle/with_pytorch.sh "$stage/scripts/"
  for plugin in scripts/gpu_day*; do [ ! -e "$plugin" ] || cp -R "$plugin" "$stage/scripts/"; done
  cp scripts/bundle/paceline "$stage/"
}

# describe STAGE: bundle.json; the launcher reads "torch" from it.
describe() {
  python3 - "$1" "$(cat VERSION)" "$(git describe --always --dirty --exclude='*' 2> /dev/null || echo unknown)" "$version" <<'PY'
import json, pathlib, sys
stage, paceline, commit, torch = sys.argv[1:]
manifests = [json.loads(path.read_text()) for path in sorted(pathlib.Path(stage, "lib/paceline/plugins").glob("*.json"))]
cuda = next((m["built_for"] for m in manifests if m["name"] == "cuda" and not m["not_built_because"]), {})
nccl = cuda.get("NCCL", "none")
facts = {"paceline": paceline, "commit": commit, "torch": torch, "cuda": cuda.get("CUDA"), "nccl": None if nccl == "none" else nccl, "glibc": "2.35",
         "plugins": [m["name"] for m in manifests if not m["not_built_because"]],
         "left_out": {m["name"]: m["not_built_because"] for m in manifests if m["not_built_because"]}}
pathlib.Path(stage, "bundle.json").write_text(json.dumps(facts, indent=1) + "\n")
PY
}

# pack STAGE: the archive; the same files make the same archive.
pack() {
  local bytes
  tar -C "$(dirname "$1")" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct 2> /dev/null || echo 0)" \
    -cf - "$(basename "$1")" | xz -T0 -9e > "$target.partial"
  bytes=$(stat -c %s "$target.partial")
  [ "$bytes" -le $((LIMIT_MB * 1000000)) ] || fail "the archive has $((bytes / 1000000)) MB, more than $LIMIT_MB: see $target.partial"
  mv "$target.partial" "$target"
  say "$target: $((bytes / 100000 / 10)).$((bytes / 100000 % 10)) MB, unpacked $(du -sm "$1" | cut -f1) MB, in $((SECONDS - start)) s"
}

scripts/setup.sh
torch_release "$version"
nccl_headers "$TORCH_RELEASE"
compile
stage=$build/stage/$name
rm -rf "$build/stage"
copy "$stage"
python3 scripts/bundle/libraries.py "$stage" "$TORCH_RELEASE"
describe "$stage"
mkdir -p "$(dirname "$target")"
case $target in
  *.tar.xz) pack "$stage" ;;
  *) rm -rf "$target"; mv "$stage" "$target"; say "$target: $(du -sm "$target" | cut -f1) MB, in $((SECONDS - start)) s" ;;
esac
