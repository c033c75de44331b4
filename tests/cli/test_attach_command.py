#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`attach` as a command, without PyTorch: its words, its folders, and what it says of step files that a job left."""

import os
import shutil
import struct
import subprocess
import sys
import unittest

from paceline_cli import CliTest
from test_step_files import job, step_file


class Command(CliTest):
    def refused(self, *words):
        done = self.run_cli("attach", *words)
        self.assertEqual(done.code, 2, done)
        return done.err

    def test_words_without_a_command(self):
        self.assertIn("no command; write: paceline attach -- torchrun", self.refused())
        self.assertIn("'python3' is before the --", self.refused("python3", "train.py"))

    def test_the_path_with_a_command(self):
        for words in (("--", "true"), ("train.py",)):
            self.assertIn("--path prints a folder and runs no command", self.refused("--path", *words))

    def test_folders_without_a_file(self):
        """Only one that the command made is removed."""
        self.write("file", "")
        (self.folder / "empty").mkdir()
        for folder in ("file", "empty", "made"):
            self.assertEqual(self.run_cli("attach", "-o", folder, "--", "true").code, 0)
            self.refused("-o", folder, "--", "no-such-program")
        self.refused("--", "no-such-program")
        self.assertEqual([(self.folder / name).exists() for name in ("file", "empty", "made")], [True, True, False])
        self.assertEqual(list((self.folder / "results/attach").iterdir()), [])

    def test_a_program_that_is_not_there(self):
        self.assertIn("'no-such-program' cannot be started: No such file or directory", self.refused("--", "no-such-program"))

    def test_a_folder_of_an_earlier_job(self):
        for name in ("steps", "steps-2"):
            self.write(f"{name}/rank0.steps", "")
        for wish in ("steps", "steps/"):
            done = self.run_cli("attach", "-o", wish, "--", "sh", "-c", 'echo "$PACELINE_ATTACH"; exit 7')
            self.assertEqual((done.code, done.out), (7, f"{self.folder}/steps-3\n"))
            self.assertIn("has the steps of another job, and those of this one go to steps-3.", " ".join(done.err.split()))
        for left, folder in (("", "steps-3"), (".lock", "steps")):   # a launch that was killed, and begins again, is a restart
            if left:
                self.write(f"steps/{left}", "")
            of_launch = self.run_cli("attach", "-q", "-o", "steps", "--", "sh", "-c", 'echo "$PACELINE_ATTACH"',
                                     env={"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"})
            self.assertEqual((of_launch.out, "go to steps-3" in " ".join(of_launch.err.split())), (f"{self.folder}/{folder}\n", not left))

    def test_the_path_has_the_hook(self):
        done = self.run_cli("attach", "--path")
        self.assertEqual(done.code, 0)
        self.assertTrue(os.path.exists(os.path.join(done.out.strip(), "sitecustomize.py")))

    def fake_torch(self):
        """A folder with a torch that has what the hook asks for, and prints how often it is asked; and a sitecustomize of the user."""
        self.write("own/sitecustomize.py", "print('of the user')\n")
        self.write("own/torch/__init__.py", "__version__ = '9.9.9'\n")
        self.write("own/torch/compiler.py", "def is_compiling(): return False\n")
        self.write("own/torch/optim/__init__.py", "")
        self.write("own/torch/optim/optimizer.py", "def register_optimizer_step_post_hook(hook): print('asked')\n")
        return self.folder / "own"

    def under_the_hook(self, script, *folders, **variables):
        """Lines of a Python script whose PYTHONPATH names these folders, then those of fake_torch(); it has ended well and said no word."""
        path = os.pathsep.join(map(str, [*folders, self.fake_torch()]))
        done = subprocess.run([sys.executable, "-c", script], env={**self.env, "PYTHONPATH": path, "PACELINE_ATTACH": str(self.folder / "steps"),
                                                                   **variables}, capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        return done.stdout.split("\n")[:-1]

    def test_hooks_that_the_path_names_twice_run_once(self):
        hook = self.run_cli("attach", "--path").out.strip()
        os.symlink(hook, self.folder / "link")
        for name in ("second", "third"):
            shutil.copytree(hook, self.folder / name)
        others = [self.folder / name for name in ("link", "second", "third")]
        for folders in ([hook, *others], [*others, hook], [hook, hook], [self.folder / "link", hook]):
            self.assertEqual(self.under_the_hook("import torch; print('runs')", *folders), ["of the user", "asked", "runs"])

    def test_a_loader_that_is_found_twice_loads_torch(self):
        hook = self.run_cli("attach", "--path").out.strip()
        script = ("import importlib.util, sys\nspec = importlib.util.find_spec('torch')\n"
                  "class Finder:\n    def find_spec(self, name, *_):\n        return spec if name == 'torch' else None\n"
                  "sys.meta_path.insert(1, Finder())\nimportlib.util.find_spec('torch')\n"
                  "import torch; print('runs')\nimport paceline_attach; paceline_attach.wait_for_torch()\n")
        self.assertEqual(self.under_the_hook(script, hook), ["of the user", "asked", "runs"])

    def test_a_folder_that_cannot_be_written_is_named(self):
        self.write("file", "")
        self.write("locked/x", "").parent.chmod(0o555)
        self.addCleanup((self.folder / "locked").chmod, 0o755)
        locked = [self.folder / "locked"] if os.geteuid() else []   # root can write it
        for folder in (*locked, "/proc/paceline/steps", self.folder / "file/steps", self.folder / "file"):
            done = self.run_cli("attach", "-o", folder, "--", "true")
            self.assertEqual(done.code, 0)
            self.assertRegex(" ".join(done.err.split()), f"nothing was recorded: the folder {folder} cannot be written: [A-Z].* Name another")

    def test_a_file_that_is_no_step_file_is_named(self):
        done = self.run_cli("attach", "-o", "steps", "--", "sh", "-c", "echo nothing > $PACELINE_ATTACH/rank0.steps")
        self.assertIn("rank0.steps: it is no step file.", " ".join(done.err.split()))

    def closing_words_of(self, *files):
        """Words at the end of a job that leaves these files: (name, bytes)."""
        for name, data in files:
            path = self.write(f"left/{name}", "")
            path.write_bytes(data)
        done = self.run_cli("attach", "-o", "steps", "--", "sh", "-c", 'cp left/* "$PACELINE_ATTACH"')
        self.assertEqual(done.code, 0)
        return " ".join(done.err.split())

    def test_starts_and_losses_are_said(self):
        older, newer = (bytearray(step_file(0, job(steps)[0], world=1)) for steps in (40, 30))
        struct.pack_into("<q", newer, 120, struct.unpack_from("<q", older, 120)[0] + 10**9)
        self.assertNotIn("started", self.closing_words_of(("rank0.steps", older)))
        shutil.rmtree(self.folder / "steps")
        struct.pack_into("<Q", newer, 40, 10**6)   # used
        struct.pack_into("<Q", newer, 56, 1234)    # lost
        words = self.closing_words_of(("rank0.steps", older), ("rank0.2.steps", newer))
        self.assertIn("30 steps of 1 rank", words)
        self.assertIn("rank0.2.steps: full; later steps are missing. rank0.2.steps: 1234 scopes found no room", words)
        self.assertIn("1 rank was started 2 times; the figures are of the newest start that made steps.", words)

    def test_ranks_that_an_elastic_job_lost_are_of_an_earlier_start(self):
        older, newer = ([bytearray(step_file(rank, records, world=world)) for rank, records in enumerate(job(steps, world=world))]
                        for steps, world in ((40, 3), (30, 2)))
        for data in newer:
            struct.pack_into("<q", data, 120, struct.unpack_from("<q", older[0], 120)[0] + 10**12)
        words = self.closing_words_of(*((f"rank{r}.steps", data) for r, data in enumerate(older)),
                                      *((f"rank{r}.2.steps", data) for r, data in enumerate(newer)))
        self.assertIn("30 steps of 2 ranks in", words)
        self.assertIn("2 ranks were started up to 2 times; the figures are of the newest start that made steps.", words)
        self.assertIn("1 rank of a start with another number of ranks is in no figure.", words)
        self.assertNotIn("not explained", words)

    def test_processes_without_a_rank_are_no_restarts(self):
        files = [bytearray(step_file(0, job(steps)[0], world=1)) for steps in (40, 30)]
        for second, data in enumerate(files):
            struct.pack_into("<q", data, 120, 10**18 + second * 10**9)
            data[152] = 0   # rank_known
        words = self.closing_words_of(("rank0.steps", files[0]), ("rank0.2.steps", files[1]))
        self.assertIn("40 steps of 1 rank", words)
        self.assertIn("1 file of processes without a rank is in no figure.", words)
        self.assertNotIn("started", words)

    def test_large_files_do_not_hold_the_exit_code_back(self):
        for megabytes, studied in ((60, True), (70, False)):
            data = [step_file(rank, records).ljust(megabytes * 500_000, b"\0") for rank, records in enumerate(job(late_ms=8))]
            words = self.closing_words_of(("rank0.steps", data[0]), ("rank1.steps", data[1]))
            self.assertIn("30 steps of 2 ranks", words)
            self.assertIn("All figures: paceline profile --from", words)
            self.assertEqual("waiting for late ranks" in words, studied, words)
            shutil.rmtree(self.folder / "steps")

    def test_jobs_that_start_together_have_folders_of_their_own(self):
        started = [self.start("attach", "-q", "--", "sh", "-c", 'sleep 1; echo "$PACELINE_ATTACH"') for _ in range(4)]
        self.assertEqual(len({self.finish(one).out for one in started}), 4)

    def test_exit_codes_and_output_without_a_folder(self):
        done = self.run_cli("attach", "--", "sh", "-c", "echo out; exit 41")
        self.assertEqual((done.code, done.out), (41, "out\n"))
        self.assertIn("nothing was recorded", " ".join(done.err.split()))
        self.assertEqual(list((self.folder / "results/attach").iterdir()), [])


if __name__ == "__main__":
    unittest.main()
