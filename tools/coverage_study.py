#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do our intervals have the coverage that they claim? Fresh processes of one case, claimed against observed coverage.

usage: tools/coverage_study.py processes RUN_DIR [--svg FILE]   from one run with many repetitions (40 or more) of each case
       tools/coverage_study.py speedups PARENT_DIR [--only-experiment NAME]   from many runs of one small plan

processes: for k = 6, 8, 10, 12, 16 processes and several claimed confidences, computes the order-statistic interval of k
per-process medians and counts how often it holds the median of all R: over every k consecutive processes (as a real run
takes them, so that slow changes of the machine show) and over random draws with replacement. The claimed coverage is the
exact binomial one of the ranks used.
speedups: for each case with a baseline, the median ratio over all runs, and in how many runs the interval held it.
"""
import argparse
import json
import math
import pathlib
import random
import statistics


def binomial_cdf(n, k):
    return sum(math.comb(n, i) for i in range(k + 1)) / 2 ** n


def ranks(n, alpha):
    """Largest l with P(Bin(n, 1/2) <= l - 1) <= alpha / 2; the interval is [x_(l), x_(n + 1 - l)]. 0: none."""
    best = 0
    while best < n // 2 and binomial_cdf(n, best) <= alpha / 2:
        best += 1
    return best


def coverage_rows(medians, draws, seed):
    truth = statistics.median(medians)
    rng = random.Random(seed)
    rows = []
    for k in (6, 8, 10, 12, 16):
        if k * 2 > len(medians):
            continue
        windows = [medians[i:i + k] for i in range(len(medians) - k + 1)]
        for rank in sorted({ranks(k, alpha) for alpha in (0.5, 0.3, 0.2, 0.1, 0.05)} - {0}, reverse=True):

            def holds(sample):
                x = sorted(sample)
                return x[rank - 1] <= truth <= x[k - rank]

            rows.append({"k": k, "claimed": 1 - 2 * binomial_cdf(k, rank - 1),
                         "consecutive": statistics.mean(holds(w) for w in windows),
                         "random": statistics.mean(holds(rng.choices(medians, k=k)) for _ in range(draws))})
    return rows


def load_medians(run_dir):
    run = json.loads((pathlib.Path(run_dir) / "run_summary.json").read_text())
    cases = {}
    for case in run["cases"]:
        medians = [r["p50_ns"] for r in case["repetitions"] if r["p50_ns"]]
        if len(medians) >= 12:
            cases[case["label"]] = medians
    return cases


def svg(rows_of, path):
    """Claimed against observed coverage; the diagonal is what is promised."""
    def point(c, o):
        return 60 + 400 * c, 440 - 400 * o

    colours = ["#1f5fae", "#c2571a", "#238b45", "#7b4397"]
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 500" font-family="sans-serif" font-size="13">',
             '<rect width="860" height="500" fill="white"/>']
    for tick in (0, 0.2, 0.4, 0.6, 0.8, 1.0):
        x, y = point(tick, tick)
        parts.append(f'<line x1="{x}" y1="40" x2="{x}" y2="440" stroke="#ddd"/><line x1="60" y1="{y}" x2="460" y2="{y}" stroke="#ddd"/>'
                     f'<text x="{x}" y="458" text-anchor="middle">{tick:.1f}</text><text x="52" y="{y + 4}" text-anchor="end">{tick:.1f}</text>')
    (x1, y1), (x2, y2) = point(0, 0), point(1, 1)
    parts.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#555" stroke-dasharray="5 4"/>')
    for i, (label, rows) in enumerate(rows_of.items()):
        colour = colours[i % len(colours)]
        for r in rows:
            x, y = point(r["claimed"], r["consecutive"])
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}" fill-opacity="0.8"/>')
            x, y = point(r["claimed"], r["random"])
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="none" stroke="{colour}"/>')
        parts.append(f'<circle cx="480" cy="{60 + 44 * i}" r="5" fill="{colour}"/><text x="492" y="{64 + 44 * i}">{label}, consecutive</text>'
                     f'<circle cx="480" cy="{82 + 44 * i}" r="5" fill="none" stroke="{colour}"/><text x="492" y="{86 + 44 * i}">random draws</text>')
    parts.append('<text x="260" y="485" text-anchor="middle">claimed coverage</text>'
                 '<text transform="translate(18,240) rotate(-90)" text-anchor="middle">observed coverage</text></svg>')
    pathlib.Path(path).write_text("\n".join(parts) + "\n")


def processes(args):
    rows_of = {}
    for label, medians in load_medians(args.path).items():
        rows_of[label] = coverage_rows(medians, args.draws, args.seed)
        spread = statistics.pstdev(medians) / statistics.median(medians)
        print(f"{label}: {len(medians)} processes, medians {min(medians) / 1e6:.3f} to {max(medians) / 1e6:.3f} ms, relative deviation {spread:.1%}")
        for r in rows_of[label]:
            if r["claimed"] >= 0.9:
                print(f"  {r['k']:>3} processes: claimed {r['claimed']:.3f}, observed {r['consecutive']:.3f} consecutive, {r['random']:.3f} random")
    if args.svg:
        svg(rows_of, args.svg)


def speedups(args):
    intervals = {}
    for path in sorted(pathlib.Path(args.path).rglob("run_summary.json")):
        run = json.loads(path.read_text())
        for case in run["cases"]:
            s = case["speedup"]
            if s["baseline_case_id"] and s["baseline_case_id"] != case["case_id"] and s["ratio"]["ci_low"]:
                intervals.setdefault(case["label"], []).append((s["ratio"]["value"], s["ratio"]["ci_low"], s["ratio"]["ci_high"]))
    for label, rows in intervals.items():
        truth = statistics.median(r[0] for r in rows)
        held = sum(low <= truth <= high for _, low, high in rows)
        print(f"{label}: overall median ratio {truth:.4f}; held by {held} of {len(rows)} intervals")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["processes", "speedups"])
    parser.add_argument("path")
    parser.add_argument("--svg")
    parser.add_argument("--draws", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    {"processes": processes, "speedups": speedups}[args.what](args)


if __name__ == "__main__":
    main()
