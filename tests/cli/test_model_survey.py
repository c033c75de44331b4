# SPDX-License-Identifier: MIT
"""tools/model_survey.py: models of others against their engines' own Python. PACELINE_SURVEY_PYTHON names a python3 with the packages that
docs/models.md lists; without it there is nothing to compare with."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import paceline_cli as cli

TOOL = Path(__file__).resolve().parents[2] / "tools" / "model_survey.py"
PYTHON = os.environ.get("PACELINE_SURVEY_PYTHON")


@unittest.skipUnless(PYTHON, "PACELINE_SURVEY_PYTHON names no python3 with the packages of docs/models.md")
class ModelSurvey(unittest.TestCase):
    def survey(self, what):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([PYTHON, TOOL, what, "--folder", folder, "--paceline", cli.BINARY], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout[-5000:] + done.stderr[-2000:])
        return done.stdout

    def test_models_as_people_export_them(self):
        self.assertGreaterEqual(self.survey("exported").count("| equal |"), 53)

    def test_the_tests_of_onnx_itself(self):
        self.assertIn("150 models of", self.survey("onnx-tests"))


if __name__ == "__main__":
    unittest.main()
