#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Step files by the commands that read them: `profile --from` and `compare`; recognised by one table beside traces and Nsight's files."""

import json
import struct
import unittest

from paceline_cli import CliTest

LOADER, FORWARD, OPTIMIZER, REDUCE = "enumerate(DataLoader)#x.__next__", "DistributedDataParallel.forward", "Optimizer.step#SGD.step", "gloo:all_reduce"
NAMES = [LOADER, FORWARD, OPTIMIZER, REDUCE]
NO_NAME, START, MS = 0xffff, 10**12, 10**6
SCOPE, BACKWARD, COMMUNICATION, STEP, OUT_OF_ROOM = 1, 2, 3, 5, 8


def step_file(rank, records, world=2, closed=True, host="", exception=""):
    head = b"PACESTEP" + struct.pack("<6I", 1, 4096, 96, 512, 32, 0) + struct.pack("<6Q", len(records), len(records), len(NAMES), 0, 20, 10)
    head += struct.pack("<9q", rank, world, rank, 100 + rank, 1, 1_790_857_026 * 10**9, START, START + closed if closed else 0, 0) + b"\1"
    head = (head.ljust(160, b"\0") + host.encode()).ljust(864, b"\0") + b"python3 jobs/train.py --lr 1"
    head = head.ljust(2944, b"\0") + exception.encode()
    names = b"".join(name.encode().ljust(96, b"\0") for name in NAMES).ljust(512 * 96, b"\0")
    packed = (struct.pack("<qqQHHHBB", START + round(a * MS), START + round(b * MS), value, NAMES.index(name) if name else NO_NAME, 0,
                          0xffff if kind == COMMUNICATION else 0, 0, kind) for kind, name, a, b, value in records)
    return head.ljust(4096, b"\0") + names + b"".join(packed)


def job(steps=30, late_ms=0, exchanges=True, world=2):
    """Times of each rank: 2 ms of data, 10 of forward, 20 of backward, 2 of exchange, 3 of optimizer; rank 1 is late in its backward part."""
    ranks, t = [[] for _ in range(world)], 0.0
    for s in range(steps):
        end = t + 34 + late_ms
        for rank, records in enumerate(ranks):
            ready = t + 32 + (late_ms if rank == 1 else 0)
            records += [(SCOPE, LOADER, t, t + 2, 0), (SCOPE, FORWARD, t + 2, t + 12, 0), (BACKWARD, "", t + 12, ready, 0)]
            records += [(COMMUNICATION, REDUCE, ready, end, 4096)] if exchanges else []
            records += [(SCOPE, OPTIMIZER, end, end + 3, 0), (STEP, "", end + 3, end + 3, s + 1)]
        t = end + 3
    return ranks


def write_folder(folder, ranks, closed=True, host="", exception=""):
    """The last rank ends with the exception."""
    folder.mkdir(parents=True)
    for rank, records in enumerate(ranks):
        own = exception if rank == len(ranks) - 1 else ""
        (folder / f"rank{rank}.steps").write_bytes(step_file(rank, records, world=len(ranks), closed=closed, host=host, exception=own))
    return folder


