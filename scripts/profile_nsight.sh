#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: scripts/profile_nsight.sh ENGINE [--flag VALUE …]
# Runs one engine under Nsight Systems (copies, streams, launches) and under Nsight Compute (occupancy, stalls, tensor cores, DRAM, hit rates
# of L1/TEX and L2, bank conflicts), and prints both tables. What they write goes to OUT_DIR (results/nsight). ENGINE and the further flags
# are as for bench_single_gpu.sh; of nsys and ncu the ones on PATH or below CUDA_HOME are used. It was never run on a GPU.
set -euo pipefail
# shellcheck source=scripts/paceline.sh
. "$(dirname -- "$(readlink -f -- "$0")")/paceline.sh"
arguments 1 "$@"
engine_arguments "$1"
shift
out=${OUT_DIR:-results/nsight}
tool=$(find_paceline) || exit
nsys=$(cuda_program nsys) || nsys=
ncu=$(cuda_program ncu) || ncu=
[ -n "$nsys$ncu" ] || refuse 77 "neither nsys nor ncu is on PATH or in bin/ below CUDA_HOME; install Nsight Systems or Nsight Compute"
mkdir -p "$out"
measured=("$tool" infer "${engine[@]}" --device "${DEVICE:-cuda}" --in-process --warmup 10 --iterations 50 --idle-wait-s 0 --allow-noisy "$@")
run() { show "$@"; "$@"; }
if [ -n "$nsys" ]; then
  run "$nsys" profile --trace=cuda,nvtx,cudnn,cublas --force-overwrite=true --output="$out/timeline" "${measured[@]}"
  run "$nsys" stats "$out/timeline.nsys-rep"
fi
if [ -n "$ncu" ]; then
  run "$ncu" --target-processes all --set full --launch-count 300 --force-overwrite --export "$out/kernels" "${measured[@]}"
  run "$ncu" --import "$out/kernels.ncu-rep" --page details
fi
