#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How far are the parts of a step that `paceline attach` sees from those in PyTorch's own trace of the same steps?

usage: tools/attach_parts.py --python PYTHON [--jobs plain,gan,…] [--ranks 2] [--steps 60] [--largest 2] [--keep FOLDER] [--paceline build/release/bin/paceline]

Runs the jobs of attach_study.py attached, unchanged but for lines in front that let torch.profiler record most steps of each rank. Both then see
the same steps with the same cost of the profiler. The parts of the trace are read here, by rules of their own:
  data wait  spans enumerate(DataLoader)
  backward   from the first autograd::engine::evaluate_function of a call to the last one, and the end of what DDP or FSDP does behind it
  forward    from a scope of DDP or FSDP2 to the backward pass
  optimizer  spans Optimizer.step# until their last operator, without passes in them (a closure)
  exposed    time in which the thread that trains does nothing until a collective ends
Prints a row per job and rank: the differences in percent of the step. Exit code 1 if one is larger than --largest.
"""
import argparse
import bisect
import itertools
import json
import pathlib
import struct
import sys
import tempfile

from attach_study import Failed, add_options_of_jobs, check_jobs, jobs_that_run, run_job, study_of

FIRST = 12  # steps before the profiler begins: those of the start are no steady ones
LAST_OPTIMIZER = {"gan": 1, "two_optimizers": 1}  # the one that ends a step, in the order of first steps
VIEW, COPY = "aten::as_strided", "torch.distributed.ddp.reducer::copy_bucket_to_grad"
OF_A_COPY = ("aten::select", "aten::item")  # where DDP looks for unused parameters: was this one used?
PARTS = ("data_wait", "forward", "backward", "optimizer", "exposed")

PROFILED = """
def _profile():
    import os, torch
    from torch.optim.optimizer import register_optimizer_step_post_hook
    first, count, last, folder = os.environ["PARTS"].split(":", 3)
    first, count, last = int(first), int(count), int(last)
    seen, steps, profiler = [], [0], []
    def stepped(optimizer, *_):
        if not any(one is optimizer for one in seen): seen.append(optimizer)
        if len(seen) <= last or seen[last] is not optimizer: return
        steps[0] += 1
        if steps[0] == first:
            profiler.append(torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], schedule=lambda _: torch.profiler.ProfilerAction.RECORD))
            profiler[0].start()
        elif first < steps[0] < first + count: profiler[0].step()
        elif steps[0] == first + count:
            profiler[0].stop(); profiler[0].export_chrome_trace(f"{folder}/rank{torch.distributed.get_rank()}.json")
    register_optimizer_step_post_hook(stepped)
