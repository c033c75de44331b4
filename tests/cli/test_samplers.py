# SPDX-License-Identifier: MIT
"""Samplers of plug-ins beside the timed samples: the tick plug-in, which no file of the tool names, and its one option."""

import json
import os
import unittest

import paceline_cli as cli
from paceline_cli import case_dir, read_csv, read_json

TICK = os.environ.get("PACELINE_TICK", "")
SPINS = """\
kind: inference
models: [x.spin]
engines: [spin]
shapes: "input:{batch}x4"
env: {SPIN_US: 5000}
repetitions: 2
iterations: 20
warmup_iterations: 1
measure_peak: false
idle_wait_s: 0
"""
SPIN = ["--plugin", cli.SPIN, "--plugin", TICK, "--sampler", "tick"]


class TickTest(cli.CliTest):
    def run_spins(self, *lines, env=None):
        plan = self.write("spins.yaml", "\n".join([SPINS, f"plugin: [{json.dumps(cli.SPIN)}, {json.dumps(TICK)}]", *lines]) + "\n")
        return self.run_cli("run", plan, "--allow-noisy", env=env)

    def sampled(self):
        """Returns the only case's figures of the sampler, and the rows of its file by metric."""
        run = self.only_run()
        case = self.summary(run)["cases"][0]
        folder = case_dir(run, case["case_id"])
        self.assertEqual(read_json(folder / "result.json")["sampled"], case["sampled"])
        (sampled,) = case["sampled"]
        rows = read_csv(folder / "sampled.csv")
        return sampled, {name: [r for r in rows if r["metric"] == name] for name in ("ticks", "parity")}


class Figures(TickTest):
    def test_they_are_on_the_terminal_on_the_page_in_csv_and_in_json(self):
        done = self.run_spins("sampler: [tick]", "tick: {every_ms: 10}")
        self.assert_code(done, 0)
        sampled, rows = self.sampled()
        self.assertEqual((sampled["sampler"], sampled["windows"], sampled["problems"]), ("tick", 2, []))
        ticks, parity = sampled["metrics"]
        self.assertEqual((ticks["device"], ticks["metric"], ticks["unit"]), ("cpu", "ticks", "1"))
        # One reading at each end of a window, and one per period at most.
        self.assertGreaterEqual(sampled["readings"], 2 * 3)
        self.assertEqual(sampled["readings"], ticks["n"])
        values = [float(r["value"]) for r in rows["ticks"]]
        self.assertEqual(len(values), ticks["n"])
        self.assertEqual((ticks["min"], ticks["max"]), (1, max(values)))
        self.assertAlmostEqual(ticks["mean"], sum(values) / len(values), places=6)
        self.assertEqual(sorted(c["words"] for c in parity["words"]), ["even", "odd"])
        self.assertEqual(sum(c["n"] for c in parity["words"]), len(rows["parity"]))
        self.assertIsNone(parity["mean"])
        samples = read_csv(case_dir(self.only_run(), self.summary()["cases"][0]["case_id"]) / "samples.csv")
        for repetition in ("0", "1"):
            timed_s = sum(int(r["host_ns"]) for r in samples if r["repetition"] == repetition) / 1e9
            times = [float(r["time_s"]) for r in rows["ticks"] if r["repetition"] == repetition]
            self.assertEqual(times, sorted(times))
            self.assertLess(times[0], 0.005)
            self.assertGreater(timed_s, 0.8 * 20 * 0.005)
            self.assertGreaterEqual(times[-1], timed_s)
            self.assertLessEqual(len(times), times[-1] / 0.010 + 2)
            self.assertEqual([float(r["value"]) for r in rows["ticks"] if r["repetition"] == repetition], list(range(1, len(times) + 1)))
        self.assertGreater(sampled["cpu_share"], 0)
        self.assertLess(sampled["cpu_share"], 0.5)
        self.assertIn("beside the timed samples of x.spin", done.out)
        self.assertRegex(done.out, r"tick +cpu +ticks +1 ")
        self.assertRegex(done.out, r"tick: read \d+ times in 2 windows, [\d.]+ % of a core")
        page = (self.only_run() / "report.html").read_text(encoding="utf-8")
        self.assertIn("Beside the timed samples", page)
        self.assertIn("<td>ticks</td>", page)
        for form, words in {"text": "ticks", "markdown": "| ticks |", "json": '"ticks"'}.items():
            self.assertIn(words, self.run_cli("report", self.only_run(), "--format", form).out)

    def test_there_are_none_by_default(self):
        done = self.run_spins()
        self.assert_code(done, 0)
        run = self.only_run()
        self.assertEqual(self.summary(run)["cases"][0]["sampled"], [])
        self.assertNotIn("tick.every_ms", self.summary(run)["cases"][0]["config_effective"])
        self.assertEqual(list(run.rglob("sampled.csv")), [])
        self.assertNotIn("beside the timed samples", done.out)

    def test_a_resumed_run_has_them_still(self):
        self.assert_code(self.run_spins("sampler: [tick]"), 0)
        before = self.sampled()
        self.assert_code(self.run_cli("run", "--resume", self.only_run()), 0)
        self.assertEqual(self.sampled(), before)

    def test_inference_has_them_beside_its_engine(self):
        done = self.infer("--plugin", TICK, "--sampler", "tick", "--tick.every_ms", 2)
        self.assert_code(done, 0)
        sampled, _ = self.sampled()
        self.assertEqual(sampled["metrics"][0]["device"], "cpu")
        case = self.summary()["cases"][0]
        self.assertEqual(case["config_effective"]["tick.every_ms"], 2)
        self.assertNotIn("tick.every_ms", case["benchmark"]["params"])
        self.assertNotIn("tick", case["case_id"])

    def test_a_server_has_them_over_its_whole_run(self):
        done = self.infer("--plugin", TICK, "--sampler", "tick", "--scenario", "closed_loop", "--concurrency", 2)
        self.assert_code(done, 0)
        self.assertGreater(self.sampled()[0]["readings"], 2)

    def test_of_ranks_that_train_the_first_one_of_the_host_samples(self):
        done = self.run_cli("train", *SPIN, "--model", "tiny_cnn", "--ranks", 2, "--batch", 4, "--steps", 10, "--idle-wait-s", 0, "--allow-noisy")
        self.assert_code(done, 0)
        sampled, rows = self.sampled()
        self.assertEqual({m["rank"] for m in sampled["metrics"]}, {0})
        self.assertEqual({r["rank"] for r in rows["ticks"]}, {"0"})
        self.assertGreaterEqual(sampled["readings"], 2)

    def test_and_of_ranks_that_time_collectives(self):
        done = self.run_cli("comm", *SPIN, "--ranks", 2, "-b", 8, "-e", 64, "--idle-wait-s", 0, "--allow-noisy")
        self.assert_code(done, 0)
        self.assertGreaterEqual(self.sampled()[0]["readings"], 2)


