#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks every tracked file: licence line, white space, sizes, unfinished work, JSON that is parsed or converted without
limits, algorithms that clang 14 cannot compile, programs that cannot be started, tests that no list names and so never run.

usage: sources.py [--root DIR]     exit 1 and one line a finding; warnings alone exit 0
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

LICENSED = {".h", ".cc", ".cu", ".cpp", ".py", ".sh", ".cmake"}
PROGRAMS = {".py", ".sh"}
PROSE_AND_CODE = LICENSED | {".md", ".txt", ".yaml", ".json", ".html", ".css", ".js"}
DATA = ("tests/data/", "tests/fuzz/corpus/", "docs/benchmarks/", "tests/cli/data/")
MAX_LINES, MAX_BYTES = 600, 2_000_000
UNBOUNDED_JSON = re.compile(r"\b[Jj]son::(?:parse|accept|sax_parse)\(")
BOUNDED_JSON = "src/base/bounded_json.cc"
UNCHECKED_NUMBERS = re.compile(r"^#include <nlohmann/", re.M)
CHECKED_NUMBERS = "src/base/json.h"
TEST_FILE = re.compile(r"^(?:tests|tools|scripts)/.*?(?:\w+_test\.(?:cc|py|sh|cmake)|test_(\w+)\.py)$")
SUBRANGES = re.compile(r"\bstd::(?:ranges::(?:unique|remove|remove_if|(?:stable_)?partition|rotate|equal_range|search|find_end)\b|views::)")
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")


def tracked_files(root):
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True).stdout
    return [root / name for name in listed.decode().split("\0") if name]


def licence_findings(text):
    if "SPDX-License-Identifier: MIT" not in "\n".join(text.split("\n", 2)[:2]):
        yield "no 'SPDX-License-Identifier: MIT' in the first two lines"


def text_findings(text):
    for number, line in enumerate(text.split("\n"), 1):
        if line != line.rstrip():
            yield f"line {number}: white space at the end"
        if UNFINISHED.search(line):
            yield f"line {number}: unfinished: {line.strip()[:60]}"
    if text and not text.endswith("\n"):
        yield "no newline at the end of the file"


def findings(path, relative):
    if path.stat().st_size > MAX_BYTES:
        yield f"{path.stat().st_size} bytes; larger than {MAX_BYTES} does not belong in the repository"
        return
    if path.suffix not in PROSE_AND_CODE or relative.startswith(DATA):
        return
    text = path.read_text(errors="replace")
    if path.suffix in LICENSED:
        yield from licence_findings(text)
    if relative.startswith(("src/", "plugins/")) and relative != BOUNDED_JSON and UNBOUNDED_JSON.search(text):
        yield "parses JSON without limits: use base/bounded_json.h"
    if relative != CHECKED_NUMBERS and UNCHECKED_NUMBERS.search(text):
        yield "converts numbers without limits: include base/json.h"
    if relative.startswith(("src/", "plugins/")) and (used := SUBRANGES.search(text)):
        yield f"uses {used[0]}, whose subrange clang 14 cannot compile: use the algorithm of two iterators"
    if path.suffix in PROGRAMS and text.startswith("#!") != os.access(path, os.X_OK):
        yield "begins with #!, but is not executable" if text.startswith("#!") else "is executable, but does not begin with #!"
    if relative != "tools/checks/sources.py":
        yield from text_findings(text)


def unlisted_tests(root, files):
    """Files of tests that no CMakeLists.txt of tests/ names, by themselves or as paceline_…_test(NAME."""
    lists = "\n".join(re.sub(r"#.*", "", path.read_text()) for path in files
                      if path.name == "CMakeLists.txt" and path.is_relative_to(root / "tests") and path.is_file())
    for path in files:
        relative = path.relative_to(root).as_posix()
        if (named := TEST_FILE.match(relative)) and path.is_file():
            call = rf"|_test\({named[1]}\b" if named[1] else ""
            if not re.search(rf"(?<![\w.]){re.escape(path.name)}\b{call}", lists):
                yield relative


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    root = parser.parse_args().root
    files = tracked_files(root)
    failed = False
    for relative in unlisted_tests(root, files):
        print(f"{relative}: never runs: no CMakeLists.txt of tests/ names it")
        failed = True
    for path in files:
        relative = str(path.relative_to(root))
        if not path.is_file() or path.is_symlink():
            continue
        for finding in findings(path, relative):
            print(f"{relative}: {finding}")
            failed = True
        if path.suffix in LICENSED and path.read_text(errors="replace").count("\n") > MAX_LINES:
            print(f"warning: {relative}: more than {MAX_LINES} lines")
    if not failed:
        print("sources: every file has its licence line and ends as it should, every test is in a list")
    return failed


if __name__ == "__main__":
    sys.exit(main())
