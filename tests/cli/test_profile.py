# SPDX-License-Identifier: MIT
"""paceline profile: bottlenecks of a run, and of traces that other jobs have written. No test says anything about speed."""

import json

from launch_lab import QUICK_TRAINING, LibTorchTraining, TrainingTest
from paceline_cli import SPIN, CliTest, case_of, main

LATE_MS = 8


def trace(rank, world=2, first=3, steps=30, communicates=True, marked=True, late=0, wait=0):
    """Steps of 2 ms data, 3 ms forward, 10 ms backward, 4 ms of exchange beyond it, 1 ms optimizer, 2 ms of nothing."""
    events, at = [], 1e9 * (rank + 1)  # in us, without a common clock

    def add(category, name, thread, start_ms, ms):
        events.append({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": thread, "ts": at + start_ms * 1e3, "dur": ms * 1e3})
    for step in range(first, first + steps):
        end = 15 + late
        if marked:
            add("user_annotation", f"ProfilerStep#{step}", 1, 0, 22 + late + wait)
        add("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 1, 0, 2)
        add("cpu_op", "aten::mm", 1, 2, 3)
        add("cpu_op", "autograd::engine::evaluate_function: MmBackward0", 2, 5, 10 + late)
        if communicates:
            add("user_annotation", "gloo:all_reduce", 3, end - 2, 6 + wait)
        add("user_annotation", "Optimizer.step#SGD.step", 1, end + 4 + wait, 1)
        at += (22 + late + wait) * 1e3
    return {"schemaVersion": 1, "distributedInfo": {"backend": "gloo", "rank": rank, "world_size": world}, "traceEvents": events}


class Traces(CliTest):
    def setUp(self):
        super().setUp()
        (self.folder / "traces").mkdir()

    def put(self, rank, name=None, **how):
        (self.folder / "traces" / (name or f"trace_rank{rank}.json")).write_text(json.dumps(trace(rank, **how)), encoding="utf-8")

    def profile(self, *arguments, code=0):
        result = self.run_cli("profile", "--from", "traces", *arguments)
        self.assert_code(result, code)
        return result

    def test_a_late_rank_is_named_with_its_cost(self):
        self.put(0, wait=LATE_MS)
        self.put(1, late=LATE_MS)
        profile = json.loads(self.profile("--json").out)
        self.assertAlmostEqual(profile["step_ns"], 30e6, delta=1e4)
        self.assertAlmostEqual(profile["straggler_wait_share"], LATE_MS / 30, delta=2e-3)
        self.assertAlmostEqual(profile["sync_stall_share"], (LATE_MS + 4) / 30, delta=2e-3)
        self.assertEqual([late["rank"] for late in profile["late"]], [1])
        costs = [b["cost_ns"] for b in profile["bottlenecks"]]
        self.assertEqual(costs, sorted(costs, reverse=True))
        self.assertIn("rank 1", profile["bottlenecks"][0]["title"])
        text = self.profile().out
        self.assertIn("rank 1", text)
        self.assertIn("try: ", text)

    def refused(self, *words):
        result = self.profile(code=2)
        for word in words:
            self.assertIn(word, result.err)

    def test_what_cannot_be_judged_is_refused(self):
        self.refused("there is no trace in it")
        file = self.folder / "traces" / "trace_rank0.json"
        file.write_text("this is no trace", encoding="utf-8")
        self.refused("is not JSON")
        file.write_text(json.dumps(trace(0))[:5000], encoding="utf-8")
        self.refused("ends too early")
        self.put(0)
        self.put(1, world=3)
        self.put(0, world=3)
        self.refused("rank 2 are missing")
        self.put(0)
        self.put(1, first=5)
        self.refused("rank 1 lacks steps 3, 4")
        self.put(1, world=4)
        self.refused("of different runs")
        self.put(1, communicates=False)
        self.refused("no communication in the trace of rank 1")
        self.put(1, marked=False)
        self.refused("has no steps")
        self.put(1)
        self.put(0, name="again.json")
        self.refused("both of rank 0")

    def test_a_folder_that_is_not_there(self):
        self.assert_code(self.run_cli("profile", "--from", "nowhere"), 2)

    def test_a_duration_is_a_time(self):
        result = self.run_cli("profile", "--duration", "soon")
        self.assert_code(result, 2)
        self.assertIn("like 30s, 2m", result.err)

    def test_a_self_test_trains_what_it_judges(self):
        for arguments in (["--model", "resnet50"], ["--batch-size", 8], ["-g", 4], ["--inject", "slow=1ms:rank=0"], ["--env.A", "b"], ["--nproc-per-node", 4], ["--from", "."],
                          ["--duration", "5s"], ["-t", "input"], ["plan.yaml"]):
            result = self.run_cli("profile", "--self-test", *arguments)
            self.assert_code(result, 2)
            self.assertIn(f"paceline: {arguments[0]}: --self-test trains a small model of its own", result.err)
        result = self.run_cli("profile", "--self-test", "--steps", 0)
        self.assert_code(result, 2)
        self.assertIn("1 error, nothing was run", result.err)
        launched = self.run_cli("profile", "--self-test", env={"RANK": "0", "WORLD_SIZE": "2", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"})
        self.assert_code(launched, 2)
        self.assertIn("--self-test starts its two ranks itself; run it without ", launched.err)


class Trigger(TrainingTest):
    """With the spin trainer, which has no profiler: what matters is why there is no profile."""

    def reason(self, threshold, below):
        result = self.train("--ranks", 2, "--profiling.enabled", "--profiling.trigger", "sync_stall_detection",
                            "--profiling.sync-stall-threshold", threshold, "--output-dir", below)
        self.assert_code(result, 0)
        return case_of(self.summary(self.only_run(below)))["operator_profile"][0]["reason"]

    def test_a_case_is_profiled_only_above_the_threshold(self):
        self.assertIn("less than profiling.sync_stall_threshold (100", self.reason(1, "never"))
        self.assertNotIn("threshold", self.reason(0, "ever"))


class Live(TrainingTest):
    def test_bottlenecks_and_the_report_that_joins(self):
        self.assert_code(self.train("--ranks", 2, "--output-dir", "out"), 0)
        result = self.run_cli("profile", "--plugin", SPIN, *QUICK_TRAINING, "-g", 2, "-d", "500ms", "-o", "out")
        self.assert_code(result, 0)
        self.assertIn("sync stalls", result.out)
        self.assertIn("input wait", result.out)
        report = self.run_cli("report", "--source", "out", "--format", "markdown")
        self.assert_code(report, 0)
        self.assertIn("run B", report.out)


class Watched(TrainingTest):
    def test_a_late_rank_is_said_once_while_it_trains(self):
        result = self.train("--ranks", 2, "--inject", "slow=20ms:rank=1", "--output-dir", "out", steps=160)
        self.assert_code(result, 0)
        self.assertEqual((result.out + result.err).count("the others wait for rank 1, which is late in its host part"), 1, result)
        training = case_of(self.summary(self.only_run("out")))["training"][0]
        self.assertEqual([(late["rank"], late["causes"]) for late in training["late"]], [(1, [])])
        for rank in training["ranks"]:
            self.assertGreater(rank["evidence"]["cpu_ns"], 0)


class OfLibTorch(LibTorchTraining):
    def test_a_slow_rank_is_the_first_bottleneck(self):
        result = self.run_cli("profile", *QUICK_TRAINING, "--ranks", 2, "-d", "2s", "--inject", "slow=60ms:rank=1", "-o", "out")
        self.assert_code(result, 0)
        self.assertIn("\n1  the others wait for rank 1", result.out)
        self.assertIn("self ms", result.out)
        page = (self.only_run("out") / "report.html").read_text(encoding="utf-8")
        self.assertIn("Where a step loses time", page)


class SelfTest(LibTorchTraining):
    def test_one_live_run_per_cause(self):
        """Neighbours on a shared machine may disturb a run: a cause that is not named three times in a row is a defect."""
        for _ in range(3):
            result = self.run_cli("profile", "--self-test", "--repetitions", 1, "--steps", 30, "--idle-wait-s", 0, timeout=180)
            if result.code == 0:
                break
            print(result.out, flush=True)
        self.assert_code(result, 0)
        self.assertIn("self-test: 5 of 5 right", result.out)


if __name__ == "__main__":
    main()
