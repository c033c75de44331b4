#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records traces of a small job under torch.profiler: two gloo ranks, of which rank 1 sleeps 20 ms a step; with --batch-norm it computes as long, before buffers are sent.

usage: tests/data/traces/record.py FOLDER [--prefix job] [--batch-norm]     (an interpreter with torch)
"""
import argparse
import gzip
import multiprocessing
import pathlib
import time

STEPS = 24


def train(rank, port, folder, prefix, batch_norm):
    import torch
    from torch import distributed, profiler

    torch.set_num_threads(1)
    distributed.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    net = torch.nn.Sequential(torch.nn.Linear(64, 64), *([torch.nn.BatchNorm1d(64)] if batch_norm else []))
    model = torch.nn.parallel.DistributedDataParallel(net)
    work = torch.zeros(500, 500)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    file = folder / f"{prefix}_rank{rank}.json"
    with profiler.profile(activities=[profiler.ProfilerActivity.CPU], schedule=profiler.schedule(wait=1, warmup=1, active=STEPS),
                          on_trace_ready=lambda p: p.export_chrome_trace(str(file))) as prof:
        for _ in range(STEPS + 2):
            until = time.monotonic() + 0.02
            while rank == 1 and batch_norm and time.monotonic() < until:
                work = work @ work
            if rank == 1 and not batch_norm:
                time.sleep(0.02)
            optimizer.zero_grad()
            model(torch.zeros(8, 64)).sum().backward()
            optimizer.step()
            prof.step()
    distributed.destroy_process_group()
    with gzip.GzipFile(f"{file}.gz", "wb", mtime=0) as packed:
        packed.write(file.read_bytes())
    file.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--prefix", default="job")
    parser.add_argument("--batch-norm", action="store_true")
    parser.add_argument("--port", type=int, default=29533)
    args = parser.parse_args()
    ranks = [multiprocessing.Process(target=train, args=(rank, args.port, args.folder, args.prefix, args.batch_norm)) for rank in (0, 1)]
    for rank in ranks:
        rank.start()
    for rank in ranks:
        rank.join()


if __name__ == "__main__":
    main()
