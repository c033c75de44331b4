# SPDX-License-Identifier: MIT
"""Common parts of comparisons with ranks in Python: their arguments, starting the ranks of either side, and the verdict on the ratios."""
import argparse
import json
import pathlib
import socket
import subprocess

from process_pairs import RANKS

ROOT = pathlib.Path(__file__).resolve().parent.parent


def rank_arguments(description):
    """A parser; --rank, --world and --port mark a process that python_ranks started."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    for hidden in ("--rank", "--world", "--port"):
        parser.add_argument(hidden, type=int, help=argparse.SUPPRESS)
    parser.add_argument("--python", help="interpreter of an environment with torch")
    parser.add_argument("--paceline", default=str(ROOT / "build/release/bin/paceline"))
    parser.add_argument("--pairs", type=int, default=10, choices=sorted(RANKS))
    parser.add_argument("--out", type=pathlib.Path, help="Markdown table")
    return parser


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def python_ranks(command, world, env):
    """Runs `command` once for each rank (world 0: one process), and returns the JSON that each printed last."""
    place = ["--world", str(world), "--port", str(free_port()), "--rank"]
    ranks = [subprocess.Popen([*command, *place, str(rank)], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
             for rank in range(max(1, world))]
    said = [rank.communicate() for rank in ranks]
    if any(rank.returncode for rank in ranks):
        raise SystemExit("a Python rank failed:\n" + said[0][1][-2000:])
    return [json.loads(out.splitlines()[-1]) for out, _ in said]


def first_case(command):
    """The first case of a run of the tool."""
    done = subprocess.run([*command, "--idle-wait-s", "0", "--allow-noisy", "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"paceline failed ({done.returncode}):\n{done.stderr[-2000:]}")
    return json.loads(done.stdout)["cases"][0]


def publish(text, out, rows):
    """Prints and writes the table; fails where a ratio to Python is more than 0.02 above its goal (1, or what the row says), or its
    interval ends more than 0.05 above it."""
    print(text)
    if out:
        out.write_text(text, encoding="utf-8")
    slow = [r for r in rows if r["ratio"] > r.get("goal", 1) + 0.02 or r["high"] > r.get("goal", 1) + 0.05]
    if slow:
        raise SystemExit(f"{len(slow)} of {len(rows)} rows against Python miss their goal by more than 0.02, or their interval by more than 0.05")
