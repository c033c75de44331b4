#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what Paceline builds with: Debian packages that are missing; LibTorch, ONNX Runtime and OpenVINO into .deps/.
# Written for Debian 12 (tested) and Ubuntu 22.04 and 24.04 (untested). A second run takes under a second.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/versions.sh
SPEAKER=setup
. scripts/wheels.sh

usage() {
  cat <<'TEXT'
usage: scripts/setup.sh [--core] [--checks]
  --core    without LibTorch, ONNX Runtime, OpenVINO: the tool builds, but has no engine
  --checks  also what only .ci/run needs: clang, clang-format, clang-tidy, Chromium, jsonschema, OpenCV, Python of the engines and of the notebook, Open MPI,
            Slurm
environment: PACELINE_TORCH_ROOT=DIR  use this PyTorch (contains include/ and lib/); so does an active virtual environment with torch
             ONNXRUNTIME_ROOT=DIR     use this ONNX Runtime (contains include/ and lib/)
             OPENVINO_ROOT=DIR        use this OpenVINO: the folder of its wheel, or of its archive
             CUDA_HOME=DIR            the CUDA toolkit with the headers for the CUDA plug-in
             NCCL_ROOT=DIR            the NCCL with the header for that plug-in, of the release that PyTorch names
             TENSORRT_ROOT=DIR        the TensorRT with the headers for its plug-in and the library to open
TEXT
}

core=0 checks=0
for argument in "$@"; do
  case $argument in
    --core) core=1 ;;
    --checks) checks=1 ;;
    -h | --help) usage; exit 0 ;;
    *) echo "setup: unknown argument '$argument'" >&2; usage >&2; exit 2 ;;
  esac
done

packages=(g++ cmake ninja-build ccache pkg-config libfmt-dev nlohmann-json3-dev libyaml-cpp-dev
  libboost-dev libncurses-dev prometheus-cpp-dev libsqlite3-dev libzip-dev zlib1g-dev libarchive-dev libssl-dev libstb-dev libonnx-dev xz-utils
  libprotobuf-dev protobuf-compiler libgtest-dev libgmock-dev)
check_packages=(clang-format clang-tidy-19 clang-14 libclang-rt-14-dev chromium python3-jsonschema libopencv-dnn-dev
  openmpi-bin slurm-wlm munge iproute2 prometheus)

missing_packages() {
  local package
  for package in "${packages[@]}"; do
    case $(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2> /dev/null) in ii*) ;; *) echo "$package" ;; esac
  done
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

install_packages() {
  local missing
  [ $checks = 0 ] || packages+=("${check_packages[@]}")
  python3 -m pip --version > /dev/null 2>&1 || packages+=(python3-pip)
  if ! command -v dpkg-query > /dev/null || ! command -v apt-get > /dev/null; then
    say "not a Debian or Ubuntu; assuming that these are installed: ${packages[*]}"
    return
  fi
  mapfile -t missing < <(missing_packages)
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" != 0 ] && ! command -v sudo > /dev/null; then
    fail "missing packages, and neither root nor sudo to install them. As root, run:
  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
  fi
  say "installing ${#missing[@]} packages with apt (log: .deps/apt.log): ${missing[*]}"
  as_root apt-get update -q > .deps/apt-update.log 2>&1 || say "'apt-get update' had errors (.deps/apt-update.log); trying to install all the same"
  logged apt as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
    -o DPkg::Lock::Timeout=120 "${missing[@]}"
}

# The PyTorch that is there already; prints nothing when there is none.
existing_torch() {
  local candidate
  if [ -n "${PACELINE_TORCH_ROOT:-}" ]; then
    is_torch "$PACELINE_TORCH_ROOT" || fail "PACELINE_TORCH_ROOT='$PACELINE_TORCH_ROOT' has no include/ATen/ATen.h and lib/libtorch_cpu.so; \
point it at the 'torch' folder of a PyTorch, or unset it"
    realpath "$PACELINE_TORCH_ROOT"
    return
  fi
  for candidate in ${VIRTUAL_ENV:+"$VIRTUAL_ENV"/lib/python3*/site-packages/torch}; do
    if is_torch "$candidate"; then realpath "$candidate"; return; fi
  done
}

