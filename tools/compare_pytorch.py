#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Paceline against the same model in Python PyTorch: interleaved process pairs, ratio of medians with its interval.

usage: tools/compare_pytorch.py --python VENV/bin/python [--pairs 16] [--models resnet50,vit_b_16] [--batches 1,8]
                                [--engines eager,torchscript] [--iterations 20] [--warmup 5] [--threads N]
                                [--heap keep|default] [--out FILE.md]

Each pair is one fresh paceline process and one fresh Python process with the same threads, warm-up and iteration counts
and the same rule for freed memory, in the order ABBA; d = ln(ours / theirs) of the per-process medians. The estimate is
exp(median d), the interval the exact order-statistic one of docs/methodology.md (10 pairs: ranks 2 and 9).
--heap keep: both keep freed memory, as paceline's workers do by themselves; default: both use the C library as it comes.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from process_pairs import RANKS, interleave, ratio

ROOT = pathlib.Path(__file__).resolve().parent.parent
# keep: what host/heap.cc sets.
HEAPS = {"keep": {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40), "MALLOC_TOP_PAD_": str(64 << 20)},
         "default": {"PACELINE_HEAP": "default"}}


def python_side(options):
    """Runs in the PyTorch interpreter: prints the medians' samples as JSON."""
    import time

    import torch

    sys.path.insert(0, str(ROOT / "tools"))
    from pytorch_models import MODELS

    torch.set_num_threads(options.threads)
    torch.set_num_interop_threads(1)
    torch.manual_seed(0)
    model = MODELS[options.model]().eval()
    x = torch.randn(options.batch, 3, 224, 224)
    if options.engine == "torchscript":
        with torch.no_grad():
            model = torch.jit.optimize_for_inference(torch.jit.freeze(torch.jit.trace(model, x)))
    samples = []
    with torch.inference_mode():
        for i in range(1 + options.warmup + options.iterations):
            begin = time.perf_counter_ns()
            model(x)
            end = time.perf_counter_ns()
            if i > options.warmup:
                samples.append(end - begin)
    print(json.dumps(samples))


def run_python(args, model, engine, batch):
    command = [args.python, __file__, "--side", "python", "--model", model, "--engine", engine, "--batch", str(batch),
               "--threads", str(args.threads), "--warmup", str(args.warmup), "--iterations", str(args.iterations)]
    env = dict(os.environ, OMP_NUM_THREADS=str(args.threads), MKL_NUM_THREADS=str(args.threads), **HEAPS[args.heap])
    done = subprocess.run(command, env=env, check=True, capture_output=True, text=True)
    return statistics.median(json.loads(done.stdout.splitlines()[-1]))


def run_paceline(args, model, engine, batch):
    with tempfile.TemporaryDirectory() as folder:
        command = [args.paceline, "infer", "--model", model, "--engine", engine, "--batch", str(batch), "--threads", str(args.threads),
                   "--warmup", str(args.warmup), "--iterations", str(args.iterations), "--timing-mode", "sync_latency", "--idle-wait-s", "0",
                   "--accuracy.samples", "1", "--no-measure-peak", "--allow-noisy", "--json", "--output-dir", folder]
        done = subprocess.run(command, env=dict(os.environ, **HEAPS[args.heap]), capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"paceline failed ({done.returncode}):\n{done.stderr}")
        case = json.loads(done.stdout)["cases"][0]
        return case["headline"]["p50_ns"]["value"], case["overhead"]["overhead_fraction"]


def compare(args, model, engine, batch):
    overheads = []

    def ours():
        median, overhead = run_paceline(args, model, engine, batch)
        overheads.append(overhead)
        return median

    sides = {"paceline": ours, "Python": lambda: run_python(args, model, engine, batch)}
    values = interleave(sides, args.pairs, f"{model} {engine} b{batch}")
    middle, low, high = ratio(values["paceline"], values["Python"])
    return {"model": model, "engine": engine, "batch": batch, "pairs": args.pairs, "ours_ms": statistics.median(values["paceline"]) / 1e6,
            "theirs_ms": statistics.median(values["Python"]) / 1e6, "ratio": middle, "low": low, "high": high, "overhead": max(overheads)}


def table(rows):
    text = "| model | engine | batch | paceline p50 ms | Python p50 ms | ratio | 95 % interval | pairs | harness share |\n"
    text += "|---|---|---|---|---|---|---|---|---|\n"
    for r in rows:
        interval = f"{r['low']:.3f}–{r['high']:.3f}"
        text += (f"| {r['model']} | {r['engine']} | {r['batch']} | {r['ours_ms']:.2f} | {r['theirs_ms']:.2f} | {r['ratio']:.3f} | {interval} "
                 f"| {r['pairs']} | {r['overhead']:.1e} |\n")
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side", choices=["python"], help=argparse.SUPPRESS)
    parser.add_argument("--model", help=argparse.SUPPRESS)
    parser.add_argument("--engine", help=argparse.SUPPRESS)
    parser.add_argument("--batch", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--python", help="interpreter of an environment with torch")
    parser.add_argument("--paceline", default=str(ROOT / "build/release/bin/paceline"))
    parser.add_argument("--pairs", type=int, default=16, choices=sorted(RANKS))
    parser.add_argument("--heap", choices=sorted(HEAPS), default="keep")
    parser.add_argument("--models", default="resnet50,vit_b_16")
    parser.add_argument("--engines", default="eager,torchscript")
    parser.add_argument("--batches", default="1,8")
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--warmup", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--out", help="Markdown table")
    args = parser.parse_args()
    if args.side:
        return python_side(args)
    if not args.python:
        parser.error("--python is needed: an interpreter that can import torch")
    rows = [compare(args, model, engine, int(batch)) for model in args.models.split(",") for engine in args.engines.split(",")
            for batch in args.batches.split(",")]
    text = table(rows)
    print(text)
    if args.out:
        pathlib.Path(args.out).write_text(text)
    slow = [r for r in rows if r["ratio"] > 1.02 or r["high"] > 1.05]
    if slow:
        raise SystemExit(f"{len(slow)} of {len(rows)} rows above ratio 1.02 or interval end 1.05")


if __name__ == "__main__":
    main()
