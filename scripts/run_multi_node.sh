#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: NNODES=2 NODE_RANK=0 MASTER_ADDR=node0 [MASTER_PORT=29500] [NPROC_PER_NODE=1] scripts/run_multi_node.sh PLAN.yaml [--section.key=value …]
# On each host, with the variables of torchrun's users and without a scheduler: paceline train with --nnodes, --node-rank, --rdzv-endpoint.
# NODE_RANK 0 writes the results.
set -euo pipefail
# shellcheck source=scripts/paceline.sh
. "$(dirname -- "$(readlink -f -- "$0")")/paceline.sh"
arguments 1 "$@"
for name in NNODES NODE_RANK MASTER_ADDR; do
  [ -n "${!name:-}" ] || refuse 2 "$name is not set; $(sed -n 's/^# \(usage: \)/\1/p' "$0")"
done
plan=$1
shift
paceline train --config "$plan" --nnodes "$NNODES" --node-rank "$NODE_RANK" \
  --rdzv-endpoint "$MASTER_ADDR:${MASTER_PORT:-29500}" --nproc-per-node "${NPROC_PER_NODE:-1}" "$@"
