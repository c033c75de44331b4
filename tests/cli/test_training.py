# SPDX-License-Identifier: MIT
"""Training as its results show it: steps of all ranks, files, losses that repeat. No test says anything about speed."""

import json
import math
import os
import shutil
import unittest

from paceline_cli import CliTest, case_dir, case_of, main, read_csv

STEPS, WARMUP = 6, 2
# Set: the same tests with the trainer of that plug-in; LATE: the spin trainer reports each step while the next is under way.
LATE = os.environ.get("PACELINE_TEST_LATE", "")
PLUGIN = ["--plugin", os.environ["PACELINE_TEST_TRAINER"]] if os.environ.get("PACELINE_TEST_TRAINER") else []


def rows_of(folder, rank):
    return [json.loads(line) for line in (folder / f"rank{rank}.jsonl").read_text().splitlines()]


class Training(CliTest):
    def setUp(self):
        super().setUp()
        if LATE:
            self.env["SPIN_LATE"] = LATE

    def train(self, *lines, model="tiny_cnn", ranks="[2]", code=0, arguments=()):
        plan = self.write("train.yaml", "\n".join([
            "kind: training", "device: cpu", f"models: [{model}]", "batch_sizes: [4]", f"gpu_counts: {ranks}", "threads: 1",
            f"benchmark: {{warmup_steps: {WARMUP}, measure_steps: {STEPS}}}", "idle_wait_s: 0", "allow_noisy: true", *lines]) + "\n")
        result = self.run_cli("run", plan, *PLUGIN, *arguments)
        self.assert_code(result, code)
        return result


class Steps(Training):
    def test_a_step_takes_as_long_as_its_slowest_rank(self):
        self.train()
        run, case = self.only_run(), self.summary()["cases"][0]
        folder = case_dir(run, case["case_id"])
        ranks = [rows_of(folder, rank) for rank in (0, 1)]
        self.assertEqual([len(rows) for rows in ranks], [WARMUP + STEPS] * 2)
        timed = [[r for r in rows if r["phase"] == "timed"] for rows in ranks]
        samples = read_csv(folder / "samples.csv")
        self.assertEqual(len(samples), STEPS)
        for sample, *both in zip(samples, *timed, strict=True):
            self.assertEqual(len({r["step"] for r in both}), 1)
            slowest = max(both, key=lambda r: r["step_ns"])
            self.assertEqual(int(sample["host_ns"]), slowest["step_ns"])
        for row in timed[0] + timed[1]:
            parts = sum(row[f"{part}_ns"] for part in ("data_wait", "input", "forward", "backward", "exposed", "optimizer"))
            self.assertLessEqual(parts, row["step_ns"])
            self.assertGreater(parts, 0.9 * row["step_ns"])
            self.assertTrue(math.isfinite(row["loss"]))

    def test_the_result_says_what_ddp_did(self):
        self.train()
        case = self.summary()["cases"][0]
        training = case["training"][0]
        self.assertEqual(case["benchmark"]["kind"], "training")
        self.assertEqual(case["benchmark"]["world_size"], 2)
        self.assertTrue(training["ddp"])
        self.assertEqual(training["backend"], "gloo")
        self.assertEqual(sum(training["bucket_bytes"]), 4 * training["parameters"])
        self.assertEqual(training["collectives_per_step"], len(training["bucket_bytes"]))
        self.assertLess(training["collectives_per_step"], training["parameter_tensors"])
        self.assertEqual([r["rank"] for r in training["ranks"]], [0, 1])
        self.assertEqual(len({r["process_id"] for r in training["ranks"]}), 2)
        self.assertTrue(training["fingerprint"])
        self.assertEqual(case["throughput"]["item"], "images")

    def test_library_versions_are_in_each_case(self):
        self.train(ranks="[1, 2]")
        cases = self.summary()["cases"]
        self.assertEqual(len(cases), 2)
        for case in cases:
            stored = json.loads((case_dir(self.only_run(), case["case_id"]) / "result.json").read_text())
            for settings in (case["effective_settings"], stored["effective_settings"]):
                self.assertRegex(settings["version.LibTorch"], r"^\d+\.\d+")

    def test_the_losses_repeat_and_depend_on_the_seed(self):
        losses = []
        for seed, below in ((1, "a"), (1, "b"), (2, "c")):
            self.train(f"training: {{seed: {seed}}}", arguments=("--output-dir", below))
            run = self.only_run(below)
            folder = case_dir(run, self.summary(run)["cases"][0]["case_id"])
            losses.append([[r["loss"] for r in rows_of(folder, rank)] for rank in (0, 1)])
        self.assertEqual(losses[0], losses[1])
        self.assertNotEqual(losses[0], losses[2])
        self.assertNotEqual(losses[0][0], losses[0][1], "both ranks saw the same data")


