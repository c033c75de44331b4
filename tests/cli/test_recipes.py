# SPDX-License-Identifier: MIT
"""Files that users copy: the workflow of GitHub Actions, whose commands are typed here, and the recipe of a conda package.

Skipped without PyYAML; the recipe is rendered where this Python, or the folder PACELINE_EXPORT_PACKAGES, has rattler-build's package.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import paceline_cli as cli

try:
    import yaml
except ImportError:
    print("skipped: this Python has no PyYAML")
    sys.exit(77)

ROOT = Path(__file__).resolve().parents[2]
WORKFLOW = ROOT / "examples/github-actions.yml"
RECIPE = ROOT / "scripts/bundle/conda/recipe.yaml"
VERSION = (ROOT / "VERSION").read_text(encoding="utf-8").strip()


class GitHubActions(cli.CliTest):
    def setUp(self):
        super().setUp()
        self.job = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]["benchmark"]
        (self.folder / "bin").mkdir()
        (self.folder / "bin/paceline").symlink_to(cli.BINARY)
        self.page = self.folder / "summary.md"
        self.env = {**self.env, "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "GITHUB_STEP_SUMMARY": str(self.page), "NOTE": "Fuse the last <b>two</b> layers"}
        self.spin_plan("repetitions: 1", name="benchmarks/plan.yaml")
        shutil.move(self.folder / "x.spin", self.folder / "benchmarks/x.spin")

    def step(self, name):
        """Runs a step as Actions does: bash -e, a file of commands."""
        line = next(step["run"] for step in self.job["steps"] if step.get("name") == name)
        done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", line], cwd=self.folder, env=self.env, capture_output=True, text=True, check=False, timeout=cli.TIMEOUT_S)
        return done.returncode, done.stdout + done.stderr

    def measure(self, code):
        shutil.copy(self.folder / "benchmarks/x.spin", self.folder)
        ended, said = self.step("Measure")
        self.assertEqual(ended, code, said)

    def test_it_measures_and_writes_the_summary(self):
        self.measure(0)
        self.assertEqual(self.step("Write the summary")[0], 0)
        page = self.page.read_text(encoding="utf-8")
        for words in ("| case |", "1 of 1 gate met", "Note: Fuse the last &lt;b&gt;two&lt;/b&gt; layers"):
            self.assertIn(words, page)
        self.assertTrue((self.folder / "results/junit.xml").is_file())

    def test_a_missed_gate_fails_the_step_and_is_in_the_summary(self):
        with (self.folder / "benchmarks/plan.yaml").open("a", encoding="utf-8") as plan:
            plan.write("expect: ['samples > 1000000']\n")
        line = next(step for step in self.job["steps"] if step.get("name") == "Measure")
        line["run"] = line["run"].replace("p50_ms < 1000", "samples > 1000000")
        self.measure(1)
        self.assertEqual(self.step("Write the summary")[0], 0)
        self.assertIn("missed", self.page.read_text(encoding="utf-8"))

    def test_a_baseline_stands_beside_it(self):
        self.measure(0)
        shutil.copytree(self.only_run(), self.folder / "benchmarks/baseline")
        self.assertEqual(self.step("Compare with the baseline"), (0, ""))
        self.assertIn("# Run B", self.page.read_text(encoding="utf-8"))

    def test_every_command_of_the_tool_is_tried_here(self):
        typed = [step["name"] for step in self.job["steps"] if "paceline " in step.get("run", "")]
        self.assertEqual(typed, ["Measure", "Write the summary", "Compare with the baseline"])
        install = next(step["run"] for step in self.job["steps"] if step.get("name") == "Install")
        extra = re.fullmatch(r'pip install "paceline\[(\w+)\] @ \$PACELINE_WHEEL"', install).group(1)
        self.assertIn(f'"{extra}"', (ROOT / "scripts/bundle/manifests.py").read_text(encoding="utf-8"))


class CondaRecipe(cli.CliTest):
    def setUp(self):
        super().setUp()
        self.recipe = yaml.safe_load(RECIPE.read_text(encoding="utf-8"))

    def test_it_names_what_the_wheel_has(self):
        self.assertEqual(self.recipe["context"]["version"], VERSION)
        wheel = self.recipe["source"]["path"].replace("${{ version }}", VERSION)
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("$(VERSION)", VERSION)
        self.assertIn(wheel.removeprefix("../../../"), makefile)
        command, place = self.recipe["build"]["python"]["entry_points"][0].split(" = ")
        module, function = place.split(":")
        self.assertEqual(command, "paceline")
        self.assertIn(f"[console_scripts]\\n{command} = {place}", (ROOT / "scripts/bundle/packages.py").read_text(encoding="utf-8"))
        file = ROOT / "scripts/bundle/package" / (module.removeprefix("paceline.") + ".py")
        self.assertIn(f"def {function}(", file.read_text(encoding="utf-8"))
        self.assertTrue((RECIPE.parent / self.recipe["about"]["license_file"]).is_file())
        tested = self.recipe["tests"][0]["python"]["imports"]
        self.assertTrue(all((ROOT / "python" / name).is_dir() for name in tested))
        self.assertEqual(self.recipe["requirements"]["run"][1], "__glibc >=" + re.search(r"manylinux_(\d+)_(\d+)", wheel).expand(r"\1.\2"))

    def test_its_commands_work(self):
        for line in self.recipe["tests"][1]["script"]:
            self.assert_code(self.run_cli(*line.split()[1:]), 0)

    def test_rattler_build_renders_it(self):
        env = {**self.env, "PYTHONPATH": os.environ.get("PACELINE_EXPORT_PACKAGES", "")}
        code = """
import json, sys
import rattler_build
recipe = rattler_build.Stage0Recipe.from_file(sys.argv[1]).render(rattler_build.VariantConfig())[0].recipe
print(json.dumps([recipe.package.name, recipe.package.version, recipe.about.license]))
"""
        if subprocess.run([sys.executable, "-c", "import rattler_build"], env=env, check=False, capture_output=True).returncode:
            self.skipTest("this Python has no package of rattler-build")
        done = subprocess.run([sys.executable, "-c", code, str(RECIPE)], env=env, check=False, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout), ["paceline", VERSION, "MIT"])


if __name__ == "__main__":
    cli.main()
