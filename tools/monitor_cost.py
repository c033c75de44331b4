#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Cost of `paceline monitor`: the same case with and without it beside, fresh processes in turns; the ratio of the medians, the
monitor's share of a core, and how late its readings were.

usage: monitor_cost.py [--pairs 30] [--paceline BINARY] -- infer --model NAME …
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import process_pairs


def median_ns(command):
    with tempfile.TemporaryDirectory(prefix="monitor-cost-") as folder:
        done = subprocess.run([*command, "--repetitions", "1", "--output-dir", folder], capture_output=True, text=True, check=False)
        found = list(pathlib.Path(folder).glob("*/*/run_summary.json"))
        if not found:
            sys.exit(f"monitor_cost: {' '.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        case, = json.loads(found[0].read_text(encoding="utf-8"))["cases"]
    return case["stats"]["median_ns"]


def beside_the_monitor(paceline, command, shares, late_ms):
    """The median with a monitor at 1 Hz that serves; its share of a core and the lateness of its readings go to the lists."""
    with tempfile.TemporaryDirectory(prefix="monitor-cost-") as folder:
        record = pathlib.Path(folder) / "m.jsonl"
        with subprocess.Popen([paceline, "monitor", "--serve", "127.0.0.1:0", "--record", record, "--quiet"]) as monitor:
            try:
                median = median_ns(command)
            finally:
                monitor.terminate()
                monitor.wait()
        readings = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()[1:]]
    steady = [r["steady_ns"] for r in readings]
    spent = [r["families"]["paceline_monitor_cpu_seconds_total"][0]["value"] for r in readings]
    if len(readings) > 1:
        shares.append((spent[-1] - spent[0]) / (steady[-1] - steady[0]) * 1e9)
        late_ms += [(ns - steady[0] - i * 1e9) / 1e6 for i, ns in enumerate(steady)]
    return median


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=30, choices=sorted(process_pairs.RANKS))
    parser.add_argument("--paceline", default="build/release/bin/paceline")
    parser.add_argument("case", nargs="+")
    arguments = parser.parse_args()
    command = [arguments.paceline, *arguments.case]
    shares, late_ms = [], []
    sides = {"with": lambda: beside_the_monitor(arguments.paceline, command, shares, late_ms), "without": lambda: median_ns(command)}
    values = process_pairs.interleave(sides, arguments.pairs, "pair")
    middle, low, high = process_pairs.ratio(values["with"], values["without"])
    late_ms.sort()
    print(f"with / without: {middle:.4f} ({low:.4f} to {high:.4f}), {arguments.pairs} pairs; the monitor: {100 * sum(shares) / len(shares):.3f} % of a core, "
          f"{100 * max(shares):.3f} % at most; {len(late_ms)} readings, late by {late_ms[len(late_ms) // 2]:.2f} ms at the median, {late_ms[-1]:.2f} ms at most")


if __name__ == "__main__":
    main()
