# SPDX-License-Identifier: MIT
"""The Dockerfile names only what is there: scripts, targets of make, files that its context holds."""

import fnmatch
import re
import subprocess
import unittest

import dockerfile_lab as lab


class Dockerfile(unittest.TestCase):
    def setUp(self):
        self.stages = lab.stages()

    def test_stages(self):
        self.assertEqual(list(self.stages), ["cuda", "cpu"])  # the last one is what `docker build .` makes
        self.assertRegex(self.stages["cuda"].base, r"tensorrt:\d\d\.\d\d")
        for stage in self.stages.values():
            self.assertNotRegex(stage.base, ":latest$")
            self.assertIn(":", stage.base)

    def test_targets_of_make(self):
        targets = set(re.findall(r"^([a-z-]+):", (lab.ROOT / "Makefile").read_text(), re.M))
        for stage in self.stages.values():
            called = [word for run in stage.all("RUN") for command in run.split("&&") if command.split()[0] == "make"
                      for word in command.split()[1:] if re.fullmatch("[a-z-]+", word) and not word.startswith("-")]
            self.assertEqual(called, ["install"])
            self.assertLessEqual(set(called), targets)

    def test_scripts_are_there(self):
        for stage in self.stages.values():
            for name in re.findall(r"scripts/[\w./]+", " ".join(stage.all("RUN"))):
                self.assertTrue((lab.ROOT / name).is_file(), name)
        self.assertIn("TORCH_VERSION=", (lab.ROOT / "scripts/versions.sh").read_text())

    def test_the_context_holds_every_file_of_the_repository(self):
        ignored = [line for line in (lab.ROOT / ".dockerignore").read_text().split() if line]
        tracked = subprocess.run(["git", "ls-files"], cwd=lab.ROOT, capture_output=True, text=True, check=False)
        if tracked.returncode != 0:
            self.skipTest("not in a repository")
        for file in tracked.stdout.splitlines():
            for pattern in ignored:
                self.assertFalse(file.split("/")[0] == pattern or fnmatch.fnmatch(file, pattern), f"{file} is ignored by {pattern}")
        for folder in (".deps", "build"):
            self.assertIn(folder, ignored)

    def test_the_entry_point_is_what_is_installed(self):
        for stage in self.stages.values():
            self.assertEqual((stage.last_list("ENTRYPOINT"), stage.last_list("CMD")), (["paceline"], ["--help"]))
            self.assertTrue(any("PREFIX=/usr/local" in run for run in stage.all("RUN")), "installed where PATH looks")
            self.assertIn("paceline --version", stage.all("RUN"))


if __name__ == "__main__":
    unittest.main()
