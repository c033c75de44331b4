# SPDX-License-Identifier: MIT
"""`paceline comm`: flags and output of nccl-tests, figures against a truth that is known, gates and wrong input."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import unittest

import launch_lab
from paceline_cli import CliTest, case_dir, read_csv, read_json, wait_until

SPIN = os.environ["PACELINE_SPIN"]
PLUGIN = os.environ.get("PACELINE_COMM_PLUGIN", SPIN)  # an installed one where it is empty
QUICK = ("-n", "5", "--size-time-s", "0", "--idle-wait-s", "0", "--allow-noisy")


class CommTest(CliTest):
    def comm(self, *words, **options):
        plugin = ("--plugin", PLUGIN) if PLUGIN else ()
        return self.run_cli("comm", *plugin, *QUICK, *words, **options)

    def nccl_rows(self, text):
        """What a script for nccl-tests reads: lines that are no comments, split at blanks."""
        return [line.split() for line in text.splitlines() if line[:1] == " " and len(line.split()) == 13 and line.split()[0].isdigit()]


class Sweeps(CommTest):
    def test_habits_of_nccl_tests_work(self):
        result = self.comm("-g", "2", "-b", "8", "-e", "8K", "-f", "8", "-w", "2", "-c", "1", "-o", "sum", "-d", "float", "-I", "1", "-z", "0", "-a", "1", "-T", "60", "-J", self.folder / "nccl.json")
        self.assert_code(result, 0)
        rows = self.nccl_rows(result.out)
        self.assertEqual([int(row[0]) for row in rows], [8, 64, 512, 4096])
        for row in rows:
            self.assertEqual(row[1:5], [str(int(row[0]) // 4), "float", "sum", "-1"])
            self.assertEqual((row[8], row[12]), ("0", "0"), "#wrong")
            # algbw is size over time, and busbw of two ranks the same.
            self.assertAlmostEqual(float(row[6]), int(row[0]) / float(row[5]) * 1e-3, delta=0.006)
            self.assertAlmostEqual(float(row[6]), float(row[7]), delta=0.006)
        self.assertIn("# Out of bounds values : 0 OK", result.out)
        self.assertRegex(result.out, r"# Avg bus bandwidth    : [0-9.e-]+\n")
        document = read_json(self.folder / "nccl.json")
        self.assertEqual([r["size"] for r in document["results"]], [8, 64, 512, 4096])
        self.assertEqual(document["config"]["minimum_bytes"], 8)
        self.assertEqual(document["out_of_bounds"], {"count": 0, "okay": True})
        first = document["results"][0]
        self.assertEqual(set(first["out_of_place"]), {"time", "alg_bw", "bus_bw", "nwrong"})
        self.assertAlmostEqual(first["out_of_place"]["time"], float(rows[0][5]), delta=0.006)
        for size in document["results"]:
            spread = size["out_of_place_per_iter"]
            self.assertLessEqual(spread["min_us"], spread["p50_us"])
            self.assertLessEqual(spread["p50_us"], spread["max_us"])
            self.assertAlmostEqual(spread["cv_pct"], 100 * spread["stdev_us"] / spread["avg_us"])
            for place in (size["out_of_place"], size["in_place"]):
                self.assertAlmostEqual(place["alg_bw"] / (size["size"] / place["time"] * 1e-3), 1, places=6, msg="GB/s are bytes over ns")
                self.assertAlmostEqual(place["bus_bw"] / place["alg_bw"], 1, places=6, msg="two ranks: 2 (n - 1) / n = 1")

    def test_every_operation_is_right(self):
        names = ["all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all", "send_recv", "barrier"]
        result = self.comm("--ranks", "3", "--collective", ",".join(names), "-b", "1K", "-e", "1K", "-r", "2")
        self.assert_code(result, 0)
        summary = self.summary(self.only_run())
        self.assertEqual([c["collective"][0]["operation"] for c in summary["cases"]], names)
        for one in summary["cases"]:
            c = one["collective"][0]
            with self.subTest(c["operation"]):
                self.assertEqual(len(c["sizes"]), 1)
                figures = c["sizes"][0]["out_of_place"]
                self.assertEqual(figures["n"], 5)
                if c["operation"] == "barrier":
                    self.assertIsNone(figures["wrong"])
                    continue
                self.assertEqual(figures["wrong"], 0)
                factor = {"all_reduce": 4 / 3, "all_gather": 2 / 3, "reduce_scatter": 2 / 3, "all_to_all": 2 / 3}.get(c["operation"], 1)
                self.assertAlmostEqual(figures["batch_busbw_gb_per_s"] / figures["batch_algbw_gb_per_s"], factor)
                self.assertEqual(c["sizes"][0]["in_place"]["n"] is None, c["operation"] in ("all_to_all", "send_recv"))
                self.assertEqual(c["root"], 2 if c["operation"] in ("broadcast", "reduce") else None)

    def test_every_operation_of_every_rank_is_kept(self):
        self.assert_code(self.comm("-g", "3", "-b", "64", "-e", "128", "--reps", "2"), 0)
        run = self.only_run()
        case = self.summary(run)["cases"][0]
        rows = read_csv(case_dir(run, case["case_id"]) / "collective_times.csv")
        # repetitions, sizes, places, modes, ranks, operations
        self.assertEqual(len(rows), 2 * 2 * 2 * 2 * 3 * 5)
        of_one = [[int(r["duration_ns"]) for r in rows if (r["repetition"], r["bytes"], r["in_place"], r["mode"], r["rank"]) == ("1", "128", "0", "sync", str(rank))]
                  for rank in range(3)]
        slowest = sorted(max(column) for column in zip(*of_one))
        samples = sorted(int(r["host_ns"]) for r in read_csv(case_dir(run, case["case_id"]) / "samples.csv") if r["repetition"] == "1")
        self.assertTrue(all(int(r["start_ns"]) > 0 for r in read_csv(case_dir(run, case["case_id"]) / "samples.csv")))
        self.assertEqual(slowest, samples, "samples are those of the largest size, of its slowest rank")

    def test_resume_keeps_what_is_measured(self):
        self.assert_code(self.comm("-g", "2", "-b", "64", "-e", "128"), 0)
        run = self.only_run()
        kept = {file: file.read_bytes() for file in run.rglob("timed-0.jsonl")}
        self.assert_code(self.run_cli("run", "--resume", run, "--repetitions", "2"), 0)
        for file, records in kept.items():
            self.assertEqual(file.read_bytes(), records)
        one = self.summary(run)["cases"][0]
        self.assertEqual([size["out_of_place"]["n"] for size in one["collective"][0]["sizes"]], [10, 10])
        self.assertEqual({r["repetition"] for r in read_csv(case_dir(run, one["case_id"]) / "collective_times.csv")}, {"0", "1"})

    def test_what_an_operation_does_not_have_makes_no_cases(self):
        self.assert_code(self.comm("-g", "2", "--collective", "all_reduce,all_gather,barrier", "-o", "sum,max", "-b", "64", "-e", "64"), 0)
        cases = self.summary(self.only_run())["cases"]
        self.assertEqual([(c["collective"][0]["operation"], c["collective"][0]["reduction"]) for c in cases],
                         [("all_reduce", "sum"), ("all_reduce", "max"), ("all_gather", ""), ("barrier", "")])
        barrier = cases[-1]
        self.assertEqual(barrier["throughput"]["item"], "barriers")
        self.assertAlmostEqual(barrier["throughput"]["per_s"]["value"] * barrier["stats"]["mean_ns"] * 1e-9, 1, places=6)

    def test_threads_are_the_cpus_of_a_rank(self):
        self.assert_code(self.comm("-g", "1", "--threads", "1", "-b", "64", "-e", "64"), 0)
        rank = self.summary(self.only_run())["cases"][0]["collective"][0]["ranks"][0]
        self.assertRegex(rank["cpus"], r"^\d+$")

    def test_a_plan_does_the_same(self):
        plan = self.write("sweep.yaml", "kind: collective\ncollectives: [all_reduce, broadcast]\ngpu_counts: [1, 2]\nmin_bytes: 64\nmax_bytes: 256\n"
                          "iterations: 5\nsize_time_s: 0\nidle_wait_s: 0\nallow_noisy: true\n" + (f"plugin: [{PLUGIN}]\n" if PLUGIN else ""))
        self.assert_code(self.run_cli("run", plan), 0)
        run = self.only_run()
        cases = self.summary(run)["cases"]
        self.assertEqual(len(cases), 4)
        alone = cases[0]["collective"][0]
        self.assertIsNone(alone["sizes"][0]["out_of_place"]["batch_busbw_gb_per_s"], "one rank has no bus")
        for form, words in (("html", "Collectives"), ("markdown", "one by one after a barrier"), ("csv", "busbw_gb_per_s"), ("nccl", "# Avg bus bandwidth"), ("nccl-json", "out_of_bounds")):
            with self.subTest(form):
                self.assert_code(self.run_cli("report", run, "--format", form, "--output", self.folder / f"report.{form}"), 0)
                self.assertIn(words, (self.folder / f"report.{form}").read_text(encoding="utf-8"))
        documents = json.loads((self.folder / "report.nccl-json").read_text(encoding="utf-8"))
        self.assertEqual(len(documents), 4, "a document for each sweep")


class Faults(CommTest):
    def test_wrong_results_fail(self):
        result = self.comm("-g", "2", "-b", "64", "-e", "64", env={"PACELINE_TEST_COMM": "wrong:1"})
        self.assert_code(result, 1)
        self.assertIn("# Out of bounds values : 2 FAILED", result.out)
        case = self.summary(self.only_run())["cases"][0]
        self.assertEqual((case["outcome"], case["reason_code"]), ("failed", "accuracy"))
        self.assertIn("1 elements of all_reduce of 64 bytes (out of place)", case["reason"])
        unchecked = self.comm("-g", "2", "-b", "64", "-e", "64", "-c", "0", env={"PACELINE_TEST_COMM": "wrong:1"})
        self.assert_code(unchecked, 0)
        self.assertIn("NOT CHECKED", unchecked.out)

    def test_an_operation_is_as_long_as_its_slowest_rank(self):
        self.assert_code(self.comm("-g", "3", "-b", "64", "-e", "64", env={"PACELINE_TEST_COMM": "late:1:20"}), 0)
        figures = self.summary(self.only_run())["cases"][0]["collective"][0]["sizes"][0]["out_of_place"]
        for name in ("batch_ns", "stream_ns"):
            self.assertGreaterEqual(figures[name], 20e6, name)
        self.assertGreaterEqual(figures["sync_ns"]["value"], 20e6)

    def test_an_element_type_that_the_backend_lacks_is_a_skip(self):
        result = self.comm("-g", "2", "-b", "64", "-e", "64", "-d", "float,double")
        self.assert_code(result, 0)
        outcomes = {c["case_id"]: (c["outcome"], c["reason_code"]) for c in self.summary(self.only_run())["cases"]}
        self.assertEqual(list(outcomes.values()), [("ok", ""), ("skipped", "unsupported")])


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


class Memory(CommTest):
    """The estimate of a rank is 64 MB for its process and, of a checked all_reduce, four buffers."""

    def planned(self, *words):
        result = self.comm(*words, "--dry-run", "--json")
        self.assert_code(result, 0)
        return json.loads(result.out)["cases"]

    def test_the_largest_size_that_fits_is_named(self):
        case, = self.planned("-g", "2", "-e", "4096G")
        memory = case["memory"]
        self.assertEqual(memory["ranks_here"], 2)
        self.assertEqual(memory["bytes_per_rank"], 64e6 + 4 * 2 ** 42)
        self.assertEqual(memory["bytes_of_ranks"], 2 * memory["bytes_per_rank"])
        largest = memory["largest_size_that_fits_bytes"]
        self.assertLessEqual(2 * (64e6 + 4 * largest), memory["available_bytes"])
        self.assertGreater(2 * (64e6 + 8 * largest), memory["available_bytes"])
        self.assertEqual(case["estimated_s"], 0)
        self.assertIn("all_reduce of 4096 GiB takes at least ", case["refused_because"])
        self.assertRegex(case["refused_because"], r"are available on this host; the largest size that fits is \d+ [KMG]iB: write max_bytes: (\d+[KMG]) \(-e \1\)$")

    def test_nothing_is_started(self):
        result = self.comm("-g", "2", "-e", "4096G", "--collective", "all_reduce,barrier")
        self.assert_code(result, 2)
        reduced, barrier = self.summary(self.only_run())["cases"]
        self.assertEqual((reduced["outcome"], reduced["reason_code"]), ("failed", "config"))
        self.assertIn("the largest size that fits is", reduced["reason"])
        self.assertFalse((case_dir(self.only_run(), reduced["case_id"]) / "log.txt").exists(), "no rank was started")
        self.assertEqual(barrier["outcome"], "ok")

    def test_rounds_count(self):
        case, = self.planned("-g", "2", "-e", "64", "--rounds", "pairs", "--round-bytes", "4096G")
        self.assertIn("a round of 4096 GiB takes at least ", case["refused_because"])
        self.assertIn("write a smaller round_bytes", case["refused_because"])

    def test_a_dry_run_says_what_fits(self):
        result = self.comm("-g", "2", "-e", "1M", "--dry-run")
        self.assert_code(result, 0)
        self.assertRegex(result.out, r"memory: at least 68\.2 MB in each of 2 ranks at 1 MiB, 136 MB of the .* available on this host")


class SmallSizes(CommTest):
    def test_less_than_an_element_is_refused(self):
        for words, said in ((("-b", "1", "-e", "2"), "all_reduce of float carries at least 4 bytes, one element, and max_bytes is 2; write max_bytes: 4 (-e 4)"),
                            (("-g", "3", "-b", "4", "-e", "8", "--collective", "all_gather"),
                             "all_gather of float carries at least 12 bytes, one element for each of 3 ranks, and max_bytes is 8; write max_bytes: 12 (-e 12)")):
            with self.subTest(words):
                result = self.comm(*words)
                self.assert_code(result, 2)
                self.assertIn(said, result.err)
                self.assertEqual(self.summary(self.only_run())["cases"][0]["reason"], said)
                shutil.rmtree(self.folder / "results")
                planned = self.comm(*words, "--dry-run")
                self.assertIn("refused: " + said, planned.out)

    def test_what_is_measured_instead_is_said(self):
        said = "all_reduce of float carries at least 4 bytes, one element: smaller sizes are measured as that"
        self.assertIn(said, self.comm("-g", "2", "-b", "1", "-e", "16", "--dry-run").out)
        result = self.comm("-g", "2", "-b", "1", "-e", "16")
        self.assert_code(result, 0)
        self.assertEqual([int(row[0]) for row in self.nccl_rows(result.out)], [4, 8, 16])
        self.assertIn(said, result.out)
        self.assertNotIn("carries at least", self.comm("-g", "2", "-b", "4", "-e", "16").out)


class Help(CommTest):
    def test_options_of_training_are_not_listed(self):
        shown = self.run_cli("comm", "--help").out
        self.assertIn("--group-timeout-s", shown)
        self.assertNotIn("profiling", shown)
        for flag in ("--profiling.tool", "--profiling.trigger", "--profiling.enabled"):
            self.assert_error(self.comm(flag, "always"), 2, flag)

    def test_in_a_plan_they_are_said_to_have_no_effect(self):
        plan = self.write("sweep.yaml", "kind: collective\ngpu_counts: [2]\nmin_bytes: 64\nmax_bytes: 64\nprofiling: {tool: nsys}\niterations: 5\nsize_time_s: 0\n"
                          "idle_wait_s: 0\nallow_noisy: true\n" + (f"plugin: [{PLUGIN}]\n" if PLUGIN else ""))
        for words in ((), ("--dry-run",)):
            result = self.run_cli("run", plan, *words)
            self.assert_code(result, 0)
            self.assertIn("no effect here: profiling.tool (for profiling.enabled: true)", result.err)


class RoundsTest(CommTest):
    def rounds_of(self, *words, fault="", ranks=4, code=0):
        result = self.comm("-g", ranks, "-b", "64", "-e", "64", "--round-bytes", "1K", "-w", "1", *words, env={"PACELINE_TEST_COMM": fault} if fault else None)
        self.assert_code(result, code)
        case = self.summary(self.only_run())["cases"][0]
        self.assertEqual(len(case["collective"][0]["rounds"]), 1)
        return case, case["collective"][0]["rounds"][0], result.out


class Rounds(RoundsTest):
    def test_a_slow_rank_is_named(self):
        case, rounds, out = self.rounds_of("--rounds", "pairs", fault="slow:2:120:20")
        self.assertEqual((rounds["of"], rounds["bytes"], rounds["rounds"], rounds["attempts"], rounds["wrong"]), ("pairs", 1024, 3, 3, 0))
        self.assertEqual(sorted(s["members"] for s in rounds["subsets"]), [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])
        for subset in rounds["subsets"]:
            self.assertEqual(subset["ns"] > 120e6, 2 in subset["members"])
            self.assertAlmostEqual(subset["gb_per_s"] * subset["ns"] / 1024, 1, places=6)
        slow, = rounds["slow"]
        self.assertEqual((slow["what"], slow["ranks"]), ("rank", [2]))
        self.assertIn("Slow: rank 2 (", out)
        rows = read_csv(case_dir(self.only_run(), case["case_id"]) / "rounds.csv")
        self.assertEqual(len(rows), 3 * 6 * 5, "attempts, pairs, operations")
        self.assertEqual({r["ranks"] for r in rows}, {"0 1", "0 2", "0 3", "1 2", "1 3", "2 3"})

    def test_a_slow_link_is_named(self):
        _, rounds, out = self.rounds_of("--rounds", "2", ranks=5, fault="link:1:3:120:20")
        self.assertEqual(rounds["rounds"], 5, "of an odd number of ranks each pauses once")
        self.assertEqual([(s["what"], s["ranks"]) for s in rounds["slow"]], [("link", [1, 3])])
        self.assertRegex(out, r"Slow: the link between rank 1 \(.*\) and rank 3 \(")

    def test_subsets_name_a_slow_rank(self):
        _, rounds, out = self.rounds_of("--rounds", "3", ranks=6, fault="slow:4:120:20")
        self.assertTrue(all(len(s["members"]) == 3 for s in rounds["subsets"]))
        self.assertEqual([(s["what"], s["ranks"]) for s in rounds["slow"]], [("rank", [4])])
        self.assertIn("slowest ranks together", out)

    def test_reports_have_the_matrix_and_the_verdict(self):
        self.rounds_of("--rounds", "pairs", fault="slow:1:120:20")
        for form in ("html", "markdown"):
            self.assert_code(self.run_cli("report", self.only_run(), "--format", form, "--output", self.folder / f"report.{form}"), 0)
            text = (self.folder / f"report.{form}").read_text(encoding="utf-8")
            self.assertIn("Slow: rank 1 (", text)
            self.assertIn("Rounds of pairs: 1 KiB each way, 3 rounds and 3 attempts", text)

    def test_wrong_messages_fail(self):
        case, rounds, _ = self.rounds_of("--rounds", "pairs", fault="wrong:1", code=1)
        self.assertEqual(case["reason_code"], "accuracy")
        self.assertGreater(rounds["wrong"], 0)

    def test_two_ranks_have_nobody_to_be_compared_with(self):
        _, rounds, out = self.rounds_of("--rounds", "pairs", ranks=2)
        self.assertEqual((rounds["slow"], len(rounds["subsets"])), ([], 1))
        self.assertIn("No verdict: 2 ranks have nobody to be compared with", out)

    def test_hosts_on_one_host_are_a_skip(self):
        result = self.comm("-g", "4", "--rounds", "hosts")
        self.assert_code(result, 77)
        self.assertIn("rounds of hosts need two hosts, and all ranks are on one; use pairs", self.summary(self.only_run())["cases"][0]["reason"])


class RoundsOfGloo(RoundsTest):
    """Four hosts of one rank each over gloo, in network namespaces."""

    def setUp(self):
        super().setUp()
        self.lab = launch_lab.NetworkLab(4)
        self.addCleanup(self.lab.end)

    def measured(self, *words):
        command = [launch_lab.BINARY, "comm", *QUICK, "-b", "64K", "-e", "64K", "--round-bytes", "256K", "-w", "1", "--threads", "1", *words,
                   "--nnodes", "4", "--nproc-per-node", "1", "--rdzv-endpoint", f"{self.lab.address(0)}:29500", "--node-rank"]
        hosts = [subprocess.Popen([*self.lab.on(k), *command, str(k)], cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, start_new_session=True) for k in range(4)]
        for host in hosts:
            self.addCleanup(launch_lab.end_processes, host)
        for host in hosts:
            self.assert_code(self.finish(host), 0)
        return self.summary(self.only_run())["cases"][0]["collective"][0]["rounds"][0]

    def test_the_host_with_a_slow_link_is_named(self):
        # The other links have a rate too, beside whose times the noise of a busy machine is small.
        self.lab.slow("200mbit", hosts=[0, 1, 3])
        self.lab.slow("25mbit", hosts=[2])
        for of in ("pairs", "hosts"):
            with self.subTest(of):
                rounds = self.measured("--rounds", of, "--output-dir", "results")
                self.assertEqual([(s["what"], s["ranks"], s["hosts"]) for s in rounds["slow"]], [("rank", [2], ["node2"])])
                # 256 KiB are 84 ms at 25 Mbit/s and 10 ms at 200, of which the limiter lets 16 kB through at once.
                for subset in rounds["subsets"]:
                    self.assertEqual(subset["ns"] > 60e6, 2 in subset["members"], subset)
                shutil.rmtree(self.folder / "results")


class Gates(CommTest):
    def decided(self, *words, **options):
        """More operations while there is no verdict: where a machine's times drift, few of them allow no interval (3), and never a wrong verdict."""
        for n in (400, 1600, 6400, 25600):
            result = self.comm("-n", n, *words, **options)
            if result.code != 3:
                break
        return result

    def test_bandwidth_by_size(self):
        met = self.decided("-g", "2", "-b", "64", "-e", "128", "--min-busbw", "64:0.0000001,128:0.0000001")
        self.assert_code(met, 0)
        self.assertIn("expect min_busbw 128:1e-07: met", met.out)
        missed = self.decided("-g", "2", "-b", "64", "-e", "128", "--min-busbw", "128:1000")
        self.assert_code(missed, 1)
        rounded = self.decided("-g", "3", "--collective", "all_gather", "-b", "1K", "-e", "1K", "--min-busbw", "1K:0.0000001")
        self.assert_code(rounded, 0)
        self.assertIn("at 1020 bytes", rounded.out)
        nearest = self.decided("-g", "2", "-b", "8", "-e", "16", "--min-busbw", "16:0.0000001")
        self.assert_code(nearest, 0)
        self.assertIn("at 16 bytes", nearest.out)
        for size, ranks in (("16", "2"), ("32", "8")):
            near = self.comm("-g", ranks, "-b", "8", "-e", "8", "--min-busbw", f"{size}:1")
            self.assert_error(near, 2, f"min_busbw '{size}:1': {size} bytes are not among the 1 size of the sweep")
        absent = self.comm("-g", "2", "-n", "400", "-b", "64", "-e", "128", "--min-busbw", "1M:1")
        self.assert_error(absent, 2, "min_busbw '1M:1': 1048576 bytes are not among the 2 sizes of the sweep, from 64 to 128")

    def test_the_variable_of_nccl_tests(self):
        missed = self.decided("-g", "2", "-b", "64", "-e", "64", env={"NCCL_TESTS_MIN_BW": "1000"})
        self.assert_code(missed, 1)
        self.assert_error(self.comm("-g", "2", "-b", "64", "-e", "64", env={"NCCL_TESTS_MIN_BW": "much"}), 2, "NCCL_TESTS_MIN_BW=much")

    def test_variables_of_nccl_tests_are_honoured_or_refused(self):
        for name, value in (("NCCL_TESTS_SPLIT", "MOD 2"), ("NCCL_TESTS_SPLIT_MASK", "0x7"), ("NCCL_TESTS_DEVICE", "0")):
            with self.subTest(name):
                self.assert_error(self.comm("-g", "2", "-b", "64", "-e", "64", env={name: value}), 2, f"{name}={value}: ", "unset it")
        self.assert_code(self.comm("-g", "2", "-b", "64", "-e", "64", env={"NCCL_TESTS_SPLIT_MASK": "0x0", "NCCL_TESTS_SPLIT": "AND 0x0"}), 0)
        self.assertEqual(read_json(self.only_run() / "environment.json")["variables"]["NCCL_TESTS_SPLIT_MASK"], "0x0")

    def test_metrics(self):
        result = self.decided("-g", "2", "-b", "64", "-e", "128", "--expect", "busbw_gb_per_s > 0", "--expect", "small_latency_us < 1e9")
        self.assert_code(result, 0)


