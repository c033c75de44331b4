# SPDX-License-Identifier: MIT
"""paceline history: the index of runs, its marks, and what survives kills, damage and read-only folders."""

import copy
import csv
import io
import json
import os
import pty
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import time
from datetime import datetime, timedelta
from pathlib import Path

from paceline_cli import BINARY, CliTest, main, read_json

STORED = Path(__file__).resolve().parent / "data/0.1.0/infer/run_summary.json"


class HistoryTest(CliTest):
    """Run folders with invented figures: p50 of both cases, and the measured peak of the machine."""

    def history(self, *arguments, code=0, **options):
        result = self.run_cli("history", *arguments, **options)
        self.assert_code(result, code)
        return result

    def listed(self, *arguments):
        return json.loads(self.history(*arguments, "--json", "--limit", 0).out)["runs"]

    def ids(self, *arguments):
        return [run["run_id"] for run in self.listed(*arguments)]

    def make_run(self, number, p50_ms=1.0, peak_gflops=None, results="results", experiment="bench"):
        run = copy.deepcopy(self.stored)
        began = datetime(2026, 1, 1) + timedelta(hours=number)
        run["run_id"] = began.strftime("%Y%m%dT%H%M%SZ") + f"-{number:04x}"
        run["experiment_name"] = experiment
        run["started_utc"] = began.strftime("%Y-%m-%dT%H:%M:%SZ")
        for case in run["cases"]:
            case["headline"]["p50_ns"].update(value=p50_ms * 1e6, ci_low=p50_ms * 0.98e6, ci_high=p50_ms * 1.02e6)
            if peak_gflops:
                case["flops"].update(peak_measured_flops_per_s=peak_gflops * 1e9, peak_source=f"a probe, measured {run['started_utc']}")
        self.write(f"{results}/{experiment}/{run['run_id']}/run_summary.json", json.dumps(run))
        return run["run_id"]

    def make_runs(self, count, results="results"):
        return [self.make_run(number, 1 + number / 1000, results=results) for number in range(count)]

    @classmethod
    def setUpClass(cls):
        cls.stored = read_json(STORED)


