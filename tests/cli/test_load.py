# SPDX-License-Identifier: MIT
"""Scenarios closed_loop, offline and server on an engine of known behaviour. No test says anything about speed."""

import collections
import os
import signal
import time
import unittest

from paceline_cli import QUICK, SPIN, CliTest, case_of, instances_of, main, read_csv, read_json, wait_until

CPUS = len(os.sched_getaffinity(0))


class Load(CliTest):
    def load_run(self, *arguments, us=500, code=0, **options):
        result = self.infer(*arguments, env={"SPIN_US": str(us)}, **options)
        self.assert_code(result, code)
        return result, self.summary()

    def samples_of(self, case):
        run = self.only_run()
        folder = run / "cases" / case["case_id"]
        return read_csv((folder if folder.exists() else run) / "samples.csv")


    def assert_stages(self, rows):
        """Queue, input, compute and output are the whole latency of each request."""
        for row in rows:
            self.assertEqual(sum(int(row[f"{stage}_ns"] or 0) for stage in ("queue", "input", "compute", "output")), int(row["host_ns"]))

    def assert_batches(self, case, largest):
        """Requests of one inference began together and say how many they were; the result's counts are the samples'."""
        load, rows = case["load"][0], self.samples_of(case)
        self.assert_stages(rows)
        inferences = collections.Counter((int(r["start_ns"]) + int(r["queue_ns"]), r["instance"], r["batch"]) for r in rows)
        for (_, _, batch), requests in inferences.items():
            self.assertEqual(requests, int(batch))
            self.assertLessEqual(requests, largest)
        counted = collections.Counter(int(r["batch"]) for r in rows if int(r["flags"]) == 0)
        self.assertEqual({s["size"]: s["requests"] for s in load["batch_sizes"]}, counted)
        self.assertAlmostEqual(load["mean_batch"], sum(counted.values()) / sum(n / size for size, n in counted.items()))
        self.assertEqual(load["max_batch"], largest)
        return load


class ClosedLoopAndOffline(Load):
    def test_a_sweep_over_concurrency(self):
        _, summary = self.load_run("--scenario", "closed_loop", "--concurrency", "1,2", iterations=200)
        for lanes in (1, 2):
            case = case_of(summary, concurrency=lanes)
            self.assertEqual(case["outcome"], "ok")
            self.assertEqual(case["benchmark"]["scenario"], "closed_loop")
            self.assertIn(f"closed_loop c{lanes}", case["label"])
            self.assertEqual(case["load"][0]["concurrency"], lanes)
            self.assertEqual(case["stats"]["n"], 200)
            self.assertTrue(case["throughput"]["per_s"]["value"] > 0)
            self.assertIsNone(case["load"][0]["utilization"])
            self.assertIsNotNone(case["noise"]["nivcsw_per_s"])
        self.assertEqual([f["id"] for f in summary["findings"] if f["id"] == "knee"], ["knee"])

    def test_offline_works_off_exactly_what_was_asked(self):
        result, summary = self.load_run("--scenario", "offline", "--concurrency", "2", iterations=101)
        case = summary["cases"][0]
        self.assertEqual(len(self.samples_of(case)), 101)
        self.assertTrue(case["throughput"]["per_s"]["value"] > 0)
        self.assertIn("no latency", result.out + result.err)

    def test_threads_are_shared_between_lanes(self):
        _, summary = self.load_run("--scenario", "closed_loop", "--concurrency", "64", iterations=64, us=10)
        self.assertEqual(summary["cases"][0]["benchmark"]["threads"], 1)


