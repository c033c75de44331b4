# SPDX-License-Identifier: MIT
"""paceline profile: bottlenecks of a run, and of traces that other jobs have written. No test says anything about speed."""

import gzip
import json
import os

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
            self.assertIn(f"paceline: {arguments[0]}: --self-test trains its built-in small model", result.err)
        result = self.run_cli("profile", "--self-test", "--steps", 0)
        self.assert_code(result, 2)
        self.assertIn("1 error, nothing was run", result.err)
        launched = self.run_cli("profile", "--self-test", env={"RANK": "0", "WORLD_SIZE": "2", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"})
        self.assert_code(launched, 2)
        self.assertIn("--self-test starts its two ranks itself, but RANK and WORLD_SIZE name 2 ranks; run it without a launcher", launched.err)


def events(first=0, steps=10, pid=1, own_ms=94, communicates=True):
    """Steps of own_ms of work, an all-reduce of 5 ms and 1 ms of nothing."""
    rows = []

    def add(cat, name, tid, start_ms, ms):
        rows.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": start_ms * 1e3, "dur": ms * 1e3})
    for step in range(steps):
        at = step * (own_ms + 6)
        add("user_annotation", f"ProfilerStep#{first + step}", 1, at, own_ms + 6)
        add("cpu_op", "aten::mm", 1, at, .4 * own_ms)
        add("cpu_op", "autograd::engine::evaluate_function: Mm", 2, at + .4 * own_ms, .6 * own_ms)
        if communicates:
            add("user_annotation", "gloo:all_reduce", 3, at + own_ms, 5)
    return rows


def device_events(recorded_until_ms=1e9):
    """Five steps which the host hands over in 40 ms, and a device takes 100 ms for: 30 forward, 65 backward, 5 optimizer."""
    rows, device = [], 0

    def add(cat, name, tid, start_ms, ms, correlation):
        rows.append({"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": start_ms * 1e3, "dur": ms * 1e3, "args": {"correlation": correlation}})
    for step in range(5):
        host = 40 * step
        add("user_annotation", f"ProfilerStep#{step}", 1, host, 40, -1)
        add("user_annotation", "Optimizer.step#SGD.step", 1, host + 30, 5, -1)
        for i, (name, at, ms) in enumerate((("aten::mm", 1, 30), ("autograd::engine::evaluate_function: Mm", 10, 65), ("aten::add_", 31, 5))):
            begin = max(device, host + at + .5)
            device = begin + ms
            add("cpu_op", name, 1, host + at, 1, -1)
            add("cuda_runtime", "cudaLaunchKernel", 1, host + at + .2, .1, 10 * step + i)
            if begin < recorded_until_ms:
                add("kernel", "kernel_of_" + name, 9, begin, ms, 10 * step + i)
    return rows


class TraceFiles(CliTest):
    """Traces as people have them: what is read from them, and the one sentence that refuses the others."""

    def put(self, rows, name="trace_rank0.json", rank=None, world=2, edit=lambda text: text):
        head = {} if rank is None else {"distributedInfo": {"rank": rank, "world_size": world}}
        path = self.folder / "traces" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"traceEvents": rows, **head})
        path.write_bytes(edit(text).encode("latin-1"))

    def profile(self, *arguments, code=0, source="traces", **options):
        result = self.run_cli("profile", "--from", source, *arguments, **options)
        self.assert_code(result, code)
        return result

    def study(self):
        return json.loads(self.profile("--json").out)

    def refused(self, *words, **options):
        result = self.profile(code=2, **options)
        for word in words:
            self.assertIn(word, result.err)
        self.assertLess(len(result.err), 700, result)

    def test_a_step_of_a_device_ends_when_its_work_ends(self):
        self.put(device_events())
        study = self.study()
        rank = study["ranks"][0]
        self.assertAlmostEqual(study["step_ns"], 100e6, delta=1e4)
        parts = [rank[key] or 0 for key in ("data_wait_ns", "forward_ns", "backward_ns", "exposed_ns", "optimizer_ns", "rest_ns")]
        self.assertAlmostEqual(sum(parts), rank["step_ns"], delta=10)
        self.assertAlmostEqual(rank["forward_ns"], 30e6, delta=1e4)

    def test_a_last_step_that_is_cut_off_on_the_device_is_left_out_and_said(self):
        self.put(device_events(recorded_until_ms=460))
        self.assertAlmostEqual(self.study()["ranks"][0]["step_ns"], 100e6, delta=1e4)
        self.assertIn("left out: step 4 (rank 0): 1 of its 3 launches have no kernel", self.profile().out)

    def test_a_device_that_was_not_recorded_is_refused(self):
        self.put(device_events(recorded_until_ms=0))
        self.refused("trace_rank0.json has 15 launches of kernels and no kernel: the device was not recorded")

    def test_operators_of_a_device_have_two_named_times(self):
        self.put(device_events())
        out = self.profile().out
        self.assertRegex(out, r"operator \(rank 0\) +calls per step +device ms +host self ms +share")
        self.assertRegex(out, r"aten::mm +1 +30\.0 +1\.00 +29\.9 %")

    def test_kernels_stand_below_their_operators_on_request(self):
        self.put(device_events())
        self.assertNotIn("kernel_of", self.profile().out)
        self.assertRegex(self.profile("--kernels").out, r"aten::mm +1 +30\.0 +1\.00 +29\.9 %\n  kernel_of_aten::mm +1 +30\.0 +– +29\.9 %")
        self.assertNotIn("kernels", self.study()["operators"][0])
        kernels = {op["name"]: op["kernels"] for op in json.loads(self.profile("--json", "--kernels").out)["operators"]}
        self.assertEqual([k["name"] for k in kernels["aten::mm"]], ["kernel_of_aten::mm"])
        self.assertAlmostEqual(kernels["aten::mm"][0]["device_ns_per_step"], 30e6, delta=1e4)
        self.put(events())
        self.assertIn("not in the traces: kernels", self.profile("--kernels").out)
        done = self.run_cli("profile", "--kernels")
        self.assert_code(done, 2)
        self.assertIn("--kernels reads traces", done.err)

    def test_events_without_times_are_left_out_and_said(self):
        rows = events()
        for row in rows[len(rows) // 2:]:
            row["ts"] = row["dur"] = 0
        self.put(rows)
        study = self.study()
        self.assertAlmostEqual(study["ranks"][0]["step_ns"], 100e6, delta=1e4)
        out = self.profile().out
        self.assertIn("left out: steps 5, 6, 7, 8, 9 (rank 0): it has no time", out)
        self.assertIn("20 of 40 events of trace_rank0.json have no time", out)

    def test_a_process_is_no_rank(self):
        self.put(events(), name="box_4242.17181.pt.trace.json")
        self.assertIn("traces of 1 of 1 rank,", self.profile().out)
        self.put(events(), name="box_4343.17181.pt.trace.json")
        self.refused("neither box_4242.17181.pt.trace.json nor box_4343.17181.pt.trace.json says which rank", "trace_rank0.json")

    def test_a_bare_list_of_events_is_taken(self):
        self.put(events(), edit=lambda text: json.dumps(json.loads(text)["traceEvents"]))
        self.assertAlmostEqual(self.study()["step_ns"], 100e6, delta=1e4)

    def test_names_that_are_no_json_decide_nothing(self):
        frame = '{"ph": "X", "cat": "python_function", "name": "C:\\Users\\me\\caf\xe9.py(3)", "ts": 1, "dur": 2}, '
        self.put(events(), edit=lambda text: text.replace('[{', '[' + frame.replace('\\\\', '\\') + '{', 1))
        self.assertAlmostEqual(self.study()["step_ns"], 100e6, delta=1e4)

    def test_refusals_name_the_true_reason(self):
        def with_one(row):
            self.put(events() + [{**events()[1], **row}])
        with_one({"ts": "123"})
        self.refused("trace_rank0.json: ts of event 41 ('aten::mm') is the text", "numbers")
        with_one({"dur": float("nan")})
        self.refused("dur of event 41 ('aten::mm') is NaN")
        with_one({"dur": 1e18})
        self.refused("dur of event 41 ('aten::mm') is 1e+18")
        launch = {**events()[1], "cat": "cuda_runtime", "name": "cudaLaunchKernel"}
        self.put([{key: value for key, value in row.items() if key != "cat"} for row in [*events(), launch]])
        self.refused("trace_rank0.json has events of a device without a category (cat)")
        self.put(events() + events(first=100, pid=2))
        self.refused("trace_rank0.json has steps of 2 processes: several ranks in one file")
        self.put(events() + events(first=100))
        self.refused("at the same time: several ranks in one file")
        for rank in (-1, 1.5):
            self.put(events(), rank=rank)
            self.refused(f"trace_rank0.json: distributedInfo.rank is {rank}: ")

    def test_times_are_read_to_the_nanosecond(self):
        """Steps of 500 ns since the epoch: a double has 250 ns there."""
        rows = []
        for step in range(10):
            for cat, name, at, ns in (("user_annotation", f"ProfilerStep#{step}", 0, 500), ("cpu_op", "aten::mm", 101, 100), ("cpu_op", "autograd::engine::evaluate_function: Mm", 201, 177)):
                rows.append({"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": f"@17908570261234{50 + step}.{123 + at}@", "dur": ns / 1e3})
        self.put(rows, edit=lambda text: text.replace('"@', "").replace('@"', ""))
        rank = self.study()["ranks"][0]
        self.assertEqual((rank["step_ns"], rank["forward_ns"], rank["backward_ns"]), (500, 100, 177))

    def test_a_folder_per_rank_and_foreign_files(self):
        self.put(events(), name="rank0/x.json")
        self.put(events(), name="rank1/x.json")
        self.put([], name="rank1/notes.json", edit=lambda text: "{}\n{}")
        study = self.study()
        self.assertEqual([rank["file"] for rank in study["ranks"]], ["rank0/x.json", "rank1/x.json"])
        self.assertIn("rank1/notes.json", self.profile(source="traces/").out)

    def test_some_ranks_of_many_are_judged_among_themselves(self):
        for rank in (8, 9):
            self.put(events(), name=f"{rank}.json", rank=rank, world=64)
        self.put(events(), name="notes.json", edit=lambda text: "no trace")
        out = self.profile().out
        self.assertIn("traces of 2 of 64 ranks", out)
        self.assertIn("the other 62 ranks: late ranks are judged among these 2 of 64", out)
        self.assertIn("left out: notes.json is not JSON", out)

    def test_what_trains_is_refused_beside_traces(self):
        self.put(events())
        for flag in (["--ranks", 2], ["--model", "resnet50"], ["-t", "input"], ["plan.yaml"]):
            result = self.profile(*flag, code=2)
            self.assertIn(f"{flag[0]}: --from reads traces and trains nothing", result.err)

    def test_an_irregular_file_is_one_sentence(self):
        self.put(events())
        os.mkfifo(self.folder / "traces" / "pipe.json")
        os.symlink("loop.json", self.folder / "traces" / "loop.json")
        out = self.profile(timeout=20).out
        self.assertIn("left out: pipe.json is no regular file", out)
        self.assertIn("left out: loop.json is no regular file", out)
        self.refused("it is neither a file nor a folder", source="traces/pipe.json", timeout=20)
        self.refused("loop.json: ", source="traces/loop.json")
        self.refused("xxx", source="x" * 5000)

    def test_bombs_are_one_sentence(self):
        (self.folder / "traces").mkdir()
        member = gzip.compress(b"a" * (1 << 24), 1)
        path = self.folder / "traces" / "bomb.json.gz"
        path.write_bytes(gzip.compress(b'{"traceEvents": [{"name": "') + member * 200)
        self.refused("bomb.json.gz has a text of more than 16.8 MB")
        path.write_bytes(gzip.compress(b'{"traceEvents": [') + gzip.compress(b" " * (1 << 24), 1) * 200)
        self.refused("bomb.json.gz unpacks to more than 200 times its size")


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
