# SPDX-License-Identifier: MIT
"""`paceline comm` under launchers."""

import tempfile
import unittest

import launch_lab
from comm_lab import LaunchedTest


class Mpirun(LaunchedTest):
    def test_two_ranks(self):
        program = launch_lab.need_program("mpirun")
        self.assert_two(self.summary_of([program, "--oversubscribe", "-np", "2"], launch_lab.MPI_ENV), "mpirun")


class Slurm(LaunchedTest):
    def test_two_ranks_on_two_nodes(self):
        lab = launch_lab.SlurmLab(tempfile.mkdtemp(prefix="paceline-slurm-"))
        self.addCleanup(lab.end)
        # Fake nodes have names that do not resolve.
        self.assert_two(self.summary_of(["srun", "-N", "2", "-n", "2", "--kill-on-bad-exit=1"], {**lab.env, "MASTER_ADDR": "127.0.0.1"}), "srun")


if __name__ == "__main__":
    unittest.main()
