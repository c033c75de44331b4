#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How often is a claim over process pairs right? Many small runs of the real binary, under load or on a quiet machine.

usage: tools/claims_study.py aa|ratio [--comparisons 200] [--load 2] [--paceline build/release/bin/paceline] [--keep FILE]

aa:    both sides are the same ONNX file, so every "faster" and "slower" is false.
ratio: one side has 13 equal layers, the other 10, so their times are as 1.3 to 1.
Every comparison is a separate run: six repetitions of both sides in turns, on ONNX Runtime with one thread. `--load 2` keeps two
spinning processes beside it. Prints a Markdown row: claims and intervals that exclude 1, each with its exact 95 % interval, the
ratios, and the grades. The harness calibrates briefly, which no median depends on; a comparison takes about 5 s where the CPUs are free.
"""
import argparse
import collections
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "cli"))
import onnx_files as onnx  # noqa: E402

WIDTH, ROWS = 192, 32
LAYERS = {"aa": (10, 10), "ratio": (13, 10)}


def chain(layers):
    """x [32,192] through `layers` equal MatMul and Relu."""
    rng = random.Random(layers)
    tensors, nodes, name = [], [], "x"
    for i in range(layers):
        values = [rng.gauss(0, math.sqrt(2 / WIDTH)) for _ in range(WIDTH * WIDTH)]
        tensors.append(onnx.weights(f"w{i}", (WIDTH, WIDTH), values))
        out = "y" if i == layers - 1 else f"r{i}"
        nodes += [onnx.node("MatMul", [name, f"w{i}"], [f"m{i}"], name=f"product{i}"),
                  onnx.node("Relu", [f"m{i}"], [out], name=f"relu{i}")]
        name = out
    return onnx.model(nodes, (("x", (ROWS, WIDTH)),), (("y", (ROWS, WIDTH)),), tensors)


def plan_text(kind, folder, iterations):
    names = []
    for side, layers in enumerate(LAYERS[kind]):
        names.append(folder / f"side{side}.onnx")
        names[-1].write_bytes(chain(layers))
    return (f"kind: inference\nmodels: [{names[0]}, {names[1]}]\nbaseline: {{model: {names[0]}}}\nengine: onnxruntime\n"
            f"threads: 1\ndevice: cpu\nrepetitions: 6\niterations: {iterations}\nwarmup_iterations: 20\nidle_wait_s: 0\n"
            "measure_peak: false\naccuracy: {samples: 2}\nexperiment_name: claims\n")


def binomial(n, p, k):
    """P(at most k of n)."""
    return sum(math.comb(n, i) * p ** i * (1 - p) ** (n - i) for i in range(k + 1))


def exact_interval(k, n):
    """Clopper and Pearson at 95 %."""
    def solve(too_low):
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if too_low(middle) else (low, middle)
        return low
    return (solve(lambda p: 1 - binomial(n, p, k - 1) < 0.025) if k else 0.0,
            solve(lambda p: binomial(n, p, k) > 0.025) if k < n else 1.0)


def compared(args, plan, folder):
    """Speed-up of the second side over the first, and the two grades."""
    command = [args.paceline, "run", plan, "--allow-noisy", "-q", "--json", "--output-dir", folder]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          env={**os.environ, "PACELINE_CALIBRATION": "short"})
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stderr}")
    one = json.loads(done.stdout)["cases"]
    medians = [[r["p50_ns"] for r in c["repetitions"]] for c in one]
    return one[1]["speedup"], [c["grade"] for c in one], medians


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=LAYERS)
    parser.add_argument("--comparisons", type=int, default=200)
    parser.add_argument("--load", type=int, default=0, help="number of spinning neighbours")
    parser.add_argument("--iterations", type=int, default=400, help="of a process, of about 1 ms")
    parser.add_argument("--paceline", default=ROOT / "build/release/bin/paceline")
    parser.add_argument("--keep", type=pathlib.Path, help="JSON lines with every comparison")
    args = parser.parse_args()
    spinners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(args.load)]
    try:
        with tempfile.TemporaryDirectory() as folder:
            rows = measure(args, pathlib.Path(folder))
    finally:
        for spinner in spinners:
            spinner.kill()
    print(row_of(args, rows))


def measure(args, folder):
    plan = folder / "plan.yaml"
    plan.write_text(plan_text(args.kind, folder, args.iterations))
    rows, begin = [], time.monotonic()
    for number in range(args.comparisons):
        speedup, grades, medians = compared(args, plan, folder / "results")
        rows.append((speedup, grades))
        if args.keep:
            with args.keep.open("a") as out:
                out.write(json.dumps({"kind": args.kind, "load": args.load, "speedup": speedup, "grades": grades,
                                      "medians": medians}) + "\n")
        print(f"{number + 1}/{args.comparisons} {time.monotonic() - begin:.0f} s  {speedup['ratio']['value']:.3f} "
              f"({speedup['ratio']['ci_low']:.3f}–{speedup['ratio']['ci_high']:.3f}) {speedup['verdict']} {''.join(grades)}",
              file=sys.stderr, flush=True)
    return rows


def share(k, n):
    low, high = exact_interval(k, n)
    return f"{k} of {n}: {k / n:.1%} ({low:.1%}–{high:.1%})".replace("%", " %")


def row_of(args, rows):
    """| what | claims | intervals without 1 | ratios | grades |"""
    speedups = [s for s, _ in rows]
    claimed = sum(s["verdict"] in ("faster", "slower") for s in speedups)
    apart = sum(not s["ratio"]["ci_low"] <= 1 <= s["ratio"]["ci_high"] for s in speedups)
    values = sorted(s["ratio"]["value"] for s in speedups)
    grades = collections.Counter(grade for _, both in rows for grade in both)
    letters = ", ".join(f"{count} {grade}" for grade, count in sorted(grades.items()))
    load = f"{args.load} spinning neighbours" if args.load else "quiet"
    n = len(rows)
    return (f"| {args.kind}, {load} | {share(claimed, n)} | {share(apart, n)} | "
            f"{statistics.median(values):.3f} ({values[0]:.3f}–{values[-1]:.3f}) | {letters} |")


if __name__ == "__main__":
    main()
