#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Costs of training beside its steps: checkpoints against dd, loaders, restarts after a killed rank.

usage: tools/training_costs.py [--rounds 10] [--model resnet50] [--folder DIR] [--what checkpoints,loaders,restarts] [--out FILE.md]

checkpoints: writing one (save, flush) against dd of as many bytes with conv=fsync to the same folder, in turns.
loaders:     what one worker thread could deliver: random images made for every batch, records in the format of CIFAR-100 (made here).
restarts:    two ranks of tiny_cnn, rank 1 killed: until it was noticed, until the first step afterwards.
"""
import argparse
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

from process_pairs import RANKS, ratio

ROOT = pathlib.Path(__file__).resolve().parent.parent


def train(args, folder, *arguments, code=0):
    command = [args.paceline, "train", "--device", "cpu", "--idle-wait-s", "0", "--allow-noisy", "--json", "--output-dir", str(folder / "results"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != code:
        raise SystemExit(f"{' '.join(command)} failed ({done.returncode}):\n{done.stderr[-2000:]}")
    return json.loads(done.stdout)["cases"][0]["training"][0]


def dd_ns(folder, size):
    file = folder / "dd.bin"
    begin = time.perf_counter_ns()
    subprocess.run(["dd", "if=/dev/zero", f"of={file}", "bs=1M", f"count={size >> 20}", "conv=fsync"], check=True, capture_output=True)
    end = time.perf_counter_ns()
    file.unlink()
    return end - begin


def checkpoints(args, folder):
    ours, dd, size = [], [], 0
    for turn in range(args.rounds):
        saved = folder / f"saved{turn}"
        found = train(args, folder, "--model", args.model, "--batch", 1, "--benchmark.warmup_steps=1", "--steps", 2, f"--checkpoint.dir={saved}")
        size = found["checkpoints"]["bytes"]
        ours.append(found["checkpoints"]["write_ns"])
        dd.append(dd_ns(folder, size))
        subprocess.run(["rm", "-rf", str(saved)], check=True)
        print(f"  checkpoint {turn + 1}/{args.rounds}: {ours[-1] / 1e6:.0f} ms, dd {dd[-1] / 1e6:.0f} ms", file=sys.stderr, flush=True)
    middle, low, high = ratio(ours, dd)
    speed = size / statistics.median(ours) * 1e3
    return [f"| checkpoint of {args.model}, {size / 1e6:.0f} MB | {speed:.0f} MB/s, dd {size / statistics.median(dd) * 1e3:.0f} MB/s | "
            f"time over dd's {middle:.2f} ({low:.2f}–{high:.2f}), {args.rounds} pairs |"]


def make_cifar(folder, records=2000):
    draw = random.Random(1)
    (folder / "train.bin").write_bytes(b"".join(bytes([0, i % 100]) + draw.randbytes(3072) for i in range(records)))
    return folder


def loaders(args, folder):
    rows = []
    sources = {"synthetic, every batch made": ["--data.synthetic_fresh"],
               "CIFAR-100 format, resized to 224": ["--data.source", "cifar100", f"--data.path={make_cifar(folder)}"]}
    for name, arguments in sources.items():
        values = [train(args, folder, "--model", "resnet50", "--batch", 2, "--data.workers=1", "--benchmark.warmup_steps=1", "--steps", 6,
                        *arguments)["loader_samples_per_s"] for _ in range(args.rounds)]
        low, high = RANKS[args.rounds]
        values.sort()
        rows.append(f"| loader, one worker beside the training: {name} | {statistics.median(values):.0f} images/s | "
                    f"{values[low - 1]:.0f}–{values[high - 1]:.0f}, {args.rounds} runs |")
    return rows


def restarts(args, folder):
    detect, again = [], []
    for turn in range(args.rounds):
        saved = folder / f"restart{turn}"
        found = train(args, folder, "--model", "tiny_cnn", "--ranks", 2, "--batch", 4, "--threads", 1, "--steps", 40, f"--checkpoint.dir={saved}",
                      "--checkpoint.every_steps=10", "--max-restarts", 1, "--inject", "kill:rank=1,step=25")["restarts"]
        if len(found) != 1:
            raise SystemExit(f"{len(found)} restarts instead of one")
        detect.append(found[0]["detect_ns"])
        again.append(found[0]["first_step_ns"])
    low, high = RANKS[args.rounds]
    rows = []
    for name, values in (("killed rank: noticed after", detect), ("then until the first step of the restart", again)):
        values.sort()
        rows.append(f"| {name} | {statistics.median(values) / 1e6:.0f} ms | {values[low - 1] / 1e6:.0f}–{values[high - 1] / 1e6:.0f} ms, {args.rounds} runs |")
    return rows


WHAT = {"checkpoints": checkpoints, "loaders": loaders, "restarts": restarts}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--paceline", default=str(ROOT / "build/release/bin/paceline"))
    parser.add_argument("--rounds", type=int, default=10, choices=sorted(RANKS))
    parser.add_argument("--model", default="resnet50", help="of the checkpoints")
    parser.add_argument("--folder", help="where files are written; default: a temporary one")
    parser.add_argument("--what", default=",".join(WHAT))
    parser.add_argument("--out", help="Markdown table")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        rows = [row for what in args.what.split(",") for row in WHAT[what](args, pathlib.Path(folder))]
    text = "| | median | interval |\n|---|---|---|\n" + "\n".join(rows) + "\n"
    print(text)
    if args.out:
        pathlib.Path(args.out).write_text(text)


if __name__ == "__main__":
    main()
