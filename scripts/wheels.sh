# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Sourced, after versions.sh and in the root of the sources, by what unpacks wheels into .deps/. SPEAKER is said before each message.

say() { echo "$SPEAKER: $*"; }
fail() { say "$*" >&2; exit 1; }

# logged NAME COMMAND…: output goes to .deps/NAME.log; on failure the end of it is shown.
logged() {
  local log=.deps/$1.log
  shift
  if ! "$@" > "$log" 2>&1; then
    say "failed: $*" >&2
    echo "--- end of $log ---" >&2
    tail -n 15 "$log" >&2
    exit 1
  fi
}

# complete FOLDER PINS: was FOLDER unpacked to the end, with these versions?
complete() { [ "$(cat "$1/.pins" 2> /dev/null)" = "$2" ]; }

# put_in_place FOLDER PINS: a folder appears under its final name only when it is whole.
put_in_place() {
  echo "$2" > "$1.partial/.pins"
  rm -rf "$1"
  mv "$1.partial" "$1"
}

pip_wheels() {
  local command=$1
  shift
  python3 -m pip --disable-pip-version-check --no-input "$command" --no-cache-dir --no-deps --only-binary=:all: \
    --python-version "$WHEEL_PYTHON" "$@"   # the last one counts
}

is_torch() { [ -f "$1/include/ATen/ATen.h" ] && [ -f "$1/lib/libtorch_cpu.so" ]; }

# cuda_parts FOLDER: the wheels that libtorch_cpu.so itself loads: versions as torch's metadata says, newest where it names none.
cuda_parts() {
  python3 - "$1" <<'PY'
import pathlib, re, sys
folder = pathlib.Path(sys.argv[1])
text = "".join(p.read_text() for p in folder.glob("torch-*.dist-info/METADATA"))
major = re.search(rb"libcudart\.so\.(\d+)", (folder / "torch/lib/libtorch_cpu.so").read_bytes())
pinned = re.search(r"cuda-toolkit\[[^]]*\]==([\d.]+)", text)
version = ".".join(pinned.group(1).split(".")[:2]) + ".*" if pinned else (major.group(1).decode() + ".*" if major else "")
if version:
    print(f"nvidia-cuda-runtime=={version} nvidia-cuda-cupti=={version}")
PY
}

# torch_release VERSION: unpacks that release unless it is there; TORCH_RELEASE is its torch folder then.
torch_release() {
  local folder=.deps/torch-$1 log=torch-$1 parts
  if [ "$1" = "$TORCH_VERSION" ] && is_torch .deps/torch/torch; then
    TORCH_RELEASE=$PWD/.deps/torch/torch
    return
  fi
  TORCH_RELEASE=$PWD/$folder/torch
  complete "$folder" "torch==$1" && return
  say "unpacking PyTorch $1 (1.3 GB, log: .deps/$log.log)"
  rm -rf "$folder.partial"
  logged "$log" pip_wheels install --python-version "$TORCH_PYTHON" --target "$folder.partial" "torch==$1"
  is_torch "$folder.partial/torch" || fail "the wheel of PyTorch $1 contains no LibTorch; see .deps/$log.log"
  parts=$(cuda_parts "$folder.partial")
  # shellcheck disable=SC2086
  [ -z "$parts" ] || logged "$log-cuda" pip_wheels install --target "$folder.partial" $parts
  put_in_place "$folder" "torch==$1"
}

# The CUDA toolkit that cmake/Cuda.cmake finds too; prints nothing when there is none.
cuda_toolkit() {
  local root
  for root in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda; do
    if [ -n "$root" ] && [ -f "$root/include/cusolverDn.h" ]; then echo "$root"; return; fi
  done
}

# nccl_pin TORCH_FOLDER: "nvidia-nccl-cu13==2.30.7" as its package names it; nothing where it names none.
nccl_pin() { sed -n 's/^Requires-Dist: \(nvidia-nccl-cu[0-9]*==[0-9.]*\).*/\1/p' "$1"/../torch-*.dist-info/METADATA 2> /dev/null | head -n 1; }

# nccl_version FOLDER: "2.28.9" of the nccl.h in it.
nccl_version() {
  awk '/^#define NCCL_(MAJOR|MINOR|PATCH) / {printf "%s%s", dot, $3; dot = "."}' "$1/nccl.h" 2> /dev/null || true
}

extract_headers() {
  python3 - "$1" <<'PY'
import pathlib, sys, zipfile
folder = pathlib.Path(sys.argv[1])
wheel, = folder.glob("*.whl")
with zipfile.ZipFile(wheel) as archive:
    archive.extractall(folder, [n for n in archive.namelist() if n.startswith("nvidia/nccl/include/") or "LICENSE" in n.upper()])
wheel.unlink()
PY
}

# nccl_headers TORCH_FOLDER: the nccl.h that LibTorch was built with, into .deps/nccl-VERSION, where a CUDA toolkit is and nobody has it.
nccl_headers() {
  local toolkit pin version folder
  toolkit=$(cuda_toolkit)
  pin=$(nccl_pin "$1")
  version=${pin#*==}
  [ -n "$toolkit" ] && [ -n "$pin" ] || return 0
  for folder in ${NCCL_ROOT:+"$NCCL_ROOT/include"} "$1/../nvidia/nccl/include" "$toolkit/include"; do
    [ "$(nccl_version "$folder")" != "$version" ] || return 0
  done
  folder=.deps/nccl-$version
  complete "$folder" "$pin" && return
  say "fetching NCCL's headers (a wheel of 200 MB, log: .deps/nccl.log): $pin"
  rm -rf "$folder.partial"
  logged nccl pip_wheels download --dest "$folder.partial" "$pin"
  extract_headers "$folder.partial"
  put_in_place "$folder" "$pin"
}
