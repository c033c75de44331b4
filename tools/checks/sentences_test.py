#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check of the length of sentences against a small made-up tree."""
import unittest

import made_up_tree
import sentences

PAGE = "docs/plans.md"


def of(n):
    return " ".join(["Word"] + ["word"] * (n - 1)) + "."


class SentencesTest(made_up_tree.TreeTest):
    clean = {
        "README.md": f"# A tool\n\n{of(40)} {' '.join([of(25)] * 12)}\n```\n{of(60)}\n```\n",
        PAGE: f"- {of(20)}\n- **Label.** See [one of two\n  links](x.md) by `a. B. C.`, e.g. I. Newton's.\n\n| {of(7)} | {of(20)} |\n|---|---|\n",
        "docs/reference/options.md": of(50),
    }
    check = staticmethod(lambda root: sentences.findings(root, 1000))

    def test_a_sentence_that_is_too_long(self):
        self.expect("docs/plans.md: 41 words in a sentence, at most 40", PAGE, " ".join([of(41)] + [of(5)] * 20))

    def test_a_sentence_over_several_lines(self):
        self.expect("41 words in a sentence", PAGE, of(41).replace("word word", "word\nword") + " " + " ".join([of(5)] * 20))

    def test_a_cell(self):
        self.expect("41 words in a sentence", PAGE, " ".join([of(5)] * 20) + f"\n\n| a | {of(41)} |\n")

    def test_too_many_long_sentences(self):
        self.expect("the 90th percentile of sentences has 26 words, at most 25", PAGE, " ".join([of(26)] * 2 + [of(5)] * 8))

    def test_too_many_words_in_all(self):
        self.expect("all pages: 1381 words, at most 1000", PAGE, " ".join([of(10)] * 104))

    def test_what_counts_as_a_word(self):
        self.assertEqual(sentences.hand_written("Two words: 3.5 | a\n```\nsome code here\n```\n<!-- a mark -->\n| p99 ms |"), 3)

    def test_what_is_one_sentence(self):
        self.assertEqual([n for n, _ in sentences.sentences(self.clean[PAGE])], [20, 10, 20])


if __name__ == "__main__":
    unittest.main()
