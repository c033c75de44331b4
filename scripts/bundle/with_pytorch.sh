#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: scripts/with_pytorch.sh [--if-found] COMMAND [ARGUMENT…]
# Runs a command with the PyTorch of this machine; part of a bundle. The first place that holds one counts:
# PACELINE_TORCH_ROOT (a folder `torch`; `none` runs without), the active environment, python3. PyTorch itself is not started.
# --if-found: a PyTorch that is missing or of another version is a warning, and the command runs without it.
root=$(dirname -- "$(dirname -- "$(readlink -f -- "$0")")")
if_found=0
if [ "${1:-}" = --if-found ]; then if_found=1; shift; fi
# say MESSAGE: names of variables may hold control characters, which a terminal would obey.
say() {
  text=$(printf '%s\n' "$1" | LC_ALL=C sed -e ':a' -e '$!{N;ba' -e '}' -e 's/[\x01-\x1f\x7f]\|\xc2[\x80-\x9f]\|\xe2\x80[\xa8-\xae]\|\xe2\x81[\xa6-\xa9]/?/g')
  printf 'paceline: %s\n' "$text" >&2
}

if [ $# -eq 0 ]; then
  echo "usage: scripts/with_pytorch.sh [--if-found] COMMAND [ARGUMENT...]" >&2
  exit 2
fi
wanted=$(sed -n 's/^ *"torch": "\([^"]*\)".*/\1/p' "$root/bundle.json")

locate='import importlib.util, sys
sys.path = [folder for folder in sys.path if folder]
spec = importlib.util.find_spec("torch")
print(next(iter(spec.submodule_search_locations or ()), "") if spec else "")'

# find_torch PYTHON…: sets torch and PACELINE_PYTHON to what the first interpreter that has PyTorch says.
find_torch() {
  for python in "$@"; do
    torch=$("$python" -c "$locate" 2> /dev/null)
    if [ -n "$torch" ]; then
      export PACELINE_PYTHON="$python"
      return
    fi
  done
}

# "2.11.0" out of version.py of a wheel, or of build-version of LibTorch's own archive.
version_of() {
  {
    sed -n "s/^__version__ = '\([^'+]*\).*/\1/p" "$1/version.py"
    sed 's/+.*//' "$1/build-version"
  } 2> /dev/null | head -n 1
}

# check_torch: sets problem and code where the PyTorch that was found is none to run with.
check_torch() {
  install="install it (python3 -m pip install torch==$wanted), activate its environment, or set PACELINE_TORCH_ROOT to its folder 'torch'"
  if [ -z "$torch" ]; then
    problem="this bundle runs with PyTorch $wanted, and neither the active environment nor python3 has a PyTorch: $install" code=77
  elif [ ! -f "$torch/lib/libtorch_cpu.so" ]; then
    problem="'$torch' is no PyTorch (it holds no lib/libtorch_cpu.so): $install" code=2
  elif [ "$(version_of "$torch")" != "$wanted" ]; then
    found=$(version_of "$torch")
    problem="this bundle runs with PyTorch $wanted, and '$torch' is ${found:-of an unknown version}: take the bundle for that one, or $install" code=77
  fi
}

# use_torch: the search path of shared libraries. LibTorch's own CUDA, in the folders beside it, comes before CUDA_HOME and NCCL_ROOT.
use_torch() {
  torch=$(cd -- "$torch" && pwd)
  path=$torch/lib
  for folder in "$(dirname -- "$torch")"/nvidia/*/lib ${CUDA_HOME:+"$CUDA_HOME/lib64"} ${NCCL_ROOT:+"$NCCL_ROOT/lib"}; do
    [ ! -d "$folder" ] || path=$path:$folder
  done
  case ${LD_LIBRARY_PATH:-} in
    "$path" | "$path":*) ;;
    *) export LD_LIBRARY_PATH="$path${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" ;;
  esac
  export PACELINE_TORCH_ROOT="$torch"
}

problem=
torch=${PACELINE_TORCH_ROOT:-}
if [ "$torch" != none ]; then
  [ -n "$torch" ] || find_torch ${VIRTUAL_ENV:+"$VIRTUAL_ENV/bin/python3"} ${CONDA_PREFIX:+"$CONDA_PREFIX/bin/python3"} python3
  check_torch
  if [ -z "$problem" ]; then
    use_torch
  elif [ $if_found = 1 ]; then
    say "warning: $problem"
  else
    say "$problem"
    exit $code
  fi
fi
export PACELINE_BIN="$root/paceline" PACELINE_PLUGINS="$root/lib/paceline/plugins"
exec "$@"
