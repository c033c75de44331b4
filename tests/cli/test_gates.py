# SPDX-License-Identifier: MIT
"""Gates, grades, exit codes, JUnit, --json and -q, on a stored run whose records are rewritten so that figures are known."""

import json
import random
import re
import shlex
import signal
import unittest
import xml.etree.ElementTree as xml

import paceline_cli as cli

N = 400


class Stored(cli.CliTest):
    """A run of two cases (batch 1 and 2) whose samples are about 1 ms and 2 ms, on a machine without noise."""

    @classmethod
    def setUpClass(cls):
        cls.maker = maker = cli.CliTest()
        maker.setUp()
        cls.addClassCleanup(maker.doCleanups)
        plan = maker.spin_plan("batch_sizes: [1, 2]", "env: {SPIN_US: 10}", iterations=N)
        maker.assert_code(maker.run_cli("run", plan), 0)

    def setUp(self):
        super().setUp()
        cli.shutil.copytree(self.maker.folder / "results", self.folder / "results")
        self.run_dir = self.only_run()
        for batch in (1, 2):
            self.rewrite(batch, batch * 1_000_000)

    def rewrite(self, batch, middle_ns, **noise):
        """Samples uniform within 1 % of `middle_ns`; every noise figure 0 but those given."""
        record = next(self.run_dir.glob(f"cases/*b{batch}*/passes/timed-0.jsonl"))
        lines = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
        rng = random.Random(batch)
        for line in lines:
            if line["type"] == "samples":
                line["host_ns"] = [round(middle_ns * rng.uniform(0.99, 1.01)) for _ in line["host_ns"]]
                line["flags"] = [0] * N
            if line["type"] == "repetition":
                summary = line["summary"]
                zero = {key: 0.0 for key, value in summary["noise"].items() if isinstance(value, float)}
                summary["noise"].update({**zero, "cgroup_throttled": 0, **noise})
                summary["overhead"].update(os_noise_frac=0.0, calibration_drift=0.0, overhead_fraction=0.0)
                summary.update(residual_warmup=False, foreign_cpu_frac=noise.get("foreign_cpu_frac", 0.0))
        record.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        cli.seal_record(record)

    def resume(self, *arguments):
        return self.run_cli("run", "--resume", self.run_dir, *arguments)

    def gates(self, *expressions, arguments=()):
        return self.resume(*[word for e in expressions for word in ("--expect", e)], *arguments)

    def verdicts(self):
        return [gate["verdict"] for gate in self.summary(self.run_dir)["gates"]]

    def interval(self, batch):
        estimate = cli.case_of(self.summary(self.run_dir), batch_per_rank=batch)["headline"]["p50_ns"]
        return [estimate[key] * 1e-6 for key in ("ci_low", "value", "ci_high")]


class Baselines(Stored):
    """Gates that name a stored run, here a copy of the run under another id."""

    def setUp(self):
        super().setUp()
        self.assert_code(self.resume(), 0)
        self.old = self.folder / "old"
        cli.shutil.copytree(self.run_dir, self.old)
        summary = self.old / "run_summary.json"
        text = summary.read_text(encoding="utf-8")
        summary.write_text(text.replace(json.loads(text)["run_id"], "20260101T000000Z-old"), encoding="utf-8")

    def test_times_measured_apart_cannot_be_decided(self):
        result = self.gates(f"p50_ms@b1 <= baseline:{self.old} + 3%")
        self.assert_code(result, 3)
        self.assertEqual(self.verdicts(), ["cannot_say"])
        self.assertIn("INCONCLUSIVE; a side has one process", self.summary(self.run_dir)["gates"][0]["detail"])

    def test_another_machine_is_exit_code_4(self):
        file = self.old / "run_summary.json"
        old = json.loads(file.read_text(encoding="utf-8"))
        old["environment"]["cpu"]["model"] = "another CPU"
        file.write_text(json.dumps(old), encoding="utf-8")
        self.assert_code(self.gates(f"p50_ms@b1 <= baseline:{self.old}"), 4)
        self.assertIn("CPU model", self.summary(self.run_dir)["gates"][0]["invalid"])

    def test_a_name_of_no_run_ends_before_anything_runs(self):
        result = self.gates("p50_ms@b1 <= baseline:nobody")
        self.assert_code(result, 2)
        self.assertIn("nobody", result.err)
        self.assertEqual(self.summary(self.run_dir)["gates"], [])