class Expected(CommTest):
    TABLE = "wire:\n  about: a wire\n  operations: [all_reduce]\n  busbw_gb_per_s: {128: 0.5, 256: 1}\n  source: a page\n"

    def test_stands_beside_what_is_measured(self):
        table = self.write("own.yaml", self.TABLE)
        result = self.comm("-g", "2", "-b", "64", "-e", "256", "--expected", table, "--topology", "wire", "-J", self.folder / "nccl.json")
        self.assert_code(result, 0)
        collective = self.summary(self.only_run())["cases"][0]["collective"][0]
        self.assertEqual(collective["topology"], "wire (a wire); a page")
        few, first, second = collective["sizes"]
        self.assertIsNone(few["expected_busbw_gb_per_s"])
        self.assertEqual(few["expected_busbw_gb_per_s_reason"], "wire has no figure of so few bytes")
        self.assertEqual([s["expected_busbw_gb_per_s"] for s in (first, second)], [0.5, 1])
        for size in (first, second):
            self.assertAlmostEqual(size["expected_share"] * size["expected_busbw_gb_per_s"] / size["out_of_place"]["sync_busbw_gb_per_s"]["value"], 1, places=6)
        self.assertEqual([r["expected_bus_bw"] for r in read_json(self.folder / "nccl.json")["results"]], [None, 0.5, 1])
        self.assertIn("of expected", result.out)
        self.assertRegex(result.out, r"% \(0\.500\)")
        for form in ("html", "markdown"):
            self.assert_code(self.run_cli("report", self.only_run(), "--format", form, "--output", self.folder / f"report.{form}"), 0)
            self.assertIn("expected of wire (a wire); a page", (self.folder / f"report.{form}").read_text(encoding="utf-8"))

    def test_an_unknown_topology_has_none(self):
        result = self.comm("-g", "2", "-b", "64", "-e", "64")
        self.assert_code(result, 0)
        collective = self.summary(self.only_run())["cases"][0]["collective"][0]
        self.assertEqual(collective["topology"], "")
        self.assertIn("no expected value: no row of the table of topologies fits this run", result.out)
        self.assertIsNone(collective["sizes"][0]["expected_share"])
        self.assertNotIn("of expected", result.out)

    def test_another_operation_has_none(self):
        result = self.comm("-g", "2", "-b", "64", "-e", "64", "--collective", "broadcast", "--topology", "nvlink4")
        self.assert_code(result, 0)
        self.assertIn("no expected value: nvlink4 has no figures of broadcast", result.out)

    def test_mistakes_in_the_table_are_named(self):
        for text, said in ((self.TABLE.replace("source", "sorce"), ("own.yaml:5:3: unknown key 'wire.sorce'", "source")),
                           (self.TABLE.replace("128: 0.5", "128: much"), ("own.yaml:4:25: 'wire.busbw_gb_per_s': 'much' is no bandwidth above 0",)),
                           ("wire: [", ("own.yaml:",))):
            with self.subTest(text):
                self.assert_error(self.comm("-g", "2", "--expected", self.write("own.yaml", text)), 2, *said)
        self.assert_error(self.comm("-g", "2", "--expected", "none.yaml"), 2, "none.yaml")
        self.assert_error(self.comm("-g", "2", "--topology", "nvlink"), 2, "topology 'nvlink' is no row of the table", "nvlink4")