_profile()
"""

HEADER, NAMES, RECORD = 4096, 512 * 96, 32
STEP = 5  # kind of the record of an optimizer's step


def merged(spans):
    out = []
    for begin, end in sorted(span for span in spans if span[1] > span[0]):
        if out and begin <= out[-1][1]:
            out[-1][1] = max(out[-1][1], end)
        else:
            out.append([begin, end])
    return out


def without(spans, others):
    """The part of `spans` that is in none of `others`; both merged."""
    out = []
    for begin, end in spans:
        at = begin
        for low, high in others:
            if high <= at or low >= end:
                continue
            if low > at:
                out.append([at, low])
            at = max(at, high)
        if at < end:
            out.append([at, end])
    return out


def within(spans, begin, end):
    return [[max(low, begin), min(high, end)] for low, high in spans if low < end and high > begin]


def length(spans):
    return sum(end - begin for begin, end in spans)


def cut_steps(source, target, group, first, last):
    """Copies a step file with the records behind the `first`-th step of an optimizer, up to its `last`-th."""
    data = source.read_bytes()
    used = min(*struct.unpack_from("<2Q", data, 32))
    at = HEADER + NAMES
    records = [(data[i:i + RECORD], *struct.unpack_from("<qqQHHHBB", data, i)) for i in range(at, at + RECORD * used, RECORD)]
    ends = [begin for _, begin, _, _, _, _, number, _, kind in records if kind == STEP and number == group]
    if len(ends) < last:
        raise Failed(f"{source.name} has {len(ends)} steps, and {last} were expected")
    begin, end = ends[first - 1], ends[last - 1]
    kept = b"".join(one[0] for one in records if one[8] and begin < one[1] <= end)
    count = len(kept) // RECORD
    target.write_bytes(data[:32] + struct.pack("<2Q", count, count) + data[48:at] + kept)


def is_node(name):
    return name.startswith("autograd::engine::evaluate_function")


class Trace:
    """Spans of one rank, in µs. The thread that trains is that of the steps."""

    def __init__(self, path):
        events = [one for one in json.loads(path.read_text())["traceEvents"] if one.get("ph") == "X" and one.get("dur", 0) > 0]
        self.steps = sorted((one["ts"], one["ts"] + one["dur"]) for one in events if one["name"].startswith("ProfilerStep#"))
        thread = next(one["tid"] for one in events if one["name"].startswith("ProfilerStep#"))
        own = sorted((one["ts"], -one["dur"], one["name"], one["cat"]) for one in events if one["tid"] == thread)
        self.scopes = [(begin, begin - minus, name) for begin, minus, name, kind in own if kind == "user_annotation"]
        operators = [(begin, begin - minus, name) for begin, minus, name, kind in own if kind == "cpu_op"]
        self.operators = self.outermost(operators)
        self.calls = [(begin, end) for begin, end, name in operators if name.startswith(("c10d::", "_c10d"))]
        self.copies, last = self.begins_of_copies()
        waits = self.waits_for_maps()
        collectives = [[one["ts"], self.end_of(one, last, waits)] for one in events if one["name"].startswith(("gloo:", "mpi:", "ucc:"))]
        self.ends = sorted(end for _, end in collectives)
        self.collectives = merged(collectives)

    @staticmethod
    def outermost(spans):
        out, until = [], 0
        for begin, end, name in spans:
            if begin >= until:
                out.append((begin, end, name))
                until = end
        return out

    def begins_of_copies(self):
        """Where DDP begins to copy each bucket back, with views of it; and the last of these places behind each call of the engine."""
        begins, last = set(), []
        operators = [one for one in self.operators if one[2] not in OF_A_COPY]
        for is_copy, run in itertools.groupby(operators, lambda one: one[2] == VIEW or one[2].startswith(COPY)):
            run = list(run)
            if is_copy and run[-1][2] != VIEW:
                buckets = [begin for (begin, _, name), (*_, before) in zip(run, [(0, 0, ""), *run]) if name == VIEW and before != VIEW]
                last.append((buckets or [run[0][0]])[-1])
                begins.update(buckets or [run[0][0]])
        return begins, last

    def waits_for_maps(self):
        """Pauses behind DDP's copies until it empties its map of used parameters, whose collective it waits for last."""
        return [(end, begin) for (_, end, name), (begin, _, behind) in zip(self.operators, self.operators[1:]) if name.startswith(COPY) and behind == "aten::fill_"]

    @staticmethod
    def end_of(collective, copies, waits):
        """DDP waits for its buckets before it copies them; gloo's thread may end its span after the thread that it woke has gone on."""
        end, behind = collective["ts"] + collective["dur"], bisect.bisect_right(copies, collective["ts"])
        if behind == len(copies) or any(low < end < high for low, high in waits):
            return end
        return min(end, copies[behind])

    def named(self, *prefixes):
        return merged([begin, end] for begin, end, name in self.scopes if name.startswith(prefixes))

    def backward(self):
        """Calls of the engine: its nodes until another operator begins, and the work of DDP and FSDP that only these calls do."""
        calls, is_open = [], False
        for begin, end, name in self.operators:
            is_behind = calls and name.startswith(COPY)
            if (is_node(name) and is_open) or is_behind:
                calls[-1][1] = end
            elif is_node(name):
                calls.append([begin, end])
            if is_node(name) or not name.startswith("c10d::"):
                is_open = is_node(name)
        for begin, end, name in self.scopes:
            before = bisect.bisect_left(calls, [begin, begin]) if name == "FSDP::root_post_backward_callback" else 0
            if before:
                calls[before - 1][1] = max(calls[before - 1][1], end)
        begins = [begin for begin, _, _ in self.operators]
        for call in calls:  # with a wait at its end, such as for the map of used parameters
            behind = bisect.bisect_left(begins, call[1])
            if behind < len(begins) and self.ends_within(call[1], begins[behind]):
                call[1] = begins[behind]
        return calls

    def ends_within(self, begin, end):
        return bisect.bisect_right(self.ends, begin) < bisect.bisect_right(self.ends, end)

    def optimizer(self):
        """Spans of optimizers until their last operator: hooks that others put behind the step, as the profiler's own, are in the scope, too."""
        ends, spans = [end for _, end, _ in self.operators], []
        for begin, end in self.named("Optimizer.step#"):
            last = bisect.bisect_right(ends, end)
            spans.append([begin, ends[last - 1] if last and ends[last - 1] > begin else end])
        return spans

    def busy(self, optimizer):
        """Times in which the thread that trains is known to work: loader, optimizer, operators; of the last one before something else than
        the backward pass, until it hands a collective over."""
        begins, spans = [begin for begin, _ in self.calls], []
        for (begin, end, name), (_, _, behind) in zip(self.operators, [*self.operators[1:], (0, 0, "")]):
            call = bisect.bisect_left(begins, begin)
            goes_on = is_node(name) and is_node(behind)
            spans.append([begin, end if goes_on or call == len(begins) else min(end, begins[call])])
        return merged(spans + optimizer + self.named("enumerate(DataLoader)"))

    def exposed(self, busy):
        """A pause of that thread in which a collective ends was a wait for it; another one is Python's."""
        waits = []
        for (_, begin), (end, _) in zip(busy, busy[1:]):
            if self.ends_within(begin, end) or end in self.copies:
                waits += within(self.collectives, begin, end)
        return merged(waits)

    def forward(self, backward):
        """From the first scope of a pass to the backward call behind it, or to the end of its scopes."""
        begins, spans = [begin for begin, _ in backward], []
        for begin, end in self.named("DistributedDataParallel.forward", "FullyShardedDataParallel.forward", "FSDP::root_pre_forward"):
            if any(low <= begin < high for low, high in backward):
                continue
            behind = bisect.bisect_left(begins, begin)
            spans.append([begin, begins[behind] if behind < len(begins) else end])
        return merged(spans)

    def window(self):
        """From the end of the last collective of one step to that of another, as `profile` counts steps of ranks; the step in which the
        profiler began is left out."""
        ends = [max(end for _, end in within(self.collectives, *step)) for step in self.steps[1:]]
        return ends[0], ends[-1], len(ends) - 1

    def parts(self):
        """Mean time per step of each part, and of the step, in ms."""
        backward = merged(self.backward())
        forward = self.forward(backward)
        optimizer = without(without(self.optimizer(), backward), forward)
        exposed = self.exposed(self.busy(optimizer))
        own = {"data_wait": self.named("enumerate(DataLoader)"), "forward": forward, "backward": backward, "optimizer": optimizer}
        spans = {"exposed": exposed, **{part: without(one, exposed) for part, one in own.items()}}
        begin, end, steps = self.window()
        sums = {"step": end - begin, **{part: length(within(one, begin, end)) for part, one in spans.items()}}
        return {"steps": steps, **{part: us / steps / 1e3 for part, us in sums.items()}}


