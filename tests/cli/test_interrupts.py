# SPDX-License-Identifier: MIT
"""Ctrl-C, SIGTERM and SIGHUP: what is finished is kept and reported, nothing runs on, --resume finishes the rest."""

import json
import pty
import os
import shutil
import signal
import time
import unittest

import paceline_cli as cli

CASES, REPETITIONS, ITERATIONS = 3, 4, 40


class Interrupts(cli.CliTest):
    def plan(self, *lines, spin_us=2000):
        return self.spin_plan(f"env: {{SPIN_US: {spin_us}}}", "batch_sizes: [1, 2, 4]", f"repetitions: {REPETITIONS}", "output_dir: out", *lines,
                              iterations=ITERATIONS)

    def passes(self):
        return list((self.folder / "out").glob("*/*/cases/*/passes/timed-*.jsonl"))

    def start_and_wait(self, plan, passes=4, **options):
        process = self.start("run", plan, **options)
        self.assertTrue(cli.wait_until(lambda: len(self.passes()) >= passes or process.poll() is not None), "no pass was finished")
        self.assertIsNone(process.poll(), "the plan ended before it could be interrupted")
        return process

    def check_interrupted(self, *signals):
        process = self.start_and_wait(self.plan())
        live = json.loads(next((self.folder / "out").glob("*/*/live.json")).read_text(encoding="utf-8"))
        self.assertEqual(live["process_id"], process.pid)
        self.assertIn(live["pass"]["case_id"], [folder.name for folder in (self.folder / "out").glob("*/*/cases/*")])
        for number in signals:
            process.send_signal(number)
        result = self.finish(process, timeout=30)
        self.assert_code(result, 130)
        self.assert_group_empty(process)
        run = self.only_run("out")
        self.assertFalse((run / "live.json").exists())
        summary = self.summary(run)
        self.assertEqual((summary["outcome"], summary["exit_code"]), ("interrupted", 130))
        done = sum(len(case["repetitions"]) for case in summary["cases"])
        self.assertEqual(done, len(self.passes()))
        self.assertGreaterEqual(done, 4)
        self.assertLess(done, CASES * REPETITIONS)
        self.assertIn("<html", (run / "report.html").read_text(encoding="utf-8"))
        for case in summary["cases"]:
            if case["repetitions"]:
                self.assertEqual(case["outcome"], "ok", case["reason"])
                self.assertIsNotNone(case["headline"]["p50_ns"]["value"])
            else:
                self.assertEqual((case["outcome"], case["reason_code"]), ("skipped", "interrupted"))
        self.assert_code(self.run_cli("report", "-s", run, "-f", "csv"), 0)
        return run

    def check_resumed(self, run):
        before = {p: p.read_bytes() for p in self.passes()}
        self.assert_code(self.run_cli("run", "--resume", run), 0)
        summary = self.summary(run)
        self.assertEqual(summary["outcome"], "ok")
        self.assertEqual(len(summary["cases"]), CASES)
        for case in summary["cases"]:
            self.assertTrue(case["complete"])
            self.assertEqual([r["index"] for r in case["repetitions"]], list(range(REPETITIONS)))
            self.assert_samples_once(run, case["case_id"], REPETITIONS, ITERATIONS)
        for path, content in before.items():
            self.assertEqual(path.read_bytes(), content, "a finished repetition was measured again")

    def test_ctrl_c_then_resume(self):
        self.check_resumed(self.check_interrupted(signal.SIGINT))

    def test_sigterm_then_resume(self):
        self.check_resumed(self.check_interrupted(signal.SIGTERM))

    def test_a_closed_terminal_then_resume(self):
        """SIGHUP comes from the terminal and again from its shell; neither ends the run at once."""
        self.check_resumed(self.check_interrupted(signal.SIGHUP, signal.SIGHUP))

    def test_nohup_runs_on(self):
        process = self.start_and_wait(self.plan(), passes=1, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        process.send_signal(signal.SIGHUP)
        self.assert_code(self.finish(process), 0)

    def test_two_signals_at_once_are_one_request(self):
        """As `timeout` sends SIGTERM to the process and to its group, and mpirun SIGINT beside the shell."""
        self.check_resumed(self.check_interrupted(signal.SIGTERM, signal.SIGTERM))
        for folder in self.folder.glob("out*"):
            shutil.rmtree(folder)
        self.check_resumed(self.check_interrupted(signal.SIGINT, signal.SIGTERM))

    def test_a_hanging_worker_does_not_hold_up_ctrl_c(self):
        process = self.start("run", self.spin_plan("env: {SPIN_FAULT: hang, SPIN_FAULT_AT: run}", "output_dir: out", engines="[fault]"))
        self.assertTrue(cli.wait_until(lambda: list(self.folder.glob("out/*/*/log.txt"))))
        process.send_signal(signal.SIGINT)
        self.assert_code(self.finish(process, timeout=30), 130)
        self.assert_group_empty(process)
        case = self.summary(self.only_run("out"))["cases"][0]
        self.assertEqual((case["outcome"], case["reason_code"]), ("skipped", "interrupted"))

    def test_ctrl_c_before_the_first_case(self):
        """Between the start and the run directory: 130 too, and nobody is left."""
        for delay in (0.0, 0.01, 0.03, 0.1):
            process = self.start("run", self.plan())
            time.sleep(delay)
            process.send_signal(signal.SIGINT)
            result = self.finish(process, timeout=30)
            self.assertIn(result.code, (130, -signal.SIGINT), str(result))  # before main() nobody catches it
            self.assert_group_empty(process)

    def test_ctrl_c_with_a_gate_that_was_not_reached(self):
        process = self.start_and_wait(self.plan('expect: ["p50_ms@b4 < 1000", "p50_ms < 1000"]'))
        process.send_signal(signal.SIGINT)
        self.assert_code(self.finish(process, timeout=30), 130)

    def test_in_process_run_stops_too(self):
        process = self.start("infer", "--plugin", cli.SPIN, "--engine", "spin", "--model", "x.spin", "--shapes", "input:{batch}x4", "--iterations", "1000000",
                             *cli.QUICK, "--in-process", "-o", "out")
        self.assertTrue(cli.wait_until(lambda: any("timed pass" in log.read_text() for log in self.folder.glob("out/*/*/log.txt"))))
        process.send_signal(signal.SIGINT)
        self.assert_code(self.finish(process, timeout=30), 130)
        self.assertEqual(self.summary(self.only_run("out"))["outcome"], "interrupted")

    def test_ctrl_c_typed_on_a_terminal(self):
        """The key reaches the foreground group only; workers are in groups of their own and must still end."""
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        process = self.start_and_wait(self.plan(), stdout=slave, stderr=slave, env={"TERM": "xterm"})
        os.close(slave)
        os.killpg(process.pid, signal.SIGINT)
        text = drain(master, process)
        self.assertEqual(process.wait(timeout=30), 130, text)
        self.assertIn("\x1b[K", text)  # progress was redrawn
        self.assertIn("report  ", text)
        self.assert_group_empty(process)

    def test_worker_dies_with_a_killed_coordinator(self):
        process = self.start("run", self.spin_plan("env: {SPIN_FAULT: hang, SPIN_FAULT_AT: load}", "output_dir: out", engines="[fault]"))
        self.assertTrue(cli.wait_until(lambda: list(self.folder.glob("out/*/*/log.txt")) and len(cli.session_members(process.pid)) > 1))
        process.kill()
        process.wait()
        self.assert_group_empty(process)


def drain(master, process):
    """Returns the terminal's text until the process ends."""
    text = b""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        text += piece
    return text.decode("utf-8", "replace")


if __name__ == "__main__":
    cli.main()
