#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check of tables laid out by hand against a small made-up tree."""
import unittest

import hand_tables
import made_up_tree

SOURCE = "src/host/view.cc"


class HandTablesTest(made_up_tree.TreeTest):
    clean = {
        SOURCE: 'auto line = fmt::format("{:>3}  {}", number, text);\n',
        "src/answer/render/terminal.cc": 'auto row = fmt::format("{:<8} {:>8}", a, b);\n',
        "src/report/nccl_tests.cc": 'auto row = fmt::format("{:>12} {:>12}", a, b);\n',
    }
    check = staticmethod(hand_tables.findings)

    def test_two_padded_columns_are_a_table(self):
        for row in ('"{:<48} {:>8}\\n"', '"{:<{}}  {:>7.1f}"', '"say \\"{:>2}\\" or {:^4}"'):
            self.expect("view.cc:1: a table by hand", SOURCE, f"auto row = fmt::format({row}, a, b);\n")

    def test_one_in_each_of_two_strings_is_none(self):
        self.assertEqual(self.found(SOURCE, 'auto a = fmt::format("{:<8}", x) + fmt::format("{:>8}", y);\n'), [])


if __name__ == "__main__":
    unittest.main()
