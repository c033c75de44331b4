#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Training through Paceline against Python's DistributedDataParallel: interleaved runs, ratio of median step times with its interval.

usage: tools/compare_ddp.py --python VENV/bin/python [--pairs 10] [--model resnet50] [--batch 4] [--worlds 1,2] [--steps 12] [--warmup 3]
                            [--threads 1] [--out FILE.md]

Each pair is one fresh run of every rank on each side (ABBA): the same model, batch and threads per rank, SGD with momentum, gloo on the
loopback, DDP's defaults, one fixed batch, freed memory kept. A step's time is the largest over its
ranks, from the start of the input's fetch to the end of the optimizer. Worlds: 0 is one process without DDP. All sides take turns in one run.
"""
import json
import os
import statistics
import sys
import tempfile

from process_pairs import interleave, ratio
from rank_pairs import ROOT, first_case, publish, python_ranks, rank_arguments

# Variables for what host/machine/heap.cc sets.
KEPT_HEAP = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40), "MALLOC_TOP_PAD_": str(64 << 20)}


def python_rank(options):
    """One rank in the PyTorch interpreter: prints its step times as JSON."""
    import time

    import torch
    from torch import nn
    from torch.nn.parallel import DistributedDataParallel

    sys.path.insert(0, str(ROOT / "tools"))
    from pytorch_models import MODELS

    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    cpus = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cpus[options.rank * options.threads:(options.rank + 1) * options.threads])  # as Paceline's ranks are
    model = MODELS[options.model]().train()
    if options.world > 0:
        torch.distributed.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{options.port}", rank=options.rank,
                                             world_size=options.world)
        model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4, fused=True)
    loss_of = nn.CrossEntropyLoss()
    x, y = torch.randn(options.batch, 3, 224, 224), torch.randint(0, 1000, (options.batch,))
    samples = []
    for turn in range(1 + options.warmup + options.steps):
        begin = time.perf_counter_ns()
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        loss.item()
        end = time.perf_counter_ns()
        if turn > options.warmup:
            samples.append(end - begin)
    print(json.dumps(samples), flush=True)
    if options.world > 0:
        torch.distributed.destroy_process_group()


def run_python(args, world):
    env = dict(os.environ, OMP_NUM_THREADS=str(args.threads), MKL_NUM_THREADS=str(args.threads), **KEPT_HEAP)
    command = [args.python, __file__, "--model", args.model, "--batch", str(args.batch), "--threads", str(args.threads), "--warmup", str(args.warmup), "--steps",
               str(args.steps)]
    return statistics.median(max(step) for step in zip(*python_ranks(command, world, env), strict=True))


def run_paceline(args, world):
    with tempfile.TemporaryDirectory() as folder:
        command = [args.paceline, "train", "--device", "cpu", "--model", args.model, "--ranks", str(max(1, world)), "--batch", str(args.batch), "--threads",
                   str(args.threads), f"--ddp.enabled={'true' if world > 0 else 'false'}", "--lr", "0.01", f"--benchmark.warmup_steps={args.warmup}",
                   f"--benchmark.measure_steps={args.steps}", "--output-dir", folder]
        return first_case(command)["headline"]["p50_ns"]["value"]


def world_name(world):
    return "one process, no DDP" if world == 0 else f"DDP, {world} rank{'s' if world > 1 else ''}"


def row(values, ours, theirs, samples):
    middle, low, high = ratio(values[ours], values[theirs])
    median = statistics.median(values[ours])
    return {"ours": ours, "theirs": theirs, "ours_ms": median / 1e6, "theirs_ms": statistics.median(values[theirs]) / 1e6,
            "samples_per_s": samples / median * 1e9, "ratio": middle, "low": low, "high": high, "pairs": len(values[ours])}


def compare(args):
    """Every side once a round: each world against Python's, and what DDP costs where its cost is all there is (one rank)."""
    worlds = [int(world) for world in args.worlds.split(",")]
    sides = {}
    for world in worlds:
        sides[f"paceline, {world_name(world)}"] = lambda w=world: run_paceline(args, w)
        sides[f"Python, {world_name(world)}"] = lambda w=world: run_python(args, w)
    values = interleave(sides, args.pairs, f"{args.model} b{args.batch}")
    rows = [row(values, f"paceline, {world_name(w)}", f"Python, {world_name(w)}", args.batch * max(1, w)) for w in worlds]
    if {0, 1} <= set(worlds):
        rows.append(row(values, f"paceline, {world_name(1)}", f"paceline, {world_name(0)}", args.batch))
    return rows


def table(rows):
    text = "| | ms | samples/s | against | ms | ratio | 95 % interval | pairs |\n|---|---|---|---|---|---|---|---|\n"
    for r in rows:
        text += (f"| {r['ours']} | {r['ours_ms']:.1f} | {r['samples_per_s']:.2f} | {r['theirs']} | {r['theirs_ms']:.1f} | {r['ratio']:.3f} | "
                 f"{r['low']:.3f}–{r['high']:.3f} | {r['pairs']} |\n")
    return text


def main():
    parser = rank_arguments(__doc__)
    parser.add_argument("--model", default="resnet50")
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--worlds", default="0,1,2")
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--warmup", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1, help="a rank")
    args = parser.parse_args()
    if args.rank is not None:
        return python_rank(args)
    if not args.python:
        parser.error("--python is needed: an interpreter that can import torch")
    rows = compare(args)
    publish(table(rows), args.out, [r for r in rows if r["theirs"].startswith("Python")])


if __name__ == "__main__":
    main()
