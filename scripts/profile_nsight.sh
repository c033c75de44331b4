#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: scripts/profile_nsight.sh ENGINE [--flag VALUE …]
# Times one engine under Nsight Systems (copies, streams, launches) and under Nsight Compute (occupancy, stalls, tensor cores, DRAM, hit rates
# of L1/TEX and L2, bank conflicts), and prints what both saw: paceline profile --tool. Run directories go to OUT_DIR (results/nsight). ENGINE
# and the further flags are as for bench_single_gpu.sh; of nsys and ncu the ones on PATH or below CUDA_HOME are used. It was never run on a GPU.
set -euo pipefail
# shellcheck source=scripts/paceline.sh
. "$(dirname -- "$(readlink -f -- "$0")")/paceline.sh"
arguments 1 "$@"
engine_arguments "$1"
shift
tool=$(find_paceline) || exit
ran=
for program in nsys ncu; do
  place=$(cuda_program "$program") || continue
  ran=1
  command=("$tool" profile --tool "$program" infer "${engine[@]}" --device "${DEVICE:-cuda}" --output-dir "${OUT_DIR:-results/nsight}" "$@")
  show "${command[@]}"
  PATH=$(dirname -- "$place"):$PATH "${command[@]}"
done
[ "$ran" ] || refuse 77 "neither nsys nor ncu is on PATH or in bin/ below CUDA_HOME; install Nsight Systems or Nsight Compute"