class Mistakes(CommTest):
    def test_are_named(self):
        for words, said in (
            (("-b", "1M", "-e", "1K"), ("min_bytes", "max_bytes")),
            (("--ranks", "0"), ("ranks", "0")),
            (("--collective", "all_reduc"), ("all_reduc", "all_reduce")),
            (("--min-busbw", "64"), ("min_busbw '64'", "SIZE:GBps")),
            (("--min-busbw", "x:1"), ("min_busbw 'x:1'",)),
            (("-b", "1", "-e", "1G", "-i", "1"), ("more than 100000 sizes", "larger")),
            (("-g", "2", "--collective", "broadcast", "-r", "2"), ("root 2", "0 to 1")),
            (("-i", "1K", "-f", "2"), ("'-i'", "'-f'", "exclude each other")),
            (("-d", "float32"), ("float32", "float")),
            (("--in-process",), ("--in-process", "collectives")),
            (("--backend", "mpi"), ("mpi", "gloo")),
            (("--rounds", "pairs"), ("rounds 'pairs' need at least 2 ranks", "a case has 1")),
            (("-g", "2,5", "--rounds", "3"), ("rounds '3' need at least 6 ranks", "a case has 2")),
            (("-g", "4", "--rounds", "pair"), ("rounds 'pair' is none of pairs, hosts, or a number of ranks from 2 on",)),
            (("-g", "4", "--rounds", "1"), ("rounds '1' is none of",)),
            (("-g", "4", "--rounds", "pairs", "--slow-factor", "1"), ("slow_factor", "1.01")),
        ):
            with self.subTest(words):
                self.assert_error(self.comm(*words), 2, *said)

    def test_nccl_on_a_cpu_is_a_skip(self):
        result = self.comm("--backend", "nccl", "--device", "cpu")
        self.assert_code(result, 77)
        self.assertIn("the ranks run on the CPU; use gloo", result.out + result.err)