class Problems(TickTest):
    def expect_problem(self, fault, readings, words):
        done = self.run_spins("sampler: [tick]", env={"TICK_FAULT": fault})
        self.assert_code(done, 0)
        case = self.summary()["cases"][0]
        self.assertEqual((case["outcome"], len(case["repetitions"])), ("ok", 2))
        (sampled,) = case["sampled"]
        self.assertEqual((sampled["readings"], sampled["problems"]), (readings, [words]))
        self.assertEqual(done.out.count(words), 1, done.out)
        self.assertIn(words, (self.only_run() / "report.html").read_text(encoding="utf-8"))

    def test_where_there_is_nothing_to_watch_the_case_is_measured(self):
        self.expect_problem("open", 0, "there is nothing that ticks here")

    def test_one_that_fails_on_the_way_keeps_what_it_read(self):
        self.expect_problem("read", 4, "the clock has stopped (after 2 readings)")

    def test_one_that_throws_no_exception_type(self):
        self.expect_problem("alien", 0, "an exception without a message")

    def test_another_abi_is_refused(self):
        done = self.run_spins("sampler: [tick]", env={"TICK_ABI": "14"})
        self.assert_error(done, 2, "has ABI 14, this paceline has", "build it again")
        self.assert_nothing_ran()

    def test_a_plug_in_that_is_not_there_is_refused(self):
        self.assert_error(self.run_cli("infer", "--plugin", "gone.so", "--model", "tiny_cnn", "--sampler", "tick"), 2, "plug-in 'gone.so' does not exist")

    def test_a_name_that_no_plug_in_brings_is_refused(self):
        done = self.run_spins("sampler: [tock]")
        self.assert_error(done, 2, "sampler 'tock' is none of", "tick")
        self.assert_nothing_ran()


class Options(TickTest):
    def test_a_wrong_value_names_the_key(self):
        self.assert_error(self.run_spins("sampler: [tick]", "tick: {every_ms: 0}"), 2, "spins.yaml:", "tick.every_ms '0' is out of range")
        self.assert_error(self.run_spins("sampler: [tick]", "tick: {evry_ms: 5}"), 2, "did you mean 'tick.every_ms'?")
        self.assert_error(self.infer("--plugin", TICK, "--tick.every_ms", "often"), 2, "--tick.every_ms often", "whole number")
        self.assert_nothing_ran()

    def test_without_the_sampler_it_has_no_effect(self):
        done = self.infer("--plugin", TICK, "--tick.every_ms", 7)
        self.assert_code(done, 0)
        self.assertIn("tick.every_ms (for sampler tick)", done.out + done.err)

    def test_help_and_schema_list_it_with_its_plug_in(self):
        for command in ("infer", "train", "comm"):
            helped = self.run_cli(command, "--plugin", TICK, "--help").out
            self.assertIn("--tick.every_ms", helped)
            self.assertRegex(" ".join(helped.split()), r"--sampler.*\((\w+, )*tick")
        self.assertIn("| `tick.every_ms` |", self.run_cli("schema", "options", "--plugin", TICK).out)
        schema = json.loads(self.run_cli("schema", "plan", "--plugin", TICK).out)
        self.assertIn("every_ms", json.dumps(schema))
        self.assertNotIn("every_ms", self.run_cli("schema", "plan").out)


if __name__ == "__main__":
    unittest.main()
