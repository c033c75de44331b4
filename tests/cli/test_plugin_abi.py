# SPDX-License-Identifier: MIT
"""The promise of docs/engine-plugins.md about plug-ins of another ABI: refused in one sentence, before any of their functions but one runs.

PACELINE_LATER_ABI: a plug-in that was built from tests/plugin/abi.
"""

import os
import re
from pathlib import Path

import paceline_cli as cli

ROOT = Path(__file__).resolve().parents[2]
LATER = os.environ["PACELINE_LATER_ABI"]
HERE = int(re.search(r"kAbiVersion = (\d+);", (ROOT / "src/plugin/plugin.h").read_text(encoding="utf-8"))[1])


class OtherAbi(cli.CliTest):
    def refused(self, plugin, number):
        ran = self.folder / "ran"
        words = ("--plugin", plugin, "--model", "x.spin", "--shapes", "input:{batch}x4", "--engine")
        for engine in ("old", "eager"):
            result = self.run_cli("infer", *words, engine, env={"OTHER_ABI_RAN": str(ran)})
            self.assert_error(result, 2, plugin, f"has ABI {number}", f"this paceline has {HERE}", "build it again", "CHANGELOG.md")
        self.assert_nothing_ran()
        self.assertFalse(ran.exists(), "a function of the plug-in ran")

    def test_a_later_one_is_refused(self):
        self.refused(LATER, HERE + 1)


if __name__ == "__main__":
    cli.main()
