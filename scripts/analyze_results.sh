#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: scripts/analyze_results.sh [DIR] [FILE.html]
# Prints the newest run below DIR (results) with its findings, and writes its report: FILE.html, or report.html beside the results.
# The same figures in Python, with scaling over ranks: notebooks/analysis.ipynb.
set -euo pipefail
# shellcheck source=scripts/paceline.sh
. "$(dirname -- "$(readlink -f -- "$0")")/paceline.sh"
arguments 0 "$@"
source=${1:-results}
[ -d "$source" ] || refuse 2 "there is no folder '$source'; $(sed -n 's/^# \(usage: \)/\1/p' "$0")"
(paceline report --source "$source" --format text)
paceline report --source "$source" --format html ${2:+--output "$2"}
