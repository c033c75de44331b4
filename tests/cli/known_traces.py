# SPDX-License-Identifier: MIT
"""Traces with a known truth: own work of each rank in ms, then an all-reduce of 5 ms that ends on all ranks together, 1 ms between steps."""

import json
import random


def write_traces(folder, own, ranks=2, steps=20, exchanges=lambda step: True, collective="gloo:all_reduce", buffers=None, edit=lambda rank, events: events):
    """own(rank, step): own work in ms; exchanges(step): whether the step has an all-reduce; edit(rank, events): changes a rank's list of events;
    buffers: the name of an exchange of 1 ms behind the own work, before a forward pass of 10 ms."""
    folder.mkdir(parents=True, exist_ok=True)
    now, events = [0.0] * ranks, [[] for _ in range(ranks)]
    for step in range(steps):
        begin_of_step, ready = list(now), [now[rank] + own(rank, step) for rank in range(ranks)]
        if buffers:
            for rank in range(ranks):
                for category, name, begin, until, thread in (("cpu_op", "aten::mm", now[rank], ready[rank], 1),
                                                             ("user_annotation", buffers, ready[rank], max(ready) + 1, 3)):
                    events[rank].append({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": thread, "ts": begin * 1e3, "dur": (until - begin) * 1e3})
            now = [max(ready) + 1] * ranks
            ready = [time + 10 for time in now]
        end = [max(ready) + 5] * ranks if exchanges(step) else ready
        for rank in range(ranks):
            middle = now[rank] + 0.4 * (ready[rank] - now[rank])
            for category, name, begin, until, thread in (
                    ("user_annotation", f"ProfilerStep#{step}", begin_of_step[rank], end[rank] + 1, 1),
                    ("cpu_op", "aten::mm", now[rank], middle, 1),
                    ("cpu_op", "autograd::engine::evaluate_function: Mm", middle, ready[rank], 2),
                    ("user_annotation", collective, ready[rank], end[rank], 3)):
                if until > begin:
                    events[rank].append({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": thread, "ts": begin * 1e3, "dur": (until - begin) * 1e3})
            now[rank] = end[rank] + 1
    for rank in range(ranks):
        text = json.dumps({"distributedInfo": {"rank": rank, "world_size": ranks}, "traceEvents": edit(rank, events[rank])})
        (folder / f"trace_rank{rank}.json").write_text(text, encoding="utf-8")


def jitter(seed, share):
    """Own work of 100 ms with independent normal noise, the same for a rank and step however often it is asked."""
    drawn, kept = random.Random(seed), {}
    return lambda rank, step: kept.setdefault((rank, step), 100 * (1 + share * drawn.gauss(0, 1)))
