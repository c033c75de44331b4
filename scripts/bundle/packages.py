#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tree of a bundle as a wheel, or as the folder that a .deb is made of: what runs, in one folder; what shells and `man` read, where
they look for it.

usage: packages.py wheel BUNDLE FILE.whl SECONDS_SINCE_1970   (the same tree makes the same file)
       packages.py debian BUNDLE FOLDER
"""

import base64
import hashlib
import json
import pathlib
import shutil
import sys
import time
import zipfile

import libraries

SOURCES = pathlib.Path(__file__).resolve().parents[2]
TAG = f"py3-none-manylinux_{'_'.join(map(str, libraries.LIMITS['GLIBC']))}_x86_64"   # no file of a bundle needs more
RUNS = ("bin", "lib", "licenses", "share/paceline", "scripts/with_pytorch.sh", "paceline", "bundle.json")
SHARED = ("share/man", "share/bash-completion", "share/zsh", "share/fish", "examples")   # examples: below share/paceline


def files_below(path):
    return sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]


def contents(bundle, version):
    """(name in the wheel, file) of everything but the metadata."""
    for part in RUNS:
        for path in files_below(bundle / part):
            yield f"paceline/{path.relative_to(bundle)}", path
    for path in files_below(SOURCES / "scripts/bundle/package"):
        if path.suffix == ".py":
            yield f"paceline/{path.name}", path
    for path in files_below(bundle / "python"):
        yield str(path.relative_to(bundle / "python")), path
    for part in SHARED:
        for path in files_below(bundle / part):
            inner = path.relative_to(bundle)
            yield f"paceline-{version}.data/data/{inner if inner.parts[0] == 'share' else pathlib.Path('share/paceline') / inner}", path
    yield f"paceline-{version}.dist-info/licenses/LICENSE", bundle / "LICENSE"


def metadata(facts):
    extras = {**facts["extras"], "results": "pandas>=2"}
    lines = ["Metadata-Version: 2.4", "Name: paceline", f"Version: {facts['paceline']}",
             "Summary: Measures deep-learning inference, training and collectives, with intervals, checks and reasons",
             "License-Expression: MIT", "License-File: LICENSE", "Requires-Python: >=3.9",
             "Classifier: Operating System :: POSIX :: Linux", "Classifier: Topic :: System :: Benchmark"]
    for extra, requirement in sorted(extras.items()):
        lines += [f"Provides-Extra: {extra}", f'Requires-Dist: {requirement}; extra == "{extra}"']
    return "\n".join(lines) + "\n\nThe tool: `paceline --help`. Runs as tables of pandas: `import paceline_results`.\n"


def written(facts):
    version = facts["paceline"]
    return {f"paceline-{version}.dist-info/METADATA": metadata(facts),
            f"paceline-{version}.dist-info/WHEEL": f"Wheel-Version: 1.0\nGenerator: paceline ({version})\nRoot-Is-Purelib: false\nTag: {TAG}\n",
            f"paceline-{version}.dist-info/entry_points.txt": "[console_scripts]\npaceline = paceline.__main__:main\n"}


def record_row(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f'"{name}",sha256={digest},{len(data)}' if "," in name else f"{name},sha256={digest},{len(data)}"


def pack_wheel(bundle, target, seconds):
    facts = json.loads((bundle / "bundle.json").read_text())
    name = f"paceline-{facts['paceline']}-{TAG}.whl"
    if target.name not in (name, name + ".partial"):
        raise SystemExit(f"bundle: '{target.name}' is no name for this wheel; pip wants {name}")
    date = time.gmtime(max(seconds, 315532800))[:6]
    rows = []
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        def add(name, data, mode):
            info = zipfile.ZipInfo(name, date)
            info.external_attr = (0o100000 | mode) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
            rows.append(record_row(name, data))
        for name, path in contents(bundle, facts["paceline"]):
            add(name, path.read_bytes(), 0o755 if path.stat().st_mode & 0o100 else 0o644)
        for name, text in written(facts).items():
            add(name, text.encode(), 0o644)
        record = f"paceline-{facts['paceline']}.dist-info/RECORD"
        add(record, ("\n".join(rows) + f"\n{record},,\n").encode(), 0o644)


def lay_out_debian(bundle, target):
    """Puts the files below /usr; the package of Python that starts the tool is not needed there."""
    version = json.loads((bundle / "bundle.json").read_text())["paceline"]
    places = {f"paceline-{version}.data": "usr", f"paceline-{version}.dist-info": None, "paceline": "usr/lib/paceline",
              "paceline_results": "usr/lib/python3/dist-packages/paceline_results"}
    for name, path in contents(bundle, version):
        first, rest = name.split("/", 1)
        place = places[first]
        if place is None or path.parent.name == "package":
            continue
        file = target / place / rest.removeprefix("data/")
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, file)
    (target / "usr/bin").mkdir(parents=True)
    (target / "usr/bin/paceline").symlink_to("../lib/paceline/paceline")
    doc = target / "usr/share/doc/paceline"
    doc.mkdir(parents=True)
    shutil.copy(bundle / "LICENSE", doc / "copyright")
    shutil.copy(bundle / "CHANGELOG.md", doc)


def main():
    action, bundle, target = sys.argv[1], *map(pathlib.Path, sys.argv[2:4])
    if action == "wheel":
        pack_wheel(bundle, target, int(sys.argv[4]))
    else:
        lay_out_debian(bundle, target)


if __name__ == "__main__":
    main()