class LaunchedTest(CommTest):
    """Other launchers start the ranks: those of training are tested in test_launchers.py, and comm is placed by the same code."""

    def summary_of(self, launcher, env=None):
        command = [*launcher, launch_lab.BINARY, "comm", *(("--plugin", PLUGIN) if PLUGIN else ()), *QUICK, "-b", "8", "-e", "64", "-f", "8"]
        done = subprocess.run([str(word) for word in command], cwd=self.folder, env={**self.env, **(env or {})}, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count("# Avg bus bandwidth"), 1, "rank 0 alone prints")
        return self.summary(self.only_run())["cases"][0]["collective"][0]

    def assert_two(self, collective, launcher):
        self.assertEqual((collective["launcher"], len(collective["ranks"]), collective["wrong"]), (launcher, 2, 0))


class Mpirun(LaunchedTest):
    def test_two_ranks(self):
        program = launch_lab.need_program("mpirun")
        self.assert_two(self.summary_of([program, "--oversubscribe", "-np", "2"], launch_lab.MPI_ENV), "mpirun")


class Slurm(LaunchedTest):
    def test_two_ranks_on_two_nodes(self):
        lab = launch_lab.SlurmLab(tempfile.mkdtemp(prefix="paceline-slurm-"))
        self.addCleanup(lab.end)
        # Fake nodes have names that do not resolve.
        self.assert_two(self.summary_of(["srun", "-N", "2", "-n", "2", "--kill-on-bad-exit=1"], {**lab.env, "MASTER_ADDR": "127.0.0.1"}), "srun")


