#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: reference_docs.sh PACELINE   docs/reference/ is what `paceline schema` writes today; `make docs` renews it.
set -euo pipefail
cd "$(dirname "$0")/../.."
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
"$1" schema --output "$fresh"
[ -n "$(ls "$fresh")" ] || { echo "'paceline schema' wrote nothing"; exit 1; }
diff -ru docs/reference "$fresh" || { echo "docs/reference/ is out of date: run 'make docs' and commit it"; exit 1; }
