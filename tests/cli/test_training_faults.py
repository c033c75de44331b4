# SPDX-License-Identifier: MIT
"""Training that is interrupted, diverges, saves slowly or fails: what is kept, what is refused, who is named."""

import json
import os
import re
import signal

from launch_lab import QUICK_TRAINING, LibTorchTraining, TrainingTest
from paceline_cli import at_once, main

FOREVER = 10_000_000  # steps


def steps_in(folder):
    return sorted(int(path.name.split("_")[1]) for path in folder.glob("step_*") if (path / "meta.json").exists())


class InterruptChecks:
    """Requirements on any trainer."""

    def rows(self):
        run = self.only_run()
        return [[json.loads(line) for line in (run / f"rank{rank}.jsonl").read_text(encoding="utf-8").splitlines()] for rank in (0, 1)]

    def check_kept(self, case, outcome="skipped", reason_code="interrupted"):
        rows = self.rows()
        self.assertEqual([r["step"] for r in rows[0]], list(range(len(rows[0]))))
        self.assertEqual([r["step"] for r in rows[1]], [r["step"] for r in rows[0]], "the ranks ended at different steps")
        self.assertEqual({r.get("interrupted") for r in rows[0] + rows[1]}, {True})
        self.assertIn("timed", {r["phase"] for r in rows[0]})
        self.assertEqual((case["outcome"], case["reason_code"], case["repetitions"]), (outcome, reason_code, []))

    def check_an_interrupted_repetition(self):
        process = self.start_training("--ranks", 2, steps=FOREVER)
        self.wait_for_steps(process)
        process.send_signal(signal.SIGINT)
        result = self.finish(process, timeout=60)
        self.assert_code(result, 130)
        self.assert_nothing_left(process)
        case = self.summary()["cases"][0]
        self.check_kept(case)
        last = self.rows()[0][-1]["step"]
        for words in (case["reason"], result.out + result.err):
            self.assertIn(f"its steps up to {last}, of which {last} are timed (median ", words)


class Interrupts(InterruptChecks, TrainingTest):
    def test_steps_of_an_interrupted_repetition_are_kept(self):
        self.check_an_interrupted_repetition()

    def test_a_signal_to_one_rank_ends_all_at_one_step(self):
        process = self.start_training("--ranks", 2, steps=FOREVER)
        os.kill(self.wait_for_steps(process)[1], signal.SIGTERM)
        result = self.finish(process, timeout=60)
        self.assert_nothing_left(process)
        summary = self.summary()
        case = summary["cases"][0]
        self.check_kept(case, "failed", "killed")
        self.assert_code(result, 5)
        self.assertEqual((summary["outcome"], summary["exit_code"]), ("failed", 5))
        for words in ("rank 1 on ", "asked to end from outside", "its steps up to "):
            self.assertIn(words, case["reason"])

    def test_a_signal_to_the_only_rank_is_no_success(self):
        process = self.start_training("--ranks", 1, steps=FOREVER)
        os.kill(self.wait_for_steps(process, ranks=1)[0], signal.SIGTERM)
        self.assert_code(self.finish(process, timeout=60), 5)
        summary = self.summary()
        self.assertEqual((summary["outcome"], summary["cases"][0]["reason_code"]), ("failed", "killed"))

    def test_resume_measures_the_repetition_again(self):
        process = self.start("train", *self.PLUGIN, *QUICK_TRAINING, "--ranks", 2, "--measure-seconds", 4)
        self.wait_for_steps(process)
        process.send_signal(signal.SIGTERM)
        self.assert_code(self.finish(process, timeout=60), 130)
        self.check_kept(self.summary()["cases"][0])
        self.assert_code(self.run_cli("run", "--resume", self.only_run()), 0)
        case = self.summary()["cases"][0]
        self.assertEqual((case["outcome"], case["complete"], len(case["repetitions"])), ("ok", True, 1))
        rows = self.rows()[0]
        self.assertEqual({"interrupted" in row for row in rows}, {False})
        self.assertEqual(len([r for r in rows if r["phase"] == "timed"]), case["stats"]["n"])


class CheckpointChecks:
    def check_a_slow_checkpoint(self, name, slow, mode):
        result = self.train("--ranks", 2, "--group-timeout-s", 2, "--inject", f"slow_save=2700ms:rank={slow}", "--checkpoint.dir", name,
                            "--checkpoint.every-steps", 6, f"--checkpoint.async={mode}", "--output-dir", f"out-{name}", steps=10)
        self.assert_code(result, 0)
        self.assertRegex(result.out + result.err, f"rank {slow} has been writing a checkpoint for [2-4] s; the others wait up to "
                                                  "checkpoint.timeout_s = 600 s")
        self.assertNotIn(f"rank {1 - slow} has been writing", result.out + result.err)
        self.assertEqual(steps_in(self.folder / name)[0], 6)

    def check_that_numbers_must_be_finite(self):
        arguments = ["--ranks", 2, "--inject", "nan:rank=0,step=4", "--checkpoint.every-steps", 1]
        result = self.train(*arguments, "--checkpoint.dir", "saved", steps=12)
        self.assert_code(result, 5)
        reason = self.failed_case()["reason"]
        for words in ("rank 0 on ", "no checkpoint after step 4 on rank 0", "not finite", "diverged"):
            self.assertIn(words, reason)
        self.assertEqual(steps_in(self.folder / "saved")[-1], 4)