class Pipelined(Load):
    def test_blocks_beside_one_at_a_time(self):
        result, summary = self.load_run("--timing", "sync,pipelined", iterations=5, us=5000)
        one, blocks = summary["cases"]
        self.assertEqual(one["benchmark"]["timing_mode"], "sync_latency")
        self.assertNotIn("timing", one["benchmark"]["params"])
        self.assertNotIn("sync", one["label"])
        self.assertEqual((one["back_to_back_ns"]["value"], one["device_parts"]), (None, []))
        self.assertEqual(blocks["benchmark"]["timing_mode"], "pipelined")
        self.assertEqual(blocks["benchmark"]["params"]["timing"], "pipelined")
        self.assertTrue(blocks["label"].endswith(" pipelined"), blocks["label"])
        self.assertEqual(blocks["stats"]["n"], 5)
        self.assertEqual(blocks["headline"]["p50_ns"]["value_reason"], "pipelined")
        per_inference = blocks["back_to_back_ns"]["value"]
        self.assertGreater(per_inference, 4e6)
        self.assertEqual({row["flags"] for row in self.samples_of(blocks)}, {"2"})
        size = int(blocks["effective_settings"]["inferences_per_block"])
        self.assertIn(size, (8, 16))
        self.assertGreaterEqual(size * per_inference, 40e6)
        self.assertEqual(blocks["correctness"]["verdict"], one["correctness"]["verdict"])
        self.assertIn("ms per inference back to back, which is no latency", result.out)
        self.assertRegex(result.out, r"pipelined takes [\d.]+ ms an inference back to back \(")

    def test_only_one_request_at_a_time_has_blocks(self):
        result = self.infer("--timing", "pipelined", "--scenario", "closed_loop")
        self.assert_code(result, 2)
        self.assertIn("'timing' is for the scenario sync; add --scenario sync", result.err)