class Worlds(Training):
    def test_a_sweep_over_ranks_is_compared_with_its_smallest_world(self):
        self.train(ranks="[1, 2]")
        summary = self.summary()
        two = case_of(summary, world_size=2)
        one = case_of(summary, world_size=1)
        self.assertFalse(one["training"][0]["ddp"])
        self.assertEqual(one["training"][0]["bucket_bytes"], [])
        scaling = two["scaling"][0]
        self.assertEqual(scaling["base_case_id"], one["case_id"])
        ratio = one["headline"]["p50_ns"]["value"] / two["headline"]["p50_ns"]["value"]
        self.assertAlmostEqual(scaling["efficiency"], ratio, places=6)
        self.assertEqual({c["benchmark"]["threads"] for c in summary["cases"]}, {1})

    def test_ddp_with_one_rank_is_a_case_of_its_own(self):
        self.train("ddp: {enabled: true}", ranks="[1]")
        training = self.summary()["cases"][0]["training"][0]
        self.assertTrue(training["ddp"])
        self.assertEqual(sum(training["bucket_bytes"]), 4 * training["parameters"])


class Epochs(Training):
    def test_epochs_are_finished_and_written_line_by_line(self):
        self.train("training: {epochs: 3}", "data: {synthetic_samples: 40}")
        run = self.only_run()
        case = self.summary()["cases"][0]
        lines = [json.loads(line) for line in (case_dir(run, case["case_id"]) / "metrics_epoch.jsonl").read_text().splitlines()]
        self.assertEqual([line["epoch"] for line in lines], [0, 1, 2])
        self.assertEqual([line["steps"] for line in lines], [5, 5, 5])  # 40 samples, 4 a rank and step
        self.assertEqual([line["samples"] for line in lines], [40, 40, 40])
        table = read_csv(case_dir(run, case["case_id"]) / "metrics_epoch.csv")
        self.assertEqual([(row["repetition"], row["epoch"], row["steps"], row["samples"]) for row in table], [("0", str(e), "5", "40") for e in range(3)])
        for row, line in zip(table, lines, strict=True):
            self.assertAlmostEqual(float(row["loss"]), line["loss"], delta=1e-6 * abs(line["loss"]))
            self.assertAlmostEqual(float(row["step_p95_ms"]), line["step_p95_ns"] / 1e6, delta=1e-3)
            self.assertLessEqual(float(row["step_p50_ms"]), float(row["step_p95_ms"]))
            self.assertGreater(float(row["throughput_per_s"]), 0)
            self.assertEqual(row["eval_accuracy"], "")
        self.assertEqual(case["stats"]["n"], STEPS)


class Schedules(Training):
    """A schedule without a number of steps is as long as the epochs."""

    def rates(self, *arguments, ranks="1", below="results", code=0):
        result = self.run_cli("train", "--model", "tiny_cnn", "--device", "cpu", "--batch-size", "4", "--threads", "1", "--ranks", ranks, "--lr", "0.4", "--idle-wait-s", "0",
                              "--allow-noisy", "--warmup-steps", WARMUP, "--steps", STEPS, "--data.synthetic_samples", "80", "--output-dir", below, *PLUGIN, *arguments)
        self.assert_code(result, code)
        return result if code else [row["learning_rate"] for row in rows_of(self.only_run(below), 0)]

    def expect_cosine(self, rates, steps, last=0.0):
        self.assertEqual(len(rates), steps)
        for step, rate in enumerate(rates):  # torch.optim.lr_scheduler.CosineAnnealingLR(T_max=steps, eta_min=last)
            self.assertAlmostEqual(rate, last + (0.4 - last) * (1 + math.cos(math.pi * step / steps)) / 2, places=12)

    def test_cosine_ends_with_the_last_epoch(self):
        self.expect_cosine(self.rates("--scheduler", "cosine", "--epochs", "2"), 40)
        self.expect_cosine(self.rates("--lr-scheduler", "CosineAnnealingLR", "--epochs", "2", "--training.lr_final", "0.25", ranks="2", below="two"), 20, last=0.1)
        self.expect_cosine(self.rates("--scheduler", "cosine", "--epochs", "3", "--accumulation-steps", "2", below="sums"), 30)

    def test_steps_come_after_each_third(self):
        rates = self.rates("--scheduler", "StepLR", "--epochs", "3")
        self.assertEqual([round(rate, 6) for rate in rates], [0.4] * 20 + [0.04] * 20 + [0.004] * 20)

    def test_a_schedule_needs_a_length(self):
        self.assert_error(self.rates("--scheduler", "cosine", code=2), 2, "--scheduler cosine: needs --epochs or --training.lr_total_steps; add --epochs 10")
        self.assert_error(self.rates("--training.schedule", "step", code=2), 2, "--training.schedule step: needs --training.epochs or --training.lr_step_size; add --training.epochs 90")
        self.assert_error(self.rates("--scheduler", "cosin", "--epochs", "2", code=2), 2, "did you mean 'cosine'?")


