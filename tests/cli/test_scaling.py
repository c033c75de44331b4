# SPDX-License-Identifier: MIT
"""Sweeps over ranks that wait instead of computing, each in a network namespace of its own behind a limited link: what the loss budget and the
prediction say is checked against what was put in."""

import os

from launch_lab import NetworkLab, TrainingTest
from paceline_cli import main

WAITING = os.environ.get("PACELINE_WAITING", "")
LAYERS, LAYER_BYTES, LAYER_US = 8, 131_072, 20_000


class Limited(TrainingTest):
    """Eight hosts that send 100 Mbit/s each."""

    PLUGIN = ["--plugin", WAITING]
    HOSTS = 8

    def setUp(self):
        super().setUp()
        self.lab = NetworkLab(self.HOSTS)
        self.addCleanup(self.lab.end)
        self.lab.slow("100mbit")
        self.env.update(WAIT_NETWORK=self.lab.prefix, WAIT_LAYERS=str(LAYERS), WAIT_LAYER_BYTES=str(LAYER_BYTES), WAIT_LAYER_US=str(LAYER_US))

    def sweep(self, ranks, *arguments, steps=40, **env):
        """The cases of one run by their number of ranks."""
        self.env.update({name: str(value) for name, value in env.items()})
        folder = f"sweep{len(list(self.folder.glob('sweep*')))}"
        process = self.start_training("--ranks", ranks, "--ddp.bucket_cap_mb", 0.25, "--output-dir", folder, *arguments, steps=steps)
        self.assert_code(self.finish(process, timeout=550), 0)
        run = self.only_run(folder)
        return run, {case["benchmark"]["world_size"]: case for case in self.summary(run)["cases"]}


class Sweep(Limited):
    def test_what_eight_ranks_take_is_predicted_from_four(self):
        run, cases = self.sweep("1,2,4,8")
        print(self.run_cli("report", "--source", run, "--format", "markdown").out)


if __name__ == "__main__":
    main()
