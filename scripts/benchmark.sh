#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: scripts/benchmark.sh [PLAN.yaml] [--section.key=value …]
# Measures a plan: how training scales over ranks (examples/plans/train_scaling.yaml) unless another one is named.
# Further flags are those of 'paceline run': --gpu_counts=1,2,4 --models=resnet50.
set -euo pipefail
# shellcheck source=scripts/paceline.sh
. "$(dirname -- "$(readlink -f -- "$0")")/paceline.sh"
arguments 0 "$@"
plan=$paceline_root/examples/plans/train_scaling.yaml
case ${1:-} in '' | -*) ;; *) plan=$1; shift ;; esac
paceline run "$plan" "$@"