class CheckpointTest(Training):
    def losses(self, below, rank=0):
        run = self.only_run(below)
        folder = case_dir(run, self.summary(run)["cases"][0]["case_id"])
        return {r["step"]: r["loss"] for r in rows_of(folder, rank)}


class Checkpoints(CheckpointTest):
    """Files that a trainer saves."""

    def test_an_interrupted_and_an_uninterrupted_run_have_the_same_losses(self):
        saved = self.folder / "saved"
        self.train(arguments=("--output-dir", "whole", "--benchmark.measure_steps=12"))
        self.train(f"checkpoint: {{dir: {saved}, every_steps: 4}}", arguments=("--output-dir", "first"))
        result = self.train(f"checkpoint: {{dir: {saved}, resume: true}}", arguments=("--output-dir", "second"))
        whole, first, second = (self.losses(below) for below in ("whole", "first", "second"))
        self.assertEqual(min(second), max(first) + 1, str(result))
        joined = {**first, **second}
        self.assertEqual({step: joined[step] for step in whole}, whole)

    def test_a_damaged_checkpoint_is_refused_and_the_one_before_used(self):
        saved = self.folder / "saved"
        self.train(f"checkpoint: {{dir: {saved}, every_steps: 4, keep: 3}}", arguments=("--output-dir", "first"))
        newest = sorted(saved.glob("step_*"), key=lambda p: int(p.name.split("_")[1]))[-1]
        part = newest / "rank1.ckpt"
        part.write_bytes(part.read_bytes()[:-7])
        result = self.train(f"checkpoint: {{dir: {saved}, resume: true}}", arguments=("--output-dir", "second"))
        self.assertIn("refused", result.out + result.err)
        self.assertEqual(min(self.losses("second")), 4)

    def test_a_checkpoint_of_another_training_is_refused(self):
        saved = self.folder / "saved"
        self.train(f"checkpoint: {{dir: {saved}}}", arguments=("--output-dir", "first"))
        self.train(f"checkpoint: {{dir: {saved}, resume: true}}", "training: {optimizer: adamw}", code=2)
        self.assertIn("can be continued", self.summary()["cases"][0]["reason"])


