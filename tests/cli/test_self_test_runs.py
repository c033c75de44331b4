# SPDX-License-Identifier: MIT
"""Twenty self-tests of profile on live ranks: how often a cost that was put in is named, and whether a clean run accuses a rank."""

import re
from collections import Counter

from paceline_cli import CliTest, main

RUNS, LEAST_NAMED = 20, 0.9


class Live(CliTest):
    def test_costs_are_named_and_clean_runs_accuse_nobody(self):
        right, all_rows = Counter(), Counter()
        for run in range(RUNS):
            result = self.run_cli("profile", "--self-test", timeout=300)
            rows = re.findall(r"^(PASS|FAIL)  ([a-z ]+?)(?: \(.*?\))? +named: (.*)$", result.out, re.MULTILINE)
            self.assertEqual(len(rows), 5, result.out + result.err)
            for verdict, injected, named in rows:
                all_rows[injected] += 1
                right[injected] += verdict == "PASS"
                if verdict == "FAIL":
                    print(f"run {run}: injected {injected}; named {named}", flush=True)
            print(f"{run + 1}/{RUNS}: {sum(right.values())} of {sum(all_rows.values())} right", flush=True)
        for injected, count in all_rows.items():
            print(f"{injected}: {right[injected]} of {count}", flush=True)
        clean = "nothing"
        self.assertEqual(right[clean], all_rows[clean], "a clean run accused a rank")
        for injected in set(all_rows) - {clean}:
            self.assertGreaterEqual(right[injected], LEAST_NAMED * all_rows[injected], injected)


if __name__ == "__main__":
    main()
