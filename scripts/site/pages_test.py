#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Links, Markdown and navigation of the site, as pages.py makes them."""
import pathlib
import unittest

import pages


class Links(unittest.TestCase):
    def leads(self, page, text, expected):
        self.assertEqual(pages.relinked(text, pathlib.Path(page)), expected)

    def test_from_the_home_page(self):
        self.leads("README.md", "[a](docs/gpu.md#b) ![c](docs/images/d.png) [e](CONTRIBUTING.md)", "[a](gpu.md#b) ![c](images/d.png) [e](contributing.md)")

    def test_out_of_the_documents(self):
        self.leads("docs/reference/options.md", "[a](../../README.md) [b](../gpu.md) [c](../../LICENSE)", "[a](../index.md) [b](../gpu.md) [c](../sources/LICENSE.md)")
        self.leads("docs/results.md", "[a](../notebooks/a.ipynb) [b](../src/b.cc)", "[a](sources/notebooks/a.ipynb) [b](sources/src/b.cc.md)")

    def test_what_stays(self):
        for text in ("[a](https://example.org/docs/gpu.md)", "[a](#b)", "[a](mailto:b@example.org)"):
            self.leads("docs/gpu.md", text, text)

    def test_back(self):
        for path in ("README.md", "CHANGELOG.md", "docs/gpu.md", "docs/reference/options.md"):
            self.assertEqual(pages.source(pages.place(pathlib.Path(path))), pathlib.Path(path))


class Markdown(unittest.TestCase):
    def test_a_list_or_table_after_a_paragraph(self):
        self.assertEqual(pages.dialect("a:\n- b\n- c\n  d\n- e\n"), "a:\n\n- b\n- c\n  d\n- e\n")
        self.assertEqual(pages.dialect("<!-- a -->\n| b |\n|---|\n"), "<!-- a -->\n\n| b |\n|---|\n")

    def test_bars_in_code_of_a_table(self):
        self.assertEqual(pages.dialect("| `a \\| b` | c \\| d |"), "| `a | b` | c \\| d |")

    def test_code_is_left_alone(self):
        self.assertEqual(pages.site_markdown("a:\n```cpp\n[](b)\n- c\n```\n- d\n", pathlib.Path("README.md")), "a:\n\n```cpp\n[](b)\n- c\n```\n\n- d\n")


class Navigation(unittest.TestCase):
    def test_the_rows_of_the_table(self):
        readme = "# A\n\n## Documentation\n\n| | |\n|---|---|\n| B | [C](docs/c.md) · [D](CHANGELOG.md) |\n| E | [F](docs/r/f.md) |\n\n## G\n\n| H | [I](docs/i.md) |\n"
        self.assertEqual(pages.navigation(readme), [{"Home": "index.md"}, {"B": [{"C": "c.md"}, {"D": "changelog.md"}]}, {"E": [{"F": "r/f.md"}]}])


if __name__ == "__main__":
    unittest.main()
