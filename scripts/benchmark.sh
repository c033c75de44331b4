#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: scripts/benchmark.sh [PLAN.yaml] [--section.key=value …]
# Measures how training of ResNet-50 scales over 1, 2 and 4 ranks, with 128 samples per rank and 5 epochs; or the named plan.
# Further flags are those of 'paceline train', or with a plan of 'paceline run': --precision amp, --gpu_counts=1,2,8.
set -euo pipefail
# shellcheck source=scripts/paceline.sh
. "$(dirname -- "$(readlink -f -- "$0")")/paceline.sh"
arguments 0 "$@"
case ${1:-} in
  '' | -*) paceline train --model resnet50 --ranks 1,2,4 --batch-size 128 --epochs 5 --monitor "$@" ;;
  *) paceline run "$@" ;;
esac
