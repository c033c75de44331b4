# SPDX-License-Identifier: MIT
"""Sweeps of `paceline comm` that end before their last size: nothing that was measured is lost."""

import json
import shutil
import signal
import subprocess
import unittest

from comm_lab import PLUGIN, QUICK, CommTest
from paceline_cli import read_csv, read_json, wait_until


class UnfinishedTest(CommTest):
    """Sweeps over 64, 128, 256 and 512 bytes that stop at one of them."""

    SWEEP = ("-g", "2", "-b", "64", "-e", "512", "-w", "0", "-c", "0")

    def case(self):
        return self.summary(self.only_run())["cases"][0]

    def sizes(self, case):
        return [size["bytes"] for c in case["collective"] for size in c["sizes"]]

    def rows(self, text):
        return [int(row[0]) for row in self.nccl_rows(text)]

    def unfinished(self, repetition=0):
        return self.only_run() / f"passes/unfinished-timed-{repetition}.jsonl"

    def under_way(self, until, *words, fault="late:1:40"):
        """A sweep with its output in a file, once `until` is true of the rows that it printed."""
        path = self.folder / "out.txt"
        plugin = ("--plugin", PLUGIN) if PLUGIN else ()
        with path.open("wb") as out:
            process = self.start("comm", *plugin, *QUICK, *self.SWEEP, *words, env={"PACELINE_TEST_COMM": fault}, stdout=out, stderr=subprocess.DEVNULL)
        self.assertTrue(wait_until(lambda: until(self.rows(path.read_text()))), path.read_text())
        return process, path


class Unfinished(UnfinishedTest):
    def check_stopped(self, result, reason_code, *words):
        """At 256 bytes: the two sizes before it are in every place that has sizes."""
        self.assert_code(result, 5)
        case = self.case()
        self.assertEqual((case["outcome"], case["reason_code"], case["complete"]), ("failed", reason_code, False), case["reason"])
        for said in ("it was at all_reduce of 256 bytes, out of place; 2 of 4 sizes are measured and kept", *words):
            self.assertIn(said, case["reason"])
            self.assertIn(said, result.out + result.err)
        self.assertEqual(self.sizes(case), [64, 128])
        self.assertEqual(self.rows(result.out), [64, 128])
        self.assertIn("# Incomplete           : ", result.out)
        run = self.only_run()
        self.assertEqual({row["size_bytes"] for row in read_csv(run / "collectives.csv")}, {"64", "128"})
        self.assertEqual({(row["outcome"], row["complete"]) for row in read_csv(run / "collectives.csv")}, {("failed", "0")})
        times = read_csv(run / "collective_times.csv")
        self.assertEqual(len(times), 2 * 2 * 2 * 2 * 5, "sizes, places, modes, ranks, operations")
        for form in ("html", "markdown", "nccl-json"):
            self.assert_code(self.run_cli("report", run, "--format", form, "--output", self.folder / f"report.{form}"), 0)
            self.assertIn("2 of 4 sizes are measured and kept", (self.folder / f"report.{form}").read_text(encoding="utf-8"))
        self.assertEqual([r["size"] for r in read_json(self.folder / "report.nccl-json")["results"]], [64, 128])

    def test_out_of_memory(self):
        result = self.comm(*self.SWEEP, env={"PACELINE_TEST_COMM": "refuse:1:256"})
        self.check_stopped(result, "oom", "rank 1 on ", "out of memory: an allocation was refused")

    def test_a_lost_rank(self):
        for rank in (0, 1):
            with self.subTest(rank):
                result = self.comm(*self.SWEEP, env={"PACELINE_TEST_COMM": f"kill:{rank}:256"})
                self.check_stopped(result, "killed", f"rank {rank} on ")
                shutil.rmtree(self.folder / "results")

    def test_a_size_that_takes_too_long(self):
        result = self.comm(*self.SWEEP, "--timeout-s", "4", env={"PACELINE_TEST_COMM": "hang:1:256"})
        self.check_stopped(result, "timeout", "no result within timeout_s = 4 s of one size")

    def test_the_limit_is_for_one_size(self):
        """Each size takes 1.6 s in each place, all of them 12.8 s."""
        result = self.comm(*self.SWEEP, "--timeout-s", "6", env={"PACELINE_TEST_COMM": "late:1:160"})
        self.assert_code(result, 0)
        self.assertEqual(self.rows(result.out), [64, 128, 256, 512])

    def test_the_first_size_is_named_too(self):
        result = self.comm(*self.SWEEP, env={"PACELINE_TEST_COMM": "refuse:1:64"})
        self.assert_code(result, 5)
        self.assertIn("it was at all_reduce of 64 bytes, out of place; no size was measured before", self.case()["reason"])
        self.assertEqual(self.sizes(self.case()), [])

    def test_a_resumed_sweep_is_measured_from_its_beginning(self):
        self.assert_code(self.comm(*self.SWEEP, env={"PACELINE_TEST_COMM": "refuse:1:256"}), 5)
        self.assertTrue(self.unfinished().is_file())
        again = self.run_cli("run", "--resume", self.only_run(), env={"PACELINE_TEST_COMM": "refuse:0:512"})
        self.assert_code(again, 5)
        self.assertEqual(self.sizes(self.case()), [64, 128, 256])
        self.assertIn("3 of 4 sizes are measured and kept", self.case()["reason"])
        self.assertTrue(self.unfinished().with_name("unfinished-timed-0.jsonl.1").is_file(), "earlier records are put aside")
        whole = self.run_cli("run", "--resume", self.only_run())
        self.assert_code(whole, 0)
        case = self.case()
        self.assertEqual((case["outcome"], case["complete"], self.sizes(case)), ("ok", True, [64, 128, 256, 512]))
        self.assertEqual([size["out_of_place"]["n"] for size in case["collective"][0]["sizes"]], [5] * 4, "nothing of the unfinished ones counts")
        self.assertFalse(any("did not end" in note for note in case["collective"][0]["notes"]))
        self.assertFalse(self.unfinished().exists())
        self.assertEqual(self.rows(whole.out), [64, 128, 256, 512])


