# SPDX-License-Identifier: MIT
"""Ranks of one machine: where they sit, and what becomes of them when one is killed, hangs, or the user interrupts."""

import json
import os
import signal
import time

from launch_lab import LibTorchTraining, TrainingTest
from paceline_cli import main

FOREVER = 10_000_000  # steps


class Placing(TrainingTest):
    def test_ranks_have_cores_and_logs_of_their_own(self):
        result = self.train("--ranks", 2)
        self.assert_code(result, 0)
        run = self.only_run()
        training = self.training_of()
        self.assert_ranks(training, "paceline")
        cpus = [r["cpus"] for r in training["ranks"]]
        if len(os.sched_getaffinity(0)) >= 2:
            self.assertEqual(len(set(cpus)), 2, cpus)
        self.assertTrue((run / "log_rank1.txt").exists())
        for rank in (0, 1):
            self.assertTrue((run / f"rank{rank}.jsonl").exists())

    def test_more_ranks_than_cores_are_warned_about(self):
        ranks = len(os.sched_getaffinity(0)) + 1
        if ranks > 4:
            self.skipTest("this machine has many cores")
        result = self.train("--ranks", ranks, "--steps", 3)
        self.assert_code(result, 0)
        self.assertIn(f"{ranks} ranks of 1 thread on {ranks - 1} CPUs", result.out + result.err)
        self.assert_ranks(self.training_of(), "paceline", ranks)


class FaultChecks:
    """Requirements on any trainer."""

    def end_by(self, signal_number, rank, *arguments):
        """Sends a signal to one rank that trains; the case's reason, and the seconds until all was over."""
        process = self.start_training("--ranks", 2, *arguments, steps=FOREVER)
        workers = self.wait_for_steps(process)
        begin = time.monotonic()
        os.kill(workers[rank], signal_number)
        result = self.finish(process, timeout=60)
        seconds = time.monotonic() - begin
        self.assert_code(result, 5)
        self.assert_nothing_left(process)
        return self.failed_case(), seconds

    def check_a_killed_rank(self, rank):
        case, seconds = self.end_by(signal.SIGKILL, rank, "--output-dir", f"killed{rank}")
        self.assertEqual(case["reason_code"], "killed")
        self.assertIn(f"rank {rank} on ", case["reason"])
        self.assertIn("SIGKILL", case["reason"])
        self.assertIn("phase 'measure'", case["reason"])
        self.assertLess(seconds, 20)

    def summary(self, run=None):
        return super().summary(run or sorted(self.folder.glob("*/*/*/plan.yaml"), key=lambda p: p.stat().st_mtime)[-1].parent)

    def check_a_stopped_rank(self):
        case, seconds = self.end_by(signal.SIGSTOP, 1, "--group-timeout-s", 2)
        self.assertEqual(case["reason_code"], "hung")
        self.assertIn("rank 1 on ", case["reason"])
        self.assertIn("stopped by a signal", case["reason"])
        self.assertLess(seconds, 30)

    def check_a_restart(self):
        result = self.train("--ranks", 2, "--inject", "kill:rank=1,step=25", "--checkpoint.dir", "saved", "--checkpoint.every-steps", 10,
                            "--max-restarts", 1, steps=40)
        self.assert_code(result, 0)
        self.assertIn("restart 1 of 1 from the last checkpoint: rank 1 on ", result.out + result.err)
        restart, = self.training_of()["restarts"]
        self.assertIn("rank 1 on ", restart["cause"])
        self.assertGreater(restart["detect_ns"], 0)
        self.assertGreater(restart["first_step_ns"], restart["detect_ns"])
        self.assertEqual((restart["world_before"], restart["world_after"]), (2, 2))
        rows = [json.loads(line) for line in (self.only_run() / "rank0.jsonl").read_text(encoding="utf-8").splitlines()]
        first = min(r["step"] for r in rows)
        self.assertGreaterEqual(first, 10)
        self.assertEqual(restart["steps_lost"], 25 - first)


class Faults(FaultChecks, TrainingTest):
    def test_a_killed_rank_is_named(self):
        for rank in (1, 0):
            with self.subTest(rank=rank):
                self.check_a_killed_rank(rank)

    def test_a_stopped_rank_is_named(self):
        self.check_a_stopped_rank()

    def test_restarts_from_the_last_checkpoint(self):
        self.check_a_restart()

    def test_an_interrupt_ends_all_ranks(self):
        process = self.start_training("--ranks", 2, steps=FOREVER)
        self.wait_for_steps(process)
        process.send_signal(signal.SIGTERM)
        self.assert_code(self.finish(process, timeout=30), 130)
        self.assert_nothing_left(process)

    def test_an_interrupt_leaves_time_for_a_checkpoint(self):
        process = self.start_training("--ranks", 2, "--checkpoint.dir", "saved", steps=FOREVER)
        self.wait_for_steps(process)
        process.send_signal(signal.SIGTERM)
        self.assert_code(self.finish(process, timeout=60), 130)
        self.assert_nothing_left(process)
        self.assertTrue(any((self.folder / "saved").rglob("step_*/meta.json")), "no checkpoint was written")

    def test_ranks_die_with_the_coordinator(self):
        process = self.start_training("--ranks", 2, steps=FOREVER)
        self.wait_for_steps(process)
        process.kill()
        process.wait()
        self.assert_nothing_left(process)

    def test_without_a_checkpoint_there_is_no_restart(self):
        result = self.train("--ranks", 2, "--max-restarts", 3)
        self.assert_error(result, 2, "--max-restarts 3: needs --checkpoint.dir; add --checkpoint.dir checkpoints")
        self.assert_nothing_ran()


class FaultsOfLibTorch(FaultChecks, LibTorchTraining):
    """How its group and its store notice that a rank is gone or silent, and that it goes on from its checkpoint."""

    def test_a_killed_rank_is_named(self):
        self.check_a_killed_rank(0)  # it serves the store

    def test_a_stopped_rank_is_named(self):
        self.check_a_stopped_rank()

    def test_restarts_from_the_last_checkpoint(self):
        self.check_a_restart()


if __name__ == "__main__":
    main()
