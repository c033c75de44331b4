#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: scripts/with_pytorch.sh [--if-found] COMMAND [ARGUMENT…]
# Runs a command with the PyTorch, the ONNX Runtime and the OpenVINO of this machine; part of a bundle. The first place that holds one
# counts: PACELINE_TORCH_ROOT, ONNXRUNTIME_ROOT, OPENVINO_ROOT (folders; `none` runs without), the active environment, python3. None of
# them is started. --if-found: the command also runs without a PyTorch that it goes with.
root=$(dirname -- "$(dirname -- "$(readlink -f -- "$0")")")
if_found=0
if [ "${1:-}" = --if-found ]; then if_found=1; shift; fi
# say MESSAGE: names of variables may contain control characters, which a terminal would obey.
say() {
  text=$(printf '%s\n' "$1" | LC_ALL=C sed -e ':a' -e '$!{N;ba' -e '}' -e 's/[\x01-\x1f\x7f]\|\xc2[\x80-\x9f]\|\xe2\x80[\xa8-\xae]\|\xe2\x81[\xa6-\xa9]/?/g')
  printf 'paceline: %s\n' "$text" >&2
}

if [ $# -eq 0 ]; then
  echo "usage: scripts/with_pytorch.sh [--if-found] COMMAND [ARGUMENT...]" >&2
  exit 2
fi
releases=$(sed -n 's/^ *"torch": \[\(.*\)\].*/\1/p' "$root/bundle.json" | tr -d '",')   # "2.15.0 2.11.0"
unset PACELINE_TORCH_VERSION PACELINE_ONNXRUNTIME_VERSION PACELINE_OPENVINO_VERSION   # of a launcher around this one
torch=${PACELINE_TORCH_ROOT:-}
onnxruntime=${ONNXRUNTIME_ROOT:-}
openvino=${OPENVINO_ROOT:-}

locate='import importlib.util, sys
sys.path = [folder for folder in sys.path if folder]
for name in ("torch", "onnxruntime", "openvino"):
    spec = importlib.util.find_spec(name)
    print(next(iter(spec.submodule_search_locations or ()), "") if spec else "")'

# find_libraries PYTHON…: those that are not set, each of the first interpreter that has it; PACELINE_PYTHON is PyTorch's.
find_libraries() {
  for python in "$@"; do
    if [ -n "$torch" ] && [ -n "$onnxruntime" ] && [ -n "$openvino" ]; then return; fi
    found=$("$python" -c "$locate" 2> /dev/null)
    if [ -z "$torch" ]; then
      torch=$(printf '%s\n' "$found" | sed -n 1p)
      [ -z "$torch" ] || export PACELINE_PYTHON="$python"
    fi
    [ -n "$onnxruntime" ] || onnxruntime=$(printf '%s\n' "$found" | sed -n 2p)
    [ -n "$openvino" ] || openvino=$(printf '%s\n' "$found" | sed -n 3p)
  done
}

# beginning_of FILE: its first 64 KiB, if it is a regular file: a pipe would wait for a writer, and a device has no end.
beginning_of() {
  if [ -f "$1" ]; then head -c 65536 -- "$1"; fi
}

# "2.11.0" out of version.py of a wheel, or of build-version of LibTorch's own archive.
version_of() {
  {
    beginning_of "$1/version.py" | sed -n "s/^__version__ = '\([^'+]*\).*/\1/p"
    beginning_of "$1/build-version" | sed 's/+.*//'
  } 2> /dev/null | head -n 1
}

# check_torch: sets problem and code where the PyTorch that was found is none to run with.
check_torch() {
  install="install it (python3 -m pip install torch==${releases%% *}), activate its environment, or set PACELINE_TORCH_ROOT to its folder 'torch'"
  problem=
  if [ -z "$torch" ]; then
    problem="this bundle runs with PyTorch $releases, and neither the active environment nor python3 has a PyTorch: $install" code=77
  elif [ ! -f "$torch/lib/libtorch_cpu.so" ]; then
    problem="'$torch' is no PyTorch (it contains no lib/libtorch_cpu.so): $install" code=2
  else
    export PACELINE_TORCH_VERSION="$(version_of "$torch")"
    case " $releases " in
      *" ${PACELINE_TORCH_VERSION:-unknown} "*) return ;;
    esac
    PACELINE_TORCH_VERSION=${PACELINE_TORCH_VERSION:-of an unknown version}
    problem="this bundle runs with PyTorch $releases, and '$torch' is $PACELINE_TORCH_VERSION: take the bundle for that one, or $install" code=77
  fi
}

