#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check of CHANGELOG.md against a small made-up tree."""
import unittest

import changelog
import made_up_tree

LOG = """# Changelog
## [0.2.0] - unreleased
### Plug-in ABI
| 2 | today |
| 1 | before |
### Stored results
| 1.3 | today |
### Other stored files
| step file (`*.steps.bin`) | 1 |
| checkpoint (`meta.json`) | 1.0 |
| saved state of training (`rank<k>.ckpt`) | 1 |
| calibration (`--calib-cache`) | 1 |
| sensitivity to int8 (`--int8-sensitivity`) | 1 |
"""


class ChangelogTest(made_up_tree.TreeTest):
    clean = {
        "CHANGELOG.md": LOG,
        "VERSION": "0.2.0\n",
        "CITATION.cff": "version: 0.2.0\n",
        "README.md": "pip install paceline-0.2.0-py3-none-any.whl",
        "docs/getting-started.md": "pip install paceline-0.2.0-py3-none-any.whl",
        "scripts/bundle/conda/recipe.yaml": 'context:\n  version: "0.2.0"\n',
        "src/plugin/plugin.h": "constexpr int kAbiVersion = 2;",
        "src/result/stored/case_result.h": 'const char* kSchemaVersion = "1.3";',
        "src/result/stored/step_file.cc": "int kStepVersion = 1;",
        "src/workload/training/checkpoints.h": 'kCheckpointSchema = "1.0";',
        "plugins/torch/training/saved_state.cc": "kFormat = 1;",
        "src/onnx/calibration.cc": "kVersion = 1;",
        "src/pass/sensitivity.cc": '{"format", "paceline-int8-sensitivity"},\n {"version", 1},',
    }
    check = staticmethod(changelog.findings)

    def test_a_file_of_another_version(self):
        self.expect("CITATION.cff does not say 'version: 0.2.0'", "CITATION.cff", "version: 0.1.0\n")
        self.expect("README.md does not say 'paceline-0.2.0-py3'", "README.md", "pip install paceline-0.1.0-py3-none-any.whl")

    def test_an_abi_without_a_row(self):
        self.expect("no row '| 3 |' below 'Plug-in ABI'", "src/plugin/plugin.h", "kAbiVersion = 3;")

    def test_a_format_without_a_row(self):
        self.expect("no row '| 1.4 |' below 'Stored results'", "src/result/stored/case_result.h", 'kSchemaVersion = "1.4";')

    def test_a_row_below_another_heading(self):
        self.expect("no row '| 2 |' below 'Plug-in ABI'", "CHANGELOG.md", LOG.replace("| 2 | today |\n", "") + "| 2 | today |\n")

    def test_a_version_without_an_entry(self):
        found = self.found("VERSION", "0.2.1\n")
        self.assertEqual(len(found), 5, found)
        self.assertIn("CHANGELOG.md has no section '## [0.2.1] - unreleased'", found[0])

    def test_a_heading_with_a_date_or_another_word(self):
        self.assertEqual(self.found("CHANGELOG.md", LOG.replace("unreleased", "2026-12-01")), [])
        self.expect("no section '## [0.2.0] - unreleased'", "CHANGELOG.md", LOG.replace("unreleased", "soon"))

    def test_a_number_that_moved(self):
        self.expect("has no number as", "src/onnx/calibration.cc", "kEdition = 1;")


if __name__ == "__main__":
    unittest.main()
