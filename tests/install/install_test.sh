#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: install_test.sh CMAKE_BUILD_DIR SOURCE_DIR WORK_DIR CXX
# Installs into an empty prefix, runs from there, builds examples/plugin against it and loads the result.
set -euo pipefail
build=$1 source=$2 work=$3 cxx=$4
prefix=$work/prefix
rm -rf "$work"
cmake --install "$build" --prefix "$prefix" > /dev/null

expect_file() { [ -f "$prefix/$1" ] || { echo "not installed: $1"; exit 1; }; }
for file in bin/paceline include/paceline/plugin/plugin.h include/paceline/plugin/engine.h include/paceline/base/tensor.h \
  lib/cmake/paceline/paceline-config.cmake lib/paceline/plugins/torch.json lib/paceline/plugins/onnxruntime.json lib/paceline/plugins/openvino.json share/paceline/examples/plugin/naive_engine.cc share/paceline/examples/plugin/opencv_engine.cc share/paceline/examples/engine_config.json share/paceline/scripts/bench_single_gpu.sh \
  share/bash-completion/completions/paceline share/zsh/site-functions/_paceline share/fish/vendor_completions.d/paceline.fish share/man/man1/paceline.1 share/paceline/schemas/plan.schema.json share/paceline/schemas/result.schema.json \
  lib/paceline/attach/sitecustomize.py lib/paceline/attach/paceline_attach.py share/doc/paceline/LICENSE; do
  expect_file "$file"
done

version=$("$prefix/bin/paceline" --version)
case $version in *"$(cat "$source/VERSION")"*) ;; *) echo "the installed tool says '$version'"; exit 1 ;; esac

hook=$("$prefix/bin/paceline" attach --path)
[ "$(realpath "$hook")" = "$(realpath "$prefix/lib/paceline/attach")" ] || { echo "attach names '$hook'"; exit 1; }
if ls "$build"/lib/paceline/plugins/libpaceline_torch.so > /dev/null 2>&1; then
  ls "$hook"/libpaceline_attach_*.so > /dev/null || { echo "not installed: the library of attach"; exit 1; }
fi

said=$(env -u PACELINE "$prefix/share/paceline/scripts/run_distributed.sh" 2 8 1 --dry-run 2>&1)
case $said in *"+ $prefix/bin/paceline train"*resnet50-train-fp32-b8-r2*) ;; *) echo "the installed script says '$said'"; exit 1 ;; esac

for header in "$prefix"/include/paceline/*/*.h; do
  "$cxx" -std=c++20 -fsyntax-only -I "$prefix/include/paceline" -include "$header" -x c++ /dev/null
done

cmake -S "$source/examples/plugin" -B "$work/plugin" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$cxx" \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror" > "$work/configure.log" || { cat "$work/configure.log"; exit 1; }
cmake --build "$work/plugin"
python3 - "$work/plugin/libpaceline_naive.so" <<'PY'
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])   # resolves every symbol, or throws
library.paceline_plugin.restype = ctypes.POINTER(ctypes.c_uint32)
abi = library.paceline_plugin()[0]
assert abi >= 1, abi
print(f"example plug-in loads, ABI version {abi}")
PY
