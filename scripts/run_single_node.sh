#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: scripts/run_single_node.sh N PLAN.yaml [--section.key=value …]
# Trains the plan with N ranks on this machine: paceline train --config PLAN.yaml --ranks N.
set -euo pipefail
# shellcheck source=scripts/paceline.sh
. "$(dirname -- "$(readlink -f -- "$0")")/paceline.sh"
arguments 2 "$@"
ranks=$1 plan=$2
shift 2
whole_number N "$ranks"
paceline train --config "$plan" --ranks "$ranks" "$@"
