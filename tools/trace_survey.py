#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what `paceline profile --from` says of every trace below a folder with a union of intervals made here, by other code.

usage: trace_survey.py FOLDER [--paceline PATH]   Exit 1 where the step, communication or exposed communication differ by more than 2 %.
"""

import argparse
import bisect
import gzip
import json
import pathlib
import re
import subprocess
import sys

LIMIT = 0.02
STEP = re.compile(r"ProfilerStep\s?#(\d+)$")
LAUNCH = re.compile(r"LaunchKernel|KernelLaunch|GraphLaunch")
COMMUNICATION = re.compile(r"nccl|rccl|cross_device_reduce|multimem|all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|nvshmem", re.I)


HOST_COMMUNICATION = re.compile(r"(gloo|mpi|ucc):")
HANDED_OVER = re.compile(r"c10d::|_c10d_functional|record_param_comms|nccl:|hccl:|xccl:")


class Refused(Exception):
    """A trace of which nobody can say the length of a step."""


def union(spans):
    merged = []
    for begin, end in sorted(spans):
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        elif end > begin:
            merged.append([begin, end])
    return merged


def length_within(spans, begin, end):
    return sum(max(0, min(b, end) - max(a, begin)) for a, b in spans)


def exposed_within(communication, computing, begin, end):
    """Length of communication that no computing covers: the length of both together less that of computing."""
    cut = [(max(a, begin), min(b, end)) for a, b in communication if b > begin and a < end]
    other = [(max(a, begin), min(b, end)) for a, b in computing if b > begin and a < end]
    return length_within(union(cut + other), begin, end) - length_within(other, begin, end)


def events_of(path):
    raw = path.read_bytes()
    raw = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    document = json.loads(raw, strict=False)
    events = document.get("traceEvents") if isinstance(document, dict) else document
    if not isinstance(events, list):
        raise Refused("no traceEvents")
    return [e for e in events if isinstance(e, dict) and e.get("ph") == "X" and isinstance(e.get("ts"), (int, float))]


def span(event):
    return event["ts"], event["ts"] + event.get("dur", 0)


class Steps:
    """The scopes of steps on the host, without empty ones at both ends."""

    def __init__(self, events):
        host = [e for e in events if str(e.get("cat")).lower() in ("cpu_op", "operator", "user_annotation")]
        scopes = sorted((span(e) for e in host if STEP.match(e.get("name", "")) and e.get("cat") != "gpu_user_annotation"))
        self.numbers = {e["ts"]: int(STEP.match(e["name"]).group(1)) for e in host if STEP.match(e.get("name", ""))}
        work = sorted(e["ts"] for e in host if not STEP.match(e.get("name", "")))
        inside = [bisect.bisect_left(work, end) - bisect.bisect_left(work, begin) for begin, end in scopes]
        while len(scopes) > 1 and inside[-1] * 10 < max(inside):
            scopes.pop(), inside.pop()
        self.scopes = scopes
        self.begins = [begin for begin, _ in scopes]

    def at(self, time):
        place = bisect.bisect_right(self.begins, time) - 1
        return place if place >= 0 and time < self.scopes[place][1] else None


def of_host(events, steps, communication):
    """Fills in what the host communicates, and returns when it computes."""
    operators, handed_over = [], []
    for event in events:
        category, name = str(event.get("cat")).lower(), event.get("name", "")
        if category not in ("cpu_op", "operator", "user_annotation") or STEP.match(name):
            continue
        at = steps.at(event["ts"])
        if HOST_COMMUNICATION.match(name):
            if at is not None:
                communication[at].append(span(event))
        elif HANDED_OVER.match(name):
            handed_over.append(span(event))
        elif category != "user_annotation":
            operators.append(span(event))
    computing, edges = [], union(handed_over)
    for begin, end in union(operators):
        for a, b in edges:
            if begin < b and a < end:
                if a > begin:
                    computing.append([begin, a])
                begin = max(begin, b)
        if begin < end:
            computing.append([begin, end])
    return computing


def figures(path):
    """Mean step, communication and exposed communication of a trace in µs, over steps that follow another one."""
    events = events_of(path)
    steps = Steps(events)
    if not steps.scopes:
        raise Refused("no steps")
    kernels = sorted((e for e in events if str(e.get("cat")).lower() == "kernel"), key=span)
    launches = {e["args"]["correlation"]: e for e in events
                if str(e.get("cat")).lower() in ("cuda_runtime", "cuda_driver", "runtime") and e.get("args", {}).get("correlation")}
    started = [e for e in launches.values() if LAUNCH.search(e["name"])]
    if started and not kernels and any(steps.at(e["ts"]) is not None for e in started):
        raise Refused("launches without kernels")
    heard = {e.get("args", {}).get("correlation") for e in events if str(e.get("cat")).lower() in ("kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset")}
    lost, all_of, device_end = [0] * len(steps.scopes), [0] * len(steps.scopes), [0] * len(steps.scopes)
    communication = [[] for _ in steps.scopes]
    for launch in started:
        if (at := steps.at(launch["ts"])) is not None:
            all_of[at] += 1
            lost[at] += launch["args"]["correlation"] not in heard
    before, last = 0, None  # the end of what was launched before the first step; the step of the kernel before
    for kernel in kernels:
        correlation = kernel.get("args", {}).get("correlation")
        launch = launches.get(correlation)
        at = last if launches and not correlation else steps.at(launch["ts"] if launch else kernel["ts"]) if launch or not launches else None
        last = at
        if at is None:
            early = launch["ts"] < steps.begins[0] if launch else kernel["ts"] < steps.scopes[0][1]
            before = max(before, span(kernel)[1]) if launches and early else before
            continue
        device_end[at] = max(device_end[at], span(kernel)[1])
        if COMMUNICATION.search(kernel["name"].split("(")[0]):
            communication[at].append(span(kernel))
    computing = union([span(e) for e in kernels if not COMMUNICATION.search(e["name"].split("(")[0])])
    if not any(communication):
        computing = of_host(events, steps, communication) if not computing else computing
    if len(steps.scopes) == 1 and 0 < lost[0] < all_of[0] and max(started, key=span)["args"]["correlation"] not in heard:
        raise Refused("the only step is cut off on the device")
    shares = [lost_one / all_one if all_one else 0 for lost_one, all_one in zip(lost, all_of)]
    sums, count, rows = [0, 0, 0], 0, []
    for at, (begin, end) in enumerate(steps.scopes):
        from_ = max(begin, before) if kernels else begin
        until = max(end, device_end[at], before) if kernels else end
        before = until
        whole = shares[at] <= min(shares)
        own = union(communication[at])
        rows.append((steps.numbers[begin], whole, (until - from_, length_within(own, from_, until), exposed_within(own, computing, from_, until))))
    kept = [row for row in rows if row[1]]
    following = [row for i, row in enumerate(kept) if i and kept[i - 1][0] + 1 == row[0]] or kept
    for _, _, row in following:
        sums = [a + b for a, b in zip(sums, row)]
        count += 1
    return [one / count for one in sums]


def told(paceline, path):
    run = subprocess.run([paceline, "profile", "--from", str(path), "--json"], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise Refused((run.stderr.strip().splitlines() or ["?"])[-1])
    rank = json.loads(run.stdout)["ranks"][0]
    return [(rank[name] or 0) / 1e3 for name in ("step_ns", "communication_ns", "exposed_ns")]


def compare(paceline, path):
    """Words about one file, and whether both agree."""
    own = other = None
    try:
        own = figures(path)
    except Refused as why:
        refused = str(why)
    try:
        other = told(paceline, path)
    except Refused as why:
        return f"refused: {why}", own is None
    if own is None:
        return f"taken, but here: {refused}", False
    ratios = [b / a if a else (1 if not b else float("inf")) for a, b in zip(own, other)]
    words = "  ".join(f"{name} {ratio:.4f} of {value / 1e3:.3f} ms" for name, ratio, value in zip(("step", "communication", "exposed"), ratios, own))
    return words, all(abs(ratio - 1) <= LIMIT for ratio in ratios)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--paceline", default="paceline")
    arguments = parser.parse_args()
    bad = read = 0
    for path in sorted(p for p in arguments.folder.rglob("*") if p.name.endswith((".json", ".json.gz"))):
        words, agrees = compare(arguments.paceline, path)
        read += not words.startswith("refused")
        bad += not agrees
        print(f"{'ok ' if agrees else 'BAD'} {path.relative_to(arguments.folder)}: {words}", flush=True)
    print(f"{read} read, {bad} differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
