#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Python's side of tools/compare_pytorch.py: runs in the PyTorch interpreter and prints the samples (ns) of one process as JSON.

What Paceline sets on a device is set here too (plugins/torch/cuda): TF32 for products and convolutions, cuDNN's benchmark, a stream from
the pool, inference_mode, the copies of --io. Nothing is left to a default.
"""
import argparse
import contextlib
import json
import time

# precision: the type of weights and inputs, autocast's type, TF32.
PRECISIONS = {"fp32": ("float32", None, False), "tf32": ("float32", None, True), "bf16": ("bfloat16", None, False),
              "fp16": ("float16", None, False), "amp_bf16": ("float32", "bfloat16", False), "amp_fp16": ("float32", "float16", False)}
# io: are inputs and outputs copied in every iteration, and is the host's side pinned?
COPIES = {"device": (False, True, True), "pinned": (True, True, True), "pageable": (True, True, False), "none": (False, False, True)}


def set_switches(torch, options):
    torch.set_num_threads(options.threads)
    torch.set_num_interop_threads(1)
    torch.manual_seed(0)
    if options.device != "cpu":
        torch.cuda.set_device(options.device)
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = PRECISIONS[options.precision][2]
        torch.backends.cudnn.benchmark = options.cudnn_benchmark


def under_autocast(torch, options, **settings):
    dtype = PRECISIONS[options.precision][1]
    if dtype is None:
        return contextlib.nullcontext()
    return torch.autocast(torch.device(options.device).type, getattr(torch, dtype), **settings)


def prepared(torch, options):
    """(forward, input) on the device, in the precision and layout asked for. A trace contains autocast's casts."""
    from pytorch_models import MODELS, SIDES

    form = {"device": options.device, "dtype": getattr(torch, PRECISIONS[options.precision][0]),
            "memory_format": torch.channels_last if options.layout == "channels_last" else torch.contiguous_format}
    side = SIDES[options.model]
    x = torch.randn(options.batch, 3, side, side).to(**form)
    model = MODELS[options.model]().eval().to(**form)
    if options.engine == "torchscript":
        with torch.no_grad(), under_autocast(torch, options, cache_enabled=False):
            traced = torch.jit.trace(model, x)
        return torch.jit.optimize_for_inference(torch.jit.freeze(traced)), x
    if PRECISIONS[options.precision][1] is None:
        return model, x

    def forward(inputs):
        with under_autocast(torch, options):
            return model(inputs)
    return forward, x


def with_copies(torch, options, forward, x):
    """One iteration on a device: copies of inputs and outputs as --io sets, the model, one synchronisation."""
    sends, fetches, pinned = COPIES[options.io]
    host_input = x.cpu() if sends else None
    if sends and pinned:
        host_input = host_input.pin_memory()
    like = forward(x)
    host_output = torch.empty(like.shape, dtype=like.dtype, pin_memory=pinned)

    def run(inputs):
        if sends:
            inputs.copy_(host_input, non_blocking=pinned)
        y = forward(inputs)
        if fetches:
            host_output.copy_(y, non_blocking=pinned)
        torch.cuda.current_stream().synchronize()
    return run


def own_stream(torch, options):
    """Work of the set-up is on the default stream: it is waited for."""
    if options.device == "cpu":
        return contextlib.nullcontext()
    torch.cuda.synchronize()
    return torch.cuda.stream(torch.cuda.Stream())


def measure(torch, options):
    run, x = prepared(torch, options)
    samples = []
    with own_stream(torch, options), torch.inference_mode():
        if options.device != "cpu":
            run = with_copies(torch, options, run, x)
        for i in range(1 + options.warmup + options.iterations):
            begin = time.perf_counter_ns()
            run(x)
            end = time.perf_counter_ns()
            if i > options.warmup:
                samples.append(end - begin)
    return samples


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("model", "engine", "device", "layout"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--precision", choices=sorted(PRECISIONS), required=True)
    for name in ("batch", "threads", "warmup", "iterations"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--io", choices=COPIES, default="device")
    parser.add_argument("--cudnn-benchmark", action="store_true")
    options = parser.parse_args()
    import torch

    print(json.dumps(measure(torch, options)))


if __name__ == "__main__":
    main()