class Index(HistoryTest):
    def test_a_run_is_in_the_history_of_its_folder(self):
        self.assert_code(self.infer("--threads", 1), 0)
        self.assertTrue((self.folder / "results/paceline.db").is_file())
        with sqlite3.connect(self.folder / "results/paceline.db") as index:
            self.assertEqual(index.execute("SELECT run_id FROM runs").fetchall(), [(self.only_run().name,)])
        run, = self.listed()
        self.assertEqual((run["outcome"], run["experiment"], run["gone"]), ("ok", "infer", False))
        self.assertGreater(run["cases"][0]["figures"]["p50_ms"], 0)

    def test_the_fourth_run_says_how_it_compares_and_stores_nothing_of_it(self):
        for number in range(4):
            result = self.infer("--threads", 1)
            self.assert_code(result, 0)
            self.assertEqual("history: " in result.out, number == 3, result.out)
        self.assertRegex(result.on_one_line, r"the last 3 runs here \(.*%\)")
        for file in (self.folder / "results/infer").rglob("*.json"):
            self.assertNotIn("runs here", file.read_text(encoding="utf-8"))

    def test_a_terminal_shows_colours_and_not_their_codes(self):
        self.make_run(1)
        terminal, theirs = pty.openpty()
        process = self.start("history", stdout=theirs, env={"TERM": "xterm", "NO_COLOR": ""})
        self.assert_code(self.finish(process), 0)
        os.close(theirs)
        shown = os.read(terminal, 65536).decode()
        os.close(terminal)
        self.assertIn("\x1b[1mwhen (UTC)", shown)
        self.assertNotIn("\\x1b", shown)

    def test_runs_are_listed_newest_first_and_filtered(self):
        ids = self.make_runs(5)
        self.make_run(9, experiment="other")
        self.assertEqual(self.ids("--experiment", "bench"), ids[::-1])
        self.assertEqual(len(self.ids("list")), 6)
        self.assertEqual(self.ids("--since", "2026-01-01T03"), self.ids()[:3])
        self.assertEqual(self.ids("--until", "2026-01-01T00"), ids[:1])
        self.assertEqual(len(self.ids("--model", "x.spin", "--engine", "spin")), 6)
        self.assertEqual(self.ids("--model", "other"), [])
        self.assertEqual([len(run["cases"]) for run in self.listed("--case", "B2", "--since", "2026-01-01T04")], [1, 1])
        text = self.history("--limit", 2).out
        self.assertIn("2 of 6 runs in results", text)
        self.assertIn("p50 1.00 ms", text)

    def test_marks_are_names_of_runs_and_outlive_the_index(self):
        ids = self.make_runs(3)
        self.history("tag", ids[0], "good")
        self.history("pin", ids[1], "base")
        self.history("note", "base", "before the upgrade")
        self.assertEqual(self.ids("--tag", "good"), [ids[0]])
        for file in ("paceline.db", None):
            if file:
                (self.folder / "results" / file).unlink()
            else:
                self.history("--rebuild")
            runs = {run["run_id"]: run for run in self.listed()}
            self.assertEqual([runs[i]["tags"] for i in ids], [["good"], [], []])
            self.assertEqual([runs[i]["pins"] for i in ids], [[], ["base"], []])
            self.assertEqual(runs[ids[1]]["note"], "before the upgrade")
        self.history("tag", ids[2], "good")  # it moves
        self.assertEqual(self.ids("--tag", "good"), [ids[2]])
        self.history("untag", "good")
        self.history("unpin", "base")
        self.assertEqual(self.ids("--tag", "good,base"), [])

    def test_a_folder_that_is_gone_is_marked(self):
        ids = self.make_runs(2)
        self.history()
        shutil.rmtree(self.folder / "results/bench" / ids[0])
        self.assertEqual([run["gone"] for run in self.listed()], [False, True])
        self.history("--rebuild")
        self.assertEqual(self.ids(), [ids[1]])

    def test_export_has_a_row_for_each_figure(self):
        ids = self.make_runs(3)
        rows = list(csv.DictReader(io.StringIO(self.history("export").out)))
        self.assertEqual({row["run_id"] for row in rows}, set(ids))
        p50 = [row for row in rows if row["metric"] == "p50_ms"]
        self.assertEqual(sorted(float(row["value"]) for row in p50), [1, 1, 1.001, 1.001, 1.002, 1.002])
        self.history("export", "--metric", "p50_ms", "--output", "all.csv")
        self.assertEqual(len((self.folder / "all.csv").read_text().splitlines()), 1 + 6)

    def test_runs_from_elsewhere_are_recorded_by_path(self):
        self.make_runs(1)
        ids = [self.make_run(number, results="download/artefact") for number in (5, 6)]
        self.assertIn("2 runs in 1 folder, 2 of them new", self.history("import", "download").out)
        self.assertEqual(self.ids()[:2], ids[::-1])
        self.history("--rebuild")
        self.assertEqual(len(self.ids()), 3)
        self.history("prune", "--keep-size", 0, "--yes")
        self.assertTrue((self.folder / "download/artefact/bench" / ids[0]).is_dir())

    def test_prune_deletes_the_oldest_after_yes(self):
        ids = self.make_runs(5)
        self.history("tag", ids[0], "good")
        folders = [self.folder / "results/bench" / i for i in ids]
        self.assert_error(self.run_cli("history", "prune", "--keep-size", 0, "--keep", 2), 2, "2 run folders", "--yes")
        self.assertIn(ids[1], self.history("prune", "--keep-size", 0, "--keep", 2, "--dry-run").out)
        self.assertTrue(all(folder.is_dir() for folder in folders))
        self.history("prune", "--keep-size", 0, "--keep", 2, "--yes")
        self.assertEqual([folder.is_dir() for folder in folders], [True, False, False, True, True])
        self.assertEqual([run["gone"] for run in self.listed()], [False, False, True, True, False])

    def test_mistakes_say_what_to_type(self):
        ids = self.make_runs(2)
        for words, said in (
                (("tgg",), ("did you mean 'tag'",)),
                (("tag", ids[0]), ("history tag RUN NAME",)),
                (("tag", "2026", "x"), ("beginning of 2 runs",)),
                (("tag", "nothing", "x"), ("no run, tag or pin",)),
                (("tag", ids[0], "../x"), ("cannot be a name",)),
                (("untag", "x"), ("there is none",)),
                (("import", "nowhere"), ("no such folder",)),
                (("prune",), ("--keep-size",)),
                (("--since", "yesterday"), ("--since 'yesterday'",)),
                (("--metric", "p50"), ("no such metric",)),
                (("--format", "csv"), ("none of text",)),
                (("export", "--format", "html"), ("export writes CSV",)),
                (("--output-dir", "nowhere"), ("no such folder of runs",))):
            self.assert_error(self.run_cli("history", *words), 2, *said)


class Trend(HistoryTest):
    def ways(self, case_shift, machine_shift):
        dice = random.Random(5)
        for number in range(40):
            late = number >= 20
            self.make_run(number, dice.gauss(1, 0.01) * (1 + case_shift * late), dice.gauss(100, 1) * (1 + machine_shift * late))

    def series(self, *arguments):
        return json.loads(self.history("trend", "--case", "b1", *arguments, "--json").out)["series"]

    def test_a_change_of_the_code_is_told_from_one_of_the_machine(self):
        for shift, words in ((0, "look at the code"), (-0.1, "the machine changed, not the code")):
            shutil.rmtree(self.folder / "results", ignore_errors=True)
            self.ways(0.1, shift)
            one, = self.series()
            change, = one["changes"]
            self.assertEqual(change["run_id"], self.ids()[19])
            self.assertAlmostEqual(change["change"], 0.1, delta=0.01)
            self.assertEqual(change["machine_changed"], shift != 0)
            self.assertIn(words, self.history("trend", "--case", "b1").on_one_line)

    def test_every_form_is_written(self):
        self.ways(0.1, 0)
        self.history("trend", "--format", "text,html,markdown,json,junit", "--output", "trends")
        files = {path.suffix: path.read_text(encoding="utf-8") for path in (self.folder / "trends").iterdir()}
        self.assertEqual(set(files), {".txt", ".html", ".md", ".json", ".xml"})
        self.assertEqual(files[".html"].count("<svg"), 4)  # two cases, each beside the machine

    def test_another_metric_and_a_figure_that_no_run_has(self):
        self.make_runs(3)
        self.assertEqual([one["metric"] for one in self.series("--metric", "load_ms")], ["load_ms"])
        self.assertIn("no run has this figure", self.history("trend", "--metric", "busbw_gb_per_s").out)


