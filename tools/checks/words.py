#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that nothing in src/ compares text with a name that is a value: of scenarios, kinds, devices, verdicts, causes.

usage: words.py [--root DIR]     exit 1 and one line a comparison

The names are those in HEADERS. Readers and writers of files may compare them; READERS says which files those are.
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
    "src/result/verdicts.h": "use the constants of result/verdicts.h",
    "src/result/rank_evidence.h": "use the constants of late_cause",
    "src/result/training.h": "use the constants of loss_part",
}
READERS = {
    "src/plugin/registry.cc",  # manifests of plug-ins
}
COMMENT = re.compile(r"//.*")
# Of a row the first one, its name; not that of its command.
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
    return {name: advice for header, advice in HEADERS.items() if (root / header).exists()
            for name in LITERAL.findall(code_of(root / header))}


def findings(root):
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    found = list(findings(parser.parse_args().root))
    print("\n".join(found) or "words: nothing compares text with a name that is a value")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
