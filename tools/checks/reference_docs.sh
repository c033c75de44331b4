#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: reference_docs.sh PACELINE [--write]   docs/reference/ is what `paceline schema` writes today; `make docs` renews it.
# JSON schemas are kept as digests: `paceline schema` prints them, an installation brings them in share/paceline/schemas.
set -euo pipefail
cd "$(dirname "$0")/../.."
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
"$1" schema --output "$fresh"
(cd "$fresh" && sha256sum -- *.schema.json > schemas.sha256 && rm -- *.schema.json)
[ -s "$fresh/schemas.sha256" ] || { echo "'paceline schema' wrote no schema"; exit 1; }
if [ "${2:-}" = --write ]; then
  rm -rf docs/reference
  cp -r "$fresh" docs/reference
else
  diff -ru docs/reference "$fresh" || { echo "docs/reference/ is out of date: run 'make docs' and commit it"; exit 1; }
fi
