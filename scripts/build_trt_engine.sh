#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: scripts/build_trt_engine.sh [MODEL.onnx [FILE.plan]] [--flag VALUE …]
# Builds a TensorRT plan. Without a model: ResNet-50 as examples/engine_config.json says (CONFIG names another file). FILE.plan is MODEL.plan
# unless it is named. Further flags are those of 'paceline build': --precision fp16 --workspace 4GiB.
set -euo pipefail
# shellcheck source=scripts/paceline.sh
. "$(dirname -- "$(readlink -f -- "$0")")/paceline.sh"
arguments 0 "$@"
case ${1:-} in
  '' | -*) paceline build --config "${CONFIG:-$paceline_root/examples/engine_config.json}" "$@" ;;
esac
model=$1 plan=${1%.onnx}.plan
shift
case ${1:-} in '' | -*) ;; *) plan=$1; shift ;; esac
[ -e "$model" ] || refuse 2 "there is no file '$model'; scripts/export_onnx_resnet50.sh writes one"
paceline build --engine tensorrt --onnx "$model" --output "$plan" "$@"