class StepFiles(CliTest):
    def put(self, name, ranks):
        return write_folder(self.folder / name, ranks)

    def test_a_folder_is_studied_as_traces_are(self):
        folder = self.put("late", job(late_ms=8))
        result = self.run_cli("profile", "--from", folder)
        self.assert_code(result, 0)
        for words in ("step files of 2 of 2 ranks", "the others wait for rank 1", "in its backward part", "all-reduce"):
            self.assertIn(words, " ".join(result.out.split()))
        found = json.loads(self.run_cli("profile", "--from", folder, "--json").out)
        data = found.get("data", found)
        self.assertEqual([(late["rank"], late["late_in"]) for late in data["late"]], [(1, "backward")])
        self.assertAlmostEqual(data["ranks"][0]["forward_ns"], 10e6, delta=1)
        self.assertEqual(data["attached"]["other_time"][0]["sort"], "warm_up")

    def test_the_typical_rank_stands_on_one_line_of_a_narrow_page(self):
        self.assert_code(self.run_cli("profile", "--from", self.put("late", job(late_ms=8)), "-o", "page.html"), 0)
        page = (self.folder / "page.html").read_text(encoding="utf-8")
        self.assertIn('<td class="whole">0 (typical)</td>', page)
        self.assertIn("td.whole { white-space: nowrap; }", page)

    def test_gates_decide_on_figures_of_the_job(self):
        folder = self.put("late", job(late_ms=8))
        for gate, code, words in (("p50_ms < 46", 0, "met: job: p50_ms 45.0 (45.0–45.0) ms"), ("p50_ms@job < 44", 1, "missed: job: p50_ms 45.0"),
                                  ("straggler_wait_share <= 0.1", 1, "missed: job: straggler_wait_share 0.178"), ("p99_ms < 50", 3, "p99_ms is missing")):
            result = self.run_cli("profile", "--from", folder, "--expect", gate)
            self.assert_code(result, code)
            self.assertIn(words, result.on_one_line)
        for gate, words in (("p50_ms <= baseline:main", "paceline compare BEFORE AFTER"), ("p50_ms@resnet50 < 9", "no case matches"), ("p5_ms < 9", "p5_ms")):
            result = self.run_cli("profile", "--from", folder, "--expect", gate)
            self.assert_code(result, 2)
            self.assertIn(words, result.err)
        for gate in ("straggler_wait_share <= 0.1", "communication_share <= 0.1"):   # one rank of two tells nothing of them
            self.assert_code(self.run_cli("profile", "--from", folder / "rank0.steps", "--expect", gate), 3)
        junit = self.run_cli("profile", "--from", folder, "--expect", "p50_ms < 44", "--format", "junit").out
        self.assertIn('failures="1"', junit)
        (self.folder / "kernels.csv").write_text("")
        self.assert_code(self.run_cli("profile", "--from", self.folder / "kernels.csv", "--expect", "p50_ms < 44"), 2)

    def test_one_file_is_one_rank(self):
        folder = self.put("both", job())
        result = self.run_cli("profile", "--from", folder / "rank0.steps")
        self.assert_code(result, 0)
        self.assertIn("this is the step file of rank 0 alone, of 2", " ".join(result.out.split()))

    def test_two_jobs_are_compared_step_by_step(self):
        before, after = self.put("before", job()), self.put("after", job(late_ms=8))
        result = self.run_cli("compare", before, after)
        self.assertIn("backward", result.out)
        self.assertIn("2 ranks, 29 steps", result.out)

    def test_sides_of_two_kinds_are_refused(self):
        steps = self.put("steps", job())
        trace = self.write("trace.json", json.dumps({"traceEvents": []}))
        self.assert_error(self.run_cli("compare", steps, trace), 2, "a folder of step files", "a trace of PyTorch")

    def test_ranks_that_exchange_nothing_have_their_parts(self):
        result = self.run_cli("profile", "--from", self.put("alone", job(exchanges=False)))
        self.assert_code(result, 0)
        self.assertIn("a step takes 37.0 ms; sync stalls: not seen", result.on_one_line)
        self.assertIn("which rank is late: no collective", result.on_one_line)

    def test_ranks_of_two_worlds_are_no_side_of_a_comparison(self):
        good, mixed = self.put("good", job()), self.put("mixed", job(world=3))
        for rank in (1, 2):
            (mixed / f"rank{rank}.steps").unlink()
        (mixed / "rank1.steps").write_bytes((good / "rank1.steps").read_bytes())
        for command in (("profile", "--from", mixed), ("compare", good, mixed)):
            result = self.run_cli(*command)
            self.assert_code(result, 2)
            self.assertIn("different runs", result.err)

    def test_a_damaged_file_is_named(self):
        folder = self.put("cut", job())
        file = folder / "rank1.steps"
        file.write_bytes(file.read_bytes()[:-100])
        result = self.run_cli("profile", "--from", folder)
        self.assertNotEqual(result.code, 0)
        self.assertIn("rank1.steps: it is cut short", " ".join(result.err.split()))


if __name__ == "__main__":
    unittest.main()
