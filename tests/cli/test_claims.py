# SPDX-License-Identifier: MIT
"""Claims of a run: pairs that ran in turns, runs that were killed, exit codes of what was asked, paths in what a report says."""

import html
import json
import os
import re
import signal
import time
import unittest

import paceline_cli as cli


def faster(than):
    """A size with its interval, or that there is none because processes waited for CPUs."""
    return rf"([\d.]+ times as fast as {than} \([\d.]+–[\d.]+\)|faster than {than}; by how much cannot be said on this machine now: )"


def closing_sentence(result):
    return " ".join(result.out.rstrip().split("\n\n")[-1].split())


class Claims(cli.CliTest):
    def test_a_case_that_was_measured_again_by_itself_has_no_pairs(self):
        """Its repetitions are not neighbours of the baseline's: no number, and the reason in every format."""
        plan = self.spin_plan("env: {SPIN_US: [100, 1000]}", "baseline: {env.SPIN_US: 1000}", "repetitions: 6", "experiment_name: pairs")
        self.assert_code(self.run_cli("run", plan, "-q"), 0)
        run = self.only_run()
        self.assertEqual(self.summary(run)["cases"][0]["speedup"]["pairs"], 6)
        time.sleep(1.1)  # times of starts are in seconds
        self.assert_code(self.run_cli("run", "--resume", run, "--only", "1", "-q", env={"SPIN_US": "10"}), 0)
        summary = self.summary(run)
        speedup = summary["cases"][0]["speedup"]
        self.assertEqual((speedup["pairs"], speedup["pairs_apart"], speedup["verdict"]), (0, 6, ""))
        self.assertIsNone(speedup["ratio"]["value"])
        self.assertEqual(len(summary["resumed_utc"]), 1)
        advice = " ".join(f["advice"] for f in summary["findings"] if f["id"] == "no_claim")
        command = re.search(r"paceline (run --resume \S+ --only 1-2)", advice)
        self.assertTrue(command, advice)
        for form in ("text", "markdown", "csv", "json"):
            text = " ".join(self.run_cli("report", "-s", run, "-f", form).out.split())
            self.assertIn("did not run as neighbours in time", text, form)
        page = (run / "report.html").read_text(encoding="utf-8")
        self.assertIn("No claim about its speed-up: 6 of 6 repetitions", page)
        self.assert_code(self.run_cli(*command.group(1).split(), "-q"), 0)
        again = self.summary(run)["cases"][0]["speedup"]
        self.assertEqual(again["pairs_apart"], 0)
        self.assertIn(again["pairs"], (6, 12))  # six more where processes waited for CPUs

    def test_two_cases_end_with_one_sentence(self):
        plan = self.spin_plan("env: {SPIN_US: [100, 1000]}", "baseline: {env.SPIN_US: 1000}", "repetitions: 6")
        result = self.run_cli("run", plan)
        self.assert_code(result, 0)
        self.assertRegex(closing_sentence(result), rf"^spin .*is {faster('spin .*')}")
        self.assertRegex(self.infer("-o", "one").out, r"takes [\d.]+ .?s an inference")


    def test_the_last_lines_name_the_fastest_of_several_cases(self):
        plan = self.spin_plan("env: {SPIN_US: [2000, 200, 1000]}", "baseline: {env.SPIN_US: 1000}", "repetitions: 6")
        result = self.run_cli("run", plan)
        self.assert_code(result, 0)
        self.assertRegex(closing_sentence(result), rf"^The fastest is spin fp32 env.SPIN_US=200: {faster('spin fp32 env.SPIN_US=1000')}")
        few = self.run_cli("run", self.spin_plan("env: {SPIN_US: [2000, 200, 1000]}", name="few.yaml"))
        self.assertRegex(closing_sentence(few), r"^Which of 3 cases is the fastest is not claimed: fewer than six .*--repetitions 6.*SPIN_US=200")