unpack_torch() {
  complete .deps/torch "$TORCH_WHEELS" && return
  say "unpacking LibTorch (1.3 GB, log: .deps/torch.log): $TORCH_WHEELS"
  rm -rf .deps/torch.partial
  # shellcheck disable=SC2086
  logged torch pip_wheels install --python-version "$TORCH_PYTHON" --target .deps/torch.partial $TORCH_WHEELS
  is_torch .deps/torch.partial/torch || fail "the wheels contain no LibTorch; see .deps/torch.log"
  put_in_place .deps/torch "$TORCH_WHEELS"
}

set_up_torch() {
  local root
  if [ $core = 1 ]; then rm -f .deps/torch_root; return; fi
  root=$(existing_torch)
  if [ -n "$root" ]; then
    [ "$root" = "$(cat .deps/torch_root 2> /dev/null)" ] || say "using the PyTorch in $root"
  else
    unpack_torch
    root=$PWD/.deps/torch/torch
  fi
  echo "$root" > .deps/torch_root
  nccl_headers "$root"
}

# Debian mirrors that apt is set up with; if none has the file, ONNX Runtime is left out, and the tool reports it.
download_headers() {
  local mirror
  # shellcheck disable=SC2016
  for mirror in $(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2> /dev/null | sort -u); do
    /usr/lib/apt/apt-helper download-file "$mirror$ONNXRUNTIME_HEADERS" "$1" "SHA256:$ONNXRUNTIME_HEADERS_SHA256" \
      >> .deps/onnxruntime-headers.log 2>&1 && return
  done
  return 1
}

# An ONNX Runtime as its own archive lays it out: include/ from Debian's package, lib/ from the wheel.
unpack_onnxruntime() {
  local pins="$ONNXRUNTIME_WHEEL $ONNXRUNTIME_HEADERS" folder=.deps/onnxruntime.partial
  complete .deps/onnxruntime "$pins" && return
  say "unpacking ONNX Runtime (70 MB, log: .deps/onnxruntime.log): $ONNXRUNTIME_WHEEL"
  rm -rf $folder
  mkdir -p $folder/lib
  download_headers "$PWD/$folder/headers.deb" || return 1
  # Called in a condition, where bash goes on after a failure: hence the words.
  { dpkg-deb -x $folder/headers.deb $folder/headers && mv $folder/headers/usr/include/onnxruntime $folder/include; } ||
    fail "cannot unpack ONNX Runtime's headers into $folder"
  rm -r $folder/headers $folder/headers.deb
  logged onnxruntime pip_wheels install --target $folder/wheel "$ONNXRUNTIME_WHEEL"
  (cd $folder/lib && ln -s ../wheel/onnxruntime/capi/libonnxruntime.so.1.* libonnxruntime.so.1)
  put_in_place .deps/onnxruntime "$pins"
}

unpack_openvino() {
  complete .deps/openvino "$OPENVINO_WHEEL" && return
  say "unpacking OpenVINO (180 MB, log: .deps/openvino.log): $OPENVINO_WHEEL"
  rm -rf .deps/openvino.partial
  logged openvino pip_wheels install --target .deps/openvino.partial "$OPENVINO_WHEEL"
  put_in_place .deps/openvino "$OPENVINO_WHEEL"
}

# set_up_engine NAME ROOT_OF_THE_USER UNPACKED: leaves the folder to build with in .deps/NAME_root, empty for none.
set_up_engine() {
  local name=$1 root=$2
  if [ $core = 1 ]; then rm -f ".deps/${name}_root"; return; fi
  if [ -n "$root" ]; then
    [ -d "$root" ] || fail "$name: there is no folder '$root'; correct the variable, or unset it"
  elif "unpack_$name"; then
    root=$PWD/$3
  else
    say "without engine $name: its headers are on none of this machine's mirrors (.deps/onnxruntime-headers.log); ONNXRUNTIME_ROOT=DIR names an ONNX Runtime that is there already"
  fi
  echo "$root" > ".deps/${name}_root"
}

