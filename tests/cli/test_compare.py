# SPDX-License-Identifier: MIT
"""The command compare: stored runs, two commands, and what it refuses. No test here depends on how fast this machine is."""

import csv
import json
import re
import shutil
import signal
import sys
import time
from pathlib import Path

from known_traces import write_traces
from paceline_cli import BINARY, QUICK, SPIN, CliTest, main, read_json

DATA = Path(__file__).resolve().parent / "data"
FORMATS = {"text": "case", "html": "<svg", "markdown": "## Cases", "json": '"verdict"', "junit": "<testsuite"}

# The last part of the results' folder is the number of the pair, from 001 on.
SWEEPING = """#!{python}
import json, pathlib, shutil, sys
results = pathlib.Path(sys.argv[sys.argv.index("--output-dir") + 1])
run = results / "run"
shutil.copytree("{source}", run)
summary = json.loads((run / "run_summary.json").read_text())
summary["run_id"] = str(results)
(run / "run_summary.json").write_text(json.dumps(summary))
head, *rows = (run / "collective_times.csv").read_text().split()
lines = [head]
for row in rows:
    *words, ns = row.split(",")
    lines.append(",".join([*words, str(round(int(ns) * (1 + 0.004 * int(results.name)) * {factors}.get(words[1], 1)))]))
(run / "collective_times.csv").write_text("\\n".join(lines) + "\\n")
"""


class Runs(CliTest):
    minute = 0

    def stored(self, name, change=None, source=DATA / "run", turns=None):
        """A copy of a stored run under another id, begun minutes after the one before; with `turns` its processes begin at that second of each
        minute, so that those of two copies alternate. `change` edits its summary."""
        self.minute += 20
        folder = self.folder / name
        shutil.copytree(source, folder)
        summary = read_json(folder / "run_summary.json")
        summary["run_id"] = name
        for case in summary["cases"]:
            case["run_id"] = name
            for i, repetition in enumerate(case["repetitions"]):
                repetition["started_utc"] = f"2026-01-02T03:{self.minute:02}:{i:02}Z" if turns is None else f"2026-01-02T03:{i:02}:{turns:02}Z"
        if change:
            change(summary)
        (folder / "run_summary.json").write_text(json.dumps(summary), encoding="utf-8")
        return folder

    def slower(self, factor):
        def change(summary):
            for case in summary["cases"]:
                for key in ("headline",):
                    for field in ("value", "ci_low", "ci_high"):
                        if case[key]["p50_ns"].get(field) is not None:
                            case[key]["p50_ns"][field] *= factor
                for repetition in case["repetitions"]:
                    repetition["p50_ns"] *= factor
                    repetition["mean_ns"] *= factor
        return change

    def compare(self, *arguments, code):
        """`code`: the exit code, or several that are right."""
        result = self.run_cli("compare", *arguments)
        self.assertIn(result.code, code if isinstance(code, tuple) else (code,), str(result))
        return result

    def answer(self, *arguments, code):
        return json.loads(self.compare(*arguments, "--json", code=code).out)

    def refused(self, *arguments, words):
        result = self.compare(*arguments, code=2)
        for word in words:
            self.assertIn(word, " ".join(result.err.split()))
        return result