class Gates(Stored):
    def test_met(self):
        self.assert_code(self.gates("p50_ms@b1 <= 1.02", "p50_ms@b2 > 1.9", "samples >= 400"), 0)
        self.assertEqual(self.verdicts(), ["met"] * 4)

    def test_missed(self):
        result = self.gates("p50_ms < 1.5")
        self.assert_code(result, 1)
        self.assertEqual(self.verdicts(), ["met", "missed"])
        self.assertIn("missed", result.out)
        self.assertEqual(self.summary(self.run_dir)["exit_code"], 1)

    def test_cannot_say(self):
        self.assert_code(self.resume(), 0)
        low, _, high = self.interval(1)
        self.assertLess(low, high)
        bound = (low + high) / 2
        self.assert_code(self.gates(f"p50_ms@b1 < {bound:.9f}"), 3)
        self.assertEqual(self.verdicts(), ["cannot_say"])
        self.assert_code(self.gates(f"p50_ms@b1 < {high * 1.0001:.9f}"), 0)
        self.assert_code(self.gates(f"p50_ms@b1 < {low * 0.9999:.9f}"), 1)

    def test_missing_figure_cannot_say(self):
        self.assert_code(self.gates("share_of_peak > 0.1"), 3)
        self.assertEqual(self.verdicts(), ["cannot_say"] * 2)

    def test_missed_wins_over_cannot_say(self):
        self.assert_code(self.gates("share_of_peak > 0.1", "p50_ms < 0.1"), 1)

    def test_failed_workload_wins_over_a_missed_gate(self):
        plan = self.spin_plan("env: {SPIN_FAULT: segv}", "output_dir: other", "expect: ['p50_ms@spin < 0.0001']", engines="[fault, spin]")
        self.assert_code(self.run_cli("run", plan), 5)

    def test_mistakes_cost_nothing(self):
        for gate, words in (("p50 < 3", ["unknown metric 'p50'", "'p50_ms'"]), ("p50_ms", ["<="]), ("p50_ms < fast", ["'fast'"]),
                            ("p50_ms@resnet < 3", ["no case matches 'resnet'"]), ("< 3", ["METRIC"]), ("p50_ms@ < 3", ["METRIC"])):
            self.assert_error(self.infer("--expect", gate, "-o", "out"), 2, gate, *words)
            self.assert_nothing_ran("out")
        both = self.infer("--expect", "p50 < 3", "--expect", "p50_ms", "-o", "out")
        self.assert_error(both, 2, "gate 'p50 < 3'", "paceline: gate 'p50_ms'", lines=2)

    def test_mistakes_of_a_plan_have_its_line(self):
        plan = self.spin_plan("expect: ['p50_ms > 0', 'p50 < 3',", "         'p50_ms@resnet < 3']")
        result = self.run_cli("run", plan, "-o", "out")
        self.assert_error(result, 2, "plan.yaml:11:24: gate 'p50 < 3'", "plan.yaml:12:10: gate 'p50_ms@resnet < 3'", lines=2)
        self.assert_nothing_ran("out")

    def test_junit(self):
        self.assert_code(self.gates("p50_ms@b1 < 1.5", "p50_ms@b2 < 1.5", arguments=["--junit", "j.xml"]), 1)
        root = xml.parse(self.folder / "j.xml").getroot()
        suites = [root] if root.tag == "testsuite" else list(root)
        self.assertEqual(sum(int(s.get("tests")) for s in suites), len(root.findall(".//testcase")))
        self.assertEqual(sum(int(s.get("failures")) for s in suites), len(root.findall(".//failure")))
        self.assertEqual(len(root.findall(".//failure")), 1)
        self.assertIn("p50_ms@b2 < 1.5", xml.tostring(root, encoding="unicode").replace("&lt;", "<"))

    def test_junit_of_an_earlier_run_does_not_stay(self):
        earlier = "<?xml version=\"1.0\"?>\n<testsuites name=\"x\"><testsuite tests=\"1\" failures=\"0\" errors=\"0\"/></testsuites>\n"
        for arguments in (["infer", "--no-such-flag", "--junit", "j.xml"], ["run", "absent.yaml", "--junit=j.xml"]):
            self.write("j.xml", earlier)
            self.assert_code(self.run_cli(*arguments), 2)
            tree = xml.parse(self.folder / "j.xml")
            self.assertEqual([s.get("errors") for s in tree.iter("testsuite")], ["1"])
            self.assertIn("exit code 2", next(tree.iter("error")).get("message"))
        for name, content in (("j.xml", earlier), ("net.xml", "<?xml version=\"1.0\"?>\n<net name=\"x\"/>\n")):
            self.write(name, content)
            self.run_cli("infer", *(["--help"] if name == "j.xml" else ["--no-such-flag"]), "--junit", name)
            self.assertEqual((self.folder / name).read_text(encoding="utf-8"), content)

    def test_junit_of_a_failed_case(self):
        plan = self.spin_plan("env: {SPIN_FAULT: throw}", "output_dir: other", engines="[fault]")
        self.assert_code(self.run_cli("run", plan, "--junit", "j.xml"), 5)
        root = xml.parse(self.folder / "j.xml").getroot()
        self.assertEqual(len(root.findall(".//failure")) + len(root.findall(".//error")), 1)
        self.assertIn("out of coffee", xml.tostring(root, encoding="unicode"))


