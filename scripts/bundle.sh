#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: scripts/bundle.sh [--torch VERSION[,VERSION…]] DIR|FILE.tar.xz|FILE.whl|FILE.deb|FILE.spdx.json…
# Makes one tree, and packs it as each of these: it runs on another Linux (x86-64, glibc 2.35 or later) with python3 and the engines'
# libraries that are there. A folder and an archive also contain the tests for GPUs, plans and tools; .spdx.json lists the components of others.
# VERSION: of PyTorch, the one that scripts/versions.sh names unless given. TENSORRT_ROOT=DIR (its headers) adds the plug-in for
# TensorRT. How it is used: docs/gpu.md.
set -euo pipefail
start=$SECONDS
usage='usage: scripts/bundle.sh [--torch VERSION[,VERSION...]] DIR|FILE.tar.xz|FILE.whl|FILE.deb|FILE.spdx.json...'
asked='' targets=()
while [ $# -gt 0 ]; do
  case $1 in
    --torch) asked=${2-missing}; shift; [ $# = 0 ] || shift ;;
    --torch=*) asked=${1#*=}; shift ;;
    -h | --help) echo "$usage"; exit 0 ;;
    -*) echo "bundle: unknown option '$1'; $usage" >&2; exit 2 ;;
    *) targets+=("$(realpath -m -- "$1")"); shift ;;
  esac
done
[ ${#targets[@]} -gt 0 ] || { echo "bundle: where to? $usage" >&2; exit 2; }
cd "$(dirname "$0")/.."
. scripts/versions.sh
SPEAKER=bundle
. scripts/wheels.sh

LIMIT_MB=30        # of an archive
WHEEL_LIMIT_MB=40
IFS=, read -ra versions <<< "${asked:-$TORCH_VERSION}"
for version in "${versions[@]:-}"; do
  case $version in *[!0-9.]* | '') echo "bundle: '$version' is no version of PyTorch; such as --torch 2.11.0" >&2; exit 2 ;; esac
done
for target in "${targets[@]}"; do
  case $target in
    *.tar.xz | *.whl | *.deb | *.spdx.json) [ ! -d "$target" ] || fail "'$target' is a folder" ;;
    *) if [ -e "$target" ] && [ ! -f "$target/bundle.json" ] && [ -n "$(ls -A "$target")" ]; then fail "'$target' contains something that is no bundle; name another folder"; fi ;;
  esac
