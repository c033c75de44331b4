#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check of pointers into the documents against a small made-up tree: each kind of broken pointer is found."""
import unittest

import doc_anchors
import made_up_tree

ROWS = "".join(f'Metric{{"m{i}", "spread", [](const C& c)}},\n' for i in range(20))
CLEAN = {
    "README.md": "[metrics](docs/metrics.md#spread) and [the web](https://example.org)\n",
    "CONTRIBUTING.md": "```\n[not a link](nowhere.md)\n```\n",
    "docs/metrics.md": "# Metrics\n## Spread\n",
    "docs/methodology.md": "# Methodology\n## A/B comparison\n",
    "docs/architecture.md": "### src/result\n| file | why |\n|---|---|\n| `metric_table` | rows |\n",
    "src/result/metric_table.cc": ROWS,
    "src/result/metric_table.h": "// Pairs (methodology: A/B\n// comparison).\n",
    "plugins/CMakeLists.txt": "",
}


class DocAnchorsTest(made_up_tree.TreeTest):
    clean = CLEAN
    check = staticmethod(doc_anchors.findings)

    def test_link_to_a_missing_file(self):
        self.expect("docs/plan.md: no such file", "README.md", "[x](docs/plan.md)")

    def test_link_to_a_missing_heading(self):
        self.expect("no such heading", "README.md", "[x](docs/metrics.md#noise)")

    def test_image_that_is_not_there(self):
        self.expect("docs/a.png: no such file", "README.md", "![x](docs/a.png)")

    def test_comment_that_names_no_heading(self):
        self.expect("no heading 'stop rule'", "src/result/metric_table.h", "// When (methodology: stop rule).")

    def test_metric_without_a_heading(self):
        self.expect("no heading 'noise'", "src/result/metric_table.cc", ROWS + '"noise", [](const C& c)')

    def test_table_that_the_check_cannot_read(self):
        self.expect("only 0 anchors", "src/result/metric_table.cc", "")

    def test_file_without_a_row(self):
        self.expect("says why samples is there", "src/result/samples.h", "")

    def test_row_without_a_file(self):
        self.expect("has a row for gone", "docs/architecture.md", CLEAN["docs/architecture.md"] + "| `gone` | x |\n")


if __name__ == "__main__":
    unittest.main()
