# SPDX-License-Identifier: MIT
"""Common parts of the checks' tests: a small made-up tree, and what a check finds in it when one file is changed."""
import pathlib
import tempfile
import unittest


class TreeTest(unittest.TestCase):
    clean = {}    # path to text; nothing is to be found in it
    check = None  # function of the root: the findings, in words

    def found(self, path=None, text=""):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, content in {**self.clean, **({path: text} if path else {})}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(content)
            return list(type(self).check(root))

    def expect(self, words, path, text):
        found = self.found(path, text)
        self.assertEqual(len(found), 1, found)
        self.assertIn(words, found[0])

    def test_a_clean_tree_passes(self):
        self.assertEqual(self.found(), [])