done
name=paceline-$(cat VERSION)-torch-${asked:-$TORCH_VERSION}
name=${name//,/-}
date=$(git log -1 --format=%ct 2> /dev/null || echo 0)
build=build/bundle-${versions[0]}   # of everything; those of other releases are for their plug-ins alone
stage=$build/stage/$name

# configure VERSION: decides which plug-ins are built (is_built).
configure() {
  local build=build/bundle-$1
  torch_release "$1"
  nccl_headers "$TORCH_RELEASE"
  scripts/configure.sh "$build" -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DPACELINE_WERROR="${PACELINE_WERROR:-OFF}" \
    -DPACELINE_BUNDLE=ON -DPACELINE_PLUGIN_TORCH=ON -DPACELINE_TORCH_ROOT="$TORCH_RELEASE" -DPACELINE_ONNXRUNTIME_ROOT="$(cat .deps/onnxruntime_root)" \
    -DPACELINE_OPENVINO_ROOT="$(cat .deps/openvino_root)" -DPACELINE_TENSORRT_ROOT="${TENSORRT_ROOT:-}"
}

# compile VERSION TARGET…: all at once, so that no CPU waits for the last unit of one. Some targets run when they are built, to list their tests.
compile() { LD_LIBRARY_PATH=$TORCH_RELEASE/lib scripts/build.sh "build/bundle-$1" "$(scripts/jobs.sh)" "${@:2}"; }

# is_built NAME [BUILD]
is_built() { grep -q '"not_built_because": ""' "${2:-$build}/lib/paceline/plugins/$1.json"; }

# The first release, with the tool; the tests for GPUs are built against one release.
compile_first() {
  local wanted=(tool)
  configure "${versions[0]}"
  if is_built cuda && [ ${#versions[@]} = 1 ]; then wanted+=(gpu_cuda gpu_cuda_training); fi
  compile "${versions[0]}" "${wanted[@]}"
}

# add_release VERSION: its plug-ins, in a folder of the release, under manifests of that name.
add_release() {
  local plugins=build/bundle-$1/lib/paceline/plugins folder=$stage/lib/paceline/torch-$1 wanted=(paceline_plugin_torch paceline_attached) plugin
  configure "$1"
  if is_built cuda "build/bundle-$1"; then wanted+=(paceline_plugin_cuda); fi
  compile "$1" "${wanted[@]}"
  mkdir -p "$folder/torch_cpu_only"
  strip -o "$stage/lib/paceline/attach/libpaceline_attach_$1.so" "build/bundle-$1/lib/paceline/attach/libpaceline_attach_$1.so"
  strip -o "$folder/torch_cpu_only/libtorch.so" "$plugins/torch_cpu_only/libtorch.so"
  for plugin in torch cuda; do
    if is_built "$plugin" "build/bundle-$1"; then
      strip -o "$folder/libpaceline_$plugin.so" "$plugins/libpaceline_$plugin.so"
      sed 's,"file": ",&../torch-'"$1"'/,' "$plugins/$plugin.json" > "$stage/lib/paceline/plugins/$plugin-$1.json"
    fi
  done
}

# add_attach_library VERSION: what `attach` loads into jobs with one more release; nothing else of it is needed.
add_attach_library() {
  local folder=.deps/attach-torch-$1 build=build/attach-$1
  if ! complete "$folder" "torch==$1"; then
    say "unpacking PyTorch $1 (log: .deps/attach-torch-$1.log)"
    rm -rf "$folder.partial"
    logged "attach-torch-$1" pip_wheels install --python-version "$TORCH_PYTHON" --target "$folder.partial" "torch==$1"
    put_in_place "$folder" "torch==$1"
  fi
  scripts/configure.sh "$build" -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DPACELINE_BUNDLE=ON -DPACELINE_BUILD_TESTS=OFF \
    -DPACELINE_PLUGIN_TORCH=ON -DPACELINE_TORCH_ROOT="$PWD/$folder/torch" -DPACELINE_PLUGIN_CUDA=OFF -DPACELINE_PLUGIN_ONNXRUNTIME=OFF \
    -DPACELINE_PLUGIN_OPENVINO=OFF -DPACELINE_PLUGIN_TENSORRT=OFF
  scripts/build.sh "$build" "$(scripts/jobs.sh)" paceline_attached
  strip -o "$stage/lib/paceline/attach/libpaceline_attach_$1.so" "$build/lib/paceline/attach/libpaceline_attach_$1.so"
  provided+=("$PWD/$folder/torch/lib")
}

# Everything but the libraries of others.
copy() {
  local plugin
  rm -rf "$build/prefix"
  cmake --install "$build" --prefix "$build/prefix" --strip > /dev/null
  mkdir -p "$stage/tests" "$stage/scripts" "$stage/lib/paceline" "$stage/share/paceline"
  cp -R "$build/prefix/bin" "$stage/"
  cp -R "$build/prefix/lib/paceline/"{plugins,attach} "$stage/lib/paceline/"
  cp -R "$build/prefix/share/"{man,bash-completion,zsh,fish} "$stage/share/"
  cp -R "$build/prefix/share/paceline/schemas" share/topologies.yaml share/device_peaks.csv "$stage/share/paceline/"
  for plugin in gpu_cuda gpu_cuda_training; do
    if is_built cuda && [ ${#versions[@]} = 1 ]; then strip -o "$stage/tests/$plugin" "$build/tests/$plugin"; fi
  done
  cp -R tests/cli examples docs tools python notebooks LICENSE CHANGELOG.md "$stage/"
  mv "$stage/cli" "$stage/tests/cli"
  rm -rf "$stage/tools/checks" "$stage/tests/cli/CMakeLists.txt"
  find "$stage" -name __pycache__ -prune -exec rm -rf {} +
  cp "$build"/prefix/share/paceline/scripts/* scripts/bundle/with_pytorch.sh "$stage/scripts/"
  for plugin in scripts/gpu_day*; do [ ! -e "$plugin" ] || cp -R "$plugin" "$stage/scripts/"; done
  cp scripts/bundle/paceline "$stage/"
}

# put TARGET LIMIT_MB: TARGET.partial under its name.
put() {
  local bytes
  bytes=$(stat -c %s "$1.partial")
  [ "$bytes" -le $(($2 * 1000000)) ] || fail "'$1' has $((bytes / 1000000)) MB, more than $2: see $1.partial"
  mv "$1.partial" "$1"
  say "$1: $((bytes / 100000 / 10)).$((bytes / 100000 % 10)) MB, unpacked $(du -sm "$stage" | cut -f1) MB, in $((SECONDS - start)) s"
}

# The same files make the same archive.
pack_archive() {
  tar -C "$(dirname "$stage")" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$date" -cf - "$name" | xz -T0 -9e > "$1.partial"
  put "$1" $LIMIT_MB
}

pack_wheel() {
  python3 scripts/bundle/packages.py wheel "$stage" "$1.partial" "$date"
  put "$1" $WHEEL_LIMIT_MB
}

pack_debian() {
  local work=$build/debian
  rm -rf "$work"
  python3 scripts/bundle/packages.py debian "$stage" "$work/stage"
  STAGE=$PWD/$work/stage VERSION=$(cat VERSION) SOURCE_DATE_EPOCH=$date \
    cpack --config scripts/bundle/debian.cmake -B "$work" > "$work/cpack.log" 2>&1 || { cat "$work/cpack.log" >&2; fail "cpack made no .deb"; }
  mv "$work/package.deb" "$1.partial"
  put "$1" $WHEEL_LIMIT_MB
}

scripts/setup.sh
compile_first
rm -rf "$build/stage"
copy
provided=()
for version in "${versions[@]}"; do
  [ "$version" = "${versions[0]}" ] || add_release "$version"
  torch_release "$version"
  provided+=("$TORCH_RELEASE/lib")
done
if [ ${#versions[@]} -gt 1 ]; then
  IFS=, read -ra attached <<< "$ATTACH_RELEASES"
  for version in "${attached[@]}"; do add_attach_library "$version"; done
fi
python3 scripts/bundle/libraries.py "$stage" "${provided[@]}" "$(cat .deps/openvino_root)/libs"
python3 scripts/bundle/manifests.py "$stage" "$(cat VERSION)" "$(git describe --always --dirty --exclude='*' 2> /dev/null || echo unknown)"
for target in "${targets[@]}"; do
  mkdir -p "$(dirname "$target")"
  case $target in
    *.tar.xz) pack_archive "$target" ;;
    *.whl) pack_wheel "$target" ;;
    *.deb) pack_debian "$target" ;;
    *.spdx.json) python3 scripts/bundle/sbom.py "$stage" "$build" "$target" "$date" ;;
    *) rm -rf "$target"; cp -R "$stage" "$target"; say "$target: $(du -sm "$target" | cut -f1) MB, in $((SECONDS - start)) s" ;;
  esac
done
