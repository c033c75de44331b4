#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that a comment begins with a verb or a noun: "Returns", "Empty if", its subject; not with one of WORDS.

usage: comments.py [--root DIR]     exit 1 and one line per comment

Looked at are the first lines of comments in C++ and Python, also behind code, and of docstrings.
A fragment in lower case ("// of the first run") ends the declaration that it stands behind, and may begin as it likes.
"""
import argparse
import pathlib
import re
import sys
import tokenize

WORDS = re.compile(r"(?:Of|What|Those|Whose|Likewise|The same|Also)\b")
CPP, PYTHON = {".h", ".cc", ".cu", ".c"}, {".py"}
FOLDERS = {"src": CPP, "plugins": CPP, "examples": CPP, "tests": CPP | PYTHON, "tools": PYTHON, "python": PYTHON, "scripts": PYTHON}
CPP_COMMENT = re.compile(r"(.*?)(?<!\S)//\s*(.*)")


def cpp_comments(path):
    """Line number, code in front, text."""
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        if match := CPP_COMMENT.match(line):
            yield number, match[1].strip(), match[2]


def python_comments(path):
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            before = token.line[:token.start[1]].strip()
            if token.type == tokenize.COMMENT:
                yield token.start[0], before, token.string.lstrip("# ")
            elif token.type == tokenize.STRING and token.string.startswith('"""') and not before:
                yield token.start[0], "docstring", token.string[3:].splitlines()[0]


def findings(root):
    for path in (p for folder, suffixes in FOLDERS.items() for p in sorted((root / folder).rglob("*")) if p.suffix in suffixes):
        goes_on = 0  # number of the line that a comment above would go on in
        for number, before, text in (python_comments if path.suffix in PYTHON else cpp_comments)(path):
            if number != goes_on and (begin := WORDS.match(text)):
                yield f"{path.relative_to(root).as_posix()}:{number}: begins with \"{begin[0]}\": {text[:60]}"
            goes_on = 0 if before or "SPDX-License-Identifier" in text else number + 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    found = list(findings(parser.parse_args().root))
    print("\n".join(found) or "comments: every comment begins with a verb or a noun")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