class Torchrun(LaunchedTest):
    """Its agent serves a store that speaks LibTorch's protocol."""

    def test_two_ranks(self):
        self.assert_two(self.summary_of([launch_lab.torchrun(), "--standalone", "--nproc-per-node", "2", "--no-python"]), "torchrun")


class OfLibTorch(CommTest):
    """Over gloo, by the installed plug-in."""

    def test_gloo_runs(self):
        result = self.comm("-g", "2", "-b", "8", "-e", "1M", "-f", "16", "-d", "float,half,int32")
        self.assert_code(result, 0)
        cases = self.summary(self.only_run())["cases"]
        self.assertEqual([c["outcome"] for c in cases], ["ok"] * 3)
        for one in cases:
            self.assertEqual(one["collective"][0]["wrong"], 0)
            self.assertEqual(one["collective"][0]["backend"], "gloo")

    def test_what_gloo_lacks_is_a_skip(self):
        result = self.comm("-g", "2", "-b", "64", "-e", "64", "-o", "sum,avg", "-d", "int32")
        self.assert_code(result, 0)
        cases = self.summary(self.only_run())["cases"]
        self.assertEqual([(c["outcome"], c["reason_code"]) for c in cases], [("ok", ""), ("skipped", "unsupported")])
        self.assertIn("all_reduce of int32 (avg) over gloo", cases[1]["reason"])


if __name__ == "__main__":
    unittest.main()
