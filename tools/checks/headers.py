#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does every header of src/ compile alone? In few compilations: one has a header behind those alone that the header includes itself.

usage: headers.py BUILD_DIR   (configured; its compile_commands.json has the flags)

Where C includes B and B includes A, the file "A B C" compiles only if each does by itself: what precedes a header is what it
includes first of all anyway. Such chains are as few as can be, by a largest matching of headers with headers that include them.
For the same reason a heavy header may precede all that include it: precompiled, once.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

SOURCES = pathlib.Path(__file__).resolve().parents[2]
HEAVY = ("pass/pass.h", "result/stored/case_result.h")   # what many include and takes seconds; what includes another one comes first


def includes(source):
    """Header to the headers of the tree that it includes."""
    found = {str(path.relative_to(source)): set(re.findall(r'^#include "([^"]+)"', path.read_text(), re.M)) for path in source.rglob("*.h")}
    return {header: sorted(inner & set(found)) for header, inner in found.items()}


def all_below(graph, header):
    below, waiting = set(), list(graph[header])
    while waiting:
        one = waiting.pop()
        if one not in below:
            below.add(one)
            waiting += graph[one]
    return below


def matching(below):
    """Header to the one that follows it in its chain."""
    follower = {}

    def place(header, seen):
        for inner in below[header]:
            if inner in seen:
                continue
            seen.add(inner)
            if inner not in follower or place(follower[inner], seen):
                follower[inner] = header
                return True
        return False

    for header in sorted(below):
        place(header, set())
    return follower


def groups(graph, heavy=HEAVY):
    """A heavy header, or None, to the headers that include it, rings apart."""
    found, below = {}, {header: all_below(graph, header) for header in graph}
    for header in sorted(graph):
        found.setdefault(next((one for one in heavy if one in below[header] and header not in below[one]), None), []).append(header)
    return found


def chains(graph, group=None):
    """Takes the headers in the group, all unless given."""
    sys.setrecursionlimit(10000)
    wanted = set(group or graph)
    reached = {header: all_below(graph, header) for header in wanted}
    below = {header: sorted(inner for inner in reached[header] & wanted if header not in reached[inner]) for header in wanted}   # rings apart
    follower = matching(below)
    found = []
    for header in sorted(wanted - set(follower.values())):
        chain = [header]
        while chain[-1] in follower:
            chain.append(follower[chain[-1]])
        found.append(chain)
    return found


def flags(build):
    """Returns those of the layer that may use every other one."""
    commands = json.loads((build / "compile_commands.json").read_text())
    words = next(shlex.split(entry["command"]) for entry in commands if "/paceline_cli.dir/" in entry["command"])
    return [*words[:words.index("-o")], "-O0", "-w" if "-Werror" not in words else "-Werror"]


def compiled(command, folder, chain, *options, to="o", **environment):
    """The messages of the compiler; empty if all is well."""
    file = folder / (chain[-1].replace("/", "_") + (".h" if to == "h.gch" else ".cc"))
    text = "".join(f'#include "{header}"\n' for header in chain)
    if not file.exists() or file.read_text() != text:
        file.write_text(text)
    result = subprocess.run([*command, *options, "-o", str(file.with_suffix(f".{to}")), "-c", str(file)], capture_output=True, text=True, check=False,
                            env={**os.environ, **environment})
    return f"{' '.join(chain)}:\n{result.stderr}" if result.returncode else ""


def compile_chain(command, folder, chain, heavy=None):
    before = ["-include", str(folder / (heavy.replace("/", "_") + ".h")), "-fpch-preprocess"] if heavy else []
    said = compiled(command, folder, chain, *before)
    (folder / (chain[-1].replace("/", "_") + ".o")).unlink(missing_ok=True)
    return said


def precompile(command, folder, heavy, headers=()):
    """`headers`: files that are in it. A kept one of other files, even if but a comment differs, does not know them as those that it has."""
    return compiled(command, folder, [heavy], "-x", "c++-header", to="h.gch", CCACHE_EXTRAFILES=":".join(map(str, headers)))


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    folder = build / "headers"
    folder.mkdir(exist_ok=True)
    command = [*([found] if (found := shutil.which("ccache")) else []), *flags(build)]
    os.environ.setdefault("CCACHE_BASEDIR", str(SOURCES))
    os.environ.setdefault("CCACHE_SLOPPINESS", "pch_defines,time_macros")   # else what begins with a precompiled header is not kept
    graph = includes(SOURCES / "src")
    found = groups(graph)
    work = [(chain, heavy) for heavy, group in found.items() for chain in chains(graph, group)]
    jobs = int(subprocess.run([SOURCES / "scripts/jobs.sh"], capture_output=True, text=True, check=True).stdout)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        problems = [said for said in pool.map(lambda heavy: precompile(command, folder, heavy, [SOURCES / "src" / one for one in {heavy, *all_below(graph, heavy)}]), filter(None, found)) if said]
        problems += [said for said in pool.map(lambda one: compile_chain(command, folder, *one), work) if said]
    for large in folder.glob("*.gch"):
        large.unlink()
    print("\n".join(problems), end="")
    print(f"{len(graph)} headers in {len(work)} compilations, {len(problems)} of which failed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
