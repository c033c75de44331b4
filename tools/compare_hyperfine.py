#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares two commands with `paceline compare --command` and with hyperfine, many times, on a quiet or a restless machine.

usage: tools/compare_hyperfine.py [--rounds 20] [--more 0.05] [--load] [--paceline build/release/bin/paceline]

Both commands are loops of Python; B has 1 + MORE times the iterations of A, beyond the start of Python, which --help of neither tool removes.
The true ratio is that of 60 pairs measured before, on whatever machine this is, without load. `--load` runs two processes that spin for
a random time and sleep for another. Both tools get ten runs of each command per round and take turns in going first.
Prints Markdown rows: how often the slower command is named (and the faster one instead), how often the tool's range contains the true ratio,
and the median of half its width. hyperfine's range is the "± " that it prints, from the standard deviations of both.
"""
import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
SPINNER = """import os, random, time
parent = os.getppid()
while os.getppid() == parent:
    end = time.monotonic() + random.uniform(0.2, 4)
    while time.monotonic() < end: pass
    time.sleep(random.uniform(0.2, 4))"""
ITERATIONS = 2_000_000
RUNS = 10


def command(iterations):
    return f"{sys.executable} -c 'for i in range({iterations}): pass'"


def ours(args, a, b, pairs=RUNS):
    """(estimate, low, high) of B / A, and what it claims: -1 faster, 0 nothing, 1 slower."""
    done = subprocess.run([args.paceline, "compare", "--command", a, b, "--repetitions", str(pairs), "--json", "-q"], capture_output=True, text=True)
    if done.returncode not in (0, 1, 3, 4):
        sys.exit(f"paceline compare: exit {done.returncode}\n{done.stderr}")
    figure = json.loads(done.stdout)["cases"][0]["figures"][0]
    claim = {"REGRESSION": 1, "IMPROVEMENT": -1}.get(figure["verdict"], 0)
    estimate, ci = figure["estimate_ratio"], figure["ci_ratio"]
    return (estimate, *ci) if estimate and ci else None, claim


def theirs(a, b, folder):
    out = folder / "hyperfine.json"
    subprocess.run(["hyperfine", "-N", "-r", str(RUNS), "--style", "none", "--export-json", out, a, b], check=True, capture_output=True)
    one, other = json.loads(out.read_text())["results"]
    ratio = other["mean"] / one["mean"]
    error = ratio * math.hypot(one["stddev"] / one["mean"], other["stddev"] / other["mean"])
    # It always names one as the faster.
    return (ratio, ratio - error, ratio + error), 1 if ratio > 1 else -1


def row(name, results, truth):
    ranges = [r for r, _ in results if r]
    covered = sum(low <= truth <= high for _, low, high in ranges)
    right, wrong = sum(c == 1 for _, c in results), sum(c == -1 for _, c in results)
    half = statistics.median((high - low) / 2 / value for value, low, high in ranges) if ranges else math.nan
    return (f"| {name} | {right} of {len(results)} | {wrong} | {covered} of {len(ranges)} | {half:.1%} |").replace("%", " %")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--more", type=float, default=0.05)
    parser.add_argument("--load", action="store_true")
    parser.add_argument("--paceline", default=ROOT / "build/release/bin/paceline")
    args = parser.parse_args()
    a, b = command(ITERATIONS), command(round(ITERATIONS * (1 + args.more)))
    truth = ours(args, a, b, pairs=60)[0][0]
    spinners = [subprocess.Popen([sys.executable, "-c", SPINNER]) for _ in range(2 if args.load else 0)]
    mine, its = [], []
    try:
        with tempfile.TemporaryDirectory() as folder:
            sides = [lambda: mine.append(ours(args, a, b)), lambda: its.append(theirs(a, b, pathlib.Path(folder)))]
            for turn in range(args.rounds):
                for side in sides if turn % 2 == 0 else reversed(sides):
                    side()
                print(f"{turn + 1}/{args.rounds}: ours {mine[-1]}, hyperfine {its[-1]}", file=sys.stderr, flush=True)
    finally:
        for spinner in spinners:
            spinner.kill()
    beside = "restless neighbours" if args.load else "without load"
    print(f"true ratio {truth:.3f}, {args.rounds} rounds, {beside}")
    print("| tool | names the slower | names the other | range contains the true ratio | half-width |\n|---|---|---|---|---|")
    print(row("`paceline compare`", mine, truth))
    print(row("hyperfine", its, truth))


if __name__ == "__main__":
    main()
