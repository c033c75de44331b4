#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long commands take from start to end: fresh processes, interleaved, median with its exact 95 % interval.

usage: tools/startup_times.py --run-dir RUN [--python VENV/bin/python] [--repetitions 20] [--out FILE.md]

RUN is any stored run, for `paceline report`. With --python, `import torch` of that interpreter stands beside.
"""
import argparse
import pathlib
import statistics
import subprocess
import time

from compare_pytorch import RANKS, ROOT


def commands(args):
    rows = {"paceline --version": [args.paceline, "--version"], "paceline --help": [args.paceline, "--help"],
            "paceline run --dry-run quickstart.yaml": [args.paceline, "run", "--dry-run", str(ROOT / "examples/plans/quickstart.yaml")],
            "paceline report --source RUN": [args.paceline, "report", "--source", args.run_dir, "--output", "/dev/null"],
            "paceline validate": [args.paceline, "validate"]}
    if args.python:
        rows["python -c 'import torch'"] = [args.python, "-c", "import torch"]
    return rows


def seconds(command):
    begin = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run-dir", required=True)
    parser.add_argument("--python")
    parser.add_argument("--paceline", default=str(ROOT / "build/release/bin/paceline"))
    parser.add_argument("--repetitions", type=int, default=20, choices=sorted(RANKS))
    parser.add_argument("--out", help="Markdown table")
    args = parser.parse_args()
    times = {name: [] for name in commands(args)}
    for _ in range(args.repetitions):
        for name, command in commands(args).items():
            times[name].append(seconds(command) * 1e3)
    low, high = RANKS[args.repetitions]
    text = "| command | median ms | 95 % interval |\n|---|---|---|\n"
    for name, values in times.items():
        ordered = sorted(values)
        text += f"| `{name}` | {statistics.median(values):.1f} | {ordered[low - 1]:.1f}–{ordered[high - 1]:.1f} |\n"
    print(text, end="")
    if args.out:
        pathlib.Path(args.out).write_text(text)


if __name__ == "__main__":
    main()