class Grades(Stored):
    def grades(self):
        return [case["grade"] for case in self.summary(self.run_dir)["cases"]]

    def test_quiet_machine(self):
        self.assert_code(self.resume("--no-allow-noisy"), 0)
        self.assertEqual(self.grades(), ["A", "A"], [case["grade_reasons"] for case in self.summary(self.run_dir)["cases"]])

    def test_grade_b_is_no_error(self):
        self.rewrite(1, 1_000_000, steal_frac=0.01)
        self.assert_code(self.resume("--no-allow-noisy"), 0)
        self.assertEqual(self.grades(), ["B", "A"])

    def test_grade_c(self):
        self.rewrite(2, 2_000_000, steal_frac=0.5)
        self.assert_code(self.resume("--no-allow-noisy", "--junit", "j.xml"), 0)
        self.assertEqual(self.grades(), ["A", "C"])
        self.assertIn("hypervisor", " ".join(self.summary(self.run_dir)["cases"][1]["grade_reasons"]))
        self.assertNotIn("grade C", (self.folder / "j.xml").read_text(encoding="utf-8"))

    def test_grade_c_counts_where_somebody_asked(self):
        """--strict, or a gate on a time of that very case: exit code 4, and a failure in JUnit."""
        self.rewrite(2, 2_000_000, steal_frac=0.5)
        for asked, code, allowed in ((["--expect", "p50_ms@b2 < 9"], 4, 0), (["--expect", "p50_ms@b1 < 9"], 0, 0), (["--expect", "memory_mb@b2 < 99999"], 0, 0),
                                     (["--expect", "share_of_peak@b2 < 9"], 4, 3), (["--expect", "p50_ms@b1 < 9", "--strict"], 4, 3)):
            with self.subTest(asked):
                self.assert_code(self.resume("--no-allow-noisy", "--junit", "j.xml", *asked), code)
                junit = (self.folder / "j.xml").read_text(encoding="utf-8")
                self.assertEqual("grade C: " in junit, code == 4, junit)
                self.assertEqual(self.summary(self.run_dir)["exit_code"], code)
                self.assert_code(self.resume("--allow-noisy", *asked), allowed)  # 3: no figure, or what --strict asks

    def test_advice_to_measure_again_is_a_command_that_works(self):
        (self.folder / "a b").mkdir()
        self.run_dir = self.run_dir.rename(self.folder / "a b" / "run")
        self.rewrite(2, 2_000_000, steal_frac=0.5)
        self.resume("--allow-noisy")
        texts = " ".join(finding["text"] + " " + finding["advice"] for finding in self.summary(self.run_dir)["findings"])
        command = re.search(r"paceline (run --resume '[^']*' --only \d+)", texts)
        self.assertTrue(command, texts)
        self.assert_code(self.run_cli(*shlex.split(command.group(1)), "-q"), 0)
        self.assertTrue(list(self.run_dir.glob("cases/*b2*/passes.1")))

    def test_grade_c_wins_over_a_missed_gate(self):
        self.rewrite(2, 2_000_000, steal_frac=0.5)
        refused = self.gates("p50_ms < 0.1", arguments=["--no-allow-noisy"])
        self.assert_code(refused, 4)
        self.assertIn("--allow-noisy accepts that", " ".join((refused.out + refused.err).split()))
        self.assert_code(self.gates("p50_ms < 0.1", arguments=["--allow-noisy"]), 1)