class Replay(Load):
    """Requests at the times of a file."""

    def schedule(self, text, name="flow.csv"):
        file = self.folder / name
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(file)

    def replay(self, file, *arguments, **options):
        return self.load_run("--scenario", "server", "--server.arrival", file, *arguments, **options)

    def starts(self, summary):
        rows = self.samples_of(summary["cases"][0])
        return [(int(row["start_ns"]) - int(rows[0]["start_ns"])) / 1e6 for row in rows]

    def test_the_times_of_a_csv_once_per_repetition(self):
        times = [i * 2 + i % 2 for i in range(300)]
        file = self.schedule("id,Timestamp_ms\n" + "".join(f"{i},{5000 + t}\n" for i, t in enumerate(times)))
        result, summary = self.replay(file, "--repetitions", "2", us=100, iterations=None)
        case = summary["cases"][0]
        load = case["load"][0]
        self.assertEqual((load["arrival"], load["offered"] + load["warmup_requests"]), ("recorded", 600))
        self.assertEqual(load["replay"], [{"file": file, "format": "CSV, column timestamp_ms", "unit": "ms", "times": 300, "replayed": 300, "speed": 1}])
        self.assertEqual(case["benchmark"]["params"]["server.arrival"], file)
        self.assertAlmostEqual(load["offered_per_s"], 299 / 0.599, delta=0.01)
        self.assertEqual(self.starts(summary)[:300], times)
        self.assertIn("(CSV, column timestamp_ms, in ms): all 300 times; 300 requests", result.out + result.err)
        self.assertLessEqual(load["issue_delay_p50_ns"], load["issue_delay_p99_ns"])
        self.assertLessEqual(load["issue_delay_p99_ns"], load["issue_delay_max_ns"])
        self.assertIn("in ms): all 300 times.", (self.only_run() / "report.html").read_text())

    def test_json_lines_scaled_to_a_rate_and_cut(self):
        file = self.schedule("".join(f'{{"timestamp": {i * 1000}, "hash_ids": [1, 2]}}\n' for i in range(1000)), "trace.jsonl")
        result, summary = self.replay(file, "--arrival-rate", "500", "--server.t_max_s", "0.5", "--instances", "1", us=100, iterations=None)
        load = summary["cases"][0]["load"][0]
        self.assertEqual(load["replay"][0]["replayed"], 251)
        self.assertEqual(load["replay"][0]["speed"], 500)
        self.assertEqual(self.starts(summary), [i * 2 for i in range(251)])
        self.assertIn("(JSON lines, in ms): the first 251 of 1000 times, 500 times as fast", result.out + result.err)

    def test_a_replayed_case_is_known_by_its_times(self):
        runs = []
        for name, text in (("flow.txt", "".join(f"{i / 500}\n" for i in range(100))),
                           ("flow.jsonl", "".join(f'{{"timestamp": {i * 2}}}\n' for i in range(100))),
                           ("flow.txt", "".join(f"{i / 250}\n" for i in range(100)))):
            self.assert_code(self.infer("--scenario", "server", "--server.arrival", self.schedule(text, name), "--output-dir", f"results/{len(runs)}",
                                        iterations=None), 0)
            runs += (self.folder / f"results/{len(runs)}").rglob("run_summary.json")
        first, again, other = (read_json(run)["cases"][0]["benchmark"] for run in runs)
        self.assertEqual(first["schedule"], again["schedule"])
        self.assertNotEqual(first["schedule"], other["schedule"])
        self.assertEqual(first["params"], other["params"])
        self.assertIn(f"flow.txt ({first['schedule'][:8]}) →", self.run_cli("compare", runs[0].parent, runs[2].parent).on_one_line)

    def test_an_objective_is_judged_on_the_replay(self):
        file = self.schedule("".join(f"{i / 4000:.5f}\n" for i in range(2000)), "flow.txt")
        _, summary = self.replay(file, "--slo", "p99=5ms", us=1000, iterations=None, code=1)
        load = summary["cases"][0]["load"][0]
        self.assertEqual((load["slo"][0]["verdict"], load["capacity"]["trials"]), ("missed", []))

    def test_bad_schedules_are_refused_before_anything_runs(self):
        for text, *words in (("3\n2\n", "line 2: 2 s comes after 3 s; the times must ascend"),
                             ("0\n-1\n", "line 2: -1 s is negative"),
                             ("0\ninf\n", "line 2: 'inf' is no time in seconds"),
                             ("", "contains no time"),
                             ("4\n", "contains one time; at least two are needed"),
                             ("4\n4\n", "contains the same time 2 times; use --scenario offline"),
                             (b"\x7fELF\0\0\xff", "is no text"),
                             ('{"timestamp": 1}\n{"t": 2}\n', """line 2: no 'timestamp' in '{"t": 2}'"""),
                             ("a,b\n1,2\n", "line 1: 'a,b' is no time in seconds")):
            with self.subTest(text=text):
                result = self.infer("--scenario", "server", "--server.arrival", self.schedule(text), iterations=None)
                self.assert_error(result, 2, *words, lines=1)
        result = self.infer("--scenario", "server", "--server.arrival", str(self.folder / "none.csv"), iterations=None)
        self.assert_error(result, 2, "does not exist; check the path", lines=1)
        result = self.infer("--scenario", "server", "--server.arrival", str(self.folder), iterations=None)
        self.assert_error(result, 2, "is a folder; name a file", lines=1)


