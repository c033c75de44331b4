# SPDX-License-Identifier: MIT
"""The profile of a training case: a trace and a table of operators from a pass of their own. No test says anything about speed."""

import json
import os
import signal
from pathlib import Path

from launch_lab import LibTorchTraining, free_port, spec_of
from paceline_cli import main, read_csv, session_members, wait_until

STEPS = 20  # timed, of LibTorchTraining


class Profile(LibTorchTraining):
    def profile_of(self, run=None):
        case, = self.summary(run)["cases"]
        self.assertEqual(case["outcome"], "ok", case["reason"])
        self.assertEqual(len(case["operator_profile"]), 1)
        return case["operator_profile"][0]

    def whole_profile(self, run=None):
        profile = self.profile_of(run)
        self.assertEqual(profile["reason"], "")
        return profile

    def profiled(self, *arguments, code=0):
        result = self.train("--profiling.enabled", *arguments)
        self.assert_code(result, code)
        return result

    def trace(self, run=None):
        return json.loads(((run or self.only_run()) / "trace_rank0.json").read_text(encoding="utf-8"))


class Files(Profile):
    def test_a_profile_is_a_trace_and_a_table(self):
        result = self.profiled()
        self.check_figures(self.whole_profile())
        self.check_trace()
        self.check_files()
        self.check_reports(result)

    def check_figures(self, profile):
        self.assertEqual((profile["steps"], profile["untimed_steps"]), (3, 3))
        self.assertIn("Kineto", profile["source"])
        self.assertGreater(profile["of_timed"], 0)
        parts = {p["name"]: p for p in profile["parts"]}
        self.assertEqual(set(parts), {"data wait", "input", "forward", "backward", "optimizer"})
        self.assertTrue(all(p["calls"] == 3 for p in parts.values()), parts)
        own = sum(row["self_ns"] or 0 for row in [*profile["top"], profile["rest"]])
        self.assertAlmostEqual((own + profile["outside_ns"]) / profile["total_ns"], 1, places=2)
        for row in profile["top"]:
            self.assertLessEqual(row["self_ns"], row["total_ns"])
            self.assertAlmostEqual(row["share"], row["self_ns"] / profile["total_ns"])
        shares = [row["share"] for row in profile["top"]]
        self.assertEqual(shares, sorted(shares, reverse=True))

    def check_trace(self):
        events = [e for e in self.trace()["traceEvents"] if e.get("ph") == "X"]
        for event in events:
            self.assertLessEqual({"name", "ts", "dur", "pid", "tid"}, set(event))
        names = [e["name"] for e in events]
        for step in (3, 4, 5):
            self.assertEqual(names.count(f"step {step}"), 1)
        for part in ("data wait", "forward", "backward", "optimizer"):
            self.assertEqual(names.count(part), 3, part)
        self.assertIn("aten::conv2d", names)

    def check_files(self):
        run, profile = self.only_run(), self.profile_of()
        rows = read_csv(run / "operators.csv")
        self.assertEqual(len(rows), profile["operators"])
        self.assertEqual(rows[0]["name"], profile["top"][0]["name"])
        self.assertEqual((run / "trace_rank0.json").stat().st_size, profile["trace_bytes"])
        self.assertEqual(len(read_csv(run / "samples.csv")), STEPS)
        self.assertEqual(len((run / "rank0.jsonl").read_text().splitlines()), STEPS + 1)
        self.assertEqual([p.name for p in run.rglob("trace*")], ["trace_rank0.json"])

    def check_reports(self, result):
        self.assertIn("3 steps of rank 0 under PyTorch's profiler (Kineto), after 3 others", " ".join(result.out.split()))
        self.assertIn("times the timed", " ".join(result.out.split()))
        page = (self.only_run() / "report.html").read_text(encoding="utf-8")
        for words in ("Profile of a step", "(in no operator)", "ui.perfetto.dev"):
            self.assertIn(words, page)

    def test_steps_are_as_many_as_asked_for(self):
        self.profiled("--profiling.steps", 5, "--data.synthetic_fresh", "--training.accumulation_steps", 2)
        profile = self.whole_profile()
        self.assertEqual(profile["steps"], 5)
        parts = {p["name"]: p["calls"] for p in profile["parts"]}
        self.assertEqual((parts["data wait"], parts["forward"], parts["optimizer"]), (5, 10, 5))

    def test_none_unless_asked_for(self):
        self.assert_code(self.train(), 0)
        self.assertEqual(self.summary()["cases"][0]["operator_profile"], [])
        self.assertFalse((self.only_run() / "trace_rank0.json").exists())

    def test_resuming_keeps_it(self):
        self.profiled()
        run, before = self.only_run(), self.whole_profile()
        self.assert_code(self.run_cli("train", "--resume", run), 0)
        self.assertEqual(self.profile_of(run), before)