class CheckpointFolders(CheckpointTest):
    """Training that goes on, whoever trains."""

    def test_finished_training_is_not_trained_on(self):
        """Another number of ranks changes nothing: no step, no checkpoint, no figure, and exit code 0."""
        saved = self.folder / "saved"
        lines = ("training: {epochs: 2}", "data: {synthetic_samples: 80}")
        self.train(f"checkpoint: {{dir: {saved}, every_steps: 5}}", *lines, ranks="[1]", arguments=("--output-dir", "first"))
        before = sorted(path.name for path in saved.glob("step_*"))
        self.assertEqual(before, ["step_35", "step_40"])
        for ranks in (1, 2):
            name = f"again{ranks}"
            result = self.train(f"checkpoint: {{dir: {saved}, resume: true}}", *lines, ranks=f"[{ranks}]", arguments=("--output-dir", name))
            self.assertIn("has done 40 steps, and nothing is left to do", result.out + result.err)
            case = self.summary(self.only_run(name))["cases"][0]
            self.assertEqual((case["outcome"], case["reason_code"], case["training"]), ("skipped", "trained", []))
            self.assertIsNone(case["throughput"]["per_s"]["value"])
            self.assertEqual(sorted(path.name for path in saved.glob("step_*")), before)
        self.train(f"checkpoint: {{dir: {saved}, resume: true}}", "training: {epochs: 3}", lines[1], ranks="[1]", arguments=("--output-dir", "more"))
        self.assertIn("step_60", [path.name for path in saved.glob("step_*")])

    def test_a_finished_training_that_is_measured_again_keeps_its_result(self):
        """As advice once said: --resume with --only finds nothing left to time, and says so."""
        saved = self.folder / "saved"
        self.train(f"checkpoint: {{dir: {saved}, resume: true}}", "training: {epochs: 1}", "data: {synthetic_samples: 80}", ranks="[1]")
        run = self.only_run()
        kept = {path.relative_to(run): path.read_bytes() for path in run.rglob("*") if path.suffix in (".jsonl", ".csv")}
        before = self.summary()["cases"][0]
        for only in ("1", before["case_id"]):
            result = self.run_cli("run", "--resume", run, *PLUGIN, "--only", only)
            self.assert_code(result, 0)
            self.assertIn("has done 20 steps, and nothing is left to do; raise --epochs to train on; its earlier result is kept", result.out + result.err)
            case = self.summary()["cases"][0]
            for key in ("outcome", "complete", "repetitions", "training", "throughput", "samples"):
                self.assertEqual(case[key], before[key], key)
            for name, content in kept.items():
                self.assertEqual((run / name).read_bytes(), content, name)
        self.assertFalse(list(run.rglob("passes.*")), "records were put aside")

    def test_resumed_training_with_steps_left_is_measured_again(self):
        saved = self.folder / "saved"
        self.train(f"checkpoint: {{dir: {saved}, resume: true}}", ranks="[1]")
        first = self.losses("results")
        result = self.run_cli("run", "--resume", self.only_run(), *PLUGIN, "--only", "1")
        self.assert_code(result, 0)
        self.assertEqual(min(self.losses("results")), max(first) + 1, str(result))
        records = list(self.only_run().rglob("timed-0.jsonl*"))
        self.assertEqual(len(records), 2, records)  # the earlier ones lie beside them

    def test_a_single_step_that_is_left_is_made_and_not_timed(self):
        saved = self.folder / "saved"
        lines = ("training: {epochs: 1}", "data: {synthetic_samples: 40}")
        self.train(f"checkpoint: {{dir: {saved}, every_steps: 9}}", *lines, ranks="[1]", arguments=("--output-dir", "first"))
        shutil.rmtree(saved / "step_10")
        result = self.train(f"checkpoint: {{dir: {saved}, resume: true}}", *lines, ranks="[1]", arguments=("--output-dir", "second"))
        self.assertIn("has done 9 steps, and the one that was left is made", result.out + result.err)
        self.assertEqual(self.summary(self.only_run("second"))["cases"][0]["reason_code"], "trained")
        self.assertIn("step_10", [path.name for path in saved.glob("step_*")])

    def test_resuming_from_an_empty_folder_is_noted_in_the_result(self):
        self.train(f"checkpoint: {{dir: {self.folder / 'nothere'}, resume: true}}", "repetitions: 2", ranks="[1]")
        notes = self.summary()["cases"][0]["training"][0]["notes"]
        found = [note for note in notes if "found no checkpoint in" in note]
        self.assertEqual(len(found), 2, notes)  # each repetition has a folder of its own
        self.assertIn("training began at step 0", found[0])
        self.assertIn("training began at step 0", (self.only_run() / "report.html").read_text(encoding="utf-8"))

    def test_a_folder_of_another_run_is_not_mixed_with_this_one(self):
        saved = self.folder / "saved"
        self.train(f"checkpoint: {{dir: {saved}}}", arguments=("--output-dir", "first"))
        self.train(f"checkpoint: {{dir: {saved}}}", code=2)
        self.assertIn("--checkpoint.resume", self.summary()["cases"][0]["reason"])

    def test_each_case_and_repetition_keeps_its_own(self):
        saved = self.folder / "saved"
        self.train(f"checkpoint: {{dir: {saved}}}", "repetitions: 2", ranks="[1, 2]")
        folders = sorted(str(p.parent.relative_to(saved)) for p in saved.rglob("step_*"))
        self.assertEqual(folders, ["tiny_cnn-train-fp32-b4-r1-cpu", "tiny_cnn-train-fp32-b4-r1-cpu/repetition2", "tiny_cnn-train-fp32-b4-r2-cpu",
                                   "tiny_cnn-train-fp32-b4-r2-cpu/repetition2"])


class Stragglers(Training):
    def test_a_slow_rank_is_named_whichever_it_is(self):
        for slow in (0, 1):
            self.train(f"inject: 'slow=60ms:rank={slow}'", arguments=("--output-dir", f"slow{slow}"))
            training = self.summary(self.only_run(f"slow{slow}"))["cases"][0]["training"][0]
            late = [r["slowest_steps"] for r in training["ranks"]]
            self.assertGreater(late[slow], late[1 - slow], training["ranks"])
            self.assertGreater(training["straggler_index"], 1.1)
            self.assertGreater(training["straggler_wait_share"], training["communication_share"], training["costs"])


class Failures(Training):
    def reason(self):
        case = self.summary()["cases"][0]
        self.assertEqual(case["outcome"], "failed")
        return case["reason"]

    def test_a_loss_that_is_no_number_names_step_and_rank(self):
        self.train("inject: 'nan:rank=1,step=4'", code=5)
        self.assertIn("rank 1", self.reason())
        self.assertIn("step 5", self.reason())

    def test_a_killed_rank_is_named(self):
        self.train("inject: 'kill:rank=1,step=4'", code=5)
        self.assertIn("rank 1", self.reason())


class Data(Training):
    def test_a_data_set_smaller_than_one_step(self):
        result = self.train("data: {synthetic_samples: 7}", code=2)
        self.assertIn("7", result.err)


if __name__ == "__main__":
    main()
