#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: scripts/run_single_node.sh N PLAN.yaml [--section.key=value …]
# Trains the plan with N ranks on this machine: paceline train --config PLAN.yaml --ranks N.
set -euo pipefail
if [ $# -lt 2 ]; then
  echo "usage: $0 N PLAN.yaml [--section.key=value …]" >&2
  exit 2
fi
ranks=$1 plan=$2
shift 2
exec "${PACELINE:-paceline}" train --config "$plan" --ranks "$ranks" "$@"