class Ranks(Profile):
    def test_two_ranks(self):
        self.profiled("--ranks", 2)
        profile = self.whole_profile()
        rows = {row["name"]: row for row in read_csv(self.only_run() / "operators.csv")}
        self.assertEqual(rows["gloo:all_reduce"]["self_ns"], "")
        self.assertGreater(float(rows["gloo:all_reduce"]["total_ns"]), 0)
        parts = {p["name"]: p for p in profile["parts"]}
        self.assertLessEqual(parts["communication"]["calls"], 6)
        self.assertEqual(sum(e.get("name") == "communication" for e in self.trace()["traceEvents"]), parts["communication"]["calls"])
        self.assertEqual(len(self.training_of()["ranks"]), 2)

    def test_two_commands_of_a_launch(self):
        port = free_port()
        hosts = [self.start_training("--nnodes", 2, "--node-rank", node, "--rdzv-endpoint", f"127.0.0.1:{port}", "--nproc-per-node", 1,
                                     "--profiling.enabled") for node in (0, 1)]
        for host in hosts:
            self.assert_code(self.finish(host), 0)
        self.assertEqual(self.whole_profile()["steps"], 3)
        self.assertTrue(self.trace()["traceEvents"])

    def test_a_sweep_has_a_profile_a_case(self):
        plan = self.write("sweep.yaml", "kind: training\ndevice: cpu\nmodels: [tiny_cnn]\nbatch_sizes: [8]\ngpu_counts: [1, 2]\nthreads: 1\n"
                                        "idle_wait_s: 0\nallow_noisy: true\nbenchmark: {warmup_steps: 1, measure_steps: 5}\n"
                                        "profiling: {enabled: true, steps: 1}\n")
        port = free_port()
        hosts = [self.start("train", "-c", plan, "--nnodes", 2, "--node-rank", node, "--rdzv-endpoint", f"127.0.0.1:{port}") for node in (0, 1)]
        for host in hosts:
            self.assert_code(self.finish(host), 0)
        cases = {c["benchmark"]["world_size"]: c for c in self.summary()["cases"]}
        for ranks in (1, 2):
            self.assertEqual(cases[ranks]["operator_profile"][0]["steps"], 1)
            self.assertTrue((self.only_run() / "cases" / cases[ranks]["case_id"] / "trace_rank0.json").exists())


class Faults(Profile):
    def test_faults_and_checkpoints_stay_out_of_it(self):
        """Rank 1 is killed before step 5 and starts again; the profile pass makes step 5 too, and saves nothing."""
        self.profiled("--ranks", 2, "--checkpoint.dir", "saved", "--checkpoint.every-steps", 4, "--max-restarts", 1,
                      "--inject", "kill:rank=1,step=5")
        training = self.training_of()
        self.assertEqual(len(training["restarts"]), 1)
        self.assertEqual(self.whole_profile()["steps"], 3)
        steps = [json.loads(file.read_text())["step"] for file in (self.folder / "saved").rglob("meta.json")]
        self.assertEqual(max(steps), training["checkpoints"]["resumed_step"] + STEPS + 1)

    def start_and_find(self, steps):
        """A training in its profile pass, and the process id of that pass."""
        process = self.start_training("--profiling.enabled", "--profiling.steps", steps)
        found = []

        def profiling():
            found[:] = [pid for pid in session_members(process.pid) if spec_of(pid).get("kind") == "train_profile"]
            return bool(found)
        self.assertTrue(wait_until(profiling), "no profile pass began")
        return process, found[0]

    def test_a_failure_costs_the_profile_only(self):
        process, worker = self.start_and_find(1000)
        os.kill(worker, signal.SIGKILL)
        result = self.finish(process)
        self.assert_code(result, 0)
        profile = self.profile_of()
        self.assertIsNone(profile["steps"])
        self.assertIn("SIGKILL", profile["reason"])
        self.assertIn("no profile: ", result.out)
        self.assertEqual([p.name for p in self.only_run().rglob("trace*")], [])

    def test_an_interrupted_one_is_made_when_resuming(self):
        process, _ = self.start_and_find(100)
        process.send_signal(signal.SIGINT)
        self.assert_code(self.finish(process), 130)
        self.assertEqual(self.profile_of()["reason"], "interrupted")
        run = self.only_run()
        samples = (run / "samples.csv").read_bytes()
        self.assert_code(self.run_cli("train", "--resume", run), 0)
        self.assertEqual(self.whole_profile(run)["steps"], 100)
        self.assertEqual((run / "samples.csv").read_bytes(), samples)

    def test_replacements_of_absent_features_are_named(self):
        for number, (arguments, words) in enumerate((
                (["--profiling.tool", "nsys"], "paceline profile --tool nsys -c"),
                (["--profiling.tool", "ncu"], "paceline profile --tool ncu -c"),
                (["--profiling.trigger", "manual"], "leave profiling.trigger out"))):
            with self.subTest(arguments=arguments):
                below = f"r{number}"
                result = self.profiled(*arguments, "--output-dir", below)
                self.assertIn(words, self.profile_of(self.only_run(below))["reason"])
                self.assertIn("no profile: ", result.out)

    def test_inference_has_another_word_for_it(self):
        plan = self.spin_plan("profiling: {enabled: true}")
        self.run_cli("run", plan)
        case, = self.summary()["cases"]
        self.assertEqual(case["outcome"], "skipped")
        self.assertIn("layer_profile: true", case["reason"])


if __name__ == "__main__":
    main()