class Checkpoints(CheckpointChecks, TrainingTest):
    def test_numbers_that_are_not_finite_are_never_saved(self):
        self.check_that_numbers_must_be_finite()

    def test_a_restart_goes_on_from_before(self):
        result = self.train("--ranks", 2, "--inject", "nan:rank=0,step=4", "--checkpoint.every-steps", 1, "--checkpoint.dir", "saved",
                            "--max-restarts", 1, steps=12)
        self.assert_code(result, 0)
        self.assertIn("training goes on after step 4", result.out + result.err)
        self.assertIn("not finite", self.training_of()["restarts"][0]["cause"])

    def test_two_runs_into_one_folder_are_refused_by_name(self):
        first = self.start_training("--ranks", 1, "--checkpoint.dir", "saved", "--output-dir", "first", steps=FOREVER)
        worker = self.wait_for_steps(first, ranks=1)[0]
        result = self.train("--ranks", 1, "--checkpoint.dir", "saved", "--checkpoint.resume")
        self.assert_code(result, 2)
        reason = self.failed_case()["reason"]
        for words in ("another run", "saved", f"process {worker} on "):
            self.assertIn(words, reason)
        first.send_signal(signal.SIGTERM)
        self.assert_code(self.finish(first, timeout=60), 130)
        self.assertEqual(len(steps_in(self.folder / "saved")), 1)
        result = self.train("--ranks", 1, "--checkpoint.dir", "saved", "--checkpoint.resume", "--output-dir", "third")
        self.assert_code(result, 0)  # the lock went with its run
        self.assertIn("training goes on after step", result.out + result.err)

    def test_a_closed_terminal_leaves_a_checkpoint(self):
        process = self.start_training("--ranks", 2, "--checkpoint.dir", "saved", steps=FOREVER)
        self.wait_for_steps(process)
        self.assertEqual(steps_in(self.folder / "saved"), [])
        process.send_signal(signal.SIGHUP)
        self.assert_code(self.finish(process, timeout=60), 130)
        self.assert_nothing_left(process)
        case = self.summary()["cases"][0]
        self.assertEqual((case["outcome"], case["reason_code"]), ("skipped", "interrupted"))
        step, = steps_in(self.folder / "saved")
        self.assertGreater(step, 0)
        result = self.train("--ranks", 2, "--checkpoint.dir", "saved", "--checkpoint.resume", "--output-dir", "again")
        self.assert_code(result, 0)
        self.assertIn(f"training goes on after step {step}", result.out + result.err)

    def test_a_slow_checkpoint_is_no_hung_rank(self):
        at_once(self.check_a_slow_checkpoint, (("zero", 0, "false"), ("one", 1, "false"), ("behind", 1, "true")))

    def test_a_rank_that_saves_for_ever_is_named(self):
        result = self.train("--ranks", 2, "--inject", "slow_save=60s:rank=1", "--checkpoint.dir", "saved", "--checkpoint.timeout-s", 1, steps=10)
        self.assert_code(result, 5)
        self.assertIn("rank 1", self.failed_case()["reason"])
        self.assertIn("checkpoint", self.failed_case()["reason"])

    def test_a_slow_checkpoint_without_checkpoints_is_refused(self):
        self.assert_error(self.train("--ranks", 2, "--inject", "slow_save=1s:rank=1"), 2, "without checkpoint.dir")
        self.assert_nothing_ran()


class Failures(TrainingTest):
    def test_the_last_known_step_is_that_of_the_training(self):
        """Not one counted since this process began."""
        saved = ["--ranks", 2, "--checkpoint.dir", "saved"]
        self.assert_code(self.train(*saved, "--output-dir", "first", steps=1000), 0)
        begin = steps_in(self.folder / "saved")[-1]
        result = self.train(*saved, "--checkpoint.resume", "--inject", f"kill:rank=1,step={begin + 900}", steps=FOREVER)
        self.assert_code(result, 5)
        found = re.search(r"its last known step is (\d+)", self.failed_case()["reason"])
        self.assertTrue(found, self.failed_case()["reason"])
        self.assertIn(int(found.group(1)), range(begin, begin + 900))


class LibTorch(InterruptChecks, CheckpointChecks, LibTorchTraining):
    def test_steps_of_an_interrupted_repetition_are_kept(self):
        self.check_an_interrupted_repetition()

    def test_numbers_that_are_not_finite_are_never_saved(self):
        self.check_that_numbers_must_be_finite()

    def test_a_checkpoint_that_is_written_behind_the_steps(self):
        self.check_a_slow_checkpoint("behind", 1, "true")


if __name__ == "__main__":
    main()
