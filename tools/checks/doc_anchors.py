#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that places in the documents that code and other documents point to exist.

usage: doc_anchors.py [--root DIR]     exit 1 and one line a broken pointer

Anchors of the metric table are headings of docs/metrics.md; a name after "methodology:" in a comment is a heading of
docs/methodology.md; relative links in Markdown files lead to files and headings that are there.
"""
import argparse
import pathlib
import re
import sys

CODE = ("*.h", "*.cc")
LINK = re.compile(r"\[(?:`[^`]*`|[^]`])*\]\(([^)\s]+)\)")   # of images too; code in its text may have brackets
ANCHOR_ROW = re.compile(r'\.anchor = "([a-z0-9-]+)"')
MENTION = re.compile(r"\(methodology:\s*([^()]*)\)")


def anchor_of(heading):
    """As GitHub makes it: lower case, punctuation away, blanks to hyphens."""
    text = re.sub(r"[`*]", "", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def without_code(text):
    return re.sub(r"^(```|~~~).*?^\1", "", text, flags=re.M | re.S)


def headings(path):
    return {anchor_of(h) for h in re.findall(r"^#+\s+(.*)$", without_code(path.read_text()), re.M)}


def metric_anchors(root):
    return ANCHOR_ROW.findall((root / "src/result/metric_topics.h").read_text())


def mentions(root):
    """(file, heading) of each methodology note in brackets, also where a comment goes over several lines."""
    for folder in ("src", "plugins", "tests"):
        for path in sorted(p for pattern in CODE for p in (root / folder).rglob(pattern)):
            text = re.sub(r"\n\s*(//|#)\s?", " ", path.read_text(errors="replace"))
            for group in MENTION.findall(text):
                for name in group.split(","):
                    yield path.relative_to(root), name.strip()


def link_findings(root, path):
    for match in LINK.finditer(without_code(path.read_text())):
        target = match.group(1)
        if "://" in target or target.startswith("mailto:"):
            continue
        name, _, anchor = target.partition("#")
        file = (path.parent / name) if name else path
        if not file.exists():
            yield f"{path.relative_to(root)}: link to {target}: no such file"
        elif anchor and file.suffix == ".md" and anchor not in headings(file):
            yield f"{path.relative_to(root)}: link to {target}: no such heading"


def findings(root):
    anchors, metrics = metric_anchors(root), headings(root / "docs/metrics.md")
    if len(anchors) < 20:
        yield f"src/result/metric_topics.h: only {len(anchors)} anchors were recognised; the check no longer fits the table"
    for anchor in sorted(set(anchors) - metrics):
        yield f"docs/metrics.md: no heading '{anchor}', which the metric table names"
    methodology = headings(root / "docs/methodology.md")
    for path, name in mentions(root):
        if anchor_of(name) not in methodology:
            yield f"{path}: docs/methodology.md has no heading '{name}'"
    for path in [*sorted(root.glob("*.md")), *sorted((root / "docs").rglob("*.md"))]:
        yield from link_findings(root, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    found = list(findings(parser.parse_args().root))
    print("\n".join(found) or "doc_anchors: every pointer into the documents leads somewhere")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
