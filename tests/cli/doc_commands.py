# SPDX-License-Identifier: MIT
"""Finds the commands that the documents tell their readers to type."""

import re
import shlex
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "CONTRIBUTING.md", "docs/*.md", "docs/reference/older-flags.md")

BLOCK = re.compile(r"^ *```(\w*)\n(.*?)^ *```[^\S\n]*$", re.M | re.S)
SPAN = re.compile(r"`([^`\n]+)`")
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
# How a command begins where nothing else says that it is one.
BEGINS = re.compile(r"([A-Z_]+=\S* )*(paceline|make|cmake|ctest|docker|srun|mpirun|torchrun|taskset|python3|\.ci/run|(build|scripts|tools|examples)/[\w./-]*\w) [^=]")


class Command(NamedTuple):
    """`words` without the variables before them; `quoted`: with them, as the page has it; `whole`: a line to type, not a part in a sentence."""

    page: str
    line: int
    words: tuple
    variables: dict
    quoted: str
    whole: bool

    def __str__(self):
        return f"{self.page}:{self.line}: {self.quoted}"


def pages(root=ROOT):
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for pattern in PAGES for path in sorted(root.glob(pattern))}


def shell_lines(text, first):
    """(number, line) with continued lines joined to the first of them."""
    whole, start = "", first
    for number, line in enumerate(text.split("\n"), first):
        start = start if whole else number
        if line.endswith("\\"):
            whole += line[:-1] + " "
        else:
            yield start, whole + line
            whole = ""


def typed_lines(language, text, first):
    """Lines of a block that are commands: all of one in `sh`, those behind a prompt elsewhere."""
    for number, line in shell_lines(text, first):
        if language == "sh" and line.strip():
            yield number, line
        elif not language and line.startswith("$ "):
            yield number, line[2:]


def parts(words):
    """Commands of a line, between &&, | and ;, without the words of a loop."""
    part = []
    for word in [*words, ";"]:
        if word.endswith(";") or word in ("&&", "||", "|"):
            part += [word.rstrip(";")] if word.rstrip(";|&") else []
            if part and part[0] not in ("for", "done"):
                yield part[part[0] == "do":]
            part = []
        else:
            part.append(word)


def of_line(page, number, line, values, whole):
    """Commands of one line; `values`: variables that earlier lines of the block set, and this line may."""
    for words in parts(shlex.split(line, comments=True)):
        words = [w for word in words for w in (shlex.split(values[word[1:]]) if word.startswith("$") and word[1:] in values else [word])]
        count = next((i for i, word in enumerate(words) if not ASSIGNMENT.match(word)), len(words))
        variables = dict(word.split("=", 1) for word in words[:count])
        if count == len(words):
            values.update(variables)
        else:
            yield Command(page, number, tuple(words[count:]), variables, " ".join(words), whole)


def of_page(page, text):
    outside = text
    for block in BLOCK.finditer(text):
        first, values = text.count("\n", 0, block.start()) + 2, {}
        for number, line in typed_lines(block.group(1), block.group(2), first):
            yield from of_line(page, number, line, values, True)
        outside = outside.replace(block.group(), "\n" * block.group().count("\n"), 1)
    for number, line in enumerate(outside.split("\n"), 1):
        for span in SPAN.findall(line):
            if BEGINS.match(span):
                yield from of_line(page, number, span.replace("\\|", "|"), {}, False)


def unmarked_blocks(page, text):
    """Blocks of commands that do not say so: without `sh`, and with a line that begins as a command."""
    for block in BLOCK.finditer(text):
        if not block.group(1) and any(BEGINS.match(line) and not re.match(r"paceline \S+  ", line) for line in block.group(2).split("\n")):
            yield f"{page}:{text.count(chr(10), 0, block.start()) + 1}: a block of commands begins with ```sh"


def all_commands(root=ROOT):
    return [command for page, text in pages(root).items() for command in of_page(page, text)]
