# SPDX-License-Identifier: MIT
"""Common part of tests of the Dockerfile: its stages as lists of instructions."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KNOWN = {"ARG", "FROM", "RUN", "COPY", "WORKDIR", "ENV", "ENTRYPOINT", "CMD"}


class Stage:
    def __init__(self, base, name):
        self.base, self.name, self.instructions = base, name, []

    def all(self, word):
        return [argument for instruction, argument in self.instructions if instruction == word]

    def last_list(self, word):
        """The words of the last ENTRYPOINT or CMD."""
        return json.loads(self.all(word)[-1])


def instructions(text):
    """(instruction, argument), comments left out, continued lines joined."""
    for line in re.sub(r"\\\n\s*", " ", re.sub(r"(?m)^\s*#.*\n", "", text)).splitlines():
        if line.strip():
            word, _, argument = line.strip().partition(" ")
            assert word in KNOWN, f"the tests do not know the instruction {word}"
            yield word, argument.strip()


def stages():
    """Stages by name, the default one last; ARG before the first FROM is filled in."""
    arguments, found = {}, {}
    for word, argument in instructions((ROOT / "Dockerfile").read_text()):
        if word == "ARG" and not found:
            name, _, value = argument.partition("=")
            arguments[name] = value
        elif word == "FROM":
            base, name = re.fullmatch(r"(\S+) AS (\w+)", argument).groups()
            base = re.sub(r"\$\{(\w+)\}", lambda match: arguments[match.group(1)], base)
            stage = found[name] = Stage(base, name)
        else:
            stage.instructions.append((word, argument))
    return found
