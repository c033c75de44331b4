#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the files of docs/gallery.md: a trained model, its update, pictures, labels, and traces of a job on two ranks.

usage: gallery_files.py FOLDER

Needs Python with torch, numpy, scikit-learn and onnx; takes some minutes. The accuracy of the model differs a little by machine.
"""
import argparse
import os
import pathlib

import numpy as np
import onnx
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from onnx import helper
from sklearn.datasets import load_digits
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule

EPOCHS, TRAINED_ON, CALIBRATED_ON = 4, 1000, 200
BATCH, LARGE = 16, 768  # of the job: samples per step, side of rank 1's pictures
UNTIMED, TRACED = 4, 16


class Block(nn.Module):
    def __init__(self, inside, width, stride):
        super().__init__()
        self.a = nn.Sequential(nn.Conv2d(inside, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
                               nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width))
        self.b = nn.Sequential(nn.Conv2d(inside, width, 1, stride, bias=False), nn.BatchNorm2d(width))

    def forward(self, x):
        return torch.relu(self.a(x) + self.b(x))


def train(x, y):
    net = nn.Sequential(nn.Conv2d(1, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU(), Block(64, 64, 1), Block(64, 128, 2),
                        Block(128, 256, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 10))
    optimizer = torch.optim.AdamW(net.parameters(), 2e-3)
    for _ in range(EPOCHS):
        for part in torch.randperm(len(x)).split(50):
            loss = nn.functional.cross_entropy(net(x[part]), y[part])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return net.eval()


def with_silu(model):
    """The update: each ReLU becomes x times its sigmoid."""
    nodes = []
    for node in model.graph.node:
        if node.op_type != "Relu":
            nodes.append(node)
            continue
        gate = f"{node.output[0]}_gate"
        nodes += [helper.make_node("Sigmoid", [node.input[0]], [gate], name=f"{gate}_sigmoid"),
                  helper.make_node("Mul", [node.input[0], gate], [node.output[0]], name=f"{gate}_mul")]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    onnx.checker.check_model(model)
    return model


def make_models(folder):
    torch.manual_seed(0)
    digits = load_digits()
    x = nn.functional.interpolate(torch.tensor(digits.images, dtype=torch.float32)[:, None] / 16, size=32, mode="bilinear")
    y = torch.tensor(digits.target)
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(1))
    seen, unseen = order[:TRAINED_ON], order[TRAINED_ON:]
    net = train(x[seen], y[seen])
    torch.onnx.export(net, x[:1], folder / "digits.onnx", input_names=["image"], output_names=["logits"],
                      dynamic_axes={"image": {0: "N"}, "logits": {0: "N"}}, dynamo=False, opset_version=17)
    (folder / "old.onnx").write_bytes((folder / "digits.onnx").read_bytes())
    onnx.save(with_silu(onnx.load(folder / "digits.onnx")), folder / "new.onnx")
    for name, array in (("calib", x[seen[:CALIBRATED_ON]]), ("test", x[unseen]), ("labels", y[unseen])):
        np.save(folder / f"{name}.npy", array.numpy())


class Pictures(torch.utils.data.Dataset):
    """Rank 1 has a shard of larger pictures."""

    def __init__(self, rank):
        self.rank = rank

    def __len__(self):
        return 4096

    def __getitem__(self, i):
        draw = torch.Generator().manual_seed(i)
        x = torch.rand(3, 224, 224, generator=draw)
        if self.rank == 1:
            large = torch.rand(3, LARGE, LARGE, generator=draw)
            x = nn.functional.interpolate(large[None], size=224, mode="bilinear", antialias=True)[0]
        return x, i % 1000


def job(rank, folder):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29511")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo", rank=rank, world_size=2)
    layers, inside = [], 3
    for width in (32, 64, 128, 256):
        layers += [nn.Conv2d(inside, width, 3, 2, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU()]
        inside = width
    model = nn.parallel.DistributedDataParallel(nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 1000)))
    optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9)
    data = iter(torch.utils.data.DataLoader(Pictures(rank), batch_size=BATCH))
    with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=2, warmup=UNTIMED - 2, active=TRACED), record_shapes=True,
                 on_trace_ready=lambda p: p.export_chrome_trace(f"{folder}/trace_rank{rank}.json")) as steps:
        for _ in range(UNTIMED + TRACED):
            x, y = next(data)
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            steps.step()
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    (folder / "traces").mkdir(parents=True, exist_ok=True)
    make_models(folder)
    mp.spawn(job, args=(str(folder / "traces"),), nprocs=2)


if __name__ == "__main__":
    main()
