# SPDX-License-Identifier: MIT
"""kill -9 of the coordinator at 50 random moments: the run directory stays readable, --resume finishes it."""

import os
import random
import shutil
import subprocess
import time
import unittest

import paceline_cli as cli

CASES, REPETITIONS, ITERATIONS, KILLS = 2, 3, 20, 50


class Kills(cli.CliTest):
    def setUp(self):
        super().setUp()
        self.plan = self.spin_plan("env: {SPIN_US: 200}", "batch_sizes: [1, 2]", f"repetitions: {REPETITIONS}", "output_dir: out", iterations=ITERATIONS)
        seed = int(os.environ.get("PACELINE_SEED", time.time_ns()))
        print(f"PACELINE_SEED={seed}")
        self.random = random.Random(seed)

    def run_folder(self):
        """The run directory, once it can be resumed."""
        found = [p.parent for p in (self.folder / "out").glob("*/*/plan.yaml")]
        return found[0] if found else None

    def command(self):
        run = self.run_folder()
        return ["run", "--resume", run] if run else ["run", self.plan]

    def timed_run(self):
        begin = time.monotonic()
        self.assert_code(self.run_cli("run", self.plan, "-q"), 0)
        self.check_complete()
        return time.monotonic() - begin

    def check_readable(self):
        """After a kill: valid JSON everywhere, and a report of what is there."""
        run = self.run_folder()
        if not run or not (run / "run_summary.json").exists():
            return 0
        for file in run.rglob("*.json"):
            cli.read_json(file)
        result = self.run_cli("report", "-s", run, "-f", "csv")
        self.assert_code(result, 0)
        return len(result.out.splitlines()) - 1

    def check_complete(self):
        run = self.run_folder()
        summary = self.summary(run)
        self.assertEqual((summary["outcome"], len(summary["cases"])), ("ok", CASES))
        for case in summary["cases"]:
            self.assertTrue(case["complete"])
            self.assertEqual([r["index"] for r in case["repetitions"]], list(range(REPETITIONS)))
            self.assertEqual(case["stats"]["n"], REPETITIONS * ITERATIONS)
            self.assert_samples_once(run, case["case_id"], REPETITIONS, ITERATIONS)
        left = [p.name for p in run.rglob("*") if ".part" in p.name or p.name == ".artefacts"]
        self.assertEqual(left, [], "leftovers of killed runs")
        shutil.rmtree(self.folder / "out")

    def test_fifty_random_moments(self):
        usual = self.timed_run()
        kills, kills_with_results, completed = 0, 0, 0
        while kills < KILLS:
            process = self.start(*self.command(), "-q")
            try:
                process.wait(timeout=self.random.uniform(0, usual * 0.5))
            except subprocess.TimeoutExpired:  # still running: that is what we wait for
                process.kill()
                process.wait()
                kills += 1
                self.assert_group_empty(process)
                kills_with_results += self.check_readable() > 0
            else:
                self.assertEqual(process.returncode, 0, process.stderr.read())
                self.check_complete()
                completed += 1
        self.assert_code(self.run_cli(*self.command(), "-q"), 0)
        self.check_complete()
        print(f"{kills} kills, {kills_with_results} with stored cases, {completed + 1} runs finished")
        self.assertGreater(kills_with_results, 5)


if __name__ == "__main__":
    cli.main()
