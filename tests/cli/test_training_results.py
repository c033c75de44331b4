# SPDX-License-Identifier: MIT
"""Files that a run of training leaves: those of ranks and epochs, figures, scaling, gates, reports. No speed is asserted."""

import csv
import json
import os
import unittest

import paceline_cli as cli

PLAN = """experiment_name: scaling
models: [tiny_cnn]
batch_sizes: [4]
gpu_counts: [1, 2, 4]
threads: 1
idle_wait_s: 0
allow_noisy: true
ddp: {enabled: [auto, true]}
benchmark: {warmup_steps: 2, measure_steps: 8}
data: {source: synthetic, synthetic_samples: 80}
"""
ONE, WRAPPED, TWO, FOUR = (f"tiny_cnn-train-fp32-b4-{name}" for name in ("r1", "r1-ddp_true", "r2", "r4"))


def lines_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


SPIN = ["--plugin", cli.SPIN]
CPUS = len(os.sched_getaffinity(0))


class Scaling(cli.CliTest):
    """By LibTorch: buckets and parts of a step are its own."""

    def scaling_run(self, *arguments, code=0):
        self.write("scaling.yaml", PLAN)
        self.assert_code(self.run_cli("run", "scaling.yaml", "-q", *arguments), code)
        return self.only_run()

    def test_a_scaling_plan(self):
        """One run, looked at from every side: it takes a while."""
        run = self.scaling_run("--expect", "exposed_share@2 < 2")
        cases = {case["case_id"]: case for case in self.summary(run)["cases"]}
        self.assertEqual(sorted(cases), sorted([ONE, WRAPPED, TWO, FOUR]))
        self.check_figures(cases)
        self.check_files(run)
        self.check_reports(run)
        self.assertEqual([gate["verdict"] for gate in self.summary(run)["gates"]], ["met"])

    def check_figures(self, cases):
        training = {case_id: case["training"][0] for case_id, case in cases.items()}
        self.assertEqual([training[c]["ddp"] for c in (ONE, WRAPPED, TWO)], [False, True, True])
        self.assertIsNone(training[ONE]["exposed_share"])
        self.assertEqual(training[TWO]["backend"], "gloo")
        self.assertEqual([rank["rank"] for rank in training[TWO]["ranks"]], [0, 1])
        self.assertEqual(training[TWO]["collectives_per_step"], len(training[TWO]["bucket_bytes"]))
        self.assertGreater(training[TWO]["parameter_tensors"], training[TWO]["collectives_per_step"])
        self.assertTrue(any("do not speak for GPUs" in note for note in training[TWO]["notes"]))
        self.assertEqual(cases[TWO]["scaling"][0]["base_case_id"], ONE)
        self.assertEqual((cases[ONE]["scaling"], cases[WRAPPED]["scaling"]), ([], []))
        for ranks in (TWO, FOUR):
            costs, base = (training[case]["costs"]["step_ns"]["value"] for case in (ranks, ONE))
            budget = sum(part["cost_ns"]["value"] for part in cases[ranks]["scaling"][0]["budget"])
            self.assertAlmostEqual(budget / (costs - base), 1, delta=0.02, msg="the loss budget adds up to the gap")
        if CPUS < 4:
            self.assertTrue(any("take turns" in note for note in training[FOUR]["notes"]), training[FOUR]["notes"])
        self.assertEqual(cases[WRAPPED]["speedup"]["baseline_case_id"], ONE)
        self.assertEqual(cases[TWO]["stats"]["n"], 8)

    def check_files(self, run):
        folder = run / "cases" / TWO
        ranks = [lines_of(folder / f"rank{rank}.jsonl") for rank in (0, 1)]
        self.assertEqual([row["step"] for row in ranks[0]], [row["step"] for row in ranks[1]])
        slowest = [max(rows, key=lambda row: row["step_ns"]) for rows in zip(*ranks) if rows[0]["phase"] == "timed"]
        with open(folder / "samples.csv", encoding="utf-8") as file:
            samples = list(csv.DictReader(file))
        self.assertEqual([int(s["host_ns"]) for s in samples], [row["step_ns"] for row in slowest])
        self.assertEqual([int(s["rank"]) for s in samples], [row["rank"] for row in slowest])
        parts = ("data_wait_ns", "input_ns", "forward_ns", "backward_ns", "exposed_ns", "optimizer_ns")
        for row in ranks[0] + ranks[1]:
            self.assertLessEqual(sum(row[part] for part in parts), row["step_ns"])
        training = next(case for case in self.summary(run)["cases"] if case["case_id"] == TWO)["training"][0]
        costs, shares = training["costs"], training["shares"]
        waiting = costs["straggler_wait_ns"]["value"] + costs["communication_ns"]["value"]
        for part in parts:  # of the typical rank's mean step, as in the list of what a step loses time to
            cost = waiting if part == "exposed_ns" else costs[part]["value"]
            self.assertAlmostEqual(shares[part.removesuffix("_ns")], cost / costs["step_ns"]["value"], places=9)
        self.assertAlmostEqual(training["exposed_share"], training["straggler_wait_share"] + training["communication_share"], places=9)
        self.assertLessEqual(sum(shares.values()), 1)
        epochs = lines_of(folder / "metrics_epoch.jsonl")
        self.assertEqual([(e["epoch"], e["steps"], e["samples"]) for e in epochs][0], (0, 10, 80))
        with open(run / "summary.csv", encoding="utf-8") as file:
            rows = {row["case_id"]: row for row in csv.DictReader(file)}
        self.assertEqual((rows[TWO]["world_size"], rows[ONE]["efficiency"]), ("2", ""))
        self.assertEqual(rows[TWO]["efficiency"], "")  # one process of each is no claim

    def check_reports(self, run):
        page = (run / "report.html").read_text(encoding="utf-8")
        for words in ('<section id="training">', 'data-chart="scaling_curve"', 'data-chart="step_parts"', "<h4>Ranks</h4>"):
            self.assertIn(words, page)
        markdown = self.run_cli("report", "-s", run, "-f", "markdown", "--output", "out.md")
        self.assert_code(markdown, 0)
        self.assertIn("## Training", (self.folder / "out.md").read_text(encoding="utf-8"))


