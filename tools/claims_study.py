#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How often is a claim over process pairs right? Many small runs of the real binary, under load or on a quiet machine.

usage: tools/claims_study.py aa|five|ten|ratio|suite [--apart] [--threads 1] [--margin 0.03] [--comparisons 200] [--load 0.9] [--within SECONDS] [--keep FILE]
       tools/claims_study.py rows --keep FILE

aa:              both sides are the same ONNX file, so every "faster" and "slower" is false.
five, ten, ratio: one side has 21, 22, 26 equal layers, the other 20, so their work is as 1.05, 1.1, 1.3 to 1.
suite:           ten cases, both sides equal, judged together by `paceline compare --same`: a suite with a claim is false.
rows:            the rows of everything that slices have kept in FILE; nothing runs.
Every comparison is a separate run: six pairs of processes that work in turns of 50 ms, on ONNX Runtime; twelve where the
binary asks for them. `--apart` has the processes of a pair run one after the other. `--load 2` keeps two spinning processes beside it, `--load 0.9` as many as take nine tenths of one CPU that all share (taskset -c 1). They
end with it. `--within` starts no comparison after that time, and `--keep` adds to its file: a long study is many short slices.
`--margin` claims what differs by at least that, and whose interval excludes 1, as `paceline compare` does; otherwise the run's own verdict counts.
Under load the ratio of medians need not be that of the work: sizes are counted that miss either, the second as the median of all comparisons.
Prints Markdown rows: claims, sizes, sizes that miss, wrong directions, each with its exact 95 % interval; ratios; half the
width of the interval of a ratio, the median of all; grades.
The harness calibrates briefly, which no median depends on; a comparison takes about 5 s where the CPUs are free.
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

WIDTH = 192
LAYERS = {"aa": (20, 20), "five": (21, 20), "ten": (22, 20), "ratio": (26, 20)}
SUITE = range(6, 26, 2)  # layers of the cases of a suite
# Ends with the process that started it, however that ends.
SPINNER = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    for _ in range(100000): pass"


def chain(layers, rows):
    """x [rows,192] through `layers` equal MatMul and Relu."""
    rng = random.Random(layers)
    tensors, nodes, name = [], [], "x"
    for i in range(layers):
        values = [rng.gauss(0, math.sqrt(2 / WIDTH)) for _ in range(WIDTH * WIDTH)]
        tensors.append(onnx.weights(f"w{i}", (WIDTH, WIDTH), values))
        out = "y" if i == layers - 1 else f"r{i}"
        nodes += [onnx.node("MatMul", [name, f"w{i}"], [f"m{i}"], name=f"product{i}"),
                  onnx.node("Relu", [f"m{i}"], [out], name=f"relu{i}")]
        name = out
    return onnx.model(nodes, (("x", (rows, WIDTH)),), (("y", (rows, WIDTH)),), tensors)


def plan_text(kind, folder, args):
    names = []
    for side, layers in enumerate(LAYERS[kind]):
        names.append(folder / f"side{side}.onnx")
        names[-1].write_bytes(chain(layers, args.rows))
    return (f"kind: inference\nmodels: [{names[0]}, {names[1]}]\nbaseline: {{model: {names[0]}}}\nengine: onnxruntime\n"
            f"threads: {args.threads}\ndevice: cpu\nrepetitions: 6\niterations: {args.iterations}\nwarmup_iterations: 20\nidle_wait_s: 0\n"
            f"measure_peak: false\naccuracy: {{samples: 2}}\nexperiment_name: claims\nturns: {str(not args.apart).lower()}\n")


def suite_plan(folder, args):
    names = []
    for layers in SUITE:
        names.append(folder / f"case{layers}.onnx")
        names[-1].write_bytes(chain(layers, args.rows))
    return (f"kind: inference\nmodels: [{', '.join(map(str, names))}]\nengine: onnxruntime\nthreads: {args.threads}\ndevice: cpu\n"
            f"iterations: {args.iterations}\nwarmup_iterations: 20\nidle_wait_s: 0\nmeasure_peak: false\naccuracy: {{samples: 2}}\n")


def truth_of(kind):
    """How many times as fast the second side is."""
    return LAYERS[kind][0] / LAYERS[kind][1]


