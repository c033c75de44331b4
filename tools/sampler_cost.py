#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Cost of a sampler: the same case with and without it, fresh processes in turns; the ratio of the medians and the sampler's share of a core.

usage: sampler_cost.py [--pairs 30] [--paceline BINARY] [--with "FLAGS"] [--without "FLAGS"] -- infer --model NAME …
On a GPU, where nvml is on by itself: --without "--sampler none". On a CPU: --with "--plugin build/release/tests/libpaceline_tick.so
--sampler tick --tick.every_ms 100".
"""
import argparse
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

import process_pairs


def measure(command, shares):
    """Nanoseconds of the median of one run; its samplers' shares of a core go to `shares`."""
    with tempfile.TemporaryDirectory(prefix="sampler-cost-") as folder:
        done = subprocess.run([*command, "--repetitions", "1", "--output-dir", folder], capture_output=True, text=True, check=False)
        found = list(pathlib.Path(folder).glob("*/*/run_summary.json"))
        if not found:
            sys.exit(f"sampler_cost: {shlex.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        case, = json.loads(found[0].read_text(encoding="utf-8"))["cases"]
    shares += [one["cpu_share"] for one in case["sampled"] if one["cpu_share"] is not None]
    return case["stats"]["median_ns"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=30, choices=sorted(process_pairs.RANKS))
    parser.add_argument("--paceline", default="build/release/bin/paceline")
    parser.add_argument("--with", dest="on", default="")
    parser.add_argument("--without", dest="off", default="")
    parser.add_argument("case", nargs="+")
    arguments = parser.parse_args()
    shares = {"with": [], "without": []}
    flags = {"with": arguments.on, "without": arguments.off}
    sides = {name: lambda name=name: measure([arguments.paceline, *arguments.case, *shlex.split(flags[name])], shares[name]) for name in flags}
    values = process_pairs.interleave(sides, arguments.pairs, "pair")
    middle, low, high = process_pairs.ratio(values["with"], values["without"])
    share = f"{100 * max(shares['with']):.3f} % of a core at most" if shares["with"] else "no reading"
    print(f"with / without: {middle:.4f} ({low:.4f} to {high:.4f}), {arguments.pairs} pairs; the sampler: {share}")


if __name__ == "__main__":
    main()