# add FOLDER…: those that are there go behind the search path of shared libraries.
path=
add() {
  for folder in "$@"; do
    if [ -d "$folder" ]; then path=$path${path:+:}$folder; fi
  done
}

# Its own CUDA, in the folders beside it, comes before CUDA_HOME and NCCL_ROOT.
use_torch() {
  torch=$(cd -- "$torch" && pwd)
  export PACELINE_TORCH_ROOT="$torch"
  add "$torch/lib" "$(dirname -- "$torch")"/nvidia/*/lib
}

# Its plug-in opens the library by ONNXRUNTIME_ROOT.
use_onnxruntime() {
  export ONNXRUNTIME_ROOT="$onnxruntime" PACELINE_ONNXRUNTIME_VERSION=unknown
  for file in "$onnxruntime"/capi/libonnxruntime.so.1.* "$onnxruntime"/lib/libonnxruntime.so.1.*; do
    if [ -f "$file" ]; then PACELINE_ONNXRUNTIME_VERSION=${file##*libonnxruntime.so.}; fi
  done
  case $path in
    */nvidia/*) ;;
    *) add "$(dirname -- "$onnxruntime")"/nvidia/*/lib ;;
  esac
}

# libopenvino.so.2641 is of release 2026.4.1.
use_openvino() {
  export OPENVINO_ROOT="$openvino" PACELINE_OPENVINO_VERSION=unknown
  for file in "$openvino"/libs/libopenvino.so.* "$openvino"/lib/libopenvino.so.* "$openvino"/runtime/lib/intel64/libopenvino.so.*; do
    number=${file##*libopenvino.so.}
    case $number in
      [0-9][0-9][0-9][0-9])
        openvino_libraries=$(dirname -- "$file")
        PACELINE_OPENVINO_VERSION=$(echo "$number" | sed 's/\(..\)\(.\)\(.\)/20\1.\2.\3/') ;;
    esac
  done
}

wanted=$torch
find_libraries ${VIRTUAL_ENV:+"$VIRTUAL_ENV/bin/python3"} ${CONDA_PREFIX:+"$CONDA_PREFIX/bin/python3"} python3
if [ "$torch" != none ]; then
  check_torch
  if [ -z "$problem" ]; then
    use_torch
  elif [ $if_found = 0 ] || { [ -n "$wanted" ] && [ "$code" = 2 ]; }; then
    say "$problem"
    exit $code
  fi
fi
openvino_libraries=
case $onnxruntime in none) unset ONNXRUNTIME_ROOT ;; ?*) use_onnxruntime ;; esac
case $openvino in none) unset OPENVINO_ROOT ;; ?*) use_openvino ;; esac
add ${CUDA_HOME:+"$CUDA_HOME/lib64"} ${NCCL_ROOT:+"$NCCL_ROOT/lib"} ${openvino_libraries:+"$openvino_libraries"}
case $path:${LD_LIBRARY_PATH:-} in
  :* | "$path:$path" | "$path:$path":*) ;;
  *) export LD_LIBRARY_PATH="$path${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" ;;
esac
export PACELINE_BIN="$root/paceline" PACELINE_PLUGINS="$root/lib/paceline/plugins"
export PACELINE_LAUNCHER="${PACELINE_LAUNCHER:-$PACELINE_BIN}"   # what --hosts starts on other hosts
exec "$@"
