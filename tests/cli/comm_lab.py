# SPDX-License-Identifier: MIT
"""`paceline comm` for tests: its plug-in, quick options, and what they read of its output."""

import os
import subprocess

import launch_lab
from paceline_cli import CliTest

SPIN = os.environ["PACELINE_SPIN"]
PLUGIN = os.environ.get("PACELINE_COMM_PLUGIN", SPIN)  # an installed one where it is empty
QUICK = ("-n", "5", "--size-time-s", "0", "--idle-wait-s", "0", "--allow-noisy")


class CommTest(CliTest):
    def comm(self, *words, **options):
        plugin = ("--plugin", PLUGIN) if PLUGIN else ()
        return self.run_cli("comm", *plugin, *QUICK, *words, **options)

    def nccl_rows(self, text):
        """Reads as a script for nccl-tests does: lines that are no comments, split at blanks."""
        return [line.split() for line in text.splitlines() if line[:1] == " " and len(line.split()) == 13 and line.split()[0].isdigit()]


class RoundsTest(CommTest):
    def rounds_of(self, *words, fault="", ranks=4, code=0):
        result = self.comm("-g", ranks, "-b", "64", "-e", "64", "--round-bytes", "1K", "-w", "1", *words, env={"PACELINE_TEST_COMM": fault} if fault else None)
        self.assert_code(result, code)
        case = self.summary(self.only_run())["cases"][0]
        self.assertEqual(len(case["collective"][0]["rounds"]), 1)
        return case, case["collective"][0]["rounds"][0], result.out


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