class Server(Load):
    def server(self, *arguments, **options):
        return self.load_run("--scenario", "server", *arguments, **options)

    def test_a_short_run_says_what_it_lacks_before_and_after(self):
        result, summary = self.server("--server.load", "0.5", iterations=1000)
        case = summary["cases"][0]
        load = case["load"][0]
        self.assertRegex(result.out + result.err, r"1000 requests at .*p99 needs \d+ more requests")
        self.assertAlmostEqual(load["utilization"], 0.5)
        self.assertEqual(load["requests_needed"], 16000)
        p99 = case["stats"]["quantiles"][-1]
        self.assertIsNone(p99["value_ns"])
        self.assertRegex(p99["value_ns_reason"], r"needs \d+ more requests")
        self.assertIsNotNone(case["headline"]["p50_ns"]["value"])
        self.assertIsNone(case["headline"]["p50_ns"]["ci_low"])

    def test_every_request_is_there_once_with_its_stages(self):
        _, summary = self.server("--server.load", "0.5", "--concurrency", "2", iterations=1000)
        case = summary["cases"][0]
        load, rows = case["load"][0], self.samples_of(case)
        self.assertEqual([int(r["index"]) for r in rows], list(range(1000)))
        self.assertEqual(load["offered"] + load["warmup_requests"], 1000)
        self.assertEqual(load["completed"], load["offered"])
        self.assertEqual(sum(int(r["flags"]) == 4 for r in rows), load["warmup_requests"])
        self.assert_stages(rows)
        self.assertEqual([s["name"] for s in load["stages"]], ["queue", "input", "compute", "output"])
        self.assertIsNone(load["mean_batch"])
        counted = [int(r["host_ns"]) for r in rows if int(r["flags"]) == 0]
        self.assertAlmostEqual(sum(s["mean_ns"] for s in load["stages"]), sum(counted) / len(counted), delta=1)

    def test_the_schedule_follows_its_seed(self):
        gaps = []
        for seed in ("5", "5", "6"):
            self.server("--arrival-rate", "2000", "--server.seed", seed, iterations=300)
            run = self.only_run()
            starts = [int(r["start_ns"]) for r in read_csv(run / "samples.csv")]
            gaps.append([b - a for a, b in zip(starts, starts[1:])])
            run.rename(self.folder / f"seen{len(gaps)}")
        self.assertEqual(gaps[0], gaps[1])
        self.assertNotEqual(gaps[0], gaps[2])

    def test_requests_that_time_out_stay_in_the_figures(self):
        _, summary = self.server("--arrival-rate", "4000", "--server.timeout_s", "0.02", us=1000, iterations=2000)
        case = summary["cases"][0]
        load = case["load"][0]
        self.assertGreater(load["timed_out"], 0)
        self.assertEqual(load["completed"] + load["timed_out"] + load["unfinished"], load["offered"])
        self.assertEqual(case["stats"]["n"], load["offered"])
        self.assertEqual(case["grade"], "C")
        self.assertIsNone(case["stats"]["mean_ns"])
        lost = [r for r in self.samples_of(case) if int(r["flags"]) & 8]
        self.assertTrue(lost)
        self.assertEqual({r["host_ns"] for r in lost}, {""})

    def test_an_objective_that_is_missed(self):
        result, summary = self.server("--arrival-rate", "4000", "--slo", "p99=5ms", us=1000, iterations=2000, code=1)
        slo = summary["cases"][0]["load"][0]["slo"][0]
        self.assertEqual(slo["verdict"], "missed")
        self.assertEqual([g["verdict"] for g in summary["gates"]], ["missed"])
        self.assertIn("slo p99=5.00 ms: missed", result.out + result.err)

    def test_an_objective_that_a_short_run_cannot_decide(self):
        _, summary = self.server("--server.load", "0.3", "--slo", "p99=10s", iterations=500, code=3)
        slo = summary["cases"][0]["load"][0]["slo"][0]
        self.assertEqual(slo["verdict"], "cannot_say")
        self.assertIn("more requests", slo["detail"])

    def test_a_search_for_the_capacity_keeps_to_its_cap(self):
        plan = self.spin_plan("scenario: server", "slo: p99=1us", "server: {max_requests: 60000}")
        plan.write_text("".join(line for line in plan.read_text().splitlines(True) if not line.startswith("iterations")))
        result = self.run_cli("run", plan, env={"SPIN_US": "10"})
        self.assert_code(result, 3)  # short trials confirm nothing
        capacity = self.summary()["cases"][0]["load"][0]["capacity"]
        self.assertIn("capacity search: at most 60000 requests", result.out + result.err)
        self.assertIsNone(capacity["per_s"])
        self.assertGreater(len(capacity["trials"]), 0)
        self.assertLessEqual(sum(t["requests"] for t in capacity["trials"]), 60000)
        self.assertFalse(any(t["long_run"] for t in capacity["trials"]))

    def search(self, *lines, us, codes):
        plan = self.spin_plan("scenario: server", *lines)
        plan.write_text("".join(line for line in plan.read_text().splitlines(True) if not line.startswith("iterations")))
        result = self.run_cli("run", plan, env={"SPIN_US": str(us)})
        self.assertIn(result.code, codes, str(result))
        return result, self.summary()

    def test_a_capacity_is_bracketed_or_at_least_so_much(self):
        # 5 s are held at every rate that the search can try: the capacity has no upper end, and a gate on one stays open.
        result, summary = self.search("slo: p99=5s", "server: {max_requests: 120000}", "expect: [capacity_per_s > 1e9]", us=50, codes=(3, 4))
        capacity = summary["cases"][0]["load"][0]["capacity"]
        gates = {g["expression"]: g["verdict"] for g in summary["gates"]}
        self.assertEqual(gates["capacity_per_s > 1e9"], "cannot_say")
        self.assertIsNone(capacity["missed_per_s"])
        if capacity["per_s"] is None:  # on a busy machine long runs have too few independent requests
            return self.assertIn("capped at 120000 requests", capacity["per_s_reason"])
        self.assertGreater(max(t["rate_per_s"] for t in capacity["trials"]), capacity["per_s"])
        self.assertIn("at least", result.out + result.err)
        self.assertIn("capacity_open", [f["id"] for f in summary["findings"]])

    def test_requests_share_batches(self):
        result, summary = self.server("--server.load", "0.5", "--max-batch", "4", "--batch-timeout-ms", "2",
                                      "--accuracy-reference", "spin", us=2000, iterations=1000)
        case = summary["cases"][0]
        self.assertIn("mb4 bt2", case["label"])
        load = self.assert_batches(case, 4)
        self.assertEqual((load["batching"], load["batch_timeout_ns"]), ("dynamic", 2e6))
        self.assertGreater(load["mean_batch"], 1)
        self.assertAlmostEqual(load["utilization"], 0.5)
        page = next(self.only_run().glob("report.html")).read_text(encoding="utf-8")
        self.assertIn("Batches: up to 4 requests, whose first waits at most 2.00 ms for the others; dynamic.", page)

    def test_an_engine_of_one_batch_size_has_its_batches_filled_up(self):
        result = self.infer("--scenario", "server", "--server.load", "0.2", "--max-batch", "4", "--accuracy-reference", "spin", iterations=300,
                            env={"SPIN_FIXED_BATCH": "1", "SPIN_US": "2000"})
        self.assert_code(result, 0)
        load = self.assert_batches(self.summary()["cases"][0], 4)
        self.assertEqual(load["batching"], "padded to 4: this engine was loaded for batches of 4")

    def test_requests_of_several_inputs_share_batches(self):
        _, summary = self.server("--server.load", "0.5", "--max-batch", "3", "--batch", "2", us=2000, iterations=300)
        self.assertEqual(self.assert_batches(summary["cases"][0], 3)["batching"], "dynamic")
        self.assertEqual(summary["cases"][0]["throughput"]["item"], "items")

    def test_a_search_for_the_capacity_with_batches(self):
        plan = self.spin_plan("scenario: server", "slo: p99=1us", "server: {max_requests: 60000, max_batch: 8}")
        plan.write_text("".join(line for line in plan.read_text().splitlines(True) if not line.startswith("iterations")))
        self.assert_code(self.run_cli("run", plan, env={"SPIN_US": "10"}), 3)
        load = self.summary()["cases"][0]["load"][0]
        self.assertGreater(len(load["capacity"]["trials"]), 0)
        self.assertEqual(load["max_batch"], 8)

    def test_batches_where_there_is_no_queue(self):
        for arguments, words in ((("--scenario", "closed_loop", "--max-batch", "4"), ("server.max_batch", "add --scenario server")),
                                 (("--scenario", "server", "--server.load", "0.5", "--batch-timeout-ms", "2"), ("--batch-timeout-ms 2: needs --max-batch; add --max-batch 8",)),
                                 (("--scenario", "server", "--server.load", "0.5", "--max-batch", "0"), ("max_batch", "1"))):
            self.assert_error(self.infer(*arguments), 2, *words, lines=1)
        self.assert_nothing_ran()

    def test_an_engine_that_dies_under_load_fails_the_case(self):
        result = self.infer("--scenario", "server", "--arrival-rate", "100", engine="fault",
                            env={"SPIN_FAULT": "segv"}, iterations=100)
        self.assert_code(result, 5)

    def test_a_rate_is_required(self):
        self.assert_error(self.infer("--scenario", "server"), 2, "arrival_rate_per_s", "server.load", lines=1)
        self.assert_nothing_ran()

    def test_a_dry_run_knows_the_cost(self):
        plan = self.spin_plan("scenario: server", "arrival_rate_per_s: 10", "threads: [1]", iterations=3000)
        result = self.run_cli("run", plan, "--dry-run")
        self.assert_code(result, 0)
        self.assertRegex(result.out, r"about 5 min|5–6 min")


