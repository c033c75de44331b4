#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that CHANGELOG.md has the version, the ABI of plug-ins and the version of every stored format, so that none is raised without a word to users.

usage: changelog.py [--root DIR]     exit 1 and one line a number that is missing
"""
import argparse
import pathlib
import re
import sys

# Heading of CHANGELOG.md, the beginning of a table row there, and the source that has the number.
NUMBERS = (
    ("Plug-in ABI", "| {} |", "src/plugin/plugin.h", r"kAbiVersion = (\d+);"),
    ("Stored results", "| {} |", "src/result/stored/case_result.h", r'kSchemaVersion = "([\d.]+)";'),
    ("Other stored files", "| step file (`*.steps.bin`) | {} |", "src/result/stored/step_file.cc", r"kStepVersion = (\d+);"),
    ("Other stored files", "| checkpoint (`meta.json`) | {} |", "src/workload/training/checkpoints.h", r'kCheckpointSchema = "([\d.]+)";'),
    ("Other stored files", "| saved state of training (`rank<k>.ckpt`) | {} |", "plugins/torch/training/saved_state.cc", r"kFormat = (\d+);"),
    ("Other stored files", "| calibration (`--calib-cache`) | {} |", "src/onnx/calibration.cc", r"kVersion = (\d+);"),
    ("Other stored files", "| sensitivity to int8 (`--int8-sensitivity`) | {} |", "src/pass/sensitivity.cc",
     r'"paceline-int8-sensitivity"\},\s*\{"version", (\d+)\}'),
)


def sections(text):
    """The lines below each heading of the third level, of all versions together."""
    found, heading = {}, ""
    for line in text.split("\n"):
        if line.startswith("#"):
            heading = line.lstrip("# ")
        found.setdefault(heading, []).append(line)
    return found


def findings(root):
    text = (root / "CHANGELOG.md").read_text()
    version = (root / "VERSION").read_text().strip()
    if not re.search(rf"^## \[{re.escape(version)}\] - (unreleased|\d{{4}}-\d\d-\d\d)$", text, re.M):
        yield f"CHANGELOG.md has no section '## [{version}] - unreleased' (or its date), the version of VERSION"
    # Where a user reads the number before there is a build: what to cite, and what to install.
    for name, words in (("CITATION.cff", f"version: {version}\n"), ("README.md", f"paceline-{version}-py3"), ("docs/getting-started.md", f"paceline-{version}-py3"),
                        ("scripts/bundle/conda/recipe.yaml", f'version: "{version}"')):
        if words not in (root / name).read_text():
            yield f"{name} does not say {words.strip()!r}, the version of VERSION"
    known = sections(text)
    for heading, row, source, pattern in NUMBERS:
        number = re.search(pattern, (root / source).read_text())
        if not number:
            yield f"{source} has no number as /{pattern}/; correct it in tools/checks/changelog.py"
        elif not any(line.startswith(row.format(number[1])) for line in known.get(heading, [])):
            yield f"CHANGELOG.md has no row '{row.format(number[1])}' below '{heading}', the number in {source}; add it, with what a user must do"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    found = list(findings(parser.parse_args().root))
    print("\n".join(found) or "changelog: it has every number of an interface and of a stored format")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