class NoisyMachine(cli.CliTest):
    """Every process of the run was disturbed, so that its times are of grade C; the ratio is claimed all the same."""

    def setUp(self):
        super().setUp()
        plan = self.spin_plan("env: {SPIN_US: [100, 1000]}", "baseline: {env.SPIN_US: 1000}", "repetitions: 6")
        plan.write_text(plan.read_text(encoding="utf-8").replace("allow_noisy: true\n", ""), encoding="utf-8")
        self.assert_code(self.run_cli("run", plan, "-q"), 0)
        time.sleep(1.1)  # times of starts are in seconds, and --resume divides pairs
        self.run_dir = self.only_run()
        for record in self.run_dir.glob("cases/*/passes/timed-*.jsonl"):
            lines = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
            for line in lines:
                if line["type"] == "repetition":
                    line["summary"]["noise"]["steal_frac"] = 0.5
            record.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
            cli.seal_record(record)
        self.result = self.run_cli("run", "--resume", self.run_dir, "--expect", "speedup@SPIN_US=100 > 2")
        self.stored = self.summary(self.run_dir)

    def test_the_ratio_is_claimed_beside_grade_c(self):
        speedup = self.stored["cases"][0]["speedup"]
        self.assertEqual([case["grade"] for case in self.stored["cases"]], ["C", "C"])
        self.assertEqual(speedup["verdict"], "faster")
        has_size = not speedup["no_size"]  # tests beside this one may take the CPUs
        self.assert_code(self.result, 0 if has_size else 3)  # a gate on a ratio is no question about the times
        self.assertEqual([gate["verdict"] for gate in self.stored["gates"]], ["met" if has_size else "cannot_say"])
        claim = r"[\d.]+ times as fast as spin fp32 env.SPIN_US=1000 \(" if has_size else r"faster than spin fp32 env.SPIN_US=1000;"
        self.assertRegex(closing_sentence(self.result), "^spin fp32 env.SPIN_US=100 is " + claim)
        self.assertNotIn("no claim", self.result.out)

    def test_measure_again_names_the_baseline_too(self):
        advice = " ".join(f["advice"] for f in self.stored["findings"] if f["id"] == "invalid_cases")
        self.assertIn("--only 1-2", advice)
        self.assert_code(self.run_cli("run", "--resume", self.run_dir, "--only", "1", "-q"), 3)  # its gate is open
        again = self.summary(self.run_dir)  # one of the two has no pairs now
        self.assertIn("--only 1-2", " ".join(f["advice"] for f in again["findings"] if f["id"] == "no_claim"))

    def test_the_headline_of_the_report_names_the_best_case(self):
        page = (self.run_dir / "report.html").read_text(encoding="utf-8")
        headline = re.search(r'<p class="verdict">([^<]*)', page).group(1)
        self.assertEqual(html.unescape(headline), self.stored["sentence"])
        self.assertTrue(headline.startswith("spin fp32 env.SPIN_US=100 is "), headline)
        self.assertIn("2 of grade C", page)


class HeavyLoad(cli.CliTest):
    """The processes of one side were in two modes: which side is faster can be said, and by how much cannot."""
    MODES = (3, 2.8, 1.2, 3.1, 2.9, 3)

    def setUp(self):
        super().setUp()
        plan = self.spin_plan("env: {SPIN_US: [1000, 1100]}", "baseline: {env.SPIN_US: 1000}", "repetitions: 6")
        self.assert_code(self.run_cli("run", plan, "-q"), 0)
        time.sleep(1.1)  # times of starts are in seconds, and --resume divides pairs
        run = self.only_run()
        slow = next(c for c in self.summary(run)["cases"] if "1100" in c["label"])
        for number, mode in enumerate(self.MODES):
            record = cli.case_dir(run, slow["case_id"]) / "passes" / f"timed-{number}.jsonl"
            lines = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
            for line in lines:
                if line["type"] == "samples":
                    line["host_ns"] = [int(time_ns * mode) for time_ns in line["host_ns"]]
            record.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
            cli.seal_record(record)
        self.result = self.run_cli("run", "--resume", run, "--expect", "speedup@SPIN_US=1100 > 0.01", "--expect", "speedup@SPIN_US=1100 < 0.1")
        self.stored = self.summary(run)
        self.run_dir = run

    def test_no_format_has_a_size_and_no_gate_is_decided(self):
        self.assert_code(self.result, 3)
        self.assertEqual([gate["verdict"] for gate in self.stored["gates"]], ["cannot_say"] * 2)
        speedup = next(c["speedup"] for c in self.stored["cases"] if "1100" in c["label"])
        self.assertEqual((speedup["verdict"], speedup["no_size"]), ("slower", "the times of the processes differ too much"))
        self.assertEqual([speedup["ratio"][end] for end in ("value", "ci_low", "ci_high")], [None] * 3)
        words = "by how much cannot be said on this machine now: the times of the processes differ too much"
        self.assertIn(f"spin fp32 env.SPIN_US=1000 is faster than spin fp32 env.SPIN_US=1100; {words}", closing_sentence(self.result))
        for form in ("text", "markdown", "html"):
            self.run_cli("report", "-s", self.run_dir, "-f", form, "--output", "report.out")
            text = " ".join((self.folder / "report.out").read_text(encoding="utf-8").split())
            self.assertNotRegex(text, r"times as fast|\dx of", form)
            self.assertIn(words, text, form)
        rows = cli.read_csv(self.run_dir / "summary.csv")
        row = next(row for row in rows if "1100" in row["case_id"])
        self.assertEqual((row["speedup"], row["speedup_ci_low"], row["speedup_reason"]), ("", "", "the times of the processes differ too much"))


