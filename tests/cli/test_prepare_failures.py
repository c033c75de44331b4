# SPDX-License-Identifier: MIT
"""Processes that export, build or quantise a model and crash, hang or run out of memory: exit code 5, what happened, and no file."""

import os
import resource
import signal
import unittest

import paceline_cli as cli
from test_faults import pass_of

INT8 = ("--precision", "int8", "--quantisation.samples", 64)
# pass: the command that runs it, on a model that keeps it busy for a while
COMMANDS = {
    "export": ("export", "--model", "resnet50", "--out", "made.onnx"),
    "build": ("build", "--model", "resnet50", "--out", "made.blob"),
    "quantise": ("export", "--model", "resnet50", "--out", "made.int8.onnx", *INT8),
}


class Preparing(cli.CliTest):
    def strike(self, kind, with_signal, *arguments):
        """Sends the signal to the worker of that pass as soon as there is one."""
        process = self.start(*arguments)
        self.assertTrue(cli.wait_until(lambda: self.workers(process, kind)), f"no worker came to '{kind}'")
        for pid in self.workers(process, kind):
            os.kill(pid, with_signal)
        return self.finish(process)

    @staticmethod
    def workers(process, kind):
        return [pid for pid in cli.session_members(process.pid) if pid != process.pid and pass_of(pid) == kind]

    def assert_said(self, result, *words):
        self.assert_code(result, 5)
        for word in words:
            self.assertIn(word, result.err)

    def assert_nothing_made(self):
        self.assertEqual([p.name for p in self.folder.glob("made.*") if not p.name.endswith(".log")], [])

    def test_crash(self):
        for kind, command in COMMANDS.items():
            with self.subTest(kind=kind):
                self.assert_said(self.strike(kind, signal.SIGSEGV, *command), "SIGSEGV", "phase")
                self.assert_nothing_made()

    def test_timeout(self):
        def check(kind, command):
            self.assert_said(self.strike(kind, signal.SIGSTOP, *command, "--timeout-s", 20), "timeout_s = 20 s", "phase")

        cli.at_once(check, COMMANDS.items())
        self.assert_nothing_made()

    def test_out_of_memory(self):
        limits = resource.getrlimit(resource.RLIMIT_AS)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_AS, limits)
        resource.setrlimit(resource.RLIMIT_AS, (1 << 29, limits[1]))
        for kind, command in COMMANDS.items():
            with self.subTest(kind=kind):
                self.assert_said(self.run_cli(*command), "out of memory", "ulimit -v")
                self.assert_nothing_made()

    def test_a_case_whose_model_cannot_be_quantised_says_what_happened(self):
        run = ("infer", "--model", "resnet50", "--engine", "onnxruntime", "--iterations", 3, *cli.QUICK, *INT8)
        result = self.strike("quantise", signal.SIGSEGV, *run)
        self.assert_code(result, 5)
        summary = self.summary()
        self.assertEqual(summary["cases"][0]["reason_code"], "crash", str(result))
        self.assertIn("Measure again with: ", summary["findings"][0]["advice"])
        self.assertNotIn("Fix what the reason", summary["findings"][0]["advice"])


if __name__ == "__main__":
    unittest.main()
