# SPDX-License-Identifier: MIT
"""The command tune train on the spin trainer, whose step takes SPIN_STEP_US whatever the batch: arms, refusals, the closing command, interruption."""

import json
import re
import shlex
import signal
import time

from paceline_cli import SPIN, CliTest, main, read_json
from test_cpu_power import Counters

QUIET = ["--device", "cpu", "--idle-wait-s", "0", "--allow-noisy"]
SHORT = ["--steps", "20", "--warmup-steps", "1", "--threads", "1"]
PRECISIONS = ["--axes", "precision", "--batch", "4"]
SLOW = {"SPIN_BF16_US": "20000"}


class TunedTraining(CliTest):
    def tune(self, *arguments, code=0, model="tiny_cnn", **options):
        result = self.run_cli("tune", "train", "--plugin", SPIN, "--model", model, *QUIET, *SHORT, *arguments, **options)
        self.assert_code(result, code)
        return result

    def found(self, *arguments, **options):
        return json.loads(self.tune(*arguments, "--json", **options).out)

    def arm(self, found, part):
        arms = [arm for arm in found["arms"] if part in arm["label"].split()]
        self.assertEqual(len(arms), 1, found["arms"])
        return arms[0]


class Searches(TunedTraining):
    def test_the_large_batch_has_the_throughput_and_its_command_trains_so(self):
        result = self.tune("--axes", "batch", "--batch", "4,64", "--seed", "7", "--format", "text")
        run = self.only_run()
        found = read_json(run / "tune.json")
        self.assertEqual((found["kind"], found["found"], found["metric"]), ("training", "best", "throughput_per_s"))
        self.assertEqual(found["arm"], "tiny_cnn-train-fp32-b64-r1-cpu")
        self.assertRegex(found["sentence"], r"^Take tiny_cnn train fp32 b64 r1 cpu: throughput [\d.]+ items/s \(.*\); the other arm costs at least [\d.]+ times as much "
                                            r"\(95 % over all arms and looks\)\. The figure says nothing about convergence, which batch 64 \(default 32\) may change\.$")
        self.assertEqual([f["id"] for f in found["findings"]], ["tuned_convergence"])
        self.assertEqual(self.arm(found, "b4")["fate"], "dropped")
        self.assertIn("<svg", (run / "tune.html").read_text(encoding="utf-8"))
        self.assertFalse((run / "serve.py").exists())
        self.assertTrue(found["command"].startswith("paceline train --model tiny_cnn --threads 1"), found["command"])
        self.assertIn(found["command"], result.on_one_line)
        again = self.run_cli(*shlex.split(found["command"])[1:], "-o", "again")
        self.assert_code(again, 0)
        case, = self.summary(self.only_run("again"))["cases"]
        self.assertEqual((case["case_id"], case["benchmark"]["threads"]), (found["arm"], 1))
        taken = next(c for c in self.summary(run)["cases"] if c["case_id"] == found["arm"])
        self.assertEqual(case["benchmark"], taken["benchmark"])
        planned = self.run_cli("run", run / "best.yaml", "--trust", "-o", "planned", "--json")
        self.assert_code(planned, 0)
        cases = self.summary(self.only_run("planned"))["cases"]
        self.assertEqual([(c["case_id"], len(c["repetitions"])) for c in cases], [(found["arm"], 6)])

    def test_processes_of_a_round_alternate(self):
        result = self.tune("--axes", "batch", "--batch", "4,5,6", "--objective", "latency")
        passes = re.findall(r"b([456]) r1 cpu · rep (\d+)", result.out)
        self.assertEqual([repetition for _, repetition in passes[:9]], ["1"] * 3 + ["2"] * 3 + ["3"] * 3)
        self.assertEqual([batch for batch, _ in passes[:3]], [batch for batch, _ in passes[3:6]][::-1])

    def test_the_time_of_a_step_as_objective_and_limit(self):
        found = self.found(*PRECISIONS, "--objective", "latency", "--slo", "p50<=10ms", env=SLOW)
        self.assertEqual((found["metric"], found["found"]), ("p50_ms", "best"))
        self.assertIn("fp32 b4 r1 cpu: median step time", found["sentence"])
        self.assertNotIn("convergence", found["sentence"])
        self.assertIn("misses p50<=10ms", self.arm(found, "bf16")["reason"])

    def test_a_chosen_precision_is_another_training(self):
        found = self.found(*PRECISIONS, env={"SPIN_STEP_US": "20000", "SPIN_BF16_US": "1000"})
        self.assertTrue(found["sentence"].endswith("The figure says nothing about convergence, which precision bf16 (default fp32) may change."), found["sentence"])
        self.assertIn("--precision bf16", found["command"])

    def test_memory_needs_a_figure_of_the_process(self):
        found = self.found("--axes", "batch", "--batch", "4,512", "--objective", "memory")
        self.assertEqual((found["metric"], found["arm"]), ("memory_mb", "tiny_cnn-train-fp32-b4-r1-cpu"))

    def test_axes_follow_from_the_job(self):
        found = self.found("--ranks", "2", "--budget", "1ms", "--data.synthetic_fresh", code=5)
        self.assertTrue(found["cut_short"])
        words = {word for arm in found["arms"] for word in arm["label"].split()}
        self.assertLessEqual({"b8", "b32", "fp32", "bf16", "channels_last", "bucket5", "bucket25", "bucket100", "w1", "w2", "w4", "r2"}, words)
        self.assertEqual(len(found["arms"]), 2 * 2 * 2 * 3 * 3)


