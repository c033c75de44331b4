#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Collectives through Paceline against a loop in Python: interleaved runs, ratio of median times by size with its interval.

usage: tools/compare_comm.py --python VENV/bin/python [--pairs 10] [--ranks 2] [--sizes 4,1K,64K,1M,64M] [--iterations 50] [--out FILE.md]

Each pair is one fresh run of every rank and size on each side (ABBA): all_reduce of floats in place over gloo on the loopback, a barrier before each operation, ranks pinned alike,
one thread each. An operation is as long as on its slowest rank; a side's figure is the median over the operations of a size.
"""
import json
import os
import statistics
import tempfile

from process_pairs import interleave, ratio
from rank_pairs import first_case, publish, python_ranks, rank_arguments

UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def size_of(text):
    return int(text[:-1]) * UNITS[text[-1]] if text[-1] in UNITS else int(text)


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
    medians = []
    for text in args.sizes.split(","):
        command = [args.python, __file__, "--sizes", text, "--iterations", str(args.iterations), "--warmup", str(args.warmup)]
        times = python_ranks(command, args.ranks, dict(os.environ, OMP_NUM_THREADS="1", MKL_NUM_THREADS="1"))
        medians.append(statistics.median(max(one) for one in zip(*(rank[0] for rank in times), strict=True)))
    return medians


def run_paceline(args):
    """One sweep per size, because the sizes need not be steps of one factor."""
    medians = []
    for text in args.sizes.split(","):
        with tempfile.TemporaryDirectory() as folder:
            command = [args.paceline, "comm", "--device", "cpu", "--ranks", str(args.ranks), "-b", text, "-e", text, "-n", str(args.iterations), "-w", str(args.warmup),
                       "-c", "0", "--size-time-s", "0", "--output-dir", folder]
            medians.append(first_case(command)["collective"][0]["sizes"][0]["in_place"]["sync_ns"]["value"])
    return medians


class Turns:
    """A side whose one run gives a figure for every size: interleave() sees the first, the others are kept."""

    def __init__(self, run):
        self.run, self.all = run, []

    def __call__(self):
        self.all.append(self.run())
        return self.all[-1][0]


def compare(args):
    sides = {"paceline": Turns(lambda: run_paceline(args)), "Python": Turns(lambda: run_python(args))}
    interleave(sides, args.pairs, "all_reduce, first size")
    rows = []
    for at, text in enumerate(args.sizes.split(",")):
        ours, theirs = ([turn[at] for turn in side.all] for side in sides.values())
        middle, low, high = ratio(ours, theirs)
        bus = size_of(text) * 2 * (args.ranks - 1) / args.ranks
        rows.append({"size": text, "ours_us": statistics.median(ours) / 1e3, "theirs_us": statistics.median(theirs) / 1e3, "busbw": bus / statistics.median(ours),
                     "ratio": middle, "low": low, "high": high, "pairs": len(ours), "goal": 0.8 if size_of(text) <= 4 else 1})
    return rows


def table(rows):
    text = "| size | paceline us | GB/s busbw | Python us | ratio | 95 % interval | pairs |\n|---|---|---|---|---|---|---|\n"
    for r in rows:
        text += (f"| {r['size']} | {r['ours_us']:.1f} | {r['busbw']:.3g} | {r['theirs_us']:.1f} | {r['ratio']:.3f} | {r['low']:.3f}–{r['high']:.3f} | "
                 f"{r['pairs']} |\n")
    return text


def main():
    parser = rank_arguments(__doc__)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--sizes", default="4,1K,16K,256K,1M,16M,64M")
    parser.add_argument("--iterations", type=int, default=50)
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
