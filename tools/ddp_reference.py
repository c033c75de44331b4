#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Results of PyTorch's own DistributedDataParallel for ResNet-50 with batch statistics on two ranks.

usage: ddp_reference.py OUTPUT.json [--steps 20] [--batch 2] [--ranks 2]

Needs Python with torch and numpy. Weights and batches are drawn by the formulas of src/base/random.h and
plugins/torch/models/table.cc, bit by bit, so that nothing has to be stored but the answers: the loss of every rank
and step, the sizes of the rebuilt buckets, and of every parameter and buffer of rank 0 its norm and some values.
tests/plugin/torch/training_reference_test.cc trains the same with Paceline's trainer and compares; strictly, value by
value, with an OUTPUT.json of the same machine: PACELINE_DDP_REFERENCE=OUTPUT.json ctest --test-dir build/release -R ddp_reference
"""
import argparse
import json
import os
import tempfile

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

from pytorch_models import ResNet50

WEIGHTS_SEED, DATA_SEED = 7, 11
LEARNING_RATE, MOMENTUM, WEIGHT_DECAY = 0.0005, 0.9, 1e-4  # small: rounding grows with it from step to step
STEP = np.uint64(0x9E3779B97F4A7C15)


def mix64(z):
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def hash64(text):
    h = 0xCBF29CE484222325
    for byte in text.encode():
        h = ((h ^ byte) * 0x100000001B3) % 2**64
    return np.uint64(h)


def uniform(seed, name, first, count):
    """Numbers first … first + count - 1 of a stream of CounterRng, in [0, 1)."""
    with np.errstate(over="ignore"):
        base = mix64(np.uint64(seed) ^ mix64(hash64(name) + STEP))
        index = np.arange(first, first + count, dtype=np.uint64) + np.uint64(1)
        return (mix64(base + index * STEP) >> np.uint64(11)).astype(np.float64) * 2.0**-53


HE, AFTER_RELU = 1.4142135623730951, 1.7128585504496627
RULES = [  # suffix, centre, spread, whether the spread is scaled to the fan-in, whether rows add up to 0
    ("bn3.weight", 0.2, 0.05, False, False),
    ("bn1.weight", 1, 0.1, False, False),
    ("bn2.weight", 1, 0.1, False, False),
    ("downsample.1.weight", 1, 0.1, False, False),
    ("running_mean", 0, 0.1, False, False),
    ("running_var", 1, 0.1, False, False),
    ("fc.weight", 0, 1, True, True),
    ("bias", 0, 0.1, False, False),
    ("downsample.0.weight", 0, AFTER_RELU, True, True),
    ("weight", 0, HE, True, False),
]


def draw(name, shape):
    _, centre, spread, fan_in, balanced = next(rule for rule in RULES if name.endswith(rule[0]))
    count = int(np.prod(shape))
    half = spread * np.sqrt(3.0 * float(shape[0]) / float(count)) if fan_in else spread
    values = (centre - half + 2 * half * uniform(WEIGHTS_SEED, name, 0, count)).astype(np.float32)
    if balanced:
        rows = values.reshape(shape[0], -1)
        means = np.cumsum(rows, axis=1, dtype=np.float64)[:, -1] / rows.shape[1]
        values = rows - means.astype(np.float32)[:, None]
    return torch.from_numpy(np.ascontiguousarray(values.reshape(shape)))


def batch_of(first, count):
    pixels = 3 * 224 * 224
    images = 2.0 * uniform(DATA_SEED, "input", first * pixels, count * pixels) - 1.0
    labels = (uniform(DATA_SEED, "labels", first, count) * 1000.0).astype(np.int64)
    return torch.from_numpy(images.astype(np.float32).reshape(count, 3, 224, 224)), torch.from_numpy(labels)


def tensors_of(model):
    """Parameters, then buffers, without counters of batches."""
    items = list(model.named_parameters()) + list(model.named_buffers())
    return [(name, tensor) for name, tensor in items if not name.endswith("num_batches_tracked")]


def describe(name, tensor):
    flat = tensor.detach().flatten()
    places = sorted({0, len(flat) // 3, len(flat) // 2, len(flat) - 1})
    return {"name": name, "norm": flat.double().norm().item(), "largest": flat.abs().max().item(),
            "values": [[place, flat[place].item()] for place in places]}


def run_rank(rank, args, rendezvous, folder):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=args.ranks)
    model = ResNet50()
    with torch.no_grad():
        for name, tensor in tensors_of(model):
            tensor.copy_(draw(name, tuple(tensor.shape)))
    ddp = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=LEARNING_RATE, momentum=MOMENTUM, weight_decay=WEIGHT_DECAY)
    losses = []
    for step in range(args.steps):
        images, labels = batch_of((step * args.ranks + rank) * args.batch, args.batch)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(ddp(images), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if rank == 0:
            print(f"step {step}: {losses[-1]:.7f}", flush=True)
    result = {"losses": losses}
    if rank == 0:
        sizes = ddp._get_ddp_logging_data()["rebuilt_bucket_sizes"]
        result["bucket_bytes"] = [int(size) for size in sizes.split(",")]
        result["tensors"] = [describe(name, tensor) for name, tensor in tensors_of(model)]
    with open(os.path.join(folder, f"{rank}.json"), "w", encoding="utf-8") as file:
        json.dump(result, file)
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--batch", type=int, default=2, help="images per rank and step")
    parser.add_argument("--ranks", type=int, default=2)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(run_rank, (args, os.path.join(folder, "rendezvous"), folder), args.ranks)
        ranks = []
        for rank in range(args.ranks):
            with open(os.path.join(folder, f"{rank}.json"), encoding="utf-8") as file:
                ranks.append(json.load(file))
    reference = {"torch": torch.__version__, "cpu_capability": torch.backends.cpu.get_cpu_capability(),
                 "weights_seed": WEIGHTS_SEED, "data_seed": DATA_SEED, "learning_rate": LEARNING_RATE,
                 "momentum": MOMENTUM, "weight_decay": WEIGHT_DECAY, "batch": args.batch,
                 "losses": [rank["losses"] for rank in ranks], "bucket_bytes": ranks[0]["bucket_bytes"],
                 "tensors": ranks[0]["tensors"]}
    with open(args.output, "w", encoding="utf-8") as file:
        json.dump(reference, file, indent=None, separators=(",", ":"))
        file.write("\n")


if __name__ == "__main__":
    main()
