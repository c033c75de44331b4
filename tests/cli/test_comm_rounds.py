# SPDX-License-Identifier: MIT
"""Rounds of `paceline comm`, which find a slow rank, host or link."""

import unittest

from comm_lab import RoundsTest
from paceline_cli import case_dir, read_csv


class Rounds(RoundsTest):
    def test_a_slow_rank_is_named(self):
        case, rounds, out = self.rounds_of("--rounds", "pairs", fault="slow:2:120:20")
        self.assertEqual((rounds["of"], rounds["bytes"], rounds["rounds"], rounds["attempts"], rounds["wrong"]), ("pairs", 1024, 3, 3, 0))
        self.assertEqual(sorted(s["members"] for s in rounds["subsets"]), [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])
        for subset in rounds["subsets"]:
            self.assertEqual(subset["ns"] > 120e6, 2 in subset["members"])
            self.assertAlmostEqual(subset["gb_per_s"] * subset["ns"] / 1024, 1, places=6)
        slow, = rounds["slow"]
        self.assertEqual((slow["what"], slow["ranks"]), ("rank", [2]))
        self.assertIn("Slow: rank 2 (", out)
        rows = read_csv(case_dir(self.only_run(), case["case_id"]) / "rounds.csv")
        self.assertEqual(len(rows), 3 * 6 * 5, "attempts, pairs, operations")
        self.assertEqual({r["ranks"] for r in rows}, {"0 1", "0 2", "0 3", "1 2", "1 3", "2 3"})

    def test_a_slow_link_is_named(self):
        _, rounds, out = self.rounds_of("--rounds", "2", ranks=5, fault="link:1:3:120:20")
        self.assertEqual(rounds["rounds"], 5, "of an odd number of ranks each pauses once")
        self.assertEqual([(s["what"], s["ranks"]) for s in rounds["slow"]], [("link", [1, 3])])
        self.assertRegex(out, r"Slow: the link between rank 1 \(.*\) and rank 3 \(")

    def test_subsets_name_a_slow_rank(self):
        _, rounds, out = self.rounds_of("--rounds", "3", ranks=6, fault="slow:4:120:20")
        self.assertTrue(all(len(s["members"]) == 3 for s in rounds["subsets"]))
        self.assertEqual([(s["what"], s["ranks"]) for s in rounds["slow"]], [("rank", [4])])
        self.assertIn("slowest ranks together", out)

    def test_reports_have_the_matrix_and_the_verdict(self):
        self.rounds_of("--rounds", "pairs", fault="slow:1:120:20")
        for form in ("html", "markdown"):
            self.assert_code(self.run_cli("report", self.only_run(), "--format", form, "--output", self.folder / f"report.{form}"), 0)
            text = (self.folder / f"report.{form}").read_text(encoding="utf-8")
            self.assertIn("Slow: rank 1 (", text)
            self.assertIn("Rounds of pairs: 1 KiB each way, 3 rounds and 3 attempts", text)

    def test_wrong_messages_fail(self):
        case, rounds, _ = self.rounds_of("--rounds", "pairs", fault="wrong:1", code=1)
        self.assertEqual(case["reason_code"], "accuracy")
        self.assertGreater(rounds["wrong"], 0)

    def test_two_ranks_have_nobody_to_be_compared_with(self):
        _, rounds, out = self.rounds_of("--rounds", "pairs", ranks=2)
        self.assertEqual((rounds["slow"], len(rounds["subsets"])), ([], 1))
        self.assertIn("No verdict: 2 ranks have nobody to be compared with", out)

    def test_hosts_on_one_host_are_a_skip(self):
        result = self.comm("-g", "4", "--rounds", "hosts")
        self.assert_code(result, 77)
        self.assertIn("rounds of hosts need two hosts, and all ranks are on one; use pairs", self.summary(self.only_run())["cases"][0]["reason"])


if __name__ == "__main__":
    unittest.main()
