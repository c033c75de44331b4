# SPDX-License-Identifier: MIT
"""Sweeps over ranks that wait instead of computing, each in a network namespace of its own behind a limited link: what the loss budget and the
prediction say is checked against what was put in."""

import os
import re

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

    def assert_adds_up(self, case, base):
        gap = case["training"][0]["costs"]["step_ns"]["value"] - base["training"][0]["costs"]["step_ns"]["value"]
        parts = {part["name"]: part["cost_ns"]["value"] for part in case["scaling"][0]["budget"]}
        self.assertAlmostEqual(sum(parts.values()) / gap, 1, delta=0.02, msg=parts)
        return gap, parts


class Sweep(Limited):
    def test_eight_ranks_are_predicted_from_four(self):
        # Longer waits leave the cores idle for most of a step, as if every rank had its own.
        run, cases = self.sweep("1,2,4,8", "--repetitions", 6, steps=20, WAIT_LAYER_US=2 * LAYER_US)
        for ranks in (2, 4, 8):
            self.assert_adds_up(cases[ranks], cases[1])
        report = self.run_cli("report", "--source", run, "--format", "markdown").out
        answers = self.run_cli("report", "--source", run, "--format", "markdown", "--what-if", "link=2x,bucket_cap_mb=1,stragglers=none").out
        print(report, answers[answers.index("### What if"):].split("\n\n")[1], sep="\n")
        self.assertRegex(answers, r"r8 cpu \| link=2x")
        error = re.search(r"8 ranks, predicted from fewer, are ([0-9.]+) % off", report)
        self.assertTrue(error, "nothing is predicted")
        self.assertLessEqual(float(error.group(1)), 10)


class Story(Limited):
    def test_a_loss_of_throughput_has_a_cause(self):
        """Follows docs/scaling.md, whose output is that of this test."""
        run, cases = self.sweep("1,2,4,8", "--repetitions", 6, steps=20)
        for form in (("markdown",), ("markdown", "--what-if", "link=2x,bucket_cap_mb=1,stragglers=none")):
            print(self.run_cli("report", "--source", run, "--format", *form).out)
        costs = {ranks: case["training"][0]["costs"] for ranks, case in cases.items()}
        grown = {part: costs[8][part]["value"] - costs[4][part]["value"] for part in ("communication_ns", "straggler_wait_ns", "data_wait_ns")}
        self.assertEqual(max(grown, key=grown.get), "communication_ns", grown)


class Together(Limited):
    """Link, late rank and loader at once."""

    HOSTS = 2
    LATE_US, DATA_US = 30_000, 20_000

    def test_each_part_is_found_again(self):
        _, clean = self.sweep("1,2", steps=60)
        _, costly = self.sweep("1,2", steps=60, WAIT_LATE_US=self.LATE_US, WAIT_DATA_US=self.DATA_US)
        _, link = self.assert_adds_up(clean[2], clean[1])
        gap, parts = self.assert_adds_up(costly[2], costly[1])
        print({name: round(ns / 1e6, 2) for name, ns in parts.items()}, "link alone", round(link["exposed_communication"] / 1e6, 2))
        for name, truth in (("exposed_communication", link["exposed_communication"]), ("straggler_wait", self.LATE_US * 1e3),
                            ("data_wait", self.DATA_US * 1e3)):
            self.assertAlmostEqual(parts[name] / truth, 1, delta=0.15, msg=name)
        self.assertLessEqual(abs(parts["unexplained"]), 0.05 * gap)


if __name__ == "__main__":
    main()
