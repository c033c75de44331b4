#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ResNet-50 through Paceline against the engines' own tools, and int8 against float32, in fresh interleaved processes.

usage: tools/compare_engines.py tools  --python VENV/bin/python [--rounds 12] [--engines openvino,onnxruntime] [--precisions fp32,int8] [--batches 1,8]
                                [--out FILE.md]
       tools/compare_engines.py int8   [--rounds 12] [--batches 8] [--out FILE.md]

tools: OpenVINO through Paceline against its benchmark_app, ONNX Runtime through Paceline against a loop in its Python: one
       `paceline infer --cross-check` a row. The environment needs openvino, onnxruntime and numpy.
int8:  every engine in fp32 and int8, one process of each per round: how much faster int8 is than eager and than the best fp32 engine.
The files come from `paceline export`; a ratio is that of per-process medians, its interval the order-statistic one.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from process_pairs import RANKS, interleave, ratio

ROOT = pathlib.Path(__file__).resolve().parent.parent


def output_of(command, env=None):
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed ({done.returncode}):\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def infer(args, engine, model, precision, batch, *more):
    """The case's result of one `paceline infer`."""
    with tempfile.TemporaryDirectory() as folder:
        command = [args.paceline, "infer", "--model", model, "--device", "cpu", "--engine", engine, "--precision", precision, "--batch", str(batch),
                   "--threads", str(args.threads), "--warmup", str(args.warmup), "--iterations", str(args.iterations), "--timing-mode",
                   "sync_latency", "--repetitions", "1", "--idle-wait-s", "0", "--accuracy.samples", "1", "--no-measure-peak",
                   "--allow-noisy", "--json", "--output-dir", folder, *more]
        if model.endswith(".onnx"):
            command += ["--shapes", f"input:{batch}x3x224x224"]
        return json.loads(output_of(command))["cases"][0]


def run_paceline(args, engine, model, precision, batch):
    return infer(args, engine, model, precision, batch)["headline"]["p50_ns"]["value"]


def export(args, precision, folder):
    file = str(pathlib.Path(folder) / f"resnet50_{precision}.onnx")
    output_of([args.paceline, "export", "--model", "resnet50", "--precision", precision, "--dynamic-batch", "--out", file])
    return file


def row(name, versus, batch, values):
    ours, theirs = values[name], values[versus]
    middle, low, high = ratio(ours, theirs)
    return {"name": name, "versus": versus, "batch": batch, "ours": statistics.median(ours) / 1e6, "theirs": statistics.median(theirs) / 1e6,
            "ratio": middle, "low": low, "high": high, "rounds": len(ours)}


def cross_check(args, engine, file, precision, batch):
    case = infer(args, engine, file, precision, batch, "--cross-check", "--cross-check-rounds", str(args.rounds), "--cross-check-python",
                 args.python)
    check = case["cross_check"]
    if check["reason"]:
        raise SystemExit(f"{engine} {precision} batch {batch}: {check['reason']}\n{check['log_tail']}")
    found = check["ratio"]
    return {"name": f"{engine} {precision}", "versus": check["tool"], "batch": batch, "ours": check["ours_p50_ns"] / 1e6,
            "theirs": check["theirs_p50_ns"] / 1e6, "ratio": found["value"], "low": found["ci_low"], "high": found["ci_high"],
            "rounds": len(check["ours_ns"])}


def compare_tools(args, folder):
    files = {precision: export(args, precision, folder) for precision in args.precisions.split(",")}
    rows = []
    for batch in map(int, args.batches.split(",")):
        for precision, file in files.items():
            for engine in args.engines.split(","):
                rows.append(cross_check(args, engine, file, precision, batch))
                print(table(rows[-1:]).splitlines()[-1], file=sys.stderr, flush=True)
    return rows


def compare_int8(args, folder):
    files = {precision: export(args, precision, folder) for precision in ("fp32", "int8")}
    rows = []
    for batch in map(int, args.batches.split(",")):
        sides = {f"{e} fp32": lambda e=e, b=batch: run_paceline(args, e, "resnet50", "fp32", b) for e in ("eager", "torchscript")}
        sides |= {f"{e} {p}": lambda e=e, p=p, b=batch: run_paceline(args, e, files[p], p, b)
                  for p in ("fp32", "int8") for e in ("openvino", "onnxruntime")}
        values = interleave(sides, args.rounds, f"b{batch}")
        medians = {name: statistics.median(v) for name, v in values.items()}
        best = {p: min((n for n in medians if n.endswith(p)), key=medians.get) for p in ("fp32", "int8")}
        rows += [row(name, best["int8"], batch, values) for name in sides if name != best["int8"]]
    return rows


def table(rows):
    text = "| | ms | against | ms | batch | ratio | 95 % interval | rounds |\n|---|---|---|---|---|---|---|---|\n"
    for r in rows:
        text += (f"| {r['name']} | {r['ours']:.2f} | {r['versus']} | {r['theirs']:.2f} | {r['batch']} | {r['ratio']:.3f} | "
                 f"{r['low']:.3f}–{r['high']:.3f} | {r['rounds']} |\n")
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=["tools", "int8"])
    parser.add_argument("--python", help="interpreter of an environment with openvino, onnxruntime and numpy")
    parser.add_argument("--paceline", default=str(ROOT / "build/release/bin/paceline"))
    parser.add_argument("--rounds", type=int, default=12, choices=sorted(RANKS))
    parser.add_argument("--engines", default="openvino,onnxruntime", help="of 'tools'")
    parser.add_argument("--precisions", default="fp32,int8")
    parser.add_argument("--batches", default="1,8")
    parser.add_argument("--iterations", type=int, default=40)
    parser.add_argument("--warmup", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--out", help="Markdown table")
    args = parser.parse_args()
    if not args.what or (args.what == "tools" and not args.python):
        parser.error("say 'tools' with --python, or 'int8'")
    with tempfile.TemporaryDirectory() as folder:
        rows = compare_tools(args, folder) if args.what == "tools" else compare_int8(args, folder)
    text = table(rows)
    print(text)
    if args.out:
        pathlib.Path(args.out).write_text(text)
    if args.what == "tools" and (slow := [r for r in rows if r["ratio"] > 1.02 or r["high"] > 1.05]):
        raise SystemExit(f"{len(slow)} of {len(rows)} rows above ratio 1.02 or interval end 1.05")


if __name__ == "__main__":
    main()
