#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: WORLD_SIZE=2 scripts/bench_multi_gpu.sh ENGINE [--flag VALUE …]
# Measures how one engine scales over devices: on 1, 2, 4 … up to WORLD_SIZE of them, one process per device, all on one queue of
# requests. The report gives the efficiency against one device. Each process has the same number of threads (--threads-per-instance;
# unset: its share of the CPUs), and each number of devices is measured in 6 rounds, the fewest that give an interval. ENGINE and the
# further flags are as for bench_single_gpu.sh. DEVICE=cpu takes processes on the CPU, each with separate cores; unset: cuda.
set -euo pipefail
# shellcheck source=scripts/paceline.sh
. "$(dirname -- "$(readlink -f -- "$0")")/paceline.sh"
arguments 1 "$@"
engine_arguments "$1"
shift
world=${WORLD_SIZE:-2}
whole_number WORLD_SIZE "$world"
numbers=1
for ((devices = 2; devices < world; devices *= 2)); do numbers+=,$devices; done
[ "$world" = 1 ] || numbers+=,$world
share=$(($(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc) / world))
threads=(--threads-per-instance "$((share > 1 ? share : 1))")
for word in "$@"; do
  case $word in --threads-per-instance | --threads-per-instance=*) threads=() ;; esac
done
case ${DEVICE:-cuda} in
  cuda) spread=(--gpus "$numbers") ;;
  *) spread=(--device "$DEVICE" --scenario closed_loop --instances "$numbers" "${threads[@]}") ;;
esac
unset WORLD_SIZE   # it is torchrun's word too, and these processes are no ranks
paceline infer "${engine[@]}" "${spread[@]}" --repetitions 6 --warmup 100 --iterations 1000 "$@"
