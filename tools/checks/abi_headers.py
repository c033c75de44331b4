#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that the headers of plug-ins are those of their ABI number: what a compiler sees of them may change only with the number.

usage: abi_headers.py [--root DIR] [--write]     exit 1 and a sentence where they changed; --write after the number was raised, or after a change
                                                 that neither an old plug-in nor an old paceline can notice (a new inline function)
"""
import argparse
import hashlib
import pathlib
import re
import sys

FIRST = "plugin/plugin.h"  # it includes all others that are installed
KEPT = pathlib.Path("tools/checks/abi_headers.sha256")
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
NUMBER = re.compile(r"kAbiVersion = (\d+);")


def headers(source, name=FIRST, found=None):
    """Names to texts, of a header and all that it includes of this repository."""
    found = {} if found is None else found
    if name not in found:
        found[name] = (source / name).read_text()
        for other in INCLUDE.findall(found[name]):
            headers(source, other, found)
    return found


def digest(root):
    """The ABI number and the digest of all tokens, as one line."""
    texts = headers(root / "src")
    tokens = "\n".join(" ".join(COMMENT.sub(" ", NUMBER.sub("", text)).split()) for _, text in sorted(texts.items()))
    return f"{NUMBER.search(texts[FIRST])[1]} {hashlib.sha256(tokens.encode()).hexdigest()}"


def findings(root):
    now, kept = digest(root), (root / KEPT).read_text().strip()
    if now != kept:
        raised = now.split()[0] != kept.split()[0]
        yield ("the ABI number was changed: abi_headers.py --write, and a row in CHANGELOG.md" if raised else
               f"headers of plug-ins changed and are still ABI {now.split()[0]}: raise kAbiVersion in src/{FIRST}, or see --help")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if arguments.write:
        (arguments.root / KEPT).write_text(digest(arguments.root) + "\n")
    found = list(findings(arguments.root))
    print("\n".join(found) or "abi_headers: the headers of plug-ins are those of their ABI number")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
