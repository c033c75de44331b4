#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks words: nothing in src/ compares text with a name that is a value, and no text has a turn that is read twice.

usage: words.py [--root DIR]     exit 1 and one line per comparison or turn

The names (of scenarios, kinds, devices, causes) are those in HEADERS. Readers and writers of files may compare them; READERS lists
these files. TURNS are searched in code, comments, scripts and pages, but not in tests, whose data keep older words.
"""
import argparse
import pathlib
import re
import sys

# Where the names are spelled, and what to compare instead.
HEADERS = {
    "src/base/scenario.h": "ask traits_of(Scenario)",
    "src/base/workload_kind.h": "compare WorkloadKind, or ask its traits",
    "src/base/device.h": "ask parse_device, is_cpu or is_cuda",
    "src/result/stored/rank_evidence.h": "use the constants of late_cause",
    "src/result/stored/training.h": "use the constants of loss_part",
}
READERS = {
    "src/plugin/registry.cc",  # manifests of plug-ins
}
# Turns that are not written, and what is written instead.
TURNS = {
    r"\bso (?:many|long)\b(?! as)": 'name the number or the time, or write "as long as"',
    r"\banew\b": '"again"',
    r"\bgrave(?:st|r)\b": '"most severe"',
    r"\bmend(?:s|ed)?\b": '"fix"',
    r"\bholds? no\b": '"contains no" or "has no"',
    r"\b(?:calls|files?|folder|images|index|ms|one|processes|requests|samples|steps|threads|tokens|work) an? "
    r"(?:case|class|input|line|rank|round|sample|second|size|step)\b(?! (?:is|was|sees|has))": '"per"',
}
TURN = [(re.compile(turn, re.IGNORECASE), instead) for turn, instead in TURNS.items()]
TEXTS = {".h", ".cc", ".cu", ".py", ".sh", ".html", ".js", ".md", ".ipynb", ".yaml"}
FOLDERS = ("src", "plugins", "python", "scripts", "tools", "examples", "docs", "notebooks")
OF_TURNS = ("tools/checks/words.py", "tools/checks/words_test.py")  # they name the turns

COMMENT = re.compile(r"//.*")
# First literal of a row, its name; not that of its command.
LITERAL = re.compile(r'(?<!include )(?<!", )(?<!_names = )(?<!\{\.name = )"([a-z_]+)"')
COMPARED = re.compile(
    r'[=!]=\s*(?:std::string(?:_view)?\()?"([\w:]*)"'  # x == "cuda:1"
    r'|"([\w:]*)"\s*[=!]='
    r'|\bstd::(?:ranges::)?(?:count|find)\([^"]*?,\s*"([\w:]*)"'
    r'|\.(?:compare|starts_with|ends_with)\("([\w:]*)"'
)


def code_of(path):
    return COMMENT.sub("", path.read_text(errors="replace"))


def names(root):
    """Each name, and what to do instead of comparing with it."""
    return {name: advice for header, advice in HEADERS.items() for name in LITERAL.findall(code_of(root / header))}


def comparisons(root):
    known = names(root)
    for path in sorted(p for p in (root / "src").rglob("*") if p.suffix in (".h", ".cc")):
        where = path.relative_to(root).as_posix()
        if where in READERS or where in HEADERS:
            continue
        text = code_of(path)
        for match in COMPARED.finditer(text):
            word = next(group for group in match.groups() if group is not None)
            advice = known.get(word.split(":")[0])
            if advice:
                yield f"{where}:{text.count(chr(10), 0, match.start()) + 1}: compares text with \"{word}\"; {advice}"


def texts(root):
    pages = [root / name for name in ("README.md", "CONTRIBUTING.md")]
    files = [p for folder in FOLDERS for p in sorted((root / folder).rglob("*"))]
    return [p for p in pages + files if p.is_file() and p.suffix in TEXTS and p.relative_to(root).as_posix() not in OF_TURNS]


def turns(root):
    for path in texts(root):
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            for turn, instead in TURN:
                if match := turn.search(line):
                    yield f"{path.relative_to(root).as_posix()}:{number}: \"{match.group(0)}\"; write {instead}"


def findings(root):
    gone = [header for header in HEADERS if not (root / header).exists()]
    yield from (f"{header} is gone; name in HEADERS where its names are now" for header in gone)
    if not gone:
        yield from comparisons(root)
    yield from turns(root)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    found = list(findings(parser.parse_args().root))
    print("\n".join(found) or "words: nothing compares text with a name that is a value, and no text has a turn that is read twice")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
