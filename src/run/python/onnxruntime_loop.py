# SPDX-License-Identifier: MIT
"""ONNX Runtime's Python as its users time it: session.run in a loop, each call between two readings of the clock.

usage: onnxruntime_loop.py ORDER.json     reads file, inputs {name: .npy}, threads, options, warmup, iterations, out; writes OUT
"""
import json
import sys
import time

import numpy
import onnxruntime

LEVELS = {"all": "ORT_ENABLE_ALL", "extended": "ORT_ENABLE_EXTENDED", "basic": "ORT_ENABLE_BASIC", "disabled": "ORT_DISABLE_ALL"}


def open_dimensions(file, feed):
    """Symbols of open dimensions with the size that the inputs give them; those that stand for several sizes are left out."""
    settings = onnxruntime.SessionOptions()
    settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    declared = onnxruntime.InferenceSession(file, settings, providers=["CPUExecutionProvider"]).get_inputs()
    sizes = {}
    for tensor in declared:
        for symbol, size in zip(tensor.shape, feed[tensor.name].shape):
            if isinstance(symbol, str):
                sizes.setdefault(symbol, set()).add(size)
    return {symbol: found.pop() for symbol, found in sizes.items() if len(found) == 1}


def session_options(order, feed):
    options, settings = order["options"], onnxruntime.SessionOptions()
    settings.intra_op_num_threads = order["threads"]
    settings.inter_op_num_threads = int(options.get("inter_op_threads", 1))
    if settings.inter_op_num_threads > 1:
        settings.execution_mode = onnxruntime.ExecutionMode.ORT_PARALLEL
    settings.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, LEVELS[options.get("graph_optimization", "all")])
    settings.enable_cpu_mem_arena = options.get("arena", "true") == "true"
    settings.add_session_config_entry("session.intra_op.allow_spinning", "1" if options.get("allow_spinning", "true") == "true" else "0")
    for symbol, size in open_dimensions(order["file"], feed).items():
        settings.add_free_dimension_override_by_name(symbol, size)
    return settings


def main():
    order = json.load(open(sys.argv[1]))
    feed = {name: numpy.load(file) for name, file in order["inputs"].items()}
    session = onnxruntime.InferenceSession(order["file"], session_options(order, feed), providers=["CPUExecutionProvider"])
    samples = []
    for turn in range(1 + order["warmup"] + order["iterations"]):
        begin = time.perf_counter_ns()
        session.run(None, feed)
        end = time.perf_counter_ns()
        if turn > order["warmup"]:
            samples.append(end - begin)
    with open(order["out"], "w") as out:
        json.dump({"version": onnxruntime.__version__, "samples_ns": samples}, out)


main()
