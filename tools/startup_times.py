#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long commands take from start to end: fresh processes, interleaved, median with its exact 95 % interval.

usage: tools/startup_times.py [--run-dir RUN] [--python VENV/bin/python] [--repetitions 20] [--out FILE.md]

RUN is any stored run, for `paceline report`. With --python, `import torch` of that interpreter is shown beside them. The last line is the ratio of a
short `paceline infer` to the same whose workers run the static destructors of their libraries.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

from process_pairs import RANKS, order_statistics, ratio
from rank_pairs import ROOT

SHORT = "paceline infer --model tiny_cnn --iterations 3"
DESTRUCTORS = "PACELINE_STATIC_DESTRUCTORS=1 " + SHORT


def commands(args, folder):
    """{name: (command, what its environment has besides)}"""
    short = [args.paceline, "infer", "--model", "tiny_cnn", "--device", "cpu", "--iterations", "3", "--threads", "1", "--warmup", "1", "--idle-wait-s", "0",
             "--no-measure-peak", "--allow-noisy", "-q", "--output-dir", folder]
    rows = {"paceline --version": ([args.paceline, "--version"], {}), "paceline --help": ([args.paceline, "--help"], {}),
            "paceline run --dry-run quickstart.yaml": ([args.paceline, "run", "--dry-run", str(ROOT / "examples/plans/quickstart.yaml")], {}),
            "paceline validate": ([args.paceline, "validate"], {}), SHORT: (short, {}), DESTRUCTORS: (short, {"PACELINE_STATIC_DESTRUCTORS": "1"})}
    if args.run_dir:
        rows["paceline report --source RUN"] = ([args.paceline, "report", "--source", args.run_dir, "--output", "/dev/null"], {})
    if args.python:
        rows["python -c 'import torch'"] = ([args.python, "-c", "import torch"], {})
    return rows


def milliseconds(command, more):
    begin = time.perf_counter()
    subprocess.run(command, env={**os.environ, **more}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=command[1] == "infer")
    return (time.perf_counter() - begin) * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run-dir")
    parser.add_argument("--python")
    parser.add_argument("--paceline", default=str(ROOT / "build/release/bin/paceline"))
    parser.add_argument("--repetitions", type=int, default=20, choices=sorted(RANKS))
    parser.add_argument("--out", help="Markdown table")
    args = parser.parse_args()
    for option, program in (("--paceline", args.paceline), ("--python", args.python)):
        if program and not shutil.which(program):
            parser.error(f"{option} '{program}' is no program that can be started")
    with tempfile.TemporaryDirectory() as folder:
        rows = commands(args, folder)
        times = {name: [] for name in rows}
        for turn in range(args.repetitions):  # every other turn runs backwards
            for name, (command, more) in list(rows.items())[::-1 if turn % 2 else 1]:
                times[name].append(milliseconds(command, more))
    text = "| command | median ms | 95 % interval |\n|---|---|---|\n"
    for name, values in times.items():
        middle, low, high = order_statistics(values)
        text += f"| `{name}` | {middle:.1f} | {low:.1f}–{high:.1f} |\n"
    middle, low, high = ratio(times[SHORT], times[DESTRUCTORS])
    text += f"\nWithout static destructors to with them: {middle:.3f} ({low:.3f}–{high:.3f})\n"
    print(text, end="")
    if args.out:
        pathlib.Path(args.out).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
