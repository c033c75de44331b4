#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ResNet-50 through Paceline against the engines' own tools, and int8 against float32, in fresh interleaved processes.

usage: tools/compare_engines.py tools  --python VENV/bin/python [--rounds 12] [--engines openvino,onnxruntime] [--precisions fp32,int8] [--batches 1,8]
                                [--out FILE.md]
       tools/compare_engines.py int8   [--rounds 12] [--batches 8] [--out FILE.md]

tools: OpenVINO through Paceline against its benchmark_app, ONNX Runtime through Paceline against a loop in its Python, on the same
       file with the same threads and iterations. The environment needs openvino, onnxruntime and numpy.
int8:  every engine in fp32 and int8, one process of each a round: how much faster int8 is than eager and than the best fp32 engine.
The files come from `paceline export`; a ratio is that of per-process medians, its interval the order-statistic one.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

from process_pairs import RANKS, interleave, ratio

ROOT = pathlib.Path(__file__).resolve().parent.parent


def python_loop(options):
    """Runs in the engines' interpreter: prints the samples of an ONNX Runtime session as JSON."""
    import numpy
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = options.threads
    settings.inter_op_num_threads = 1
    settings.add_free_dimension_override_by_name("N", options.batch)
    session = onnxruntime.InferenceSession(options.file, settings, providers=["CPUExecutionProvider"])
    feed = {"input": numpy.random.default_rng(1).standard_normal((options.batch, 3, 224, 224), dtype=numpy.float32)}
    samples = []
    for turn in range(1 + options.warmup + options.iterations):
        begin = time.perf_counter_ns()
        session.run(None, feed)
        end = time.perf_counter_ns()
        if turn > options.warmup:
            samples.append(end - begin)
    print(json.dumps(samples))


def output_of(command, env=None):
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed ({done.returncode}):\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def run_onnxruntime(args, file, batch):
    command = [args.python, __file__, "--side", "python", "--file", file, "--batches", str(batch), "--threads", str(args.threads),
               "--warmup", str(args.warmup), "--iterations", str(args.iterations)]
    return statistics.median(json.loads(output_of(command).splitlines()[-1]))


def run_benchmark_app(args, file, batch):
    with tempfile.TemporaryDirectory() as folder:
        command = [str(pathlib.Path(args.python).parent / "benchmark_app"), "-m", file, "-d", "CPU", "-hint", "none", "-api", "sync",
                   "-infer_precision", "f32", "-nstreams", "1", "-nireq", "1", "-nthreads", str(args.threads), "-niter",
                   str(args.iterations), "-shape", f"[{batch},3,224,224]", "-report_type", "no_counters", "-json_stats", "-report_folder", folder]
        output_of(command)
        report = json.loads((pathlib.Path(folder) / "benchmark_report.json").read_text())
        return float(report["execution_results"]["latency (ms)"]) * 1e6  # the median is its default percentile


def run_paceline(args, engine, model, precision, batch):
    with tempfile.TemporaryDirectory() as folder:
        command = [args.paceline, "infer", "--model", model, "--engine", engine, "--precision", precision, "--batch", str(batch),
                   "--threads", str(args.threads), "--warmup", str(args.warmup), "--iterations", str(args.iterations), "--timing-mode",
                   "sync_latency", "--idle-wait-s", "0", "--accuracy.samples", "1", "--no-measure-peak", "--allow-noisy", "--json",
                   "--output-dir", folder]
        if model.endswith(".onnx"):
            command += ["--shapes", f"input:{batch}x3x224x224"]
        case = json.loads(output_of(command))["cases"][0]
        return case["headline"]["p50_ns"]["value"]


OWN_TOOLS = {"openvino": ("benchmark_app", run_benchmark_app), "onnxruntime": ("Python loop", run_onnxruntime)}


def export(args, precision, folder):
    file = str(pathlib.Path(folder) / f"resnet50_{precision}.onnx")
    output_of([args.paceline, "export", "--model", "resnet50", "--precision", precision, "--dynamic-batch", "--out", file])
    return file


def row(name, versus, batch, values):
    ours, theirs = values[name], values[versus]
    middle, low, high = ratio(ours, theirs)
    return {"name": name, "versus": versus, "batch": batch, "ours": statistics.median(ours) / 1e6, "theirs": statistics.median(theirs) / 1e6,
            "ratio": middle, "low": low, "high": high, "rounds": len(ours)}


def compare_tools(args, folder):
    rows = []
    for precision in args.precisions.split(","):
        file = export(args, precision, folder)
        for batch in map(int, args.batches.split(",")):
            for engine in args.engines.split(","):
                tool, theirs = OWN_TOOLS[engine]
                name = f"{engine} {precision}"
                sides = {name: lambda e=engine, b=batch: run_paceline(args, e, file, precision, b),
                         tool: lambda t=theirs, b=batch: t(args, file, b)}
                rows.append(row(name, tool, batch, interleave(sides, args.rounds, f"{name} b{batch}")))
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
    parser.add_argument("--side", choices=["python"], help=argparse.SUPPRESS)
    parser.add_argument("--file", help=argparse.SUPPRESS)
    parser.add_argument("--python", help="interpreter of an environment with openvino, onnxruntime and numpy")
    parser.add_argument("--paceline", default=str(ROOT / "build/release/bin/paceline"))
    parser.add_argument("--rounds", type=int, default=12, choices=sorted(RANKS))
    parser.add_argument("--engines", default=",".join(OWN_TOOLS), help="of 'tools'")
    parser.add_argument("--precisions", default="fp32,int8")
    parser.add_argument("--batches", default="1,8")
    parser.add_argument("--iterations", type=int, default=40)
    parser.add_argument("--warmup", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--out", help="Markdown table")
    args = parser.parse_args()
    if args.side:
        args.batch = int(args.batches)
        return python_loop(args)
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