class Energy(TunedTraining, Counters):
    def test_the_arm_with_the_least_energy_per_sample(self):
        self.machine()
        found = self.found(*PRECISIONS, "--objective", "energy", "--steps", "60", env={"SPIN_STEP_US": "5000", "SPIN_BF16_US": "50000"})
        self.assertEqual((found["metric"], found["found"], found["arm"]), ("cpu_energy_per_item_j", "best", "tiny_cnn-train-fp32-b4-r1-cpu"))
        self.assertGreater(self.arm(found, "bf16")["ratio_low"], 2)


class WhatCostsOneArm(TunedTraining):
    def test_a_crash(self):
        found = self.found("--axes", "batch", "--batch", "4", "--ranks", "1,2", "--inject", "kill:rank=1,step=5")
        failed = self.arm(found, "r2")
        self.assertEqual((failed["fate"], found["arm"]), ("failed", "tiny_cnn-train-fp32-b4-r1-cpu"))
        self.assertIn("rank 1", failed["reason"])

    def test_a_hang(self):
        found = self.found(*PRECISIONS, "--timeout-s", "15", env={"SPIN_BF16_US": "60000000"})
        failed = self.arm(found, "bf16")
        self.assertEqual(failed["fate"], "failed")
        self.assertIn("timeout_s = 15 s", failed["reason"])
        self.assertEqual(self.arm(found, "fp32")["fate"], "racing")

    def test_more_memory_than_there_is(self):
        found = self.found("--axes", "batch", "--batch", "1,1000000", "--data.synthetic_samples", "1000000", model="vit_b_16")
        failed = self.arm(found, "b1000000")
        self.assertEqual(failed["fate"], "failed")
        self.assertIn("of memory", failed["reason"])
        self.assertEqual(self.arm(found, "b1")["fate"], "racing")


class BadInput(TunedTraining):
    def refused(self, *words, code=2, says=(), model="tiny_cnn", env=None):
        result = self.run_cli("tune", "train", "--plugin", SPIN, "--model", model, *QUIET, *words, env=env)
        self.assert_code(result, code)
        for word in says:
            self.assertIn(word, " ".join(result.err.split()))
        self.assert_nothing_ran()

    def test_spaces(self):
        many = ",".join(str(n) for n in range(1, 1001))
        self.refused("--axes", "batch", "--batch", "4", says=["nothing to choose", "tiny_cnn train fp32 b4 r1 cpu", "paceline train"])
        self.refused("--axes", "batch", "--batch", many, "--threads", many, says=["1000000 arms", "200 at most"])
        self.refused("--axes", "engine", says=["no such axis", "batch, threads, precision, layout, workers, bucket"])
        self.refused("--axes", "bucket", says=["one rank exchanges no gradients", "--ranks 2"])
        self.refused("--axes", "workers", says=["synthetic data are one batch", "--data.source"])
        self.refused("--axes", "colour", says=["workers, bucket"])
        self.refused("plan.yaml", says=["plan.yaml", "not a plan"])
        self.refused(model="resnet50,gpt2", says=["about one model"])

    def test_objectives_and_limits(self):
        self.refused("--objective", "energy", code=77, says=["--objective energy cannot be measured here", "RAPL"])
        self.refused("--objective", "p99", says=["--objective p99", "throughput, latency, memory, energy"])
        self.refused("--min-accuracy", "top1>=-1%", says=["--min-accuracy top1>=-1%", "say nothing about a trained model"])
        self.refused("--slo", "p99<=fast", says=["--slo p99<=fast", "'p99<=20ms'"])
        self.refused("--epochs", "3", says=["--epochs", "leave it out"])

    def test_a_launcher_would_search_once_per_rank(self):
        env = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29555"}
        self.refused("--axes", "batch", "--batch", "4,8", env=env, says=["tune starts its ranks itself", "without a launcher"])

    def test_other_kinds(self):
        self.assert_error(self.run_cli("tune", "comm", "--ranks", "2"), 2, "tune comm", "infer or train")


class GoingOn(TunedTraining):
    def go_on(self, run, *arguments, words=("tune",), code=0):
        result = self.run_cli(*words, "--resume", run, "--trust", "--json", *arguments, env=SLOW)
        self.assert_code(result, code)
        return result

    def test_an_interruption_keeps_what_is_known(self):
        process = self.start("tune", "train", "--plugin", SPIN, "--model", "tiny_cnn", *QUIET, *SHORT, *PRECISIONS, env=SLOW)
        deadline = time.monotonic() + 60
        while not sorted(self.folder.glob("results/tune/*/cases/*/passes/timed*")) and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertTrue(sorted(self.folder.glob("results/tune/*/cases/*/passes/timed*")), "no look ended within 60 s")
        process.send_signal(signal.SIGINT)
        self.assert_code(self.finish(process), 130)
        run = self.only_run()
        before = read_json(run / "tune.json")
        self.assertTrue(before["interrupted"])
        self.assertTrue(any(arm["rounds"] > 0 for arm in before["arms"]), before)
        self.assert_error(self.run_cli("tune", "infer", "--resume", run), 2, "that is a search of train")
        found = json.loads(self.go_on(run).out)
        self.assertEqual((found["kind"], found["objective"], found["found"]), ("training", "throughput", "best"))
        self.assertEqual(found["arm"], "tiny_cnn-train-fp32-b4-r1-cpu")
        repeated = json.loads(self.go_on(run, "--budget", "1ms", words=("tune", "train")).out)
        self.assertEqual(repeated["arms"], found["arms"])


if __name__ == "__main__":
    main()
