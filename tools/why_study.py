#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does `paceline compare` name the layer that was changed? Seeds one change at a time into a small ONNX model, and compares live.

usage: tools/why_study.py [--kinds slow,fused,…] [--rounds 3] [--within SECONDS] [--keep FILE] [--paceline build/release/bin/paceline]
       tools/why_study.py --rows --keep FILE

slow:       one convolution has a larger kernel.
fused:      the five nodes of a GELU become one (graph optimization extended instead of basic); nothing else can.
renamed:    a convolution has another name and a larger kernel: one row, not one that went and one that came.
added:      one convolution more.
duplicated: a block of convolution and ReLU runs twice.
float:      one convolution of an int8 model is excluded; ONNX Runtime may run it in float, or in int8 with what that costs.
late:       one of two ranks sleeps before each step of a training job, so that its all-reduces are late for the other.
Another layer, or rank, is changed in each round. One thread of ONNX Runtime; six pairs of processes in turns, then layer passes of both sides.
`--within` starts no comparison after that time, and `--keep` adds to its file: a long study is many short slices.
Prints a Markdown row per kind: comparisons whose verdict asks why, those that explain, those whose first row is the changed layer,
and the median share of the difference that rows of single parts explain. Exit code 1 if another layer was named first.
"""
import argparse
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "cli"))
import onnx_files as onnx  # noqa: E402

BLOCKS, CHANNELS, SIDE = 6, 16, 32
FEW, THIN, WIDE = 3, 4, 160  # blocks, channels and side of a net whose GELU takes as long as its convolutions


def conv(name, source, to, kernel, channels, tensors):
    """A convolution that keeps its shape."""
    rng = random.Random(f"{name}{kernel}")
    scale = math.sqrt(2 / (channels * kernel * kernel))
    values = [rng.gauss(0, scale) for _ in range(channels * channels * kernel * kernel)]
    tensors.append(onnx.weights(f"{name}.weight", (channels, channels, kernel, kernel), values))
    return onnx.node("Conv", [source, f"{name}.weight"], [to], name=name, kernel_shape=[kernel, kernel], pads=[kernel // 2] * 4)


def relu(name, source, to):
    return [onnx.node("Relu", [source], [to], name=f"{name}.relu")]


def gelu(name, source, to):
    """x * 0.5 * (1 + erf(x / sqrt(2))), in the order that exporters write."""
    steps = [("Div", [source, "root"], "div"), ("Erf", ["div"], "erf"), ("Add", ["erf", "one"], "add"), ("Mul", [source, "add"], "mul"),
             ("Mul", ["mul", "half"], to)]
    return [onnx.node(kind, [i if i in (source, "root", "one", "half") else f"{name}.{i}" for i in inputs], [out if out == to else f"{name}.{out}"],
                      name=f"{name}.gelu.{kind.lower()}{number}") for number, (kind, inputs, out) in enumerate(steps)]


def net(layers, channels=CHANNELS, side=SIDE, activation=lambda name: relu):
    """`layers`: names and kernels of convolutions, with an activation after each."""
    nodes, source = [], "x"
    tensors = [onnx.weights(name, (), [number]) for name, number in (("root", math.sqrt(2)), ("one", 1.0), ("half", 0.5))]
    shape = (1, channels, side, side)
    for i, (name, kernel) in enumerate(layers):
        out = "y" if i == len(layers) - 1 else f"{name}.out"
        nodes += [conv(name, source, f"{name}.sum", kernel, channels, tensors), *activation(name)(name, f"{name}.sum", out)]
        source = out
    return onnx.model(nodes, (("x", shape),), (("y", shape),), tensors)


def layers_of(change=None):
    return [change if change and change[0] == f"block{i}.conv" else (f"block{i}.conv", 3) for i in range(BLOCKS)]


def named(row, *words):
    return all(word in row["what"] for word in words)


# Each: both models, further words of side B, and whether the first row names the change.
def slow(at):
    return net(layers_of()), net(layers_of((f"block{at}.conv", 7))), [], lambda row: named(row, f"block{at}.conv") and row["change"] == "slower"


def fused(at):
    at %= FEW
    thin = net([(f"block{i}.conv", 1) for i in range(FEW)], THIN, WIDE, lambda name: gelu if name == f"block{at}.conv" else relu)
    return thin, thin, ["--onnxruntime.graph_optimization", "extended"], lambda row: named(row, f"block{at}.conv.gelu") and row["change"] in ("fused", "vanished")


def renamed(at):
    other = [(f"stem.{name}_v2", 7) if name == f"block{at}.conv" else (name, kernel) for name, kernel in layers_of()]
    return net(layers_of()), net(other), [], lambda row: named(row, f"block{at}.conv", f"stem.block{at}.conv_v2") and row["change"] == "slower"


def added(at):
    other = layers_of()
    other.insert(at, ("extra", 3))
    return net(layers_of()), net(other), [], lambda row: named(row, "extra") and row["change"] == "new"


def duplicated(at):
    other = layers_of()
    other.insert(at + 1, (f"block{at}.again", 3))
    return net(layers_of()), net(other), [], lambda row: named(row, f"block{at}.again") and row["change"] == "new"


def in_float(at):
    same = net(layers_of())
    return same, same, ["--quantisation.exclude", f"block{at}.conv"], lambda row: named(row, f"block{at}.conv")


COMMON = {"float": ["--precision", "int8"]}
LAYERS = {"slow": slow, "fused": fused, "renamed": renamed, "added": added, "duplicated": duplicated, "float": in_float}
KINDS = [*LAYERS, "late"]
QUICK = ["--threads", "1", "--device", "cpu", "--idle-wait-s", "0", "--stop.t_max_s", "1", "--json", "-q"]


def layer_words(kind, at, folder):
    """Words of a comparison of two models, and whether a row names the change."""
    a, b, words, is_it = LAYERS[kind](at)
    (folder / "a.onnx").write_bytes(a)
    (folder / "b.onnx").write_bytes(b)
    own = ["--onnxruntime.graph_optimization", "basic"] if kind == "fused" else []
    return ["infer", "--engine", "onnxruntime", "--accuracy", "off", *COMMON.get(kind, []), "--a", " ".join([f"--model {folder / 'a.onnx'}", *own]),
            "--b", " ".join([f"--model {folder / 'b.onnx'}", *words])], is_it


def late_words(at):
    rank = at % 2
    return (["train", "--model", "tiny_cnn", "--batch-size", "32", "--ranks", "2", "--a", "", "--b", f"--inject slow=4ms:rank={rank}"],
            lambda row: named(row, "waiting for late ranks") and f"waits for rank {rank}," in row["cause"])


def compare(args, kind, at, folder):
    words, is_it = late_words(at) if kind == "late" else layer_words(kind, at, folder)
    command = [args.paceline, "compare", *words, *QUICK]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env={**os.environ, "TMPDIR": str(folder)})
    if done.returncode not in (0, 1, 3, 4):
        sys.exit(f"paceline compare: exit {done.returncode}\n{done.stderr}")
    case = json.loads(done.stdout)["cases"][0]
    why = case.get("why")
    rows = why["rows"] if why else []
    parts = [row for row in rows if row["change"] not in ("rest", "unexplained")]
    return {"kind": kind, "at": at, "verdict": case["figures"][0]["verdict"], "asked": why is not None,
            "no_claim": why["no_claim"] if why else "", "first": parts[0]["what"] if parts else "",
            "change": parts[0]["change"] if parts else "", "right": bool(parts) and is_it(parts[0]),
            "share": why["explained_share"] if why else None}


def rows(found):
    print("| changed | compared | not equal | explained | changed layer first | explained share |")
    print("|---|---|---|---|---|---|")
    for kind in KINDS:
        these = [one for one in found if one["kind"] == kind]
        if not these:
            continue
        explained = [one for one in these if one["first"]]
        shares = [one["share"] for one in explained]
        print(f"| {kind} | {len(these)} | {sum(one['asked'] for one in these)} | {len(explained)} | {sum(one['right'] for one in these)} "
              f"| {statistics.median(shares):.0%} |" if shares else f"| {kind} | {len(these)} | {sum(one['asked'] for one in these)} | 0 | 0 | – |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--within", type=float, default=math.inf)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--rows", action="store_true")
    parser.add_argument("--paceline", type=lambda name: str(pathlib.Path(name).resolve()), default=str(ROOT / "build/release/bin/paceline"))
    args = parser.parse_args()
    kept = [json.loads(line) for line in args.keep.read_text().splitlines()] if args.keep and args.keep.exists() else []
    begin, found = time.monotonic(), list(kept)
    for at in range(0 if args.rows else args.rounds):
        for kind in args.kinds.split(","):
            if time.monotonic() - begin > args.within or any(one["kind"] == kind and one.get("round") == at for one in kept):
                continue
            with tempfile.TemporaryDirectory() as folder:
                found.append({"round": at, **compare(args, kind, 1 + at % (BLOCKS - 2), pathlib.Path(folder))})
            print(json.dumps(found[-1]), file=sys.stderr, flush=True)
            if args.keep:
                args.keep.write_text("".join(json.dumps(one) + "\n" for one in found))
    rows(found)
    return 1 if any(one["first"] and not one["right"] for one in found) else 0


if __name__ == "__main__":
    sys.exit(main())