class Stored(Runs):
    def test_runs_apart_are_suspected_at_most(self):
        found = self.answer(self.stored("a"), self.stored("b", self.slower(1.5)), code=3)
        self.assertEqual(found["pairing"], "apart")
        for case in found["cases"]:
            for figure in case["figures"]:
                self.assertEqual(figure["verdict"], "INCONCLUSIVE", figure)
        headline = found["cases"][0]["figures"][0]
        self.assertEqual((headline["metric"], headline["shows"]), ("p50_ms", "REGRESSION"))
        self.assertAlmostEqual(headline["estimate_ratio"], 1.5, 2)
        self.assertIn("suspected", headline["doubt"])

    def test_runs_in_turns_get_a_verdict(self):
        def spin(factor):
            def change(summary):
                summary["cases"] = summary["cases"][:1]
                self.slower(factor)(summary)
            return change
        a = self.stored("a", spin(1), turns=10)
        found = self.answer(a, self.stored("b", spin(1.5), turns=20), code=1)
        headline = found["cases"][0]["figures"][0]
        self.assertEqual((headline["verdict"], headline["pairs"]), ("REGRESSION", 6))
        self.assertEqual(found["verdict"], "REGRESSION")
        result = self.compare(a, self.stored("c", spin(0.5), turns=20), code=0)
        self.assertIn("IMPROVEMENT", result.on_one_line)
        self.assertIn("EQUIVALENT", self.compare(a, self.stored("d", spin(1), turns=20), code=0).on_one_line)

    def test_what_failed_and_what_was_skipped_is_said(self):
        shown = self.compare(self.stored("a"), self.stored("b"), code=3).on_one_line
        self.assertIn("no result in A", shown)

    def test_a_case_that_fails_now_is_exit_five(self):
        def fail(summary):
            summary["cases"][0].update(outcome="failed", reason="killed by signal 11", repetitions=[])
        result = self.compare(self.stored("a"), self.stored("b", fail), code=5)
        self.assertIn("failed in B: killed by signal 11", result.on_one_line)

    def test_every_form(self):
        sides = self.stored("a"), self.stored("b", self.slower(1.5))
        for form, sign in FORMATS.items():
            file = self.folder / f"answer.{form}"
            self.compare(*sides, "--format", form, "-o", file, code=3)
            self.assertIn(sign, file.read_text(encoding="utf-8"), form)
        page = self.folder / "page.html"
        self.compare(*sides, "-o", page, code=3)
        self.assertIn("slower", page.read_text(encoding="utf-8"))
        quiet = self.compare(*sides, "--quiet", code=3)
        self.assertNotIn("Other figures", quiet.out)

    def test_other_machine_is_exit_four_unless_allowed(self):
        def move(summary):
            summary["environment"]["cpu"]["model"] = "Another CPU"
        a, b = self.stored("a"), self.stored("b", move)
        result = self.compare(a, b, code=4)
        self.assertIn("No verdict about the code: the sides differ in CPU model.", result.on_one_line)
        self.assertLess(result.out.find("Another CPU"), result.out.find("Cases"))
        self.assertIn("Another CPU", self.compare(a, b, "--allow-env-diff", code=3).out)

    def test_a_folder_of_runs_is_its_newest(self):
        for name in ("20260101T000000Z-aaaa", "20260102T000000Z-bbbb"):
            self.stored("results/x/" + name)
        other = self.stored("c")
        result = self.compare(self.folder / "results", other / "run_summary.json", code=3)
        self.assertIn("20260102T000000Z-bbbb", result.err)

    def test_names_that_differ_are_matched(self):
        def rename(summary):
            summary["cases"] = summary["cases"][:3]
            for case in summary["cases"]:
                case["benchmark"]["engine"] = case["benchmark"]["engine"].replace("spin", "turbo")
                case["label"] = case["label"].replace(" spin ", " turbo ")
        def three(summary):
            summary["cases"] = summary["cases"][:3]
        a, b = self.stored("a", three), self.stored("b", rename)
        without = self.answer(a, b, code=3)
        self.assertEqual(len(without["cases"]), 1)
        self.assertEqual(len(without["unmatched"]), 4)
        matched = self.answer(a, b, "--match", "spin=turbo", code=3)
        self.assertEqual([c["differs"] for c in matched["cases"]], ["spin → turbo", "spin → turbo", ""])
        self.refused(a, b, "--match", "x=y", words=["--match x=y", "spin"])

    def test_collectives_are_compared_by_size(self):
        source = DATA / "0.1.0/comm"
        found = self.answer(self.stored("a", source=source), self.stored("b", source=source), code=3)
        names = [f["metric"] for f in found["cases"][0]["figures"] if f["decides"]]
        self.assertEqual(names, ["busbw_gb_per_s.8", "busbw_gb_per_s.512"])
        self.assertIn("one process", found["cases"][0]["figures"][0]["doubt"])

    def sweep(self, name, factors):
        """A stored sweep of six processes whose operations take as many times as long as those of the one process that was stored."""
        def change(summary):
            (first,) = summary["cases"][0]["repetitions"]
            summary["cases"][0]["repetitions"] = [{**first, "index": i} for i in range(6)]
        folder = self.stored(name, change, source=DATA / "0.1.0/comm")
        head, *rows = (folder / "collective_times.csv").read_text(encoding="utf-8").split()
        lines = [head]
        for process in range(6):
            for row in rows:
                _, size, *words, ns = row.split(",")
                lines.append(",".join([str(process), size, *words, str(round(int(ns) * (1 + 0.004 * process) * factors.get(size, 1)))]))
        (folder / "collective_times.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return folder

    def test_the_size_that_makes_a_sweep_slower_is_named(self):
        found = self.answer(self.sweep("a", {}), self.sweep("b", {"512": 1.6}), code=3)
        why = found["cases"][0]["why"]
        self.assertEqual(why["no_claim"], "")
        self.assertRegex(why["rows"][0]["what"], "of 512 B$")
        self.assertAlmostEqual(sum(row["difference_ns"] for row in why["rows"]), why["difference_ns"], delta=1e-3 * why["difference_ns"])
        self.assertIn("of 512 B", self.compare(self.folder / "a", self.folder / "b", code=3).on_one_line)

    def test_training_has_its_parts(self):
        source = DATA / "0.1.0/train"
        found = self.answer(self.stored("a", source=source), self.stored("b", source=source), code=3)
        names = {f["metric"] for f in found["cases"][0]["figures"]}
        self.assertLessEqual({"p50_ms", "throughput_per_s", "forward_ms", "backward_ms"}, names)


class Refused(Runs):
    def test_too_few_runs(self):
        self.refused(words=["needs two runs"])
        self.refused(self.stored("a"), words=["needs two runs", "one is given"])

    def test_no_run(self):
        (self.folder / "empty").mkdir()
        self.refused(self.stored("a"), "empty", words=["empty", "no run"])
        self.refused(self.folder / "a", "nowhere", words=["nowhere (B)", "no such file or folder"])
        self.write("broken/run_summary.json", "{")
        self.refused(self.folder / "a", "broken", words=["broken"])

    def test_the_same_run_twice(self):
        a = self.stored("a")
        self.refused(a, a / "run_summary.json", words=["A and B are the same run, a"])

    def test_other_schema(self):
        def newer(summary):
            summary["schema_version"] = "9.0"
        self.refused(self.stored("a"), self.stored("b", newer), words=["9.0"])

    def test_other_kind(self):
        self.refused(self.stored("a"), self.stored("b", source=DATA / "0.1.0/comm"), words=["inference", "collective"])

    def test_nothing_in_common(self):
        def rename(summary):
            for case in summary["cases"]:
                case["benchmark"]["model"] = "other"
        self.refused(self.stored("a"), self.stored("b", rename), words=["no case in common", "--match OLD=NEW"])

    def test_values_of_options(self):
        sides = self.stored("a"), self.stored("b")
        self.refused(*sides, "--threshold", "5", words=["--threshold 5", "did you mean 5%?"])
        self.refused(*sides, "--threshold", "wide", words=["--threshold wide"])
        self.refused(*sides, "--match", "spin", words=["--match spin", "OLD=NEW"])
        self.refused(*sides, "--prepare", "true", words=["--prepare belongs to --command"])
        self.refused("--command", "true", "true", "--allow-env-diff", words=["--allow-env-diff is about stored runs"])


class Profiles(Runs):
    def traces(self, name, **options):
        write_traces(self.folder / name, lambda rank, step: self.own[name], **options)
        return self.folder / name

    own = {"a": 100, "b": 150, "few": 100}

    def test_traces_are_compared_by_steps_and_operators(self):
        found = self.answer(self.traces("a"), self.traces("b"), code=3)
        figures = {f["metric"]: f for f in found["cases"][0]["figures"]}
        self.assertEqual(figures["step_ms"]["shows"], "REGRESSION")
        self.assertEqual(figures["step_ms"]["verdict"], "INCONCLUSIVE")
        self.assertGreater(figures["step_ms"]["estimate_ratio"], 1.1)
        self.assertTrue(any(name.startswith("operator.") for name in figures), figures.keys())
        self.assertIn("suspected", self.compare(self.folder / "a", self.folder / "b", code=3).on_one_line)
        why = found["cases"][0]["why"]
        self.assertEqual((why["no_claim"], why["unit"]), ("", "step"))
        self.assertGreater(why["explained_share"], 0.8)

    def test_few_steps_are_no_claim(self):
        found = self.answer(self.traces("a"), self.traces("few", steps=5), code=3)
        step = found["cases"][0]["figures"][0]
        self.assertEqual(step["shows"], "INCONCLUSIVE")
        self.assertIn("a claim needs 6", step["doubt"])

    def test_kernels_of_nsight_compute(self):
        rows = (DATA / "ncu_raw_h200.csv").read_text(encoding="utf-8")
        self.write("one.csv", rows)
        self.write("two.csv", rows)
        found = self.answer("one.csv", "two.csv", code=3)
        figures = found["cases"][0]["figures"]
        self.assertEqual(figures[0]["metric"], "kernels_ms")
        self.assertEqual(figures[0]["estimate_ratio"], 1)
        self.assertTrue(figures[1]["metric"].startswith("kernel."))
        self.assertIn("fewer than 6 calls", found["cases"][0]["why"]["no_claim"])

    def test_sides_of_two_kinds(self):
        traces = self.traces("a")
        self.write("one.csv", "")
        self.refused(traces, self.stored("run"), words=["is a trace of PyTorch", "is a run", "of one kind"])
        self.refused("one.csv", self.folder / "run", words=["is a file of Nsight Compute"])
        self.refused(traces, traces, words=["are the same"])
        self.refused(traces, self.traces("b"), "--match", "a=b", words=["--match is about stored runs"])


class Live(Runs):
    """Sides that are measured here, on the spin plug-in. Loads of this machine may leave a comparison open (3), or move its control (4)."""
    OPEN = (3, 4)

    def words(self, *more):
        return ["infer", "--plugin", SPIN, "--engine", "spin", "--model", "x.spin", "--shapes", "input:{batch}x4", *QUICK, "--threads", "1", "--stop.n_min", "5",
                "--stop.t_min_s", "0.15", "--stop.t_max_s", "0.15", *more]

    def measured(self):
        found = list((self.folder / "results" / "compare").iterdir())
        self.assertEqual(len(found), 1, found)
        return found[0]

    def test_equal_sides_work_in_turns(self):
        answer = self.answer(*self.words("--same"), code=(0, *self.OPEN))
        self.assertEqual(answer["pairing"], "in_turns")
        self.assertIn("control", answer)
        folder = self.measured()
        for name in ("compare.html", "compare.json", "run_summary.json", "plan.yaml"):
            self.assertTrue((folder / name).is_file(), name)
        cases = read_json(folder / "run_summary.json")["cases"]
        self.assertEqual([case["case_id"][:2] for case in cases], ["a-", "b-"])
        for case in cases:
            self.assertIn(len(case["repetitions"]), (6, 12))
            for repetition in case["repetitions"]:
                self.assertIs(repetition["in_turns"], True)
                self.assertGreater(repetition["control_ns"], 0)
        for index in range(6):
            self.assert_alternating(*(self.starts(folder, case["case_id"], index) for case in cases))

    def starts(self, folder, case_id, index):
        with (folder / "cases" / case_id / "samples.csv").open(encoding="utf-8") as table:
            return [int(row["start_ns"]) for row in csv.DictReader(table) if int(row["repetition"]) == index]

    def assert_alternating(self, mine, theirs):
        """Both have samples between samples of the other: at least two turns each."""
        self.assertTrue(any(min(theirs) < start < max(theirs) for start in mine), "A worked before or after B")
        self.assertTrue(any(min(mine) < start < max(mine) for start in theirs), "B worked before or after A")

    def test_a_side_with_more_work_is_slower(self):
        answer = self.answer(*self.words("--a-env", "SPIN_US=1000", "--b-env", "SPIN_US=1500"), code=(1, *self.OPEN))
        figure = answer["cases"][0]["figures"][0]
        self.assertNotIn(figure["verdict"], ("IMPROVEMENT", "EQUIVALENT"))
        if figure["estimate_ratio"]:
            self.assertGreater(figure["estimate_ratio"], 1.2)
        if "why" in answer["cases"][0]:
            for case in read_json(self.measured() / "run_summary.json")["cases"]:  # 30 ms for each of seven profiles
                self.assertEqual(case["layer_profile"]["inferences"], int(210e6 / case["headline"]["p50_ns"]["value"]))
        self.assertIn("--a-env", self.compare("--help", code=0).out)

    def test_a_typed_number_of_profiled_inferences_stays(self):
        answer = self.answer(*self.words("--a-env", "SPIN_US=1000", "--b-env", "SPIN_US=1500", "--layer-profile-inferences", "7"), code=(1, *self.OPEN))
        if "why" in answer["cases"][0]:
            self.assertEqual([case["layer_profile"]["inferences"] for case in read_json(self.measured() / "run_summary.json")["cases"]], [7, 7])

    def test_words_of_a_side_may_begin_with_a_dash(self):
        answer = self.answer(*self.words("--a", "--batch 1", "--b", "--batch 2"), code=(0, 1, *self.OPEN))
        self.assertEqual([side["what"] for side in answer["sides"]], ["infer --batch 1", "infer --batch 2"])

    def test_lists_are_compared_case_by_case(self):
        answer = self.answer(*self.words("--batch", "1,2", "--same"), code=(0, *self.OPEN))
        self.assertEqual(len(answer["cases"]), 2)
        self.assertFalse(answer["unmatched"])

    def test_another_program_alternates(self):
        answer = self.answer(*self.words("--b-binary", BINARY), code=(0, 1, *self.OPEN))
        self.assertEqual(answer["pairing"], "alternating")
        self.assertRegex(answer["block_order"], r"^(ABBA|BAAB)( (ABBA|BAAB))*( (AB|BA))?$")
        self.assertIn("control", answer)
        self.assertEqual(len(list(self.measured().glob("a/*"))), answer["cases"][0]["figures"][0]["pairs"])

    def sweeping_program(self, name, factors):
        """A program that stores a sweep with one process, as paceline does; operations take `factors` by size as long, and more with every start."""
        program = self.folder / name
        program.write_text(SWEEPING.format(python=sys.executable, source=DATA / "0.1.0/comm", factors=factors), encoding="utf-8")
        program.chmod(0o755)
        return program

    def test_the_size_that_makes_a_sweep_of_another_program_slower_is_named(self):
        """Each process stores a run for itself: the times of all of them count, not those of the first."""
        sides = ("--a-binary", self.sweeping_program("before", {}), "--b-binary", self.sweeping_program("after", {"512": 1.6}))
        found = self.answer("comm", *sides, code=(1, 4))
        sizes = {f["metric"]: f for f in found["cases"][0]["figures"] if f["decides"]}
        self.assertIn({f["pairs"] for f in sizes.values()}, ({6}, {12}))
        self.assertAlmostEqual(sizes["busbw_gb_per_s.512"]["estimate_ratio"], 1 / 1.6, 2)
        why = found["cases"][0]["why"]
        self.assertEqual(why["no_claim"], "")
        named = [row["difference_ns"] for row in why["rows"] if row["what"].endswith("of 512 B")]
        self.assertEqual(len(named), 2, "out of place and in place")
        self.assertAlmostEqual(sum(named) / why["difference_ns"], 1, 2)

    def test_a_program_that_measures_nothing_is_named(self):
        result = self.compare(*self.words("--b-binary", shutil.which("true")), code=5)
        self.assertIn("left no results", result.err)

    def test_what_cannot_be_compared(self):
        for arguments, words in (
                (self.words(), ("do not differ", "--same")),
                (self.words("--a", "--batch 1,2", "--b", "--batch 1"), ("A has 2 cases", "B has 1 case")),
                (self.words("--same", "--repetitions", "3"), ("at least 6 pairs",)),
                (self.words("--same", "--resume", "x"), ("--resume", "leave it out")),
                (self.words("--same", "--monitor"), ("--monitor", "leave it out")),
                (self.words("--b-binary", BINARY, "--dry-run"), ("--dry-run", "leave it out")),
                (self.words("--a", "--no-such-flag 1", "--b", ""), ("--no-such-flag",)),
                (self.words("--a-env", "SPIN_US"), ("--a-env SPIN_US", "NAME=VALUE")),
                (self.words("--a-venv", self.folder), ("--a-venv", "bin/paceline")),
                (self.words("--b-binary", "no-such-paceline"), ("no-such-paceline",))):
            with self.subTest(arguments=arguments[20:]):
                self.refused(*arguments, words=words)
        self.assertFalse((self.folder / "results" / "compare").exists())

    def test_a_process_that_takes_too_long_costs_its_side_alone(self):
        """A has measured and waits for B, whose turn does not end within the time of both."""
        words = [word for word in self.words() if not word.startswith("--stop.") and word not in ("5", "0.15")]
        result = self.compare(*words, "--iterations", "60", "--accuracy.samples", "2", "--timeout-s", "3", "--b-env", "SPIN_US=200000", code=5)
        self.assertIn("failed in B", result.out)
        mine, theirs = read_json(self.measured() / "run_summary.json")["cases"]
        self.assertEqual((mine["outcome"], theirs["outcome"], theirs["reason_code"]), ("ok", "failed", "timeout"))
        self.assertEqual(len(mine["repetitions"]), 1)

    def test_a_side_that_fails_is_exit_five(self):
        result = self.compare(*self.words("--b-env", "SPIN_IS_FAULT=1", "--b-env", "SPIN_FAULT=abort"), code=5)
        self.assertIn("B", result.out)


class Commands(Runs):
    def test_a_slower_command_is_a_regression(self):
        found = self.answer("--command", "sleep 0.1", "sleep 0.3", "--repetitions", 6, "--threshold", "10%", code=(1, 4))
        wall = found["cases"][0]["figures"][0]
        self.assertEqual(wall["shows"], "REGRESSION")
        self.assertEqual(wall["pairs"], 6)
        self.assertGreater(wall["estimate_ratio"], 1.5)
        self.assertRegex(found["block_order"], r"^(ABBA|BAAB)( (ABBA|BAAB))*( (AB|BA))?$")
        self.assertIn("estimate_ratio", found["control"])

    def test_words_of_both_commands_are_quoted_as_in_a_shell(self):
        seen = self.folder / "seen"
        shell = f"sh -c 'echo $0 >> {seen}' 'x y'"
        self.run_cli("compare", "--command", shell, "--command", shell, "--repetitions", 6)
        self.assertEqual(set(seen.read_text().splitlines()), {"x y"})

    def test_preparation_and_warm_up(self):
        self.run_cli("compare", "--command", "true", "true", "--repetitions", 6, "--warmup", 1, "--prepare", "sh -c 'echo p >> prepared'")
        self.assertIn((self.folder / "prepared").read_text().count("p"), (14, 26))

    def test_a_failure_is_exit_five_with_its_last_words(self):
        failing = "sh -c 'echo no such model; exit 3'"
        result = self.compare("--command", "true", failing, "--repetitions", 6, code=5)
        for word in ("exit code 3", "no such model", "--ignore-failure"):
            self.assertIn(word, result.err)
        counted = self.run_cli("compare", "--command", failing, failing, "--repetitions", 6, "--ignore-failure")
        self.assertIn(counted.code, (0, 1, 3, 4))
        self.assertIn("exit code", counted.on_one_line)

    def test_what_needs_a_shell(self):
        self.refused("--command", "true | cat", "true", words=["--command 'true | cat'", "--shell /bin/sh"])
        result = self.run_cli("compare", "--command", "true | cat", "true", "--shell", "/bin/sh", "--repetitions", 6)
        self.assertIn(result.code, (0, 1, 3, 4))

    def test_what_is_no_pair_of_commands(self):
        self.refused("--command", "true", words=["takes two commands, and one is given"])
        self.refused("--command", "true", "true", "true", words=["3 are given"])
        self.refused("--command", "no-such-program-anywhere", "true", words=["no-such-program-anywhere", "PATH"])
        self.refused("--command", "true", "true", "--repetitions", 5, words=["6"])

    def test_an_interrupt_keeps_what_is_there(self):
        process = self.start("compare", "--command", "sleep 0.05", "sleep 0.05", "--repetitions", 1000, "--verbose")
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        result = self.finish(process, timeout=20)
        self.assertEqual(result.code, 130, str(result))
        self.assertTrue(re.search(r"interrupted: \d+ of 1000 pairs", result.on_one_line), str(result))


if __name__ == "__main__":
    main()
