#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures what `paceline attach` costs a training: in blocks with the observer on and off inside one process, and in pairs of processes.

usage: attach_cost.py --bin PACELINE --python PYTHON [--jobs toy,resnet18,resnet50] [--steps N] [--pairs N] [--clock wall|cpu]
PYTHON has PyTorch. --clock cpu: CPU time of the process, for a machine on which others compute, too. Ratios are of step times, attached to alone: above 1, the attached steps take longer. Intervals: 95 %, of medians.
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import struct
import subprocess
import tempfile

import process_pairs

SCRIPT = """
import json, sys, time, torch, torch.nn as nn
torch.manual_seed(0); torch.set_num_threads(1)

class Residual(nn.Module):
    def __init__(self, inside, outside, stride):
        super().__init__()
        def unit(a, b, k, s): return [nn.Conv2d(a, b, k, s, k // 2, bias=False), nn.BatchNorm2d(b)]
        self.body = nn.Sequential(*unit(inside, outside, 3, stride), nn.ReLU(), *unit(outside, outside, 3, 1))
        self.skip = nn.Sequential(*unit(inside, outside, 1, stride)) if stride > 1 or inside != outside else nn.Identity()
    def forward(self, x): return torch.relu(self.body(x) + self.skip(x))

def resnet18():
    stem = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    widths = [(64, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1), (256, 512, 2), (512, 512, 1)]
    return nn.Sequential(*stem, *[Residual(*w) for w in widths], nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))

class Bottleneck(nn.Module):
    def __init__(self, inside, width, stride):
        super().__init__()
        def unit(a, b, k, s): return [nn.Conv2d(a, b, k, s, k // 2, bias=False), nn.BatchNorm2d(b)]
        outside = 4 * width
        self.body = nn.Sequential(*unit(inside, width, 1, 1), nn.ReLU(), *unit(width, width, 3, stride), nn.ReLU(), *unit(width, outside, 1, 1))
        self.skip = nn.Sequential(*unit(inside, outside, 1, stride)) if stride > 1 or inside != outside else nn.Identity()
    def forward(self, x): return torch.relu(self.body(x) + self.skip(x))

def resnet50():
    stem = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    blocks, inside = [], 64
    for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(count):
            blocks.append(Bottleneck(inside, width, stride if block == 0 else 1)); inside = 4 * width
    return nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))

def toy():
    return nn.Sequential(*[layer for _ in range(16) for layer in (nn.Linear(64, 64), nn.ReLU())], nn.Linear(64, 10))

job, steps, clock = sys.argv[1], int(sys.argv[2]), {"wall": time.perf_counter, "cpu": time.process_time}[sys.argv[3]]
m = {"toy": toy, "resnet18": resnet18, "resnet50": resnet50}[job]()
x, classes = (torch.randn(16, 64), 10) if job == "toy" else (torch.randn(4, 3, *(128, 128) if job == "resnet50" else (224, 224)), 1000)
y = torch.randint(0, classes, (len(x),)); o = torch.optim.SGD(m.parameters(), lr=.001); lf = nn.CrossEntropyLoss(); taken = []
for s in range(steps):
    t = clock(); o.zero_grad(); lf(m(x), y).backward(); o.step(); taken.append(clock() - t)
print(json.dumps(taken))
"""
JOBS = {"toy": (4000, 20), "resnet18": (240, 4), "resnet50": (400, 4)}  # steps of a process, steps of a block
ON, OFF, STEP = 6, 7, 5


def interval(values):
    """Median, and the order statistics around it that contain the true one in 95 % of samples."""
    ranked, n = sorted(values), len(values)
    cut = max(0, math.floor(n / 2 - 0.98 * math.sqrt(n)) - 1)
    return statistics.median(ranked), ranked[cut], ranked[n - 1 - cut]


def shown(name, kind, ratio, step_s, count):
    middle, low, high = ratio
    extra = (middle - 1) * step_s * 1e6
    print(f"| {name} | {kind} | {step_s * 1e3:.2f} | {middle:.4f} ({low:.4f}–{high:.4f}) | {extra:+.0f} | {count} |", flush=True)


def blocks_of(path):
    """[(on, first step, step behind the last), …] of a step file, where step 0 is the first of the process."""
    data = path.read_bytes()
    header, name, slots, record = struct.unpack_from("<4I", data, 12)
    capacity, used = struct.unpack_from("<2Q", data, 32)
    blocks, step = [], 0
    for i in range(min(capacity, used)):
        _, _, value, _, _, _, _, kind = struct.unpack_from("<qqQHHHBB", data, header + name * slots + record * i)
        if kind == STEP:
            step = value
            if blocks:
                blocks[-1][2] = step
        elif kind in (ON, OFF):
            blocks.append([kind == ON, step, step])
    return blocks


def run(arguments, script, job, steps, folder=None, blocks=""):
    """Seconds of each step of one process."""
    command = [arguments.python, str(script), job, str(steps), arguments.clock]
    if folder:
        command = [arguments.bin, "attach", "--quiet", "--output", str(folder), "--", *command]
    done = subprocess.run(command, env={**os.environ, "PACELINE_ATTACH_BLOCKS": blocks or "20/10"}, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def by_blocks(arguments, script, job, steps, size, folder):
    taken = run(arguments, script, job, steps, folder, f"{size}/2")
    blocks = [(on, statistics.median(taken[first:behind])) for on, first, behind in blocks_of(folder / "rank0.steps") if behind - first > 1][4:]
    # Neighbours: drift of the machine is in both.
    logs = [math.log(a[1] / b[1]) if a[0] else math.log(b[1] / a[1]) for a, b in zip(blocks[::2], blocks[1::2]) if a[0] != b[0]]
    shown(job, "blocks", [math.exp(v) for v in interval(logs)], statistics.median(b[1] for b in blocks if not b[0]), len(logs))


def by_processes(arguments, script, job, steps, below):
    folders = (below / str(n) for n in range(arguments.pairs))
    def ns(folder):
        return statistics.median(run(arguments, script, job, steps, folder)[steps // 5:]) * 1e9
    values = process_pairs.interleave({"alone": lambda: ns(None), "attached": lambda: ns(next(folders))}, arguments.pairs, job)
    shown(job, "processes", process_pairs.ratio(values["attached"], values["alone"]), statistics.median(values["alone"]) / 1e9, arguments.pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--jobs", default="toy,resnet18")
    parser.add_argument("--steps", type=int, help="of a process; unset: 4000 of the toy, 240 of ResNet-18")
    parser.add_argument("--pairs", type=int, default=10, help="0: only the blocks")
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall")
    arguments = parser.parse_args()
    if arguments.pairs not in (0, *process_pairs.RANKS):
        parser.error(f"--pairs {arguments.pairs}: there are intervals for {', '.join(map(str, process_pairs.RANKS))}")
    print("| job | by | step ms | attached / alone | µs per step | pairs |\n|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        below = pathlib.Path(folder)
        script = below / "job.py"
        script.write_text(SCRIPT)
        for job in arguments.jobs.split(","):
            steps, size = JOBS[job]
            steps = arguments.steps or steps
            by_blocks(arguments, script, job, steps, size, below / f"{job}-blocks")
            if arguments.pairs:
                by_processes(arguments, script, job, steps, below / job)


if __name__ == "__main__":
    main()
