#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Attached jobs in the history: listed, followed and compared as runs are. Needs no PyTorch: the jobs leave step files that were made before."""

import csv
import io
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import time
import unittest

from paceline_cli import BINARY, CliTest, read_json
from test_step_files import OUT_OF_ROOM, job, step_file, write_folder

JOB = """
import os, shutil, sys
for name in os.listdir("left"): shutil.copy("left/" + name, os.environ["PACELINE_ATTACH"])
end = os.environ.get("END", "0")
if end.startswith("-"): os.kill(os.getpid(), int(end[1:]))
sys.exit(int(end))
"""


class AttachedHistory(CliTest):
    def setUp(self):
        super().setUp()
        self.script = self.write("train.py", JOB)

    def attach(self, *own, words=(), late_ms=0.0, end=0, code=None, launcher=()):
        """A job that leaves step files of two ranks, of which one is late, and ends like this; `own`: words of attach."""
        shutil.rmtree(self.folder / "left", ignore_errors=True)
        write_folder(self.folder / "left", job(late_ms=late_ms))
        done = self.run_cli("attach", *own, "--", *launcher, sys.executable, self.script, *words, env={"END": str(end)})
        self.assert_code(done, end if code is None else code)
        return done

    def history(self, *words):
        done = self.run_cli("history", *words)
        self.assert_code(done, 0)
        return done

    def listed(self, *words):
        return json.loads(self.history("list", "--json", *words).out)["runs"]

    def test_a_job_is_listed_with_its_figures_and_its_late_rank(self):
        self.attach(late_ms=8)
        run, = self.listed()
        self.assertEqual((run["experiment"], run["outcome"]), ("attach", "ok"))
        self.assertEqual(os.path.basename(run["folder"]), run["run_id"])
        self.assertRegex(run["note"], r"^rank 1 is late in backward, 8(\.\d+)? ms per step$")
        case, = run["cases"]
        self.assertEqual((case["label"], case["outcome"]), ("train.py 2 ranks", "ok"))
        self.assertAlmostEqual(case["figures"]["p50_ms"], 45.0, places=3)
        figures = self.exported()
        self.assertAlmostEqual(figures["exposed_share"], 10 / 45, places=3)
        self.assertAlmostEqual(figures["straggler_wait_share"], 8 / 45, places=3)
        self.assertEqual(self.listed("--rebuild"), [run])
        self.assertIn("train.py 2 ranks", self.history("list", "--engine", "pytorch", "--model", "train.py").out)

    def exported(self):
        return {row["metric"]: float(row["value"]) for row in csv.DictReader(io.StringIO(self.history("export").out))}

    def test_jobs_are_followed_over_time(self):
        said = []
        for number in range(12):
            if number == 6:
                time.sleep(1.1)   # runs of one second are in no order
            said.append(" ".join(self.attach(late_ms=number * 0.05 if number < 6 else 8 + number * 0.05).err.split()))
        self.assertEqual(["history: " in words for words in said], [number >= 3 for number in range(12)])
        self.assertRegex(said[6], r"history: 2\d % slower than the last 6 runs here")
        trend = self.history("trend").on_one_line
        self.assertIn("train.py 2 ranks", trend)
        self.assertRegex(trend, r"p50 went from 37\.\d ms to 45\.\d ms")

    def test_two_jobs_are_compared_by_their_run_ids(self):
        self.attach()
        self.attach(late_ms=8)
        fast, slow = (run["run_id"] for run in sorted(self.listed(), key=lambda run: run["cases"][0]["figures"]["p50_ms"]))
        done = self.run_cli("compare", fast, slow)
        self.assertIn("37.0 ms", done.on_one_line)
        self.assertIn("45.0 ms", done.on_one_line)
        self.assertIn("rank 1", done.on_one_line)

    def test_the_words_of_the_script_tell_jobs_apart_and_those_of_launchers_do_not(self):
        self.attach(words=("--lr", "1"))
        self.attach(words=("--lr", "1"), launcher=("env", "MASTER_PORT=29501"))
        self.attach(words=("--lr", "2"))
        keys = {}
        for run in self.listed():
            words = read_json(f"{run['folder']}/run_summary.json")["command_line"]
            keys["other" if words.endswith("2") else "same" if "29501" in words else "first"] = run["cases"][0]["case_key"]
        self.assertEqual(keys["first"], keys["same"])
        self.assertNotEqual(keys["first"], keys["other"])

    def test_how_the_job_ended_is_known(self):
        self.attach(end=3)
        self.attach(end=-signal.SIGTERM, code=-signal.SIGTERM)
        self.attach(end=-signal.SIGKILL, code=-signal.SIGKILL)
        ends = {read_json(f"{run['folder']}/run_summary.json")["exit_code"]: run["outcome"] for run in self.listed()}
        self.assertEqual(ends, {3: "failed", 128 + signal.SIGTERM: "interrupted", 128 + signal.SIGKILL: "failed"})
        cases = {run["outcome"]: run["cases"][0] for run in self.listed()}
        self.assertEqual({end: (case["outcome"], "figures" in case) for end, case in cases.items()},
                         {"failed": ("failed", False), "interrupted": ("interrupted", True)})
        self.assertIn("1 of 1 run was interrupted", self.history("trend").on_one_line)

    def test_a_launcher_that_was_asked_to_end_has_an_exit_code_of_its_own(self):
        wait = "import signal, time\nsignal.signal(signal.SIGINT, lambda *_: sys.exit(1))\nopen('ready', 'w').close()\ntime.sleep(60)\n"
        self.script.write_text(JOB.replace("end = ", wait + "end = ", 1))
        write_folder(self.folder / "left", job())
        process = subprocess.Popen([BINARY, "attach", "-q", "--", sys.executable, self.script], cwd=self.folder, env=self.env,
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        self.addCleanup(process.kill)
        while not (self.folder / "ready").exists():
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(60), 1)
        self.assertEqual([run["outcome"] for run in self.listed()], ["interrupted"])

    def test_a_job_that_was_not_done_is_said_to_be_wherever_its_steps_are_read(self):
        self.attach()
        self.attach(end=3)
        self.attach(late_ms=8, end=-signal.SIGTERM, code=-signal.SIGTERM)
        runs = {run["outcome"]: run["run_id"] for run in self.listed()}
        failed = "the job failed (it ended with exit code 3); the figures are of the steps until then"
        self.assertIn("B: " + failed, self.run_cli("compare", runs["ok"], runs["failed"]).on_one_line)
        self.assertIn("B: the job was interrupted; the figures", self.run_cli("compare", runs["ok"], runs["interrupted"]).on_one_line)
        self.assertIn(failed, self.run_cli("profile", "--from", f"results/attach/{runs['failed']}").on_one_line)
        self.assertNotIn("the figures are of", self.run_cli("profile", "--from", f"results/attach/{runs['ok']}").out)
        report = self.run_cli("report", f"results/attach/{runs['failed']}", "-o", "report.md", "--format", "md")
        page = (self.folder / "report.md").read_text(encoding="utf-8")
        self.assertRegex(page, f"See its steps until then: paceline profile --from .*results/attach/{runs['failed']}")
        self.assertNotIn("What would help", page)


    def test_a_folder_elsewhere_is_imported(self):
        done = self.attach("--output", "steps", late_ms=8)
        self.assertNotIn("history", done.err)
        (self.folder / "results").mkdir()
        self.assertEqual(self.listed(), [])
        self.history("import", "steps")
        self.assertEqual([run["folder"] for run in self.listed()], [str((self.folder / "steps").resolve())])

    def test_a_job_of_another_launcher_enters_by_its_step_files(self):
        (self.folder / "results").mkdir()
        write_folder(self.folder / "steps", job(late_ms=8))
        write_folder(self.folder / "killed", job(steps=20), closed=False)
        self.assertIn("2 runs in 2 folders, 2 of them new", self.history("import", "steps", "killed").on_one_line)
        self.assertIn("0 of them new", self.history("import", "steps").on_one_line)
        runs = {os.path.basename(run["folder"]): run for run in self.listed()}
        self.assertEqual({name: run["outcome"] for name, run in runs.items()}, {"steps": "ok", "killed": "interrupted"})
        self.assertEqual((runs["steps"]["started_utc"], runs["steps"]["machine"]), ("2026-10-01T12:17:06Z", ""))
        self.assertEqual(runs["steps"]["cases"][0]["label"], "train.py 2 ranks")
        self.assertAlmostEqual(runs["steps"]["cases"][0]["figures"]["p50_ms"], 45.0, places=3)
        self.assertRegex(runs["steps"]["note"], "^rank 1 is late in backward")
        command = read_json(f"{runs['steps']['folder']}/run_summary.json")["cases"][0]["benchmark"]["params"]["command"]
        self.assertEqual(command, "jobs/train.py --lr 1")   # as of a job that attach started

    def test_a_job_that_ended_with_an_exception_failed(self):
        (self.folder / "results").mkdir()
        for name, steps, exception in (("failed", 30, "ValueError"), ("stopped", 31, "KeyboardInterrupt")):
            write_folder(self.folder / name, job(steps), exception=exception)
            self.history("import", name)
        runs = {os.path.basename(run["folder"]): run["outcome"] for run in self.listed()}
        self.assertEqual(runs, {"failed": "failed", "stopped": "interrupted"})
        self.assertEqual(read_json(self.folder / "failed/run_summary.json")["cases"][0]["reason"], "rank 1 ended with ValueError")
        self.assertIn("! rank 1 ended with ValueError ", self.run_cli("profile", "--from", "failed").on_one_line)

    def test_a_start_that_ended_at_once_says_how_the_job_ended(self):
        (self.folder / "results").mkdir()
        folder = write_folder(self.folder / "again", job(30))
        for rank, records in enumerate(job(1)):
            data = bytearray(step_file(rank, records, exception="ValueError" if rank else ""))
            struct.pack_into("<q", data, 120, struct.unpack_from("<q", data, 120)[0] + 10**12)
            (folder / f"rank{rank}.2.steps").write_bytes(data)
        self.history("import", "again")
        run = read_json(folder / "run_summary.json")
        self.assertEqual((run["outcome"], run["cases"][0]["reason"]), ("failed", "rank 1 ended with ValueError"))
        self.assertEqual(run["cases"][0]["stats"]["n"], 28)   # of the start before

    def test_the_first_exception_is_the_cause_of_the_others(self):
        (self.folder / "results").mkdir()
        (self.folder / "failed").mkdir()
        for rank, words in ((0, {"closed": 9, "exception": "RuntimeError"}), (1, {"closed": 5, "exception": "ValueError"})):
            (self.folder / f"failed/rank{rank}.steps").write_bytes(step_file(rank, job()[rank], **words))
        self.history("import", "failed")
        self.assertEqual(read_json(self.folder / "failed/run_summary.json")["cases"][0]["reason"], "rank 1 ended with ValueError")

    def test_jobs_of_other_hosts_are_told_apart(self):
        (self.folder / "results").mkdir()
        for name, host, steps in (("first", "gpu-a", 30), ("second", "gpu-b", 30), ("third", "gpu-b", 31)):
            write_folder(self.folder / "jobs/of" / name, job(steps), host=host)
        write_folder(self.folder / "jobs/left", job(), closed=False, host="gpu-a")   # it may still run there
        self.assertRegex(self.history("import", "jobs").on_one_line, "jobs/left: gpu-a has noted no end.*import it on that host 3 runs in 1 folder, 3 of them new")
        machines = {os.path.basename(run["folder"]): run["machine"] for run in self.listed()}
        self.assertEqual(machines["second"], machines["third"])
        self.assertNotIn(machines["first"], ("", machines["second"]))
        warnings = read_json(self.folder / "jobs/of/first/run_summary.json")["warnings"]
        self.assertIn("the job was started by another program: its exit code is not known", warnings)
        self.assert_error(self.run_cli("history", "import", "jobs/left"), 2, "gpu-a has noted no end")

    def test_a_job_with_full_files_was_not_interrupted(self):
        (self.folder / "results").mkdir()
        for name, steps, closed in (("full", 30, True), ("killed", 31, False)):   # a full file has its end, too
            full = [[*records, (OUT_OF_ROOM, "", 2000, 2000, 0)] for records in job(steps)]
            write_folder(self.folder / name, full, closed=closed)
        self.history("import", "full", "killed")
        self.assertEqual({os.path.basename(run["folder"]): run["outcome"] for run in self.listed()}, {"full": "ok", "killed": "interrupted"})

    def test_step_files_that_are_no_job_yet_are_refused(self):
        (self.folder / "results").mkdir()
        write_folder(self.folder / "short", job(steps=1))
        self.assert_error(self.run_cli("history", "import", "short"), 2, "rank0.steps has no two steps")
        (self.folder / "empty").mkdir()
        self.assert_error(self.run_cli("history", "import", "empty"), 2, "no step file")

    def test_a_folder_that_was_removed_meanwhile_is_named(self):
        self.script.write_text("import os, shutil\nshutil.rmtree(os.environ['PACELINE_ATTACH'])\n")
        done = self.run_cli("attach", "-o", "steps", "--", sys.executable, self.script)
        self.assert_code(done, 0)
        self.assertRegex(" ".join(done.err.split()), "nothing is left: the folder .*steps was removed while the job ran")

    def test_two_jobs_at_once_have_folders_of_their_own(self):
        self.script.write_text("import subprocess, sys\nprint(subprocess.run(sys.argv[1:], capture_output=True, text=True).stderr)\n")
        within = [BINARY, "attach", "-o", "steps", "--", "true"]
        done = self.run_cli("attach", "-o", "steps", "--", sys.executable, self.script, *within)
        self.assert_code(done, 0)
        self.assertRegex(done.on_one_line, "steps has the steps of another job, and those of this one go to .*steps-2.")
        of_launch = self.run_cli("attach", "-o", "ranks", "--", sys.executable, self.script, *within[:3], "ranks", *within[4:],
                                 env={"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"})
        self.assertNotIn("another job", of_launch.out + of_launch.err)   # ranks of one launch share a folder

    def test_a_folder_with_another_run_keeps_it(self):
        summary = self.write("steps/run_summary.json", "{}")
        done = self.attach("--output", "steps")
        self.assertRegex(" ".join(done.err.split()), "the job is not in the history: .*steps/run_summary.json is of another run; name another folder")
        self.assertEqual(summary.read_text(encoding="utf-8"), "{}")

    def test_quiet_jobs_are_in_it_too(self):
        for _ in range(4):
            done = self.attach("-q")
            self.assertEqual(done.err, "")
        self.assertEqual(len(self.listed()), 4)

    def test_a_history_that_cannot_be_written_changes_no_exit_code(self):
        (self.folder / "results/paceline.db").mkdir(parents=True)
        done = self.attach(end=5)
        self.assertIn("the run was not added to the history", " ".join(done.err.split()))
        self.assertIn("30 steps of 2 ranks", " ".join(done.err.split()))

    def test_such_a_run_has_a_report(self):
        self.attach(late_ms=8)
        folder = self.listed()[0]["folder"]
        done = self.run_cli("report", folder, "-o", "report.md", "--format", "md")
        self.assert_code(done, 0)
        page = (self.folder / "report.md").read_text(encoding="utf-8")
        for words in ("1 of 1 cases measured (1 of grade B)", "the others wait for rank 1", "Note: rank 1 is late in backward", "| train.py 2 ranks | 45.0"):
            self.assertIn(words, page)


if __name__ == "__main__":
    unittest.main(verbosity=2)
