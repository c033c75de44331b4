#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check of the beginnings of comments against a small made-up tree."""
import unittest

import comments
import made_up_tree

HEADER = "src/base/text.h"
SCRIPT = "tools/cut.py"


class CommentsTest(made_up_tree.TreeTest):
    clean = {
        HEADER: "// SPDX-License-Identifier: MIT\n#pragma once\n// Cuts text at blanks.\n// Of several blanks the first one.\nint cut();\n"
                'auto page = "https://a.b";  // of the project\n',
        SCRIPT: '#!/usr/bin/env python3\n# SPDX-License-Identifier: MIT\n"""Cuts text."""\nBLANK = " # What"[:1]  # what is cut\n',
        "src/base/text.js": "// What a page needs.\n",
        "docs/cut.py": "# What a page shows.\n",
    }
    check = staticmethod(comments.findings)

    def test_every_word_in_front_and_behind_code(self):
        for word in ("Of", "What", "Those", "Whose", "Likewise", "The same", "Also"):
            self.expect(f'text.h:2: begins with "{word}": {word} it', HEADER, f"\n  // {word} it takes.\nint cut();\n")
            self.expect(f'text.h:1: begins with "{word}"', HEADER, f"int cut();  // {word}\n")
            self.expect(f'cut.py:2: begins with "{word}"', SCRIPT, f'def cut():\n    """{word} it takes."""\n')
            self.expect(f'cut.py:1: begins with "{word}"', SCRIPT, f"BLANK = ' '  # {word}\n")

    def test_words_that_only_begin_alike(self):
        for text in ("Offset in bytes.", "Whatever is left.", "Alsop's rule."):
            self.assertEqual(self.found(HEADER, f"// {text}\n"), [])

    def test_the_first_line_behind_the_licence_and_behind_another_comment(self):
        self.expect("text.h:2", HEADER, "// SPDX-License-Identifier: MIT\n// What it is for.\n")
        self.expect("text.h:2", HEADER, "int a;  // width\n// Those of lines.\nint b;\n")


if __name__ == "__main__":
    unittest.main()
