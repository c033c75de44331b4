#!/bin/sh
# SPDX-License-Identifier: MIT
# Compile jobs for this machine: one a processor, but 2 GB of available memory each (a file with torch headers needs that).
gigabytes=$(awk '/^MemAvailable:/ {print int($2 / 1048576)}' /proc/meminfo)
by_memory=$((gigabytes / 2))
jobs=$(nproc)
[ "$by_memory" -ge "$jobs" ] || jobs=$by_memory
[ "$jobs" -ge 1 ] || jobs=1
echo "$jobs"
