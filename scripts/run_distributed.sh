#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: scripts/run_distributed.sh RANKS BATCH EPOCHS [--flag VALUE …]
# Trains ResNet-50 on synthetic data with RANKS processes on this machine (one GPU per process, where there are GPUs), BATCH samples per rank and step,
# for EPOCHS epochs. Further flags are those of 'paceline train': --model vit_b_16 --lr 0.05 --precision amp.
set -euo pipefail
# shellcheck source=scripts/paceline.sh
. "$(dirname -- "$(readlink -f -- "$0")")/paceline.sh"
arguments 3 "$@"
whole_number RANKS "$1"
whole_number BATCH "$2"
whole_number EPOCHS "$3"
paceline train --ranks "$1" --batch-size "$2" --epochs "$3" "${@:4}"
