#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check of the first comments of files against a small made-up tree."""
import unittest

import file_comments
import made_up_tree

SOURCE = "// SPDX-License-Identifier: MIT\n#pragma once\n#include <string>\n// Cuts text. Throws nothing.\nint cut();\n"


class FileCommentsTest(made_up_tree.TreeTest):
    clean = {"src/base/text.h": SOURCE, "src/base/text.cc": "int cut() {}\n", "plugins/CMakeLists.txt": ""}
    check = staticmethod(file_comments.findings)

    def test_a_file_without_a_comment(self):
        found = self.found("src/base/text.h", "// SPDX-License-Identifier: MIT\n#pragma once\n")
        self.assertIn("src/base/text.h: no comment says what the file is for", found)

    def test_a_source_without_a_header(self):
        self.expect("src/base/units.cc: no comment", "src/base/units.cc", "int units() {}\n")

    def test_a_comment_over_several_lines_is_one_line(self):
        self.assertEqual(file_comments.first_comment("/* Scales\n * numbers. Rounds. */\nint a;"), "Scales numbers. Rounds.")


if __name__ == "__main__":
    unittest.main()