def spinners_for(load):
    """A share below 1 is that of the CPUs which others take beside one thread, all in fair turns."""
    return round(load) if load >= 1 or load <= 0 else max(1, round(1 / (1 - load)) - 1)


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
    """Speed-up of the second side over the first, the two grades, and median, mean and share of waiting of every process."""
    command = [args.paceline, "run", plan, "--allow-noisy", "-q", "--json", "--output-dir", folder]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          env={**os.environ, "PACELINE_CALIBRATION": "short"})
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stderr}")
    one = json.loads(done.stdout)["cases"]
    processes = [[[r["p50_ns"], r["mean_ns"], r["noise"]["runq_wait_frac"]] for r in c["repetitions"]] for c in one]
    return one[1]["speedup"], [c["grade"] for c in one], processes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=[*LAYERS, "suite", "rows"])
    parser.add_argument("--comparisons", type=int, default=200)
    parser.add_argument("--load", type=float, default=0, help="number of spinning neighbours, or the share of the CPUs that they take")
    parser.add_argument("--within", type=float, default=math.inf, help="seconds after which no comparison begins")
    parser.add_argument("--margin", type=float, help="smallest ratio beside 1 that is claimed")
    parser.add_argument("--apart", action="store_true", help="processes of a pair run one after the other")
    parser.add_argument("--iterations", type=int, default=400, help="of a process")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rows", type=int, default=32, help="of the input: 32 take about 0.6 ms, 96 about 1.8 ms, near a scheduler's slice")
    parser.add_argument("--paceline", type=lambda name: pathlib.Path(name).resolve(), default=ROOT / "build/release/bin/paceline")
    parser.add_argument("--keep", type=pathlib.Path, help="JSON lines with every comparison")
    args = parser.parse_args()
    if args.kind == "rows":
        return print_all([json.loads(line) for line in args.keep.read_text().splitlines()], args.margin)
    spinners = [subprocess.Popen([sys.executable, "-c", SPINNER]) for _ in range(spinners_for(args.load))]
    try:
        with tempfile.TemporaryDirectory() as folder:
            rows = measure(args, pathlib.Path(folder))
    finally:
        for spinner in spinners:
            spinner.kill()
    print_all(rows, args.margin)


def one_pair(args, plan, folder):
    speedup, grades, processes = compared(args, plan, folder)
    return ({"threads": args.threads, "apart": args.apart, "speedup": speedup, "grades": grades, "processes": processes},
            f"{size_text(speedup)} {speedup['verdict'] or speedup['reason']} {''.join(grades)}")


def one_suite(args, plan, folder):
    """Verdict and interval of each case."""
    command = [args.paceline, "compare", "run", plan, "--same", "--allow-noisy", "-q", "--json"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=folder.parent,
                          env={**os.environ, "PACELINE_CALIBRATION": "short"})
    if done.returncode not in (0, 1, 3, 4):
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stderr}")
    figures = [case["figures"][0] for case in json.loads(done.stdout)["cases"]]
    return {"threads": args.threads, "exit": done.returncode, "figures": figures}, f"exit {done.returncode}, {', '.join(figure['verdict'] for figure in figures)}"


def measure(args, folder):
    plan = folder / "plan.yaml"
    suite = args.kind == "suite"
    plan.write_text(suite_plan(folder, args) if suite else plan_text(args.kind, folder, args))
    one = one_suite if suite else one_pair
    rows, begin = [], time.monotonic()
    while len(rows) < args.comparisons and time.monotonic() - begin < args.within:
        row, words = one(args, plan, folder / "results")
        rows.append({"kind": args.kind, "load": args.load, "rows": args.rows, **row})
        if args.keep:
            with args.keep.open("a") as out:
                out.write(json.dumps(rows[-1]) + "\n")
        print(f"{len(rows)}/{args.comparisons} {time.monotonic() - begin:.0f} s  {words}", file=sys.stderr, flush=True)
    return rows


def size_text(speedup):
    ratio = speedup["ratio"]
    return f"{ratio['value']:.3f} ({ratio['ci_low']:.3f}–{ratio['ci_high']:.3f})" if ratio["value"] else "no size"


