#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check of the table of files against a small made-up tree."""
import unittest

import file_table
import made_up_tree

SOURCE = "// SPDX-License-Identifier: MIT\n#pragma once\n#include <string>\n// Cuts text. Throws nothing.\nint cut();\n"
ROWS = "\n## src/base\n| file | what it is for |\n|---|---|\n| `text` | Cuts text. |\n"


class FileTableTest(made_up_tree.TreeTest):
    clean = {"src/base/text.h": SOURCE, "src/base/text.cc": "int cut() {}\n", "plugins/CMakeLists.txt": "",
             "docs/files.md": file_table.HEAD + ROWS}
    check = staticmethod(file_table.findings)

    def test_a_file_without_a_comment(self):
        found = self.found("src/base/text.h", "// SPDX-License-Identifier: MIT\n#pragma once\n")
        self.assertIn("src/base/text.h: no comment says what the file is for", found)

    def test_a_page_that_says_something_else(self):
        self.expect("not up to date", "src/base/text.h", SOURCE.replace("Cuts", "Joins"))

    def test_a_file_that_is_not_in_the_page(self):
        self.expect("not up to date", "src/base/units.h", "// Units.\n")

    def test_a_comment_over_several_lines_is_one_sentence(self):
        self.assertEqual(file_table.first_sentence(file_table.first_comment("/* Scales\n * numbers. Rounds. */\nint a;")), "Scales numbers.")


if __name__ == "__main__":
    unittest.main()
