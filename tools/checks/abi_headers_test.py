#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check of the ABI's headers against a small made-up tree."""
import hashlib
import unittest

import abi_headers
import made_up_tree

TOKENS = "struct Tensor { int size; };\n#include \"base/tensor.h\" inline constexpr int"
KEPT = f"3 {hashlib.sha256(TOKENS.encode()).hexdigest()}\n"
PLUGIN = '#include "base/tensor.h"\n// Raised on every change.\ninline constexpr int kAbiVersion = 3;\n'


class AbiHeadersTest(made_up_tree.TreeTest):
    clean = {
        "src/plugin/plugin.h": PLUGIN,
        "src/base/tensor.h": "struct Tensor {\n  int size;  // in bytes\n};\n",
        "tools/checks/abi_headers.sha256": KEPT,
    }
    check = staticmethod(abi_headers.findings)

    def test_a_member_more(self):
        self.expect("still ABI 3", "src/base/tensor.h", "struct Tensor { int size; int rank; };\n")

    def test_a_number_without_the_rest(self):
        self.expect("CHANGELOG.md", "src/plugin/plugin.h", PLUGIN.replace("3", "4"))

    def test_comments_and_breaks_of_lines_are_free(self):
        self.assertEqual(self.found("src/base/tensor.h", "/* A tensor. */ struct Tensor\n{ int size; };"), [])


if __name__ == "__main__":
    unittest.main()