def compared(options, name, folder):
    """A row per rank: the step, and per part what attach sees less what the trace has, as a share of the step."""
    count = options.steps - FIRST - 2
    last = LAST_OPTIMIZER.get(name, 0)
    (folder / "trace").mkdir()
    (folder / "cut").mkdir()
    run_job(options, name, folder, "0:none:0", before=PROFILED, PARTS=f"{FIRST}:{count}:{last}:{folder}/trace", PACELINE_ATTACH_BLOCKS="20/0")
    files = sorted((folder / "steps").glob("rank*.steps"))
    for file in files:
        cut_steps(file, folder / "cut" / file.name, last, FIRST + 1, FIRST + count)
    study = study_of(options, folder / "cut")
    rows = []
    for row in study["ranks"]:
        trace = Trace(folder / f"trace/rank{row['rank']}.json").parts()
        if study["steps"] != trace["steps"]:
            raise Failed(f"{study['steps']} of {trace['steps']} steps are steady: {[one['sort'] for one in study['attached']['other_time']]}")
        seen = {part: row[part + "_ns"] for part in PARTS}
        rows.append({"job": name, "rank": row["rank"], "steps": study["steps"], "step_ms": row["step_ns"] / 1e6,
                     "step": row["step_ns"] / 1e6 / trace["step"] - 1, "trace": trace,
                     **{part: None if ns is None else (ns / 1e6 - trace[part]) / trace["step"] for part, ns in seen.items()}})
    return rows


def cells(row):
    shares = ["–" if row[part] is None else f"{100 * row[part]:+.2f}" for part in ("step", *PARTS)]
    return f"| {row['job']} | {row['rank']} | {row['step_ms']:.2f} | " + " | ".join(shares) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options_of_jobs(parser)
    parser.add_argument("--largest", type=float, default=2, help="percent of a step")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the traces and step files")
    options = parser.parse_args()
    check_jobs(parser, options)
    if options.steps < FIRST + 10:
        parser.error(f"--steps {options.steps}: at least {FIRST + 10} are needed")
    worst = 0.0
    print("| job | rank | step ms | step % | " + " | ".join(part.replace("_", " ") + " %" for part in PARTS) + " |\n|" + "---|" * (4 + len(PARTS)))
    for name in jobs_that_run(options):
        with tempfile.TemporaryDirectory(prefix="attach-parts-") as scratch:
            folder = pathlib.Path(scratch)
            if options.keep:
                folder = options.keep / name
                folder.mkdir(parents=True)
            try:
                for row in compared(options, name, folder):
                    print(cells(row), flush=True)
                    worst = max([worst, *(abs(row[part]) for part in PARTS if row[part] is not None)])
            except Failed as failed:
                print(f"{name}: {failed}", file=sys.stderr)
                worst = max(worst, 1.0)
    print(f"largest difference: {100 * worst:.2f} % of a step", file=sys.stderr)
    return 1 if 100 * worst > options.largest else 0


if __name__ == "__main__":
    sys.exit(main())
