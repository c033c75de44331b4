#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the slowest steps that ninja wrote down, and the sum of all.

usage: build_times.py [BUILD_DIR [COUNT]]   (build/release, 20; the seconds are of a wall clock: build with -j 1, or nothing else)
"""

import pathlib
import sys


def steps(log):
    """Seconds of each output's latest build."""
    rows = [line.split("\t") for line in log.read_text().splitlines() if not line.startswith("#")]
    return {output: (int(end) - int(start)) / 1000 for start, end, _, output, _ in rows}


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/release")
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    if not (build / ".ninja_log").exists():
        sys.exit(f"build_times: {build} has no .ninja_log; build it with ninja first")
    taken = steps(build / ".ninja_log")
    for output, seconds in sorted(taken.items(), key=lambda step: -step[1])[:count]:
        print(f"{seconds:7.1f} s  {output.replace('CMakeFiles/', '')}")
    print(f"{sum(taken.values()):7.1f} s  all {len(taken)} steps")


if __name__ == "__main__":
    main()
