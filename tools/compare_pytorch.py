#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Paceline against the same model in Python PyTorch: interleaved process pairs, ratio of medians with its interval.

usage: tools/compare_pytorch.py --python VENV/bin/python [--device cpu|cuda|cuda:1] [--pairs 16] [--models resnet50,vit_b_16]
                                [--batches 1,8] [--engines eager,torchscript] [--precisions fp32] [--layout contiguous]
                                [--iterations 20] [--warmup 5] [--threads N] [--heap keep|default] [--io device|pinned|pageable|none]
                                [--cudnn-benchmark] [--report-only] [--out FILE.md]

Each pair is one fresh paceline process and one fresh Python process with the same threads, warm-up and iteration counts
and the same rule for freed memory, in the order ABBA; d = ln(ours / theirs) of the per-process medians. The estimate is
exp(median d), the interval the exact order-statistic one of docs/methodology.md (10 pairs: ranks 2 and 9).
--heap keep: both keep freed memory, as paceline's workers do by themselves; default: both use the C library as it comes.
--device cuda: both set TF32 and cuDNN's benchmark themselves, run on a separate stream, and copy what --io sets in every iteration
(docs/engines.md); an iteration is over when the stream is synchronised.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

from process_pairs import RANKS, interleave, ratio
from pytorch_side import COPIES, PRECISIONS

ROOT = pathlib.Path(__file__).resolve().parent.parent
# keep: what host/machine/heap.cc sets.
HEAPS = {"keep": {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40), "MALLOC_TOP_PAD_": str(64 << 20)},
         "default": {"PACELINE_HEAP": "default"}}
DEVICE = re.compile(r"cpu|cuda(:(0|[1-9][0-9]*))?")


def settings_of(args, row):
    """The arguments of both sides, word for word: the row's model, engine, batch and precision, and what is the same in all rows."""
    settings = [f"--{name}={value}" for name, value in row.items()]
    settings += [f"--{name}={getattr(args, name)}" for name in ("device", "layout", "threads", "warmup", "iterations")]
    return settings + ([f"--io={args.io}"] if args.device != "cpu" else [])


def failed(side, done):
    return SystemExit(f"{side} failed ({done.returncode}):\n{done.stderr}")


def run_python(args, row):
    command = [args.python, str(ROOT / "tools/pytorch_side.py"), *settings_of(args, row)]
    command += ["--cudnn-benchmark"] if args.cudnn_benchmark else []
    env = dict(os.environ, OMP_NUM_THREADS=str(args.threads), MKL_NUM_THREADS=str(args.threads), **HEAPS[args.heap])
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    if done.returncode != 0:
        raise failed("Python", done)
    return statistics.median(json.loads(done.stdout.splitlines()[-1]))


def run_paceline(args, row):
    with tempfile.TemporaryDirectory() as folder:
        command = [args.paceline, "infer", *settings_of(args, row), "--timing-mode", "sync_latency", "--idle-wait-s", "0",
                   "--accuracy.samples", "1", "--no-measure-peak", "--allow-noisy", "--json", "--output-dir", folder]
        command += ["--cuda.cudnn_benchmark", "true"] if args.cudnn_benchmark else []
        done = subprocess.run(command, env=dict(os.environ, **HEAPS[args.heap]), capture_output=True, text=True)
        if done.returncode != 0:
            raise failed("paceline", done)
        case = json.loads(done.stdout)["cases"][0]
        return case["headline"]["p50_ns"]["value"], case["overhead"]["overhead_fraction"]


def compare(args, row):
    overheads = []

    def ours():
        median, overhead = run_paceline(args, row)
        overheads.append(overhead)
        return median

    sides = {"paceline": ours, "Python": lambda: run_python(args, row)}
    values = interleave(sides, args.pairs, "{model} {engine} {precision} b{batch}".format(**row))
    middle, low, high = ratio(values["paceline"], values["Python"])
    return {**row, "pairs": args.pairs, "ours_ms": statistics.median(values["paceline"]) / 1e6,
            "theirs_ms": statistics.median(values["Python"]) / 1e6, "ratio": middle, "low": low, "high": high, "overhead": max(overheads)}


def table(rows):
    text = "| model | engine | precision | batch | paceline p50 ms | Python p50 ms | ratio | 95 % interval | pairs | harness share |\n"
    text += "|---|---|---|---|---|---|---|---|---|---|\n"
    for r in rows:
        interval = f"{r['low']:.3f}–{r['high']:.3f}"
        text += (f"| {r['model']} | {r['engine']} | {r['precision']} | {r['batch']} | {r['ours_ms']:.2f} | {r['theirs_ms']:.2f} "
                 f"| {r['ratio']:.3f} | {interval} | {r['pairs']} | {r['overhead']:.1e} |\n")
    return text


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", help="interpreter of an environment with torch")
    parser.add_argument("--paceline", default=str(ROOT / "build/release/bin/paceline"))
    parser.add_argument("--device", default="cpu", help="cpu, cuda, cuda:1")
    parser.add_argument("--pairs", type=int, default=16, choices=sorted(RANKS))
    parser.add_argument("--heap", choices=sorted(HEAPS), default="keep")
    parser.add_argument("--models", default="resnet50,vit_b_16")
    parser.add_argument("--engines", default="eager,torchscript")
    parser.add_argument("--precisions", default="fp32")
    parser.add_argument("--layout", choices=["contiguous", "channels_last"], default="contiguous")
    parser.add_argument("--batches", default="1,8")
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--warmup", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--io", choices=COPIES, default="device", help="with --device cuda: what is copied")
    parser.add_argument("--cudnn-benchmark", action="store_true", help="with --device cuda: cuDNN tries its algorithms first")
    parser.add_argument("--report-only", action="store_true", help="no limit on the ratio: exit code 0 when every process ran")
    parser.add_argument("--out", help="Markdown table")
    args = parser.parse_args()
    refuse_what_does_not_go(parser, args)
    return args


def refuse_what_does_not_go(parser, args):
    if not args.python:
        parser.error("--python is needed: an interpreter that can import torch")
    if not DEVICE.fullmatch(args.device):
        parser.error(f"--device '{args.device}' is none of cpu, cuda, cuda:0, cuda:1 …")
    for precision in args.precisions.split(","):
        if precision not in PRECISIONS:
            parser.error(f"--precisions '{precision}' is none of {', '.join(PRECISIONS)}")
    if args.device == "cpu" and (args.io != "device" or args.cudnn_benchmark):
        parser.error("--io and --cudnn-benchmark have no effect on the CPU; add --device cuda, or leave them away")


def rows_of(args):
    return [{"model": model, "engine": engine, "precision": precision, "batch": int(batch)}
            for model in args.models.split(",") for engine in args.engines.split(",")
            for precision in args.precisions.split(",") for batch in args.batches.split(",")]


def main():
    args = parse()
    rows = [compare(args, row) for row in rows_of(args)]
    text = table(rows)
    print(text)
    if args.out:
        pathlib.Path(args.out).write_text(text)
    slow = [r for r in rows if r["ratio"] > 1.02 or r["high"] > 1.05]
    if slow and not args.report_only:
        raise SystemExit(f"{len(slow)} of {len(rows)} rows above ratio 1.02 or interval end 1.05")


if __name__ == "__main__":
    main()