def share(k, n):
    low, high = exact_interval(k, n)
    return f"{k} of {n}: {k / n:.1%} ({low:.1%}–{high:.1%})".replace("%", " %")


def claim_of(speedup, margin):
    """faster, slower or nothing: by the run's own verdict, or by a margin."""
    if margin is None:
        return speedup["verdict"] if speedup["verdict"] in ("faster", "slower") else ""
    ratio = speedup["ratio"]
    if not ratio["value"] or abs(math.log(ratio["value"])) < math.log1p(margin):
        return ""
    return "faster" if ratio["ci_low"] > 1 else "slower" if ratio["ci_high"] < 1 else ""


def print_all(rows, margin):
    print_suites([row for row in rows if row["kind"] == "suite"])
    print_rows([row for row in rows if row["kind"] != "suite"], margin)


def print_suites(rows):
    """| what | suites with a claim | suites with a regression | cases whose interval excludes 1 | widest ratio |"""
    def key(row):
        return row["load"], row["rows"], row.get("threads", 1)
    for of in sorted({key(row) for row in rows}):
        load, height, threads = of
        these = [row["figures"] for row in rows if key(row) == of]
        claims = [[f["verdict"] for f in figures if f["verdict"] in ("REGRESSION", "IMPROVEMENT")] for figures in these]
        cases = [f for figures in these for f in figures if f["ci_ratio"]]
        outside = sum(not f["ci_ratio"][0] <= 1 <= f["ci_ratio"][1] for f in cases)
        ratios = sorted(f["estimate_ratio"] for f in cases)
        widest = f"{ratios[0]:.3f}–{ratios[-1]:.3f}" if ratios else "none"
        print(f"| suite of {len(these[0])} equal cases, {height} rows, {threads} thread{'s' * (threads > 1)}, {beside_text(load)} | {share(sum(map(bool, claims)), len(these))} | "
              f"{share(sum('REGRESSION' in one for one in claims), len(these))} | {share(outside, len(cases)) if cases else 'none'} | {widest} |")


def beside_text(load):
    return "quiet" if not load else f"{load:.0%} of the CPUs taken".replace("%", " %") if load < 1 else f"{load:.0f} spinning neighbours"


def print_rows(rows, margin):
    """| what | claims | sizes | sizes that miss the ratio of the work | that miss the median of all ratios | wrong directions | ratios | half-width | grades |"""
    def key(row):
        return row["kind"], row["load"], row["rows"], row.get("threads", 1), row.get("apart", True)
    for of in sorted({key(row) for row in rows}):
        print(row_of(*of, margin, [row for row in rows if key(row) == of]))


def row_of(kind, load, height, threads, apart, margin, rows):
    speedups, truth, n = [row["speedup"] for row in rows], truth_of(kind), len(rows)
    claimed = [claim for claim in (claim_of(s, margin) for s in speedups) if claim]
    sizes = [s["ratio"] for s in speedups if s["ratio"]["value"]]
    def missing(value):
        return share(sum(not size["ci_low"] <= value <= size["ci_high"] for size in sizes), len(sizes)) if sizes else "none"
    wrong = sum(claim != "faster" or truth == 1 for claim in claimed)
    values = sorted(size["value"] for size in sizes)
    grades = collections.Counter(grade for row in rows for grade in row["grades"])
    letters = ", ".join(f"{count} {grade}" for grade, count in sorted(grades.items()))
    ratios = f"{statistics.median(values):.3f} ({values[0]:.3f}–{values[-1]:.3f})" if values else "none"
    order = "one after the other" if apart else "in turns"
    widths = [(size["ci_high"] - size["ci_low"]) / 2 / size["value"] for size in sizes]
    half = f"{statistics.median(widths):.1%}".replace("%", " %") if widths else "none"
    return (f"| {kind}, {height} rows, {threads} thread{'s' * (threads > 1)}, {order}, {beside_text(load)} | {share(len(claimed), n)} | {len(sizes)} of {n} | {missing(truth)} | {missing(statistics.median(values)) if values else 'none'} | "
            f"{share(wrong, n)} | {ratios} | {half} | {letters} |")


if __name__ == "__main__":
    main()
