#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: scripts/export_onnx_resnet50.sh [FILE.onnx [--flag VALUE …]]
# Writes ResNet-50 with an open batch as ONNX, into resnet50.onnx unless another file is named. Further flags are those of
# 'paceline export': --weights resnet50.safetensors --precision fp16.
set -euo pipefail
# shellcheck source=scripts/paceline.sh
. "$(dirname -- "$(readlink -f -- "$0")")/paceline.sh"
arguments 0 "$@"
file=resnet50.onnx
case ${1:-} in '' | -*) ;; *) file=$1; shift ;; esac
paceline export --model resnet50 --dynamic-batch --output "$file" "$@"
