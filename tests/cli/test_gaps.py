# SPDX-License-Identifier: MIT
"""Hidden states of the spin plug-in: an inference after a pause takes longer for a reason that is known, or the times have two states."""

import json
import shutil

from paceline_cli import CliTest, main


class Gaps(CliTest):
    def measured(self, *options):
        self.assert_code(self.infer("--gap", "0,10ms", "--spin.pace", "steady", *options, iterations=80), 0)
        summary = self.summary()
        cases = {c["benchmark"]["params"]["gap"]: c for c in summary["cases"]}
        return cases, [f for f in summary["findings"] if f["id"] == "idle_gap"]

    def slowed(self, *options):
        """Cases and the one finding, measured again while the machine is too busy for a latency; such cases have none."""
        for _ in range(4):
            cases, found = self.measured(*options)
            if all(c["grade"] != "C" for c in cases.values()):
                self.assertEqual(len(found), 1)
                return cases, found[0]["text"]
            self.assertEqual(found, [])
            shutil.rmtree(self.folder / "results")
        return self.skipTest("the machine is too busy for a latency")

    def test_without_an_effect_there_is_no_finding(self):
        cases, found = self.measured()
        self.assertEqual([c["label"] for c in cases.values()], ["x.spin spin fp32 b1 gap0", "x.spin spin fp32 b1 gap10ms"])
        self.assertEqual(found, [])
        took = {gap: c["repetitions"][0]["elapsed_ns"] for gap, c in cases.items()}
        self.assertGreater(took["10ms"] - took["0"], 79 * 10e6)

    def test_a_slow_start_without_a_sign_has_no_known_cause(self):
        _, text = self.slowed("--spin.wake_us", "3000")
        self.assertRegex(text, r"p50 is [34]\.\d\dx as long after a gap of 10ms as without one: .*, within one process each\. Cause: not known; explains less than half: page faults")

    def test_page_faults_are_named(self):
        cases, text = self.slowed("--spin.wake_pages", "1000")
        self.assertGreater(float(cases["10ms"]["effective_settings"]["page_faults_per_inference"]), 950)
        self.assertLess(float(cases["0"]["effective_settings"]["page_faults_per_inference"]), 100)
        self.assertRegex(text, r"Cause: page faults, 1\d\d\d per inference against \d+: its memory was given back\.")

    def test_the_predicted_duration_has_the_sleeps(self):
        planned = self.infer("--gap", "1s", "--dry-run", "--json", iterations=200)
        self.assert_code(planned, 0)
        self.assertGreater(json.loads(planned.out)["estimated_low_s"], 200)

    def test_mistakes(self):
        self.assert_error(self.infer("--gap", "soon"), 2, "gap 'soon' is no time from 0 to 60s with its unit, e.g. 10ms")
        self.assert_error(self.infer("--gap", "10"), 2, "gap '10'")
        self.assert_error(self.infer("--gap", "10ms", "--timing", "pipelined"), 2, "--timing pipelined")
        self.assert_nothing_ran()

    def test_a_plan_has_it_as_an_axis(self):
        self.assert_code(self.run_cli("run", self.spin_plan("gap: [0, 5ms]")), 0)
        self.assertEqual([c["label"] for c in self.summary()["cases"]], ["x.spin spin fp32 b1 gap0", "x.spin spin fp32 b1 gap5ms"])


class States(CliTest):
    def test_two_states_are_told(self):
        self.assert_code(self.infer("--spin.pace", "two_states", iterations=600), 0)
        case = self.summary()["cases"][0]
        states, = case["two_states"]
        self.assertAlmostEqual(states["slow_ns"] / states["fast_ns"], 2, delta=0.2)
        self.assertAlmostEqual(states["slow_share"], 1 / 3, delta=0.15)
        self.assertEqual((states["by_process"], states["signs"]), (False, []))
        text, = [f["text"] for f in self.summary()["findings"] if f["id"] == "two_states"]
        self.assertRegex(text, r"the times have two states, 1\.\d+ ms \(\d+ %\) and 2\.\d+ ms \(\d+ %\)\. "
                               r"What tells them apart is not known: nothing was read beside the samples\.$")


if __name__ == "__main__":
    main()
