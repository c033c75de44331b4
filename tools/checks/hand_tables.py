#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that no source lays a table out by hand: columns are values of answer/section.h, which every form renders.

usage: hand_tables.py [--root DIR]     exit 1 and one line per table

A format string with two padded columns is a table.
"""
import argparse
import pathlib
import re
import sys

PADDED = re.compile(r"\{:[<>^][^}]*\}")
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
RENDERERS = "src/answer/render/"
# Columns of another program, and the sensitivity of layers, which stands in a log.
ALLOWED = {"src/report/nccl_tests.cc", "src/pass/sensitivity.cc"}


def findings(root):
    for path in sorted((root / "src").rglob("*.cc")):
        name = path.relative_to(root).as_posix()
        if name.startswith(RENDERERS) or name in ALLOWED:
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if any(len(PADDED.findall(text)) > 1 for text in LITERAL.findall(line)):
                yield f"{name}:{number}: a table by hand; make an answer::Table, which every form renders"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    found = list(findings(parser.parse_args().root))
    print("\n".join(found) or "hand_tables: every table is a value")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
