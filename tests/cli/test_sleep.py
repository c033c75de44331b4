# SPDX-License-Identifier: MIT
"""kind: sleep, the smallest kind of workload: its cases, samples, summary, report and resume, against a truth that is known."""

import signal
import time
import unittest

from paceline_cli import CliTest, read_csv, case_dir, read_json

PLAN = """\
kind: sleep
sleep_us: [2000, 5000]
repetitions: 3
iterations: 20
idle_wait_s: 0
"""
CASES = {"sleep-2000": 2.0, "sleep-5000": 5.0}
REPETITIONS, ITERATIONS = 3, 20


class Sleep(CliTest):
    def run_plan(self, text=PLAN, **options):
        return self.start("run", self.write("sleep.yaml", text), "--allow-noisy", **options)

    def test_its_figures_are_what_it_slept(self):
        result = self.finish(self.run_plan())
        self.assert_code(result, 0)
        run = self.only_run()
        summary = self.summary(run)
        self.assertEqual([c["case_id"] for c in summary["cases"]], list(CASES))
        for case, asked_ms in CASES.items():
            self.assert_samples_once(run, case, REPETITIONS, ITERATIONS)
            one = read_json(case_dir(run, case) / "result.json")
            self.assertEqual(one["benchmark"]["kind"], "sleep")
            self.assertEqual(one["benchmark"]["params"], {"sleep_us": case.split("-")[1]})
            self.assertEqual(one["throughput"]["item"], "sleeps")
            # A sleep never ends early, and no sample of it was made up.
            host_ns = [int(row["host_ns"]) for row in read_csv(case_dir(run, case) / "samples.csv")]
            self.assertGreaterEqual(min(host_ns), asked_ms * 1e6)
            self.assertIn(case.replace("-", " "), result.out)

    def test_every_report_has_it(self):
        self.assert_code(self.finish(self.run_plan()), 0)
        run = self.only_run()
        for form in ("html", "markdown", "csv", "json", "text"):
            with self.subTest(form=form):
                report = self.run_cli("report", run, "--format", form, "--output", self.folder / f"report.{form}")
                self.assert_code(report, 0)
                text = (self.folder / f"report.{form}").read_text(encoding="utf-8")
                for case in CASES:
                    self.assertIn(case if form == "csv" else case.replace("-", " "), text)

    def test_an_interrupted_run_goes_on(self):
        process = self.run_plan(PLAN.replace("iterations: 20", "iterations: 150"))
        deadline = time.monotonic() + 60
        while not list(self.folder.glob("results/*/*/cases/*/passes/timed-0.jsonl")) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        self.assert_code(self.finish(process), 130)
        run = self.only_run()
        kept = {file: file.read_bytes() for file in run.glob("cases/*/passes/*.jsonl")}
        self.assertTrue(kept)
        self.assert_code(self.run_cli("run", "--resume", run), 0)
        for file, records in kept.items():
            self.assertEqual(file.read_bytes(), records, "a finished repetition was slept again")
        for case in CASES:
            self.assert_samples_once(run, case, REPETITIONS, 150)

    def test_wrong_input_is_named(self):
        self.assert_error(self.finish(self.run_plan("kind: sleep\nsleep_us: 0\n")), 2, "sleep_us", "0")
        self.assert_error(self.finish(self.run_plan("kind: sleep\nsleep_us: 1000\nmodels: [resnet50]\n")), 2, "models", "sleep workload")


if __name__ == "__main__":
    unittest.main()