class TrainingResults(cli.CliTest):
    def test_what_has_no_effect_is_said(self):
        self.assert_code(self.run_cli("train", *SPIN, "--model", "tiny_cnn", "--device", "cpu", "--batch-size", "4", "--threads", "1", "--steps", "6", "--idle-wait-s", "0",
                                      "--allow-noisy", "-q", "--benchmark.sync_cuda", "--no-benchmark.log_step_times"), 0)
        run = self.only_run()
        notes = " ".join(self.summary(run)["cases"][0]["training"][0]["notes"])
        self.assertIn("no effect here: benchmark.sync_cuda", notes)
        self.assertFalse((run / "rank0.jsonl").exists())
        self.assertTrue((run / "metrics_epoch.jsonl").exists())

    def test_epochs_go_on_after_what_is_measured(self):
        self.assert_code(self.run_cli("train", *SPIN, "--model", "tiny_cnn", "--device", "cpu", "--batch-size", "4", "--threads", "1", "--steps", "3", "--warmup-steps", "1",
                                      "--epochs", "2", "--data.synthetic_samples", "24", "--idle-wait-s", "0", "--allow-noisy", "-q"), 0)
        rows = lines_of(self.only_run() / "rank0.jsonl")
        self.assertEqual(len(rows), 12)
        self.assertEqual([row["phase"] for row in rows].count("timed"), 3)
        self.assertEqual(rows[-1]["phase"], "after")
        self.assertEqual(len(lines_of(self.only_run() / "metrics_epoch.jsonl")), 2)

    def test_so_many_epochs_are_run_and_no_more(self):
        """The stop rule alone would ask for 30 steps, and --steps for more than the epochs have."""
        for folder, more in (("rule", ()), ("steps", ("--steps", "50")), ("warmup", ("--warmup-steps", "40"))):
            result = self.run_cli("train", *SPIN, "--model", "tiny_cnn", "--device", "cpu", "--batch-size", "4", "--threads", "1", "--epochs", "5",
                                  "--data.synthetic_samples", "16", "--idle-wait-s", "0", "--allow-noisy", "-o", folder, *more)
            self.assertIn(result.code, (0, 3), str(result))
            run = self.only_run(folder)
            self.assertEqual(len(lines_of(run / "rank0.jsonl")), 20, folder)
            self.assertEqual([e["samples"] for e in lines_of(run / "metrics_epoch.jsonl")], [16] * 5, folder)
            case = self.summary(run)["cases"][0]
            self.assertEqual(case["outcome"], "ok")
            self.assertIn(case["repetitions"][0]["stop_reason"], ("epochs_done", "fixed_iterations"))

    def test_mistakes_are_named_before_anything_runs(self):
        for arguments, words in (
                (["--data.source", "cifar1000"], ["did you mean 'cifar100'?"]),
                (["--training.optimizer", "sdg"], ["did you mean 'sgd'?"]),
                (["--batch-size", "300", "--ranks", "2", "--data.synthetic_samples", "500"], ["600 samples", "an epoch has 500"]),
                (["--data.source", "npz"], ["needs data.path"]),
                (["--data.source", "npz", "--data.path", "no/such.npz"], ["no/such.npz", "does not exist"]),
                (["--steps", "5", "--measure-seconds", "1"], ["exclude each other"]),
                (["--checkpoint.resume"], ["--checkpoint.resume: needs --checkpoint.dir"])):
            with self.subTest(arguments=arguments):
                self.assert_error(self.run_cli("train", "--model", "tiny_cnn", *arguments), 2, *words)
        self.assert_nothing_ran()


if __name__ == "__main__":
    cli.main()