class Unfinished(cli.CliTest):
    def test_a_killed_run_has_no_grades_and_says_that_it_is_unfinished(self):
        plan = self.spin_plan("env: {SPIN_US: 500000}", "batch_sizes: [1, 2]", "experiment_name: killed", iterations=400)
        process = self.start("run", plan, "-o", "my out")
        below = self.folder / "my out"
        seen = cli.wait_until(lambda: any(p.read_text().strip() for p in below.glob("*/*/run_summary.json")))
        self.assertTrue(seen, "no summary was written")
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        run = self.only_run("my out")
        for case in self.summary(run)["cases"]:
            self.assertEqual((case["outcome"], case["reason_code"], case["grade"]), ("skipped", "not_measured", None))
        self.assertEqual(self.summary(run)["outcome"], "unfinished")
        for form in ("text", "markdown", "html"):
            result = self.run_cli("report", "-s", run, "-f", form, "--output", "report.out")
            self.assert_code(result, 0)
            text = " ".join((self.folder / "report.out").read_text(encoding="utf-8").split())
            self.assertIn("This run is unfinished", text, form)
            self.assertIn("not measured", text, form)
            self.assertNotRegex(text, r"of grade A|worst grade|results/killed", form)
            self.assertIn("my out/killed/", text, form)
        rows = cli.csv.DictReader(cli.io.StringIO(self.run_cli("report", "-s", run, "-f", "csv").out))
        self.assertEqual([(row["grade"], row["run_outcome"]) for row in rows], [("-", "unfinished")] * len(self.summary(run)["cases"]))

    def test_a_run_that_was_killed(self):
        self.assert_code(self.infer("--batch", "1,2", "-q"), 0)
        run = self.only_run()
        summary = self.summary(run)
        summary["outcome"], summary["finished_utc"] = "unfinished", ""
        summary["cases"][1].update(repetitions=[], outcome="ok", complete=False)
        (run / "run_summary.json").write_text(json.dumps(summary), encoding="utf-8")
        one = summary["cases"][1]
        (cli.case_dir(run, one["case_id"]) / "result.json").write_text(json.dumps(one), encoding="utf-8")
        text = " ".join(self.run_cli("report", "-s", run, "-f", "text").out.split())
        self.assertIn("This run is unfinished", text)
        self.assertIn("not measured: ", text)

    def test_skipped_and_failed_cases_have_no_grade(self):
        self.assert_code(self.infer("-q", engine="fault", env={"SPIN_FAULT": "throw"}), 5)
        run = self.only_run()
        self.assertIsNone(self.summary(run)["cases"][0]["grade"])
        self.assertEqual(cli.read_csv(run / "summary.csv")[0]["grade"], "-")


class ExitCodes(cli.CliTest):
    def capped(self, *arguments):
        """The stop rule cannot be content with this."""
        return self.run_cli("infer", "--plugin", cli.SPIN, "--engine", "spin", "--model", "x.spin", "--shapes", "input:{batch}x4", *cli.QUICK,
                            "--stop.t_min_s", "0.05", "--stop.t_max_s", "0.1", "--stop.rel_halfwidth_p50", "1e-6", *arguments, env={"SPIN_US": "500"})

    def test_an_unconverged_case_is_a_finding_and_with_strict_exit_code_3(self):
        result = self.capped("-o", "a")
        self.assert_code(result, 0)
        self.assertIn("stopped before the interval was as narrow as asked", " ".join(result.out.split()))
        self.assert_code(self.capped("-o", "b", "--strict", "--junit", "j.xml"), 3)
        self.assertIn("<error", (self.folder / "j.xml").read_text(encoding="utf-8"))
        self.assert_code(self.capped("-o", "c", "--expect", "share_of_peak > 0.1"), 3)


class Paths(cli.CliTest):
    def test_reproduce_names_the_folder_of_the_run(self):
        self.assert_code(self.infer("-o", "else where", "-q"), 0)
        run = self.only_run("else where")
        page = (run / "report.html").read_text(encoding="utf-8")
        commands = re.findall(r"<code>(paceline (?:run|report) [^<]*)", page.replace("&#39;", "'"))
        named = [c for c in commands if "plan.yaml" in c or "--source" in c]
        self.assertEqual(len(named), 2, commands)
        for command in named:
            self.assertIn("'else where/", command)

    def test_a_run_without_its_samples_can_be_reported(self):
        self.assert_code(self.infer("--batch", "1,2", "-q"), 0)
        run = self.only_run()
        for file in run.rglob("samples.csv"):
            file.unlink()
        for form in ("text", "markdown", "csv", "json", "html"):
            self.assert_code(self.run_cli("report", "-s", run, "-f", form), 0)
        self.assertIn("2 cases with no samples.csv", (run / "report.html").read_text(encoding="utf-8"))


if __name__ == "__main__":
    cli.main()
