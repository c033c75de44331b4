# SPDX-License-Identifier: MIT
"""Scenarios closed_loop, offline and server on an engine of known behaviour. No test says anything about speed."""

from paceline_cli import CliTest, case_of, main, read_csv


class Load(CliTest):
    def load_run(self, *arguments, us=500, code=0, **options):
        result = self.infer(*arguments, env={"SPIN_US": str(us)}, **options)
        self.assert_code(result, code)
        return result, self.summary()

    def samples_of(self, case):
        run = self.only_run()
        folder = run / "cases" / case["case_id"]
        return read_csv((folder if folder.exists() else run) / "samples.csv")


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
        for row in rows:
            self.assertEqual(int(row["queue_ns"]) + int(row["compute_ns"]), int(row["host_ns"]))
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
        result = self.run_cli("run", plan, env={"SPIN_US": "50"})
        self.assert_code(result, 3)  # short trials confirm nothing
        capacity = self.summary()["cases"][0]["load"][0]["capacity"]
        self.assertIn("capacity search: at most 60000 requests", result.out + result.err)
        self.assertIsNone(capacity["per_s"])
        self.assertGreater(len(capacity["trials"]), 0)
        self.assertLessEqual(sum(t["requests"] for t in capacity["trials"]), 60000)
        self.assertFalse(any(t["long_run"] for t in capacity["trials"]))

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
        self.assertRegex(result.out, r"about 5 m \d+ s")


if __name__ == "__main__":
    main()
