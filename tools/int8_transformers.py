#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""int8 against float32 of three transformers in ONNX Runtime and OpenVINO: a BERT folder, an encoder of operator set 12, a decoder of 17.

usage: tools/int8_transformers.py [--repetitions 10] [--iterations 60] [--threads 1] [--layers 4] [--width 256] [--out FILE.md]

Each row is one `paceline infer --precision fp32,int8`, whose processes are interleaved: the ratio is the run's own, with its interval.
Weights are random and seeded; calibration and check use different random ids, and the answers are compared with the fp32 run.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "cli"))
import transformers  # noqa: E402


def models(folder, size):
    transformers.write_bert_folder(folder / "bert", size)
    transformers.write_encoder(folder / "encoder12.onnx", size)
    transformers.write_decoder(folder / "decoder17.onnx", size)
    for name, rows, seed in (("calibration", 32, 2), ("ids", 64, 3)):
        transformers.write_ids(folder / f"{name}.npy", size, rows, seed)
    ids = ("--calib-data", "ids:calibration.npy", "--load-inputs", "ids:ids.npy")
    return {"BERT folder": ("bert", "--sequence-length", str(size.tokens)), "encoder, operator set 12": ("encoder12.onnx", *ids),
            "decoder, operator set 17": ("decoder17.onnx", *ids)}


def cases(args, folder, engine, model, more):
    command = [args.paceline, "infer", "--model", model, "--engine", engine, "--precision", "fp32,int8", "--threads", str(args.threads),
               "--warmup", "5", "--iterations", str(args.iterations), "--repetitions", str(args.repetitions), "--idle-wait-s", "0",
               "--no-measure-peak", "--allow-noisy", "--json", *more]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if not done.stdout:
        raise SystemExit(f"{' '.join(command)} failed ({done.returncode}):\n{done.stderr[-2000:]}")
    return json.loads(done.stdout)["cases"]


def row(name, engine, fp32, int8):
    if int8["outcome"] != "ok":
        return f"| {name} | {engine} | | | {int8['reason']} | | |"
    share = {e["precision"]: e["flops_share"] for e in int8["precision"]["executed"]}["int8"]
    ratio = int8["speedup"]["ratio"]
    p50 = [f"{case['headline']['p50_ns']['value'] / 1e6:.2f}" for case in (fp32, int8)]
    cosine = int8["correctness"]["centred_cosine"] or min(o["centred_cosine"] for o in int8["correctness"]["outputs"])
    return (f"| {name} | {engine} | {p50[0]} | {p50[1]} | {ratio['value']:.2f} ({ratio['ci_low']:.2f}–{ratio['ci_high']:.2f}) | {100 * share:.0f} % | "
            f"{cosine:.4f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("repetitions", 10), ("iterations", 60), ("threads", 1), ("layers", 4), ("width", 256), ("tokens", 64)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--paceline", default=os.environ.get("PACELINE", str(ROOT / "build/release/bin/paceline")))
    parser.add_argument("--out")
    args = parser.parse_args()
    size = transformers.Size(layers=args.layers, width=args.width, heads=args.width // 32, words=1000, tokens=args.tokens, labels=100)
    lines = ["| | engine | fp32, ms | int8, ms | times as fast | FLOPs in int8 | centred cosine |", "|---|---|--:|--:|---|--:|--:|"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for title, (model, *more) in models(folder, size).items():
            for engine in ("onnxruntime", "openvino"):
                lines.append(row(title, engine, *cases(args, folder, engine, model, more)))
                print(lines[-1], file=sys.stderr, flush=True)
    text = "\n".join(lines) + "\n"
    if args.out:
        pathlib.Path(args.out).write_text(text)
    print(text, end="")


if __name__ == "__main__":
    main()
