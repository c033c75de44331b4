#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: scripts/gpu_day.sh tests|inference|training|tools|tensorrt|quick [--device cpu|cuda] [--out DIR] [--budget SECONDS]; --help lists the rest
# Runs one stage of the checks and measurements that need a GPU, inside a bundle or a built source tree. It leaves one .tar.gz in DIR and
# prints a table as its last lines. --device cpu is the dry form: every stage, small, without a GPU.
set -euo pipefail
exec python3 "$(dirname "$0")/gpu_day.py" "$@"
