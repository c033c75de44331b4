# SPDX-License-Identifier: MIT
"""Files that a run leaves: layout, columns, digests, schema, and a plan that loads again."""

import hashlib
import json
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

import paceline_cli as cli

REPETITIONS, ITERATIONS = 2, 25
SAMPLE_COLUMNS = ["repetition", "rank", "index", "start_ns", "host_ns", "device_ns", "flags"]


class BusyMachine(cli.CliTest):
    def setUp(self):
        super().setUp()
        for _ in range(os.cpu_count()):
            spinner = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            self.addCleanup(spinner.wait)
            self.addCleanup(spinner.kill)

    def test_it_waits_no_longer_after_two_failed_waits(self):
        done = self.infer("--repetitions", "3", "--idle-wait-s", "2.2", iterations=5)
        self.assert_code(done, 0)
        said = [line for line in (done.out + done.err).splitlines() if "measuring anyway" in line]
        self.assertRegex(said[0], "after (2|3) s")
        self.assertRegex(said[-1], r"after (0\.[23]\d|1) s")  # a look, which the third repetition takes


class DeviceTime(cli.CliTest):
    """An engine with a clock of its own: inference number i took 5000 + i ns on it."""

    def test_every_sample_has_its_own(self):
        self.assert_code(self.infer("--repetitions", "2", iterations=ITERATIONS, env={"SPIN_DEVICE_NS": "5000"}), 0)
        rows = cli.read_csv(next(self.only_run().rglob("samples.csv")))
        warm_up = 2  # the first call, and one iteration
        for repetition in ("0", "1"):
            times = [int(row["device_ns"]) for row in rows if row["repetition"] == repetition]
            self.assertEqual(times, [5000 + warm_up + i for i in range(1, ITERATIONS + 1)])
        summary = cli.read_csv(self.only_run() / "summary.csv")[0]
        self.assertAlmostEqual(float(summary["device_p50_ms"]), (5000 + warm_up + (ITERATIONS + 1) / 2) * 1e-6, places=9)

    def test_an_engine_without_one_has_none(self):
        self.assert_code(self.infer("--repetitions", "1"), 0)
        self.assertEqual({row["device_ns"] for row in cli.read_csv(next(self.only_run().rglob("samples.csv")))}, {""})
        case = self.summary()["cases"][0]
        self.assertIsNone(case["device_p50_ns"]["value"])
        self.assertEqual(case["device_p50_ns"]["value_reason"], "the engine has no device clock")


