#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: scripts/build.sh [BUILD_DIR JOBS TARGET…]
# Without arguments: installs what is missing and builds the tool and its plug-ins (make tool) into build/release. With arguments: these
# targets of a build folder that is configured; quiet on success, and on failure the compiler's words.
set -euo pipefail
cd "$(dirname -- "$(readlink -f -- "$0")")/.."
case $#:${1:-} in
  0:) exec make --no-print-directory tool ;;
  *:-h | *:--help) sed -n '3,/^[^#]/ s/^# \{0,1\}//p' scripts/build.sh; exit 0 ;;
  1:* | 2:*) sed -n 's/^# \(usage: \)/\1/p' scripts/build.sh >&2; exit 2 ;;
esac
build=$1 jobs=$2
shift 2
start=$SECONDS
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$PWD}
if [ -t 1 ]; then
  cmake --build "$build" -j "$jobs" --target "$@"   # ninja shows one changing line
  exit
fi
echo "building $build: $* ($jobs jobs, log: $build/build.log)"
if ! cmake --build "$build" -j "$jobs" --target "$@" > "$build/build.log" 2>&1; then
  echo "building failed; what the compiler said ($build/build.log):" >&2
  grep -v '^\[[0-9]*/[0-9]*\] \(Building\|Linking\|Generating\)' "$build/build.log" | tail -n 60 >&2
  exit 1
fi
echo "built in $((SECONDS - start)) s"