@unittest.skipIf(CPUS < 2, "two instances need two CPUs of their own")
class Instances(Load):
    def accounts(self, case, requests):
        """Every request is there once, and the instances' sums are the samples'."""
        load, rows = case["load"][0], self.samples_of(case)
        self.assertEqual([int(r["index"]) for r in rows], list(range(requests)))
        one = load["instances"]
        for i in one:
            self.assertEqual(i["claimed"], i["completed"] + i["timed_out"] + i["unfinished"] + i["failed"])
        self.assertEqual(sum(i["claimed"] for i in one), requests)
        self.assertEqual(sum(i["failed"] for i in one), sum(int(r["flags"]) & 32 == 32 for r in rows))
        self.assertEqual(sum(i["completed"] for i in one), sum(int(r["flags"]) & 56 == 0 for r in rows))
        self.assertEqual(load["completed"] + load["timed_out"] + load["unfinished"] + load["failed"], load["offered"])
        return load

    def test_closed_loop_and_offline_on_two(self):
        for scenario in ("closed_loop", "offline"):
            _, summary = self.load_run("--scenario", scenario, "--instances", "1,2", "--threads-per-instance", "1", iterations=200)
            case = case_of(summary, instances=2)
            self.assertEqual(case["outcome"], "ok", case["reason"])
            self.assertIn("i2 ti1", case["label"])
            load = self.accounts(case, 200)
            self.assertEqual(load["concurrency"], 2)
            cpus = [i["cpus"] for i in load["instances"]]
            self.assertEqual(len(set(cpus)), 2, cpus)
            self.assertTrue(all(i["claimed"] > 0 and i["died"] == "" for i in load["instances"]))
            self.assertIsNotNone(case["memory"]["rss_peak_bytes"])
            self.assertEqual(case_of(summary, instances=1)["load"][0]["instances"], [])
            layout = [f for f in summary["findings"] if f["id"] == "layout"]
            self.assertEqual(len(layout), 1)
            self.assertIn("2×1", layout[0]["text"])
            self.assertRegex(layout[0]["text"], "an efficiency of|no claim: ")
            self.only_run().rename(self.folder / scenario)

    def test_memory_of_two_is_what_they_have_at_one_moment(self):
        """They load one after the other, and each gives back what loading took."""
        one, two = (self.memory_above_load(n) for n in (1, 2))
        self.assertGreater(one, 195e6)
        self.assertGreater(two, 195e6)
        self.assertLess(two, 300e6)

    def memory_above_load(self, instances):
        out = f"i{instances}"
        done = self.infer("--scenario", "closed_loop", "--instances", instances, "--threads-per-instance", "1", "-o", out, env={"SPIN_LOAD_MB": "200"})
        self.assert_code(done, 0)
        return self.summary(self.only_run(out))["cases"][0]["memory"]["rss_peak_above_load_bytes"]

    def test_a_server_on_two(self):
        _, summary = self.load_run("--scenario", "server", "--server.load", "0.5", "--instances", "2",
                                   "--threads-per-instance", "1", iterations=1000)
        case = summary["cases"][0]
        self.assertEqual(case["outcome"], "ok", case["reason"])
        load = self.accounts(case, 1000)
        self.assertAlmostEqual(load["utilization"], 0.5)
        rows = self.samples_of(case)
        self.assert_stages(rows)
        for i in load["instances"]:
            self.assertEqual(sum(int(r["instance"]) == i["index"] for r in rows), i["claimed"])

    def test_batches_on_two(self):
        _, summary = self.load_run("--scenario", "server", "--server.load", "0.5", "--instances", "2", "--threads-per-instance", "1",
                                   "--max-batch", "4", "--batch-timeout-ms", "1", us=2000, iterations=1000)
        case = summary["cases"][0]
        self.assertEqual(case["outcome"], "ok", case["reason"])
        self.accounts(case, 1000)
        self.assertEqual(self.assert_batches(case, 4)["batching"], "dynamic")

    def test_killing_an_instance_that_forms_a_batch_loses_no_account(self):
        process = self.start("infer", "--plugin", SPIN, "--engine", "spin", "--model", "x.spin", "--shapes", "input:{batch}x4",
                             "--iterations", "600", *QUICK, "--scenario", "server", "--arrival-rate", "200", "--max-batch", "4",
                             "--batch-timeout-ms", "30", "--instances", "2", "--threads-per-instance", "1", env={"SPIN_US": "5000"})
        self.assertTrue(wait_until(lambda: len(instances_of(process)) == 2))
        time.sleep(2.5)
        os.kill(instances_of(process)[0], signal.SIGKILL)
        result = self.finish(process)
        self.assert_code(result, 5)
        case = self.summary()["cases"][0]
        self.assertEqual((case["outcome"], case["reason_code"]), ("failed", "instance"))
        load = self.accounts(case, 600)
        self.assertLessEqual(sum(i["failed"] for i in load["instances"]), 4)
        self.assert_group_empty(process)

    def test_killing_an_instance_loses_no_account(self):
        process = self.start("infer", "--plugin", SPIN, "--engine", "spin", "--model", "x.spin", "--shapes", "input:{batch}x4",
                             "--iterations", "600", *QUICK, "--scenario", "server", "--arrival-rate", "200",
                             "--instances", "2", "--threads-per-instance", "1", env={"SPIN_US": "5000"})
        self.assertTrue(wait_until(lambda: len(instances_of(process)) == 2))
        time.sleep(2.5)  # loaded, warmed up, saturation known: the schedule of 3 s is under way
        os.kill(instances_of(process)[0], signal.SIGKILL)
        result = self.finish(process)
        self.assert_code(result, 5)
        case = self.summary()["cases"][0]
        self.assertEqual((case["outcome"], case["reason_code"]), ("failed", "instance"))
        self.assertIn("SIGKILL", case["reason"])
        load = self.accounts(case, 600)
        dead = [i for i in load["instances"] if i["died"]]
        self.assertEqual(len(dead), 1)
        self.assertLessEqual(dead[0]["failed"], 1)
        alive = [i for i in load["instances"] if not i["died"]]
        self.assertGreater(alive[0]["completed"], dead[0]["completed"])
        self.assertEqual(alive[0]["failed"], 0)
        self.assert_group_empty(process)

    def test_an_engine_that_dies_while_it_loads_fails_the_case(self):
        result = self.infer("--scenario", "closed_loop", "--instances", "2", "--threads-per-instance", "1", engine="fault",
                            env={"SPIN_FAULT": "segv", "SPIN_FAULT_AT": "run"}, iterations=20)
        self.assert_code(result, 5)

    def test_more_cpus_than_there_are_is_no_layout(self):
        _, summary = self.load_run("--scenario", "offline", "--instances", "2", "--threads-per-instance", str(CPUS), iterations=20, code=77)
        case = summary["cases"][0]
        self.assertEqual((case["outcome"], case["reason_code"]), ("skipped", "unavailable"))
        self.assertIn("separate CPUs", case["reason"])

    def test_sync_has_no_instances(self):
        self.assert_error(self.infer("--instances", "2"), 2, "instances", "closed_loop", lines=1)


if __name__ == "__main__":
    main()