class Results(cli.CliTest):
    """One run for all tests: two batch sizes, one engine that cannot, a variable as an axis."""

    @classmethod
    def setUpClass(cls):
        cls.maker = maker = cli.CliTest()
        maker.setUp()
        cls.addClassCleanup(maker.doCleanups)
        plan = maker.spin_plan("experiment_name: my-test", "batch_sizes: [1, 4]", f"repetitions: {REPETITIONS}", "env: {SPIN_US: [300, 600]}",
                               "baseline: {env.SPIN_US: 300}", iterations=ITERATIONS)
        maker.assert_code(maker.run_cli("run", plan), 0)

    def setUp(self):
        self.folder, self.env = self.maker.folder, self.maker.env
        self.run_dir = self.only_run()

    def test_layout(self):
        self.assertEqual(self.run_dir.parent.parent.name, "results")
        self.assertRegex(self.run_dir.name, r"^\d{8}T\d{6}Z-[0-9a-f]{4}$")
        for name in ("plan.yaml", "environment.json", "run_summary.json", "summary.csv", "report.html"):
            self.assertGreater((self.run_dir / name).stat().st_size, 100, name)
        cases = [case["case_id"] for case in self.summary(self.run_dir)["cases"]]
        self.assertEqual(len(cases), 4)
        self.assertEqual(sorted(cases), sorted(p.name for p in (self.run_dir / "cases").iterdir()))
        for case in cases:
            for name in ("result.json", "samples.csv", "log.txt"):
                self.assertTrue((self.run_dir / "cases" / case / name).is_file(), f"{case}/{name}")
        self.assertFalse([p for p in self.run_dir.rglob("*") if ".part" in p.name or p.name == ".artefacts"])

    def test_summary(self):
        summary = self.summary(self.run_dir)
        self.assertEqual((summary["experiment_name"], summary["run_id"]), ("my-test", self.run_dir.name))
        self.assertEqual((summary["outcome"], summary["exit_code"]), ("ok", 0))
        for time in (summary["started_utc"], summary["finished_utc"]):
            self.assertRegex(time, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertLessEqual(summary["started_utc"], summary["finished_utc"])
        self.assertIn("paceline run", summary["command_line"])
        self.assertIsInstance(summary["findings"], list)
        for case in summary["cases"]:
            stored = cli.read_json(self.run_dir / "cases" / case["case_id"] / "result.json")
            stored["samples"].pop("sha256")
            case["samples"].pop("sha256")
            self.assertEqual(stored, case)

    def test_schema_version_everywhere(self):
        for file in [self.run_dir / "run_summary.json", *self.run_dir.glob("cases/*/result.json"), self.run_dir / "environment.json"]:
            self.assertRegex(cli.read_json(file)["schema_version"], r"^\d+\.\d+$", file)

    def test_json_follows_its_schema(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("python3-jsonschema is not here")
        schema = json.loads(self.run_cli("schema", "result").out)
        jsonschema.validate(self.summary(self.run_dir), schema)

    def test_samples(self):
        for case in self.summary(self.run_dir)["cases"]:
            file = self.run_dir / "cases" / case["case_id"] / "samples.csv"
            rows = cli.read_csv(file)
            self.assertEqual(list(rows[0]), SAMPLE_COLUMNS)
            self.assertEqual(case["samples"]["columns"], SAMPLE_COLUMNS)
            self.assert_samples_once(self.run_dir, case["case_id"], REPETITIONS, ITERATIONS)
            stored = cli.read_json(file.parent / "result.json")
            self.assertEqual(stored["samples"]["sha256"], hashlib.sha256(file.read_bytes()).hexdigest())
            self.assertEqual(stored["samples"]["file"], "samples.csv")
            spin_ns = int(case["benchmark"]["params"]["env.SPIN_US"]) * 1000
            for row in rows:
                self.assertGreaterEqual(int(row["host_ns"]), 0.8 * spin_ns)
            starts = [int(row["start_ns"]) for row in rows if row["repetition"] == "0"]
            self.assertEqual(starts, sorted(starts))

    def test_statistics_follow_from_the_samples(self):
        for case in self.summary(self.run_dir)["cases"]:
            values = sorted(int(row["host_ns"]) for row in cli.read_csv(self.run_dir / "cases" / case["case_id"] / "samples.csv"))
            n, stats = len(values), case["stats"]
            self.assertEqual((stats["n"], stats["min_ns"], stats["max_ns"]), (n, values[0], values[-1]))
            self.assertEqual(stats["median_ns"], (values[n // 2 - 1] + values[n // 2]) / 2)
            self.assertAlmostEqual(stats["mean_ns"], sum(values) / n, delta=1)
            self.assertEqual(case["throughput"]["item"], "items")

    def test_missing_is_null_with_a_reason(self):
        case = self.summary(self.run_dir)["cases"][0]
        p99 = next(q for q in case["stats"]["quantiles"] if q["p"] == 0.99)
        self.assertIsNone(p99["ci_high_ns"])
        self.assertNotEqual(p99["ci_high_ns_reason"], "")
        self.assertIsNone(case["flops"]["achieved_flops_per_s"])

        def reasons(node, path=""):
            if isinstance(node, dict):
                for key, value in node.items():
                    if value is None:
                        self.assertTrue(node.get(key + "_reason"), f"{path}.{key} is null without a reason")
                    reasons(value, f"{path}.{key}")
            elif isinstance(node, list):
                for i, value in enumerate(node):
                    reasons(value, f"{path}[{i}]")
        reasons({key: value for key, value in case.items() if key != "config_effective"})

    def test_summary_csv(self):
        rows = cli.read_csv(self.run_dir / "summary.csv")
        metrics = re.findall(r"(?m)^\| \[`(\w+)`\]", self.run_cli("schema", "metrics").out)
        self.assertGreater(len(metrics), 20)
        for metric in metrics:
            for column in (metric, metric + "_ci_low", metric + "_ci_high"):
                self.assertIn(column, rows[0])
        self.assertEqual(len(rows), 4)
        for row, case in zip(rows, self.summary(self.run_dir)["cases"]):
            self.assertEqual((row["run_id"], row["case_id"], row["outcome"]), (self.run_dir.name, case["case_id"], "ok"))
            self.assertAlmostEqual(float(row["p50_ms"]), case["headline"]["p50_ns"]["value"] * 1e-6, places=6)
            self.assertEqual(int(row["samples"]), REPETITIONS * ITERATIONS)
            self.assertEqual(row["share_of_peak"], "")

    def test_speedups_are_within_process_and_make_no_claim(self):
        for case in self.summary(self.run_dir)["cases"]:
            speedup = case["speedup"]
            if case["benchmark"]["params"]["env.SPIN_US"] == "300":
                self.assertEqual(speedup["baseline_case_id"] in ("", case["case_id"]), True)
            else:
                self.assertEqual((speedup["pairs"], speedup["scope"], speedup["verdict"]), (REPETITIONS, "within_process", ""))
                self.assertIn("300", speedup["baseline_case_id"])
        for finding in self.summary(self.run_dir)["findings"]:
            self.assertNotRegex(finding["text"], r"\b(faster|slower)\b")

    def test_effective_plan_loads_to_the_same_cases(self):
        first = self.run_cli("run", "plan.yaml", "--dry-run")
        again = self.run_cli("run", self.run_dir / "plan.yaml", "--dry-run")
        self.assert_code(again, 0)
        self.assertEqual(again.out, first.out)
        self.assertIn("4 cases", again.out)

    def test_every_default_is_written_out(self):
        text = (self.run_dir / "plan.yaml").read_text(encoding="utf-8")
        for line in ("confidence: 0.95", "timeout_s: 600", "input_seed: 1", "weights_seed: 0", "mode: fixed", "rel_halfwidth_p50: 0.01", "pin: false",
                     "layouts: [contiguous]", "threads: [0]", "in_process: false"):
            self.assertRegex(text, rf"(?m)^\s*{re.escape(line)}$")
        effective = self.summary(self.run_dir)["cases"][0]["config_effective"]
        self.assertEqual((effective["confidence"], effective["timeout_s"], effective["iterations"]), (0.95, 600, ITERATIONS))

    def test_environment(self):
        environment = cli.read_json(self.run_dir / "environment.json")
        self.assertGreater(len(environment["cpu"]), 2)
        self.assertEqual(len(environment["binary_sha256"]), 64)
        self.assertEqual(environment["binary_sha256"], hashlib.sha256(Path(cli.BINARY).read_bytes()).hexdigest())

    def test_effective_settings_are_read_back(self):
        for case in self.summary(self.run_dir)["cases"]:
            self.assertEqual(case["effective_settings"]["threads"], str(case["benchmark"]["threads"]))
            self.assertEqual(case["effective_settings"]["version.spin"], "1")
            self.assertEqual(case["precision"]["executed"][0]["precision"], "fp32")

    def test_dry_run_leaves_nothing(self):
        before = sorted(p.name for p in (self.folder / "results").rglob("*"))
        self.run_cli("run", "plan.yaml", "--dry-run")
        self.assertEqual(before, sorted(p.name for p in (self.folder / "results").rglob("*")))


if __name__ == "__main__":
    cli.main()
