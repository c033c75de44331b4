#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check of pointers into the documents against a small made-up tree: each kind of broken pointer is found."""
import unittest

import doc_anchors
import made_up_tree

ROWS = "".join(f'constexpr Topic k{i}{{.anchor = "spread"}};\n' for i in range(20))
CLEAN = {
    "README.md": "[metrics](docs/metrics.md#spread) and [the web](https://example.org)\n",
    "CONTRIBUTING.md": "```\n[not a link](nowhere.md)\n```\n",
    "docs/metrics.md": "# Metrics\n## Spread\n",
    "docs/methodology.md": "# Methodology\n## A/B comparison\n",
    "src/result/metric_topics.h": ROWS,
    "src/result/metric_table.h": "// Pairs (methodology: A/B\n// comparison).\n",
}


class DocAnchorsTest(made_up_tree.TreeTest):
    clean = CLEAN
    check = staticmethod(doc_anchors.findings)

    def test_link_to_a_missing_file(self):
        self.expect("docs/plan.md: no such file", "README.md", "[x](docs/plan.md)")

    def test_link_to_a_missing_heading(self):
        self.expect("no such heading", "README.md", "[x](docs/metrics.md#noise)")

    def test_link_whose_text_has_brackets(self):
        self.expect("docs/plan.md: no such file", "CHANGELOG.md", "[`gpus: [1, 2]`, `more`](docs/plan.md)")

    def test_image_that_is_not_there(self):
        self.expect("docs/a.png: no such file", "README.md", "![x](docs/a.png)")

    def test_comment_that_names_no_heading(self):
        self.expect("no heading 'stop rule'", "src/result/metric_table.h", "// When (methodology: stop rule).")

    def test_metric_without_a_heading(self):
        self.expect("no heading 'noise'", "src/result/metric_topics.h", ROWS + 'constexpr Topic k{.anchor = "noise"};')

    def test_table_that_the_check_cannot_read(self):
        self.expect("only 0 anchors", "src/result/metric_topics.h", "")


if __name__ == "__main__":
    unittest.main()
