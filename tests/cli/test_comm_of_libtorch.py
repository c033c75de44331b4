# SPDX-License-Identifier: MIT
"""Measurements of `paceline comm` over gloo, by the installed plug-in."""

import shutil
import subprocess
import unittest

import launch_lab
from comm_lab import QUICK, CommTest, LaunchedTest, RoundsTest


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


class Torchrun(LaunchedTest):
    """Its agent serves a store that speaks LibTorch's protocol."""

    def test_two_ranks(self):
        self.assert_two(self.summary_of([launch_lab.torchrun(), "--standalone", "--nproc-per-node", "2", "--no-python"]), "torchrun")


if __name__ == "__main__":
    unittest.main()
