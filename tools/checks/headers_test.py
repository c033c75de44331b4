#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check of headers by themselves: the chains, and headers that compile only behind others."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
from unittest import mock

import headers

VALUE = "#pragma once\nstruct Value { int x; };\n"


class HeadersTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "work").mkdir()

    def write(self, **files):
        for name, text in files.items():
            (self.folder / f"{name}.h").write_text(text)
        return headers.includes(self.folder)

    def said(self, graph, heavy=()):
        command, found = ["c++", f"-I{self.folder}"], headers.groups(graph, heavy)
        said = [headers.precompile(command, self.folder / "work", one) for one in found if one]
        said += [headers.compile_chain(command, self.folder / "work", chain, one) for one, group in found.items() for chain in headers.chains(graph, group)]
        return "".join(said)

    def test_a_header_stands_behind_what_it_includes(self):
        graph = {"a.h": [], "b.h": ["a.h"], "c.h": ["b.h"], "d.h": ["a.h"], "alone.h": []}
        found = headers.chains(graph)
        self.assertEqual(sorted(h for chain in found for h in chain), sorted(graph))
        self.assertEqual(len(found), 3)
        for chain in found:
            for before, header in zip(chain, chain[1:]):
                self.assertIn(before, headers.all_below(graph, header))

    def test_headers_that_compile_alone(self):
        self.assertEqual(self.said(self.write(value=VALUE, use='#pragma once\n#include "value.h"\ninline int of(Value v) { return v.x; }\n')), "")

    def test_one_that_relies_on_another(self):
        said = self.said(self.write(value=VALUE, use="#pragma once\ninline int of(Value v) { return v.x; }\n"))
        self.assertIn("use.h:", said)
        self.assertIn("Value", said)

    def test_a_heavy_header_precedes_only_what_includes_it(self):
        graph = {"value.h": [], "middle.h": ["value.h"], "use.h": ["middle.h"], "other.h": []}
        self.assertEqual(headers.groups(graph, ["value.h"]), {None: ["other.h", "value.h"], "value.h": ["middle.h", "use.h"]})
        self.assertEqual(headers.groups(graph, ["middle.h", "value.h"])["middle.h"], ["use.h"])
        self.assertEqual(headers.chains(graph, ["middle.h", "use.h"]), [["middle.h", "use.h"]])

    @unittest.skipUnless(shutil.which("ccache"), "ccache is missing")
    def test_a_kept_heavy_header_is_of_the_same_files(self):
        environment = {"CCACHE_DIR": str(self.folder / "cache"), "CCACHE_SLOPPINESS": "pch_defines,time_macros"}
        with mock.patch.dict(os.environ, environment):
            for text in (VALUE, VALUE + "// a comment\n"):
                self.write(value=text, middle='#pragma once\n#include "value.h"\n', use='#pragma once\n#include "middle.h"\n#include "value.h"\ninline int of(Value v) { return v.x + %d; }\n' % len(text))
                for file in self.folder.glob("*.h"):
                    os.utime(file, (1_700_000_000 + len(text),) * 2)   # of files that are new, nothing is kept
                command = ["ccache", "c++", f"-I{self.folder}"]
                said = headers.precompile(command, self.folder / "work", "middle.h", [self.folder / "middle.h", self.folder / "value.h"])
                self.assertEqual(said + headers.compile_chain(command, self.folder / "work", ["use.h"], "middle.h"), "")

    def test_behind_a_heavy_header(self):
        good = {"value": VALUE, "use": '#pragma once\n#include "value.h"\ninline int of(Value v) { return v.x; }\n'}
        self.assertEqual(self.said(self.write(**good), ["value.h"]), "")
        self.assertTrue((self.folder / "work/value.h.h.gch").exists())
        said = self.said(self.write(other='#pragma once\n#include "value.h"\ninline Missing made(Value v);\n', without="inline Value of();\n"), ["value.h"])
        self.assertIn("other.h:", said)
        self.assertIn("without.h:", said)
        self.assertNotIn("use.h:", said)

    def test_a_heavy_header_that_does_not_compile(self):
        self.assertIn("value.h:", self.said(self.write(value="#pragma once\nstruct Value { Missing x; };\n", use='#pragma once\n#include "value.h"\n'), ["value.h"]))

    def test_rings_end(self):
        graph = self.write(one='#pragma once\n#include "two.h"\n', two='#pragma once\n#include "one.h"\n')
        self.assertEqual(sorted(h for chain in headers.chains(graph) for h in chain), ["one.h", "two.h"])


if __name__ == "__main__":
    unittest.main()
