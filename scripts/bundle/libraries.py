#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a bundle whole: copies the shared libraries that a bare machine lacks, and checks that the rest is there on any.

usage: libraries.py BUNDLE FOLDER…   (of engines' libraries, which the target has: torch/lib, openvino/libs)
"""

import pathlib
import re
import shutil
import subprocess
import sys

# The newest versions of symbols that a machine with glibc 2.35 has (Ubuntu 22.04).
LIMITS = {"GLIBC": (2, 35), "GLIBCXX": (3, 4, 30), "CXXABI": (1, 3, 13), "GCC": (12, 0, 0)}
# Every Linux with a Python has these; another libstdc++ than the machine's own would break what PyTorch loads.
SYSTEM = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2", "libstdc++.so.6", "libgcc_s.so.1"}


class Library:
    """The entries of the dynamic section of one file."""

    def __init__(self, path):
        text = subprocess.run(["objdump", "-p", str(path)], capture_output=True, text=True, check=True).stdout
        self.path = path
        self.needed = re.findall(r"^\s+NEEDED\s+(\S+)", text, re.M)
        self.search_paths = [part for path in re.findall(r"^\s+(?:RPATH|RUNPATH)\s+(.*)", text, re.M) for part in path.split(":")]
        self.versions = [(name, tuple(map(int, number.split("."))))
                         for name, number in re.findall(r"\b([A-Z]+)_([0-9][0-9.]*)$", text.split("Version References:")[-1], re.M)]


def too_new(library):
    return [f"{name}_{'.'.join(map(str, number))}" for name, number in library.versions if name in LIMITS and number > LIMITS[name]]


def is_elf(path):
    if not path.is_file() or path.is_symlink():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def libraries_of_engines(folders):
    """Their own files, and what of CUDA they load: the target's packages bring them. Not what they take from any machine, such as libz."""
    files = [path for folder in folders for path in folder.glob("lib*.so*")]
    return {path.name for path in files} | {name for path in files for name in Library(path).needed if re.match("lib(cu|nv|nccl)", name)}


def places():
    text = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    return {name: pathlib.Path(path) for name, path in reversed(re.findall(r"^\s+(\S+) \(libc6,x86-64[^)]*\) => (\S+)", text, re.M))}


def complete(bundle, provided):
    """Copies what is missing into lib/, and what that needs; returns the originals."""
    known, copied = places(), []
    waiting = [Library(path) for path in bundle.rglob("*") if is_elf(path)]
    have = {library.path.name for library in waiting}
    while waiting:
        for name in waiting.pop().needed:
            if name in SYSTEM or name in provided or name in have:
                continue
            if name not in known:
                raise SystemExit(f"bundle: no shared library '{name}' on this machine, which the bundle needs")
            target = bundle / "lib" / name
            shutil.copy(known[name].resolve(), target)
            subprocess.run(["strip", "--strip-unneeded", str(target)], check=True)
            have.add(name)
            copied.append(known[name])
            waiting.append(Library(target))
    return copied


def check(bundle):
    problems = []
    for path in sorted(p for p in bundle.rglob("*") if is_elf(p)):
        library = Library(path)
        where = path.relative_to(bundle)
        problems += [f"{where} needs {symbol}, newer than glibc 2.35 and its libstdc++ have" for symbol in too_new(library)]
        problems += [f"{where} looks for libraries in {text}" for text in library.search_paths if not text.startswith("$ORIGIN")]
    return problems


def licences(bundle, libraries):
    """Debian's copyright file of each package that a library comes from."""
    target = bundle / "licenses"
    target.mkdir(exist_ok=True)
    for path in libraries:
        for candidate in (path, path.resolve()):
            found = subprocess.run(["dpkg", "-S", str(candidate)], capture_output=True, text=True, check=False).stdout
            package = found.split(":")[0]
            text = pathlib.Path("/usr/share/doc") / package / "copyright"
            if package and text.is_file():
                shutil.copy(text, target / package)
                break


def main():
    bundle, *folders = map(pathlib.Path, sys.argv[1:])
    licences(bundle, complete(bundle, libraries_of_engines(folders)))
    problems = check(bundle)
    for problem in problems:
        print(f"bundle: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
