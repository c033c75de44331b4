#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: scripts/site.sh [FOLDER]
# Builds the pages of docs/ and of the root as a site, in build/site unless given. A link or an anchor that leads nowhere is an error.
set -euo pipefail
case ${1:-} in
  -h | --help) sed -n '3,4s/^# //p' "$0"; exit 0 ;;
  -*) echo "site: unknown option '$1'; usage: scripts/site.sh [FOLDER]" >&2; exit 2 ;;
esac
target=$(realpath -m -- "${1:-$(dirname "$0")/../build/site}")
cd "$(dirname "$0")/.."
. scripts/versions.sh
SPEAKER=site
. scripts/wheels.sh

mkdir -p .deps
if ! complete .deps/site "$SITE_WHEELS"; then
  python3 -m pip --version > /dev/null 2>&1 || fail "python3 has no pip; install it (Debian: python3-pip), or run scripts/setup.sh"
  say "unpacking MkDocs (40 MB, log: .deps/site.log)"
  rm -rf .deps/site.partial
  # shellcheck disable=SC2086
  logged site python3 -m pip --disable-pip-version-check --no-input install --no-cache-dir --no-deps --no-compile --only-binary=:all: \
    --target .deps/site.partial $SITE_WHEELS
  put_in_place .deps/site "$SITE_WHEELS"
fi
# Not --quiet, which would let warnings pass.
logged site-pages env PYTHONPATH="$PWD/.deps/site" NO_MKDOCS_2_WARNING=1 PYTHONDONTWRITEBYTECODE=1 python3 -m mkdocs build --strict --site-dir "$target"
say "$target/index.html"
