#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Collectives through Paceline against a loop in Python: interleaved runs, ratios of times by size with their intervals.

usage: tools/compare_comm.py --python VENV/bin/python [--pairs 10] [--ranks 2] [--sizes 4,1K,16K,256K,1M,16M,64M] [--iterations 500] [--out FILE.md]

Each pair is one fresh run of every rank and size on each side (ABBA): all_reduce of floats in place over gloo on the loopback, a barrier before each operation, ranks pinned alike,
one thread each. An operation is as long as on its slowest rank; the figures are the p50 and the mean over the operations of a size. The goal at 4 bytes is for the p50, a latency; above,
for the mean: gloo's loop thread polls a socket whose data nobody has asked for yet, and where it shares a CPU with its rank the operation takes up to a tick of the kernel (4 ms) longer.
Where about half of the operations of a size are so, their p50 jumps between the two kinds. --iterations is the most for a size; sizes above 3.2 MB get fewer, but at least 50 where --iterations allows them.
"""
import csv
import json
import os
import pathlib
import statistics
import tempfile

from process_pairs import interleave, ratio
from rank_pairs import first_case, publish, python_ranks, rank_arguments

UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def size_of(text):
    return int(text[:-1]) * UNITS[text[-1]] if text[-1] in UNITS else int(text)


def iterations_of(text, most):
    return min(most, max(50, int(1.6e9) // size_of(text)))


def figures_of(times_of_ranks):
    slowest = [max(one) for one in zip(*times_of_ranks, strict=True)]
    return {"p50": statistics.median(slowest), "mean": statistics.mean(slowest)}


def python_rank(options):
    """One rank in the PyTorch interpreter: prints the times of its operations, size by size, as JSON."""
    import time

    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    cpus = sorted(os.sched_getaffinity(0))
    each = max(1, len(cpus) // options.world)
    os.sched_setaffinity(0, (cpus * options.world)[options.rank * each:(options.rank + 1) * each])  # as Paceline's ranks are
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{options.port}", rank=options.rank, world_size=options.world)
    times = []
    for bytes_ in map(size_of, options.sizes.split(",")):
        data = torch.zeros(max(1, bytes_ // 4))
        for _ in range(options.warmup):
            dist.all_reduce(data)
        samples = []
        for _ in range(options.iterations):
            dist.barrier()
            begin = time.perf_counter_ns()
            dist.all_reduce(data)
            samples.append(time.perf_counter_ns() - begin)
        times.append(samples)
    print(json.dumps(times), flush=True)
    dist.destroy_process_group()


def run_python(args):
    """Fresh ranks for each size, as on the other side."""
    figures = []
    for text in args.sizes.split(","):
        command = [args.python, __file__, "--sizes", text, "--iterations", str(iterations_of(text, args.iterations)), "--warmup", str(args.warmup)]
        times = python_ranks(command, args.ranks, dict(os.environ, OMP_NUM_THREADS="1", MKL_NUM_THREADS="1"))
        figures.append(figures_of(rank[0] for rank in times))
    return figures


def run_paceline(args):
    """One sweep per size, because the sizes need not be steps of one factor."""
    figures = []
    for text in args.sizes.split(","):
        with tempfile.TemporaryDirectory() as folder:
            first_case([args.paceline, "comm", "--device", "cpu", "--ranks", str(args.ranks), "-b", text, "-e", text, "-n", str(iterations_of(text, args.iterations)),
                        "-w", str(args.warmup), "-c", "0", "--size-time-s", "0", "--output-dir", folder])
            file, = pathlib.Path(folder).rglob("collective_times.csv")
            with file.open(encoding="utf-8") as rows:
                one_by_one = [row for row in csv.DictReader(rows) if (row["in_place"], row["mode"]) == ("1", "sync")]
            figures.append(figures_of([int(row["duration_ns"]) for row in one_by_one if row["rank"] == str(rank)] for rank in range(args.ranks)))
    return figures


class Turns:
    """A side with figures for every size from one run: interleave() gets the first mean, all are kept."""

    def __init__(self, run):
        self.run, self.all = run, []

    def __call__(self):
        self.all.append(self.run())
        return self.all[-1][0]["mean"]


def compare(args):
    sides = {"paceline": Turns(lambda: run_paceline(args)), "Python": Turns(lambda: run_python(args))}
    interleave(sides, args.pairs, "all_reduce, first size")
    rows = []
    for at, text in enumerate(args.sizes.split(",")):
        of_goal, goal = ("p50", 0.8) if size_of(text) <= 4 else ("mean", 1)
        row = {"size": text, "pairs": args.pairs, "of_goal": of_goal, "goal": goal}
        for figure in ("p50", "mean"):
            ours, theirs = ([turn[at][figure] for turn in side.all] for side in sides.values())
            middle, low, high = ratio(ours, theirs)
            row[figure] = {"ours_us": statistics.median(ours) / 1e3, "theirs_us": statistics.median(theirs) / 1e3, "ratio": middle, "low": low, "high": high}
        bus = size_of(text) * 2 * (args.ranks - 1) / args.ranks
        rows.append({**row, "ratio": row[of_goal]["ratio"], "high": row[of_goal]["high"], "busbw": bus * 1e-3 / row["mean"]["ours_us"]})
    return rows


def table(rows):
    text = ("| size | p50 us, paceline | Python | ratio | 95 % interval | mean us, paceline | Python | ratio | 95 % interval | GB/s busbw | pairs |\n"
            "|---|---|---|---|---|---|---|---|---|---|---|\n")
    for r in rows:
        figures = [f"{f['ours_us']:.1f} | {f['theirs_us']:.1f} | {f['ratio']:.3f} | {f['low']:.3f}–{f['high']:.3f}" for f in (r["p50"], r["mean"])]
        text += f"| {r['size']} | {' | '.join(figures)} | {r['busbw']:.3g} | {r['pairs']} |\n"
    return text


def main():
    parser = rank_arguments(__doc__)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--sizes", default="4,1K,16K,256K,1M,16M,64M")
    parser.add_argument("--iterations", type=int, default=500)
    parser.add_argument("--warmup", type=int, default=5)
    args = parser.parse_args()
    if args.rank is not None:
        return python_rank(args)
    if not args.python:
        parser.error("--python is needed: an interpreter with torch")
    rows = compare(args)
    publish(table(rows), args.out, rows)
    return None


if __name__ == "__main__":
    main()