class Interrupted(UnfinishedTest):
    def test_rows_appear_while_the_sweep_goes_on(self):
        process, path = self.under_way(lambda rows: rows == [64])
        self.assertIsNone(process.poll())
        records = [json.loads(line) for line in self.unfinished().read_text().splitlines()]
        self.assertEqual([r["ranks"][0]["bytes"] for r in records if r["type"] == "collective_times"][:2], [64, 64])
        self.assert_code(self.finish(process), 0)
        self.assertEqual(self.rows(path.read_text()), [64, 128, 256, 512], "each row once")
        self.assertEqual(path.read_text().count("# Avg bus bandwidth"), 1)
        self.assertFalse(self.unfinished().exists())
        nccl = self.run_cli("report", self.only_run(), "--format", "nccl", "--output", "nccl.txt")
        self.assert_code(nccl, 0)
        stored = [line for line in (self.folder / "nccl.txt").read_text().splitlines() if line[:1] == " "]
        self.assertEqual([line for line in path.read_text().splitlines() if line in stored], stored, "the rows are those of the stored run")

    def test_ctrl_c_keeps_the_sizes(self):
        process, path = self.under_way(lambda rows: rows == [64, 128])
        process.send_signal(signal.SIGINT)
        self.assert_code(self.finish(process), 130)
        case = self.case()
        self.assertEqual((case["outcome"], case["reason_code"], case["complete"]), ("skipped", "interrupted", False))
        self.assertRegex(case["reason"], r"interrupted .*; it was at all_reduce of 256 bytes, .*; 2 of 4 sizes are measured and kept")
        self.assertEqual(self.sizes(case), [64, 128])
        self.assertEqual(self.rows(path.read_text()), [64, 128])
        self.assertIn(case["reason"], path.read_text())
        self.assert_code(self.run_cli("run", "--resume", self.only_run()), 0)
        self.assertEqual(self.sizes(self.case()), [64, 128, 256, 512])

    def test_an_interrupted_resume_keeps_them(self):
        process, _ = self.under_way(lambda rows: rows == [64, 128])
        process.kill()
        process.wait()
        again = self.start("run", "--resume", self.only_run(), env={"PACELINE_TEST_COMM": "hang:0:64"})
        self.assertTrue(wait_until(lambda: (self.only_run() / "log.txt").read_text().count("collective pass") == 2))
        again.send_signal(signal.SIGINT)
        self.assert_code(self.finish(again), 130)
        self.assertEqual(self.sizes(self.case()), [64, 128])
        self.assertEqual(self.case()["reason_code"], "interrupted")

    def test_a_killed_coordinator_leaves_the_records(self):
        process, _ = self.under_way(lambda rows: rows == [64, 128])
        process.kill()
        process.wait()
        records = [json.loads(line) for line in self.unfinished().read_text().splitlines()]
        self.assertEqual({r["ranks"][0]["bytes"] for r in records if r["type"] == "collective_times"}, {64, 128})
        self.assert_code(self.run_cli("run", "--resume", self.only_run()), 0)
        self.assertEqual(self.sizes(self.case()), [64, 128, 256, 512])

    def test_a_finished_repetition_stands(self):
        """Rows of one process of several are comments for a script, and those of the case follow."""
        process, path = self.under_way(lambda rows: list(self.folder.glob("results/*/*/passes/unfinished-timed-1.jsonl")), "--repetitions", "2", fault="late:1:20")
        process.send_signal(signal.SIGINT)
        self.assert_code(self.finish(process), 130)
        case = self.case()
        self.assertEqual((case["outcome"], len(case["repetitions"]), self.sizes(case)), ("ok", 1, [64, 128, 256, 512]))
        self.assertEqual(case["collective"][0]["sizes"][0]["out_of_place"]["n"], 5)
        text = path.read_text()
        self.assertEqual(self.rows(text), [64, 128, 256, 512])
        live = [line for line in text.splitlines() if line.startswith("#") and len(line[1:].split()) == 13 and line[1:].split()[0].isdigit()]
        self.assertEqual([int(line[1:].split()[0]) for line in live][:4], [64, 128, 256, 512])
        self.assertIn("in passes/unfinished-timed-1.jsonl", text)


if __name__ == "__main__":
    unittest.main()
