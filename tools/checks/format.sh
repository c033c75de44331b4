#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: format.sh [--fix]   Exit 77 (skipped) without clang-format 14: other versions format differently.
set -euo pipefail
cd "$(dirname "$0")/../.."
formatter=""
for candidate in clang-format-14 clang-format; do
  if command -v "$candidate" > /dev/null && "$candidate" --version | grep -q 'version 14\.'; then
    formatter=$candidate
    break
  fi
done
[ -n "$formatter" ] || { echo "format: skipped, no clang-format 14 (scripts/setup.sh --checks installs it)"; exit 77; }
mode=(--dry-run -Werror)
[ "${1:-}" != --fix ] || mode=(-i)
git ls-files -z --cached --others --exclude-standard '*.h' '*.cc' '*.cu' | xargs -0 -r -n 40 -P 2 "$formatter" "${mode[@]}"
