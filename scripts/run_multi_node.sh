#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: on each host, with the variables of torchrun's users:
#   NNODES=2 NODE_RANK=0 MASTER_ADDR=node0 [MASTER_PORT=29500] [NPROC_PER_NODE=1] scripts/run_multi_node.sh PLAN.yaml [--section.key=value …]
# One command a host, no scheduler: paceline train with --nnodes, --node-rank, --rdzv-endpoint. NODE_RANK 0 writes the results.
set -euo pipefail
if [ $# -lt 1 ] || [ -z "${NNODES:-}" ] || [ -z "${NODE_RANK:-}" ] || [ -z "${MASTER_ADDR:-}" ]; then
  echo "usage: NNODES=2 NODE_RANK=0 MASTER_ADDR=node0 $0 PLAN.yaml [--section.key=value …]" >&2
  exit 2
fi
plan=$1
shift
exec "${PACELINE:-paceline}" train --config "$plan" --nnodes "$NNODES" --node-rank "$NODE_RANK" \
  --rdzv-endpoint "$MASTER_ADDR:${MASTER_PORT:-29500}" --nproc-per-node "${NPROC_PER_NODE:-1}" "$@"
