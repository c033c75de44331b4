#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: WORLD_SIZE=2 scripts/bench_multi_gpu.sh ENGINE [--flag VALUE …]
# Measures one engine on one device and on WORLD_SIZE devices: one process a device, all on one queue of requests. ENGINE and the further
# flags are as for bench_single_gpu.sh. DEVICE=cpu takes processes on the CPU, each with cores of its own; unset: cuda.
set -euo pipefail
# shellcheck source=scripts/paceline.sh
. "$(dirname -- "$(readlink -f -- "$0")")/paceline.sh"
arguments 1 "$@"
engine_arguments "$1"
shift
world=${WORLD_SIZE:-2}
whole_number WORLD_SIZE "$world"
instances=1
[ "$world" = 1 ] || instances=1,$world
unset WORLD_SIZE   # it is torchrun's word too, and these processes are no ranks
paceline infer "${engine[@]}" --device "${DEVICE:-cuda}" --scenario closed_loop --instances "$instances" --warmup 100 --iterations 1000 "$@"
