# SPDX-License-Identifier: MIT
"""`paceline comm`: flags and output of nccl-tests, figures against a truth that is known, wrong input."""

import json
import shutil
import unittest

from comm_lab import PLUGIN, CommTest
from paceline_cli import case_dir, read_csv, read_json


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
        self.assertAlmostEqual(first["out_of_place"]["time"], float(rows[0][5]), delta=0.006 + 1e-5 * first["out_of_place"]["time"])
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
        self.assertRegex(result.on_one_line, r"memory: at least 68\.2 MB in each of 2 ranks at 1 MiB, 136 MB of the .* available on this host")


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
                self.assertIn("refused: " + said, planned.on_one_line)

    def test_names_what_is_measured_instead(self):
        said = "all_reduce of float carries at least 4 bytes, one element: smaller sizes are measured as that"
        self.assertIn(said, self.comm("-g", "2", "-b", "1", "-e", "16", "--dry-run").on_one_line)
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
        self.assertNotIn("\nTraining:", shown)
        for flag in ("--profiling.tool", "--profiling.trigger", "--profiling.enabled"):
            self.assert_error(self.comm(flag, "always"), 2, flag)

    def test_in_a_plan_they_are_said_to_have_no_effect(self):
        plan = self.write("sweep.yaml", "kind: collective\ngpu_counts: [2]\nmin_bytes: 64\nmax_bytes: 64\nprofiling: {tool: nsys}\niterations: 5\nsize_time_s: 0\n"
                          "idle_wait_s: 0\nallow_noisy: true\n" + (f"plugin: [{PLUGIN}]\n" if PLUGIN else ""))
        for words in ((), ("--dry-run",)):
            result = self.run_cli("run", plan, *words)
            self.assert_code(result, 0)
            self.assertIn("no effect here: profiling.tool (for profiling.enabled: true)", result.err)


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


if __name__ == "__main__":
    unittest.main()