# Where an interpreter has no such wheels the checks that need them are skipped.
set_up_check_packages() {
  [ $checks = 1 ] && [ $core = 0 ] || return 0
  complete .deps/python "$CHECK_WHEELS" && return
  say "unpacking Python packages for checks (400 MB, log: .deps/python.log)"
  rm -rf .deps/python.partial
  # shellcheck disable=SC2086
  if python3 -m pip --disable-pip-version-check --no-input install --no-cache-dir --no-deps --only-binary=:all: \
    --target .deps/python.partial $CHECK_WHEELS > .deps/python.log 2>&1; then
    put_in_place .deps/python "$CHECK_WHEELS"
  else
    say "without them: this python3 has no such wheels (.deps/python.log); a few checks will be skipped"
  fi
}

# Without them the notebook's test is skipped, with a message.
set_up_notebook() {
  [ $checks = 1 ] || return 0
  complete .deps/notebook "$NOTEBOOK_WHEELS" && return
  say "unpacking Python packages for the notebook (360 MB, log: .deps/notebook.log)"
  rm -rf .deps/notebook.partial
  # shellcheck disable=SC2086
  if python3 -m pip --disable-pip-version-check --no-input install --no-cache-dir --no-deps --only-binary=:all: \
    --target .deps/notebook.partial $NOTEBOOK_WHEELS > .deps/notebook.log 2>&1; then
    put_in_place .deps/notebook "$NOTEBOOK_WHEELS"
  else
    say "without them: this python3 has no such wheels (.deps/notebook.log); the notebook's test will be skipped"
  fi
}

# PyTorch's wheel links CUDA libraries that torchrun never calls: empty ones of their names will do. Python must then leave
# missing functions unresolved.
make_torchrun() {
  local folder=$1 name
  mkdir -p "$folder/stubs"
  for name in libcudnn.so.9 libcufile.so.0 libcusparse.so.12 libcufft.so.12 libcusparseLt.so.0 libnccl.so.2 libcublas.so.13 \
    libcublasLt.so.13 libnvrtc.so.13 libcusolver.so.12; do
    echo | gcc -shared -x c - -o "$folder/stubs/$name" -Wl,-soname,$name || return 1
  done
  echo 'NVSHMEM { global: *; };' > "$folder/nvshmem.map"   # the one variable among the functions
  echo 'int nvshmem_selected_device_transport; void nvshmem_init(void) {}' | gcc -shared -fPIC -x c - \
    -o "$folder/stubs/libnvshmem_host.so.3" -Wl,-soname,libnvshmem_host.so.3 -Wl,--version-script="$folder/nvshmem.map" || return 1
  cat > "$folder/torchrun" <<'TEXT'
#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
export PYTHONPATH="$here/../torch:$here/python" LD_LIBRARY_PATH="$here/stubs"
exec python3 -c 'import os, sys; sys.setdlopenflags(os.RTLD_LAZY); from torch.distributed.run import main; main()' "$@"
TEXT
  chmod +x "$folder/torchrun"
}

# For tests of launchers; without it they are skipped, with a message.
set_up_torchrun() {
  [ $checks = 1 ] && [ $core = 0 ] && [ -d .deps/torch ] || return 0
  complete .deps/torchrun "$TORCHRUN_WHEELS" && return
  rm -rf .deps/torchrun.partial
  # shellcheck disable=SC2086
  if python3 -m pip --disable-pip-version-check --no-input install --no-cache-dir --no-deps --target .deps/torchrun.partial/python \
    $TORCHRUN_WHEELS > .deps/torchrun.log 2>&1 && make_torchrun .deps/torchrun.partial &&
    .deps/torchrun.partial/torchrun --help >> .deps/torchrun.log 2>&1; then
    put_in_place .deps/torchrun "$TORCHRUN_WHEELS"
  else
    say "without torchrun: it does not start with this python3 (.deps/torchrun.log); its tests will be skipped"
  fi
}

mkdir -p .deps
exec 9> .deps/lock
flock 9   # two set-ups at once wait for each other
install_packages
set_up_torch
set_up_engine onnxruntime "${ONNXRUNTIME_ROOT:-}" .deps/onnxruntime
set_up_engine openvino "${OPENVINO_ROOT:-}" .deps/openvino/openvino
set_up_check_packages
set_up_notebook
set_up_torchrun
