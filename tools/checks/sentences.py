#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the length of sentences in README.md, CONTRIBUTING.md and docs/*.md, and the number of their words.

usage: sentences.py [--root DIR] [--page PAGE]     exit 1 and one line per fault; --page lists all long sentences of one page

A page fails if the 90th percentile of its sentences has more than 25 words, or any sentence more than 40. Code blocks, headings and bold labels
contain no sentences, inline code counts as one word, and a table's cell counts from eight words on: a shorter one is a phrase.
All pages together have at most 32,000 hand-written words: those with two letters or more, outside code blocks.
"""
import argparse
import math
import pathlib
import re
import sys

P90, LONGEST, TOTAL = 25, 40, 32000
PHRASE = 8  # a cell of fewer words is no sentence

LABEL = re.compile(r"\*\*[^*\n]{1,40}[.:]\*\*")  # **Formula.** is a heading, no sentence
NO_END = re.compile(r"(?:\b[A-Z]|\be\.g|\bi\.e|\bcf|\bvs|\betc)\.$")  # initials and abbreviations
END = re.compile(r"(?<=[.!?])[)\"”*_]*\s+(?=[\"“(*_]*[A-Z0-9§])")
BLOCK = re.compile(r"^\s*(?:[-*+]|\d+\.)\s+|^\s*>\s?")
RULE = re.compile(r"^[\s|:-]+$")


def plain(text):
    """Markdown without what is not read as words: links become their text, inline code one word."""
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"``.+?``|`[^`]*`", "CODE", text)
    text = LABEL.sub("", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return text.replace("**", "").replace("\\|", "/")


def words(text):
    return [w for w in text.split() if re.search(r"\w", w)]


def split(text):
    """The sentences of one block."""
    start = 0
    for match in END.finditer(text):
        if not NO_END.search(text[start:match.start()]):
            yield text[start:match.start()].strip()
            start = match.end()
    yield text[start:].strip()


def without_code(page):
    page = re.sub(r"<!--.*?-->", "", page, flags=re.S)
    return re.sub(r"^(\s*)(```|~~~).*?^\s*\2[^\n]*$", "", page, flags=re.M | re.S)


def hand_written(page):
    """Number of words with two letters or more outside code blocks."""
    return sum(bool(re.search(r"[A-Za-z]{2}", word)) for word in without_code(page).split())


def blocks(page):
    """(text, whether it is a cell): paragraphs, list items and cells."""
    page = without_code(page)
    paragraph = []
    for line in [*plain(page).splitlines(), ""]:
        row = line.lstrip().startswith("|")
        ends = row or not line.strip() or line.startswith("#") or BLOCK.match(line)
        if ends and paragraph:
            yield " ".join(paragraph), False
            paragraph = []
        if row:
            if not RULE.match(line):
                yield from ((cell, True) for cell in line.strip().strip("|").split("|"))
        elif line.strip() and not line.startswith("#"):
            paragraph.append(BLOCK.sub("", line).strip())


def sentences(page):
    for block, cell in blocks(page):
        for sentence in split(block):
            length = len(words(sentence))
            if length >= (PHRASE if cell else 1):
                yield length, sentence


def p90(lengths):
    return sorted(lengths)[math.ceil(0.9 * len(lengths)) - 1] if lengths else 0


def pages(root):
    return [p for p in [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").glob("*.md"))] if p.exists()]


def findings(root, most=TOTAL):
    total = 0
    for path in pages(root):
        name, text = path.relative_to(root).as_posix(), path.read_text()
        total += hand_written(text)
        found = sorted(sentences(text), reverse=True)
        yield from (f"{name}: {n} words in a sentence, at most {LONGEST}: {s[:90]}…" for n, s in found if n > LONGEST)
        if (tail := p90([n for n, _ in found])) > P90:
            yield f"{name}: the 90th percentile of sentences has {tail} words, at most {P90}"
    if total > most:
        yield f"all pages: {total} words, at most {most}; shorten a page"


def report(root):
    total, worst = 0, []
    print(f"{'page':28} {'words':>6} {'p90':>4} {'longest':>7}")
    for path in pages(root):
        name, text = path.relative_to(root).as_posix(), path.read_text()
        lengths = sorted(sentences(text), reverse=True)
        total += hand_written(text)
        worst += [(n, name, s) for n, s in lengths]
        print(f"{name:28} {hand_written(text):6} {p90([n for n, _ in lengths]):4} {lengths[0][0] if lengths else 0:7}")
    print(f"{'all pages':28} {total:6} {p90([n for n, _, _ in worst]):4}\n\nthe ten longest sentences:")
    for n, name, sentence in sorted(worst, reverse=True)[:10]:
        print(f"  {n:3} {name}: {sentence[:110]}…")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--page", help="list the sentences above 25 words of this page")
    options = parser.parse_args()
    if options.page:
        found = list(sentences((options.root / options.page).read_text()))
        print(*(f"{n:3} {s}" for n, s in sorted(found, reverse=True) if n > P90), sep="\n")
        print(f"{len(found)} sentences, 90th percentile {p90([n for n, _ in found])}")
        return 0
    report(options.root)
    found = list(findings(options.root))
    print("\n" + ("\n".join(found) or "sentences: every page keeps its sentences short"))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
