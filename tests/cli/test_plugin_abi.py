# SPDX-License-Identifier: MIT
"""The promise of docs/engine-plugins.md about plug-ins of another ABI: refused in one sentence, before any of their functions but one runs.

PACELINE_PREVIOUS_ABI, PACELINE_LATER_ABI: plug-ins that were built from tests/plugin/abi, a frozen header.
"""

import os
import re
from pathlib import Path

import paceline_cli as cli

ROOT = Path(__file__).resolve().parents[2]
PREVIOUS, LATER = os.environ["PACELINE_PREVIOUS_ABI"], os.environ["PACELINE_LATER_ABI"]


def abi_in(header):
    return int(re.search(r"kAbiVersion = (\d+);", (ROOT / header).read_text(encoding="utf-8"))[1])


HERE = abi_in("src/plugin/plugin.h")


class OtherAbi(cli.CliTest):
    def refused(self, plugin, number):
        ran = self.folder / "ran"
        words = ("--plugin", plugin, "--model", "x.spin", "--shapes", "input:{batch}x4", "--engine")
        for engine in ("old", "eager"):
            result = self.run_cli("infer", *words, engine, env={"OTHER_ABI_RAN": str(ran)})
            self.assert_error(result, 2, plugin, f"has ABI {number}", f"this paceline has {HERE}", "build it again", "CHANGELOG.md")
        self.assert_nothing_ran()
        self.assertFalse(ran.exists(), "a function of the plug-in ran")

    def test_the_previous_one_is_refused(self):
        self.refused(PREVIOUS, HERE - 1)

    def test_a_later_one_is_refused(self):
        self.refused(LATER, 1000000)

    def test_the_frozen_header_is_the_previous_one(self):
        self.assertEqual(abi_in("tests/plugin/abi/previous.h"), HERE - 1, "freeze plugin/plugin.h as it was before, in tests/plugin/abi/previous.h")


if __name__ == "__main__":
    cli.main()
