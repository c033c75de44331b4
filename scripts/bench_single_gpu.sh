#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: scripts/bench_single_gpu.sh ENGINE [--flag VALUE …]
# Measures one engine on one device: 100 inferences of warm-up, 1000 that are timed. ENGINE is a model file (model.plan, model.onnx), or an
# engine's name (eager, torchscript, onnxruntime …), which runs MODEL (resnet50). Further flags are those of 'paceline infer':
# --batch 32 --iterations 500. DEVICE=cpu measures on the CPU; unset: cuda.
set -euo pipefail
# shellcheck source=scripts/paceline.sh
. "$(dirname -- "$(readlink -f -- "$0")")/paceline.sh"
arguments 1 "$@"
engine_arguments "$1"
shift
paceline infer "${engine[@]}" --device "${DEVICE:-cuda}" --warmup 100 --iterations 1000 "$@"
