#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long a first look takes: seconds to the first figure and to the last sentence, by phase, of a first and a second command.

usage: tools/first_number.py MODEL.onnx [--paceline build/release/bin/paceline] [--busy 0] [--int8] [--runs 1]

The first command starts with an empty cache folder, the second has what the first one kept. --busy starts that many processes that compute all the
time. --int8 also measures the comparison of engines and precisions that Paceline prints, likewise twice. Needs a machine that does nothing else.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMPARE = ["--engine", "onnxruntime,openvino", "--precision", "fp32,int8", "--repetitions", "6"]


def measured(command, folder, env):
    """Seconds to the first figure, to the end, and those of the phases that --verbose prints."""
    begin = time.monotonic()
    process = subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1)
    figure, phases, lines = None, {}, []
    for line in process.stdout:
        lines.append(line)
        if figure is None and " p50 " in line:
            figure = time.monotonic() - begin
        if re.match(r"  run [\d.]+ s:", line):
            phases = {name: float(seconds) for name, seconds in re.findall(r"([a-z][a-z ]*?) ([\d.]+)(?:,|$)", line.split(": ", 1)[1].strip())}
    process.wait()
    end = time.monotonic() - begin
    if process.returncode not in (0, 3, 4):
        sys.exit("".join(lines))
    return figure or end, end, phases, lines


def show(name, results):
    best = min(results, key=lambda r: r[1])
    parts = ", ".join(f"{phase} {seconds:.1f}" for phase, seconds in best[2].items())
    print(f"| {name} | {min(r[0] for r in results):.1f} | {best[1]:.1f} | {parts} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=lambda word: pathlib.Path(word).resolve())
    parser.add_argument("--paceline", type=lambda word: pathlib.Path(word).resolve(), default=ROOT / "build/release/bin/paceline")
    parser.add_argument("--busy", type=int, default=0)
    parser.add_argument("--int8", action="store_true")
    parser.add_argument("--runs", type=int, default=1, help="of each pair of commands; the fastest is shown")
    options = parser.parse_args()
    neighbours = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(options.busy)]
    kinds = [("first look", [])] + ([("comparison with int8", COMPARE)] if options.int8 else [])
    print("| command | first figure s | last sentence s | phases s |\n|---|---|---|---|")
    try:
        for name, extra in kinds:
            results = {"first": [], "second": []}
            for _ in range(options.runs):
                with tempfile.TemporaryDirectory(prefix="first-number-") as folder:
                    env = {**os.environ, "XDG_CACHE_HOME": str(pathlib.Path(folder) / "cache")}
                    for which in results:
                        command = [options.paceline, "infer", "--model", options.model, "--verbose", *extra]
                        results[which].append(measured(command, folder, env))
            for which, found in results.items():
                show(f"{name}, {which}", found)
    finally:
        for process in neighbours:
            process.kill()


if __name__ == "__main__":
    main()
