# SPDX-License-Identifier: MIT
"""A real server: tiny_cnn at half of its saturation rate."""

import os
import shutil
import signal
import time
import unittest

from paceline_cli import QUICK, CliTest, instances_of, main, wait_until

SERVER = ["infer", "--model", "tiny_cnn", "--scenario", "server", "--server.load", "0.5", "--threads", "1", *QUICK]
INDEPENDENT = 368  # samples that p99 needs


class HalfLoad(CliTest):
    def case_of_run(self, *arguments):
        result = self.run_cli(*SERVER, *arguments, timeout=500)
        self.assert_code(result, 0)
        return self.summary()["cases"][0]

    def test_p99_comes_with_its_interval(self):
        case = self.case_of_run("--server.t_min_s", "1", "--server.t_max_s", "300")
        load, p99 = case["load"][0], case["stats"]["quantiles"][-1]
        self.assertGreaterEqual(load["requests"], load["requests_needed"])
        self.assertEqual(load["completed"] + load["timed_out"] + load["unfinished"], load["offered"])
        if p99["n_eff"] < INDEPENDENT:  # a busy machine: the requests of its pauses depend on each other
            self.assertIsNone(p99["value_ns"])
        else:
            self.assertLessEqual(p99["ci_low_ns"], p99["value_ns"])
            self.assertGreaterEqual(p99["ci_high_ns"], p99["value_ns"])

    def test_a_short_run_is_refused(self):
        case = self.case_of_run("--iterations", "2000")
        p99 = case["stats"]["quantiles"][-1]
        self.assertIsNone(p99["value_ns"])
        self.assertRegex(p99["value_ns_reason"], r"needs \d+ more requests")

    def test_batches_are_of_the_size_that_there_is(self):
        for engine in ("eager", "torchscript"):
            with self.subTest(engine=engine):
                shutil.rmtree(self.folder / "results", ignore_errors=True)
                case = self.case_of_run("--engine", engine, "--max-batch", "4", "--batch-timeout-ms", "1", "--iterations", "2000")
                load = case["load"][0]
                self.assertEqual(load["batching"], "dynamic")
                self.assertGreater(load["mean_batch"], 1)
                self.assertLessEqual(load["mean_batch"], 4)
                self.assertTrue(case["correctness"]["passed"])
                self.assertEqual([s["name"] for s in load["stages"]], ["queue", "input", "compute", "output"])

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "two instances need two CPUs of their own")
    def test_killing_an_instance_loses_no_account(self):
        process = self.start(*SERVER[:-len(QUICK) - 2], *QUICK, "--instances", "2", "--threads-per-instance", "1",
                             "--server.t_min_s", "8", "--server.t_max_s", "8")
        self.assertTrue(wait_until(lambda: len(instances_of(process)) == 2))
        time.sleep(5)  # of a schedule of 8 s, after a saturation run of about 1 s
        os.kill(instances_of(process)[0], signal.SIGKILL)
        self.assert_code(self.finish(process), 5)
        case = self.summary()["cases"][0]
        self.assertEqual((case["outcome"], case["reason_code"]), ("failed", "instance"))
        load = case["load"][0]
        claimed = sum(i["claimed"] for i in load["instances"])
        ended = sum(i["completed"] + i["timed_out"] + i["unfinished"] + i["failed"] for i in load["instances"])
        self.assertEqual(claimed, ended)
        self.assertEqual(claimed, load["offered"] + load["warmup_requests"])
        self.assertEqual([i["died"] == "" for i in load["instances"]].count(False), 1)
        self.assertLessEqual(sum(i["failed"] for i in load["instances"]), 1)


if __name__ == "__main__":
    main()