class Rough(HistoryTest):
    def test_a_damaged_index_is_set_aside_and_made_again(self):
        ids = self.make_runs(3)
        self.history("tag", ids[0], "good")
        index = self.folder / "results/paceline.db"
        good = index.read_bytes()
        for damaged in (b"no database at all" * 600, good[:100] + bytes(len(good) - 100), good[:len(good) // 2]):
            index.write_bytes(damaged)
            result = self.history("--json")
            self.assertEqual(len(re.findall("is damaged", result.err)), 1, result)
            self.assertEqual(len(json.loads(result.out)["runs"]), 3)
            self.assertEqual(self.history().err, "")
        self.assertEqual(self.ids("--tag", "good"), [ids[0]])
        self.assertEqual(len(list((self.folder / "results").glob("paceline.db.damaged*"))), 3)

    def test_a_run_beside_a_damaged_index_warns_once_and_ends_well(self):
        self.write("results/paceline.db", "no database" * 1000)
        result = self.infer("--threads", 1)
        self.assert_code(result, 0)
        self.assertEqual(result.err.count("is damaged"), 1, result)
        self.assertEqual(self.ids(), [self.only_run().name])

    def test_eight_writers_lose_nothing_when_some_are_killed(self):
        ids = set(self.make_runs(40))
        dice = random.Random(2)
        for _ in range(3):
            writers = [self.start("history", "--rebuild", "--quiet") for _ in range(8)]
            for writer in writers[:4]:
                time.sleep(dice.uniform(0, 0.05))
                os.killpg(writer.pid, signal.SIGKILL)
            for writer in writers[4:]:
                result = self.finish(writer)
                self.assert_code(result, 0)
                self.assertNotIn("damaged", result.err)
        self.assertEqual(set(self.ids()), ids)
        with sqlite3.connect(self.folder / "results/paceline.db") as index:
            self.assertEqual(index.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
            self.assertEqual(index.execute("SELECT count(*) FROM cases").fetchone(), (2 * len(ids),))

    def test_eight_runs_at_once_are_all_in_the_index(self):
        processes = [self.start("infer", "--plugin", os.environ["PACELINE_SPIN"], "--engine", "spin", "--model", "x.spin", "--shapes", "input:{batch}x4",
                                "--iterations", "5", "--idle-wait-s", "0", "--no-measure-peak", "--allow-noisy", "--warmup", "1") for _ in range(8)]
        for process in processes:
            result = self.finish(process)
            self.assert_code(result, 0)
            self.assertNotIn("history", result.err)
        with sqlite3.connect(self.folder / "results/paceline.db") as index:
            self.assertEqual(index.execute("SELECT count(*) FROM runs").fetchone(), (8,))

    def test_a_read_only_folder_is_listed_and_not_written(self):
        ids = self.make_runs(2)
        script = 'mount --bind results results && mount -o remount,bind,ro results && exec "$@"'
        command = ["unshare", "-rm", "sh", "-c", script, "sh", BINARY, "history"]
        done = subprocess.run([*command, "--json"], cwd=self.folder, env=self.env, capture_output=True, text=True, check=False)
        if "unshare" in done.stderr or "mount" in done.stderr:
            self.skipTest("no mount namespace here")
        self.assertEqual([run["run_id"] for run in json.loads(done.stdout)["runs"]], ids[::-1])
        self.assertEqual(sorted(path.name for path in (self.folder / "results").iterdir()), ["bench"])
        done = subprocess.run([*command, "tag", ids[0], "good"], cwd=self.folder, env=self.env, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("not writable", done.stderr)

    def test_a_thousand_runs(self):
        ids = self.make_runs(1000)
        self.assertEqual(self.ids(), ids[::-1])
        before = time.monotonic()
        self.make_run(1000)
        self.history()
        print(f"index: a run added to 1,000 and all listed in {1e3 * (time.monotonic() - before):.0f} ms")
        self.assertEqual(len(self.ids()), 1001)
        one, = json.loads(self.history("trend", "--case", "b1", "--json").out)["series"]
        self.assertEqual(len(one["runs"]), 1001)


if __name__ == "__main__":
    main()