class Advice(Stored):
    """Each command that a finding or a report advises is accepted, and does what it is advised for."""

    def follow(self, run):
        """Runs every command of the findings and of the report, and returns them."""
        texts = " ".join(f"{finding['text']} {finding['advice']}" for finding in self.summary(run)["findings"])
        texts += " " + " ".join(self.run_cli("report", "-s", run, "-f", "text").out.split())
        commands = re.findall(r"paceline (run --resume (?:'[^']*'|\S+)(?: --only [\d,-]+)?(?: --repetitions \d+)?)", texts)
        self.assertTrue(commands, texts)
        self.assertEqual(len(commands), texts.count("paceline run"), texts)
        for command in sorted(set(commands)):
            with self.subTest(command):
                self.assert_code(self.run_cli(*shlex.split(command), "--dry-run"), 0)
                self.assert_code(self.run_cli(*shlex.split(command), "-q"), 0)
        return commands

    def test_after_noise(self):
        for batch, steal in ((1, 0.01), (2, 0.5)):
            self.rewrite(batch, batch * 1_000_000, steal_frac=steal)
        self.resume("--allow-noisy")
        self.assertEqual({command.split(" --")[-1] for command in self.follow(self.run_dir)}, {"only 1", "only 2"})
        for batch in (1, 2):
            self.assertTrue(list(self.run_dir.glob(f"cases/*b{batch}*/passes.1")))

    def test_after_faults(self):
        for fault in ("throw", "segv", "exit", "badshape"):
            with self.subTest(fault):
                folder = f"after {fault}"
                self.assertIn(self.infer("--batch", "2,3", "-o", folder, engine="fault", env={"SPIN_FAULT": fault}).code, (2, 5))
                run = self.only_run(folder)
                self.assertEqual([case["outcome"] for case in self.summary(run)["cases"]], ["failed"] * 2)
                self.follow(run)
                self.assertEqual([case["outcome"] for case in self.summary(run)["cases"]], ["ok"] * 2)

    def test_after_an_interval_that_is_too_wide(self):
        result = self.run_cli("infer", "--plugin", cli.SPIN, "--engine", "spin", "--model", "x.spin", "--shapes", "input:{batch}x4", *cli.QUICK,
                              "--stop.t_min_s", "0.05", "--stop.t_max_s", "0.1", "--stop.rel_halfwidth_p50", "1e-6", "-o", "wide")
        self.assert_code(result, 0)
        run = self.only_run("wide")
        self.assertTrue([command for command in self.follow(run) if command.endswith("--repetitions 6")])
        self.assertEqual(len(self.summary(run)["cases"][0]["repetitions"]), 6)

    def test_after_an_end_by_a_signal(self):
        for end in (signal.SIGKILL, signal.SIGINT):
            with self.subTest(end):
                process = self.start("run", self.spin_plan("batch_sizes: [1, 2]"), "-o", f"ended by {end}", env={"SPIN_US": "500000"})
                below = self.folder / f"ended by {end}"
                self.assertTrue(cli.wait_until(lambda found=below: any(p.read_text() for p in found.glob("*/*/run_summary.json"))))
                process.send_signal(end)
                self.finish(process)
                run = self.only_run(below.name)
                self.assertIn(self.summary(run)["outcome"], ("unfinished", "interrupted"))
                self.follow(run)
                self.assertEqual([case["outcome"] for case in self.summary(run)["cases"]], ["ok"] * 2)


class Streams(Stored):
    def test_json_is_all_there_is_on_stdout(self):
        result = self.resume("--json")
        self.assert_code(result, 0)
        self.assertEqual(json.loads(result.out, parse_constant=cli.refuse_constant), self.summary(self.run_dir))
        self.assertIn("p50 ms", result.err)

    def test_json_with_a_case_that_fails(self):
        result = self.infer("--json", "-o", "out", engine="fault", env={"SPIN_FAULT": "throw"})
        self.assert_code(result, 5)
        self.assertEqual(json.loads(result.out)["cases"][0]["outcome"], "failed")

    def test_quiet(self):
        loud, quiet = self.infer("-o", "a"), self.infer("-o", "b", "-q")
        self.assertEqual(quiet.err, "")
        self.assertIn("machine  ", loud.out)
        self.assertNotIn("machine  ", quiet.out)
        self.assertNotIn("rep 1", quiet.out)
        self.assertIn("p50 ms", quiet.out)

    def test_plain_text_has_no_escapes(self):
        self.assertNotIn("\x1b", self.resume().out)

    def test_table_holds_the_figures(self):
        text = self.resume().out
        _, value, _ = self.interval(2)
        self.assertRegex(text, rf"(?m)^b2 .*{re.escape(f'{value:.2f}')}")
        self.assertIn(str(self.run_dir / "report.html"), text)


class InProcess(cli.CliTest):
    def test_single_case(self):
        self.assert_code(self.infer("--in-process"), 0)
        case = self.summary()["cases"][0]
        self.assertEqual((case["outcome"], case["stats"]["n"]), ("ok", 20))

    def test_the_heap_record_is_that_of_the_timed_process(self):
        plan = self.spin_plan("env: {MALLOC_ARENA_MAX: 1}")
        for flags, words in (([], "as MALLOC_ARENA_MAX says"), (["--in-process"], "keeps freed memory; MALLOC_ARENA_MAX was set too late to have an effect")):
            self.assert_code(self.run_cli("run", plan, *flags, "-o", f"out{len(flags)}"), 0)
            case = self.summary(self.only_run(f"out{len(flags)}"))["cases"][0]
            self.assertEqual(case["effective_settings"]["heap"], words)

    def test_several_cases_are_refused(self):
        self.assert_error(self.infer("--in-process", "--batch", "1,2"), 2, "--in-process", "2 cases")
        self.assert_error(self.infer("--in-process", "-r", "3"), 2, "--in-process", "repetitions")
        self.assert_nothing_ran()


if __name__ == "__main__":
    cli.main()
