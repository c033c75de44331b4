#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every module of src/ and plugins/ says in its first comment what it is for.

usage: file_comments.py [--root DIR] [--list]     exit 1 and one line per module without a first comment; --list prints all comments
"""
import argparse
import pathlib
import re
import sys

SOURCES = {".h", ".cc", ".cu", ".c", ".S", ".in", ".js", ".css", ".html"}
COMMENT = re.compile(r"\s*(?://|#|/\*|\*|<!--)\s?(.*?)\s*(?:\*/|-->)?\s*$")
CODE_WITH_HASH = re.compile(r"\s*#\s*(include|pragma|define|if|ifdef|ifndef|else|endif|undef|error)\b")


def first_comment(text):
    """The words of the first comment behind the licence line, in one line."""
    words, opened = [], False
    for line in text.split("\n"):
        match = None if CODE_WITH_HASH.match(line) else COMMENT.match(line)
        if match and "SPDX-License-Identifier" not in line and not line.startswith("#!"):
            opened = True
            words.append(match.group(1))
        elif opened:
            break
    return " ".join(words).strip()


def modules(root):
    """The file that speaks for each module: its header, where it has one."""
    files = {}
    for path in sorted(p for room in ("src", "plugins") for p in (root / room).rglob("*") if p.suffix in SOURCES):
        name = path.parent / path.name.split(".")[0]
        if name not in files or path.suffix == ".h":
            files[name] = path
    return sorted(files.values())


def comments(root):
    """(path below the root, first comment) of each module."""
    return [(path.relative_to(root), first_comment(path.read_text(errors="replace"))) for path in modules(root)]


def findings(root):
    return [f"{path}: no comment says what the file is for" for path, comment in comments(root) if not comment]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(f"{path}: {comment}" for path, comment in comments(arguments.root)))
    found = findings(arguments.root)
    print("\n".join(found) or "file_comments: every file says what it is for")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
