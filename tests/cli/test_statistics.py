# SPDX-License-Identifier: MIT
"""The whole way from a known distribution to reported intervals. usage: test_statistics.py [Coverage Comparison | CoverageOfTheStopRule]

The spin engine takes SPIN_US x uniform(0.8, 1.2), so its true median is SPIN_US. A busy machine only ever lengthens an
iteration; iterations much shorter than a scheduler's slice keep the share of lengthened ones, and so the shift, small.
"""

import statistics
import unittest

import paceline_cli as cli

SPIN_US = 100


class Covering(cli.CliTest):
    def intervals(self, cases, folder, *lines):
        """Reported intervals of the median in us, one fresh process each, and all their samples."""
        seeds = ", ".join(str(seed) for seed in range(1, cases + 1))
        plan = self.spin_plan(f"env: {{SPIN_US: {SPIN_US}, SPIN_SEED: [{seeds}]}}", f"output_dir: {folder}", "profile: shared", *lines, iterations=100)
        self.assert_code(self.run_cli("run", plan, "-q", timeout=600), 0)
        run = self.only_run(folder)
        measured = self.summary(run)["cases"]
        self.assertEqual(len(measured), cases)
        samples = [float(row["host_ns"]) * 1e-3 for case in measured for row in cli.read_csv(cli.case_dir(run, case["case_id"]) / "samples.csv")]
        estimates = [case["headline"]["p50_ns"] for case in measured]
        return [(e["ci_low"] * 1e-3, e["ci_high"] * 1e-3) for e in estimates], samples

    def covered(self, intervals, truth=SPIN_US):
        hits = sum(low <= truth <= high for low, high in intervals)
        width = statistics.median((high - low) / SPIN_US for low, high in intervals)
        print(f"{hits} of {len(intervals)} intervals hold {truth:.2f} us; their median width is {width:.1%} of it")
        self.assertGreater(width, 0.005)
        self.assertLess(width, 0.15, "intervals that wide say nothing")
        return hits


class Coverage(Covering):
    def test_true_median_is_inside(self):
        """At 95 % nominal, fewer than 16 of 20 has probability 0.0026; twice in a row is no accident."""
        if self.covered(self.intervals(20, "first")[0]) < 16:
            self.assertGreaterEqual(self.covered(self.intervals(20, "second")[0]), 16)


class CoverageOfTheStopRule(Covering):
    def test_true_median_is_inside(self):
        """Looking until the interval is narrow enough must not cost coverage: 100 cases, at least 90.

        The truth is the median of all samples together (about 30,000): lengthened iterations shift it by up to 1 %, as much as the
        standard error of one case. Their shift has a bound of its own.
        """
        lines = ["stop: {n_min: 30, t_min_s: 0.01, t_max_s: 5, rel_halfwidth_p50: 0.03}"]
        intervals, samples = self.intervals(100, "stop", *lines)
        truth = statistics.median(samples)
        self.assertGreaterEqual(truth, 0.99 * SPIN_US)
        self.assertLess(truth, 1.05 * SPIN_US)
        self.assertGreaterEqual(self.covered(intervals, truth), 90)

    def spin_plan(self, *lines, **options):
        path = super().spin_plan(*lines, **options)
        path.write_text(path.read_text(encoding="utf-8").replace("iterations: 100\n", "", 1), encoding="utf-8")
        return path


class Comparison(cli.CliTest):
    """A 10 % slowdown is seen, and the same engine twice is not taken for two. 1000.0 is 1000 under another name."""

    def compare(self, folder):
        plan = self.spin_plan("env: {SPIN_US: [1000, 1100, 1000.0]}", "baseline: {env.SPIN_US: 1000}", "repetitions: 6", f"output_dir: {folder}",
                              iterations=150)
        self.assert_code(self.run_cli("run", plan, "-q"), 0)
        summary = self.summary(self.only_run(folder))
        cases = {case["benchmark"]["params"]["env.SPIN_US"]: case for case in summary["cases"]}
        for case in cases.values():
            self.assertEqual((case["headline"]["scope"], len(case["repetitions"])), ("between_process", 6))
        return summary, cases

    def test_injected_slowdown_and_no_difference(self):
        attempts = []
        for attempt in range(3):  # a neighbour can widen an interval, not turn it round
            summary, cases = self.compare(f"attempt{attempt}")
            slow, same = cases["1100"]["speedup"], cases["1000.0"]["speedup"]
            for speedup in (slow, same):
                self.assertEqual((speedup["pairs"], speedup["scope"]), (6, "between_process"))
                self.assertEqual(speedup["baseline_case_id"], cases["1000"]["case_id"])
                self.assertLess(speedup["ratio"]["ci_low"], speedup["ratio"]["ci_high"])
            self.assertNotEqual(slow["verdict"], "faster")
            low, high = slow["ratio"]["ci_low"], slow["ratio"]["ci_high"]
            attempts.append(f"1.1: {low:.3f} to {high:.3f} {slow['verdict']!r}; same: {same['ratio']['ci_low']:.3f} to "
                            f"{same['ratio']['ci_high']:.3f} {same['verdict']!r}; grades {[c['grade'] for c in cases.values()]}")
            print(attempts[-1])
            seen = high < 1 and low <= 1 / 1.1 <= high
            none_invented = same["verdict"] not in ("faster", "slower") and same["ratio"]["ci_low"] <= 1 <= same["ratio"]["ci_high"]
            if seen and none_invented:
                return self.check_words(summary, cases)
        return self.fail("\n".join(attempts))

    def check_words(self, summary, cases):
        """The ratio is claimed by its own interval, whatever the grades."""
        self.assertEqual(cases["1100"]["speedup"]["verdict"], "slower")
        self.assertRegex(" ".join(finding["text"] for finding in summary["findings"]), r"\b(faster|slower)\b")


if __name__ == "__main__":
    cli.main()
