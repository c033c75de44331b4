# SPDX-License-Identifier: MIT
"""Common parts of tests of bundles and wheels: which one was built, and where its PyTorch lies on the machine that built it."""

import io
import json
import os
import sys
import tarfile
from pathlib import Path

BUNDLES = Path(os.environ.get("PACELINE_BUNDLES", "build/bundles"))
DIST = Path(os.environ.get("PACELINE_DIST", "build/dist")).resolve()
DEPS = Path(os.environ.get("PACELINE_DEPS", ".deps")).resolve()
INFER = ("infer", "--model", "tiny_cnn", "--engine", "eager,torchscript", "--iterations", "5", "--warmup", "1", "--idle-wait-s", "0",
         "--no-measure-peak", "--allow-noisy")
TRAIN = ("train", "--model", "tiny_cnn", "--ranks", "2", "--backend", "gloo", "--steps", "5", "--idle-wait-s", "0", "--allow-noisy")


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def description(archive):
    """bundle.json of an archive, which is packed near its beginning."""
    with tarfile.open(archive) as file:
        for member in file:
            if member.name.count("/") == 1 and member.name.endswith("/bundle.json"):
                return json.load(io.TextIOWrapper(file.extractfile(member), encoding="utf-8"))
    raise AssertionError(f"'{archive}' holds no bundle.json")


def site_of(version):
    """The folder that holds torch/ of that version, or None."""
    for site in (DEPS / f"torch-{version}", DEPS / "torch"):
        file = site / "torch/version.py"
        if file.is_file() and f"__version__ = '{version}+" in file.read_text():
            return site
    return None


def bundles():
    """(archive, description, site) of each bundle whose PyTorch is here; ends the test where there is none."""
    found = []
    for archive in sorted(BUNDLES.glob("*.tar.xz")):
        facts = description(archive)
        site = site_of(facts["torch"][0])
        if site:
            found.append((archive, facts, site))
    return found or skip(f"no bundle in {BUNDLES} whose PyTorch is in {DEPS}; `make bundle` makes one")


def wheel(pattern="paceline-*.whl"):
    """The newest file of `make wheel` (`make deb`); ends the test where there is none."""
    return max(DIST.glob(pattern), key=os.path.getmtime, default=None) or skip(f"no {pattern} in {DIST}; `make {'deb' if 'deb' in pattern else 'wheel'}` makes one")
