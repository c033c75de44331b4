#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that dependencies point one way: includes and links of src/ and plugins/ against the DEPENDS lists in CMake, no ring of
rooms, no include of what a worker does outside the worker, and no comparison with a kind of workload by name.

usage: layering.py [--root DIR]     or, for a built executable, layering.py --binary FILE     exit 1 and one line a violation
"""
import argparse
import pathlib
import re
import subprocess
import sys

SOURCES = ("*.h", "*.cc", "*.cu")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
PLUGIN_SUPPORT = "support"  # a folder of plugins/ that is none itself
PLUGIN_MAY_USE = {"plugin", "base", "onnx"}
FORMAT_OF = {"attach"}  # folders of plugins/ that share a format with the layer of their name
# Layer of worker processes, and the files of other layers that may include it: they start a pass in this process. All others
# know of a worker what `pass` and `process` say.
WORKER_LAYER = "workload"
WORKER_STARTS = {"src/run/executors.cc", "src/cli/worker_command.cc"}
# Headers of the libraries that plug-ins wrap, and the plug-ins that may include them.
VENDOR_HEADERS = {
    r"(torch|ATen|c10|caffe2|libkineto)/": {"torch", "cuda", "attach"},
    r"(cuda|cuda_runtime|cuda_runtime_api|nccl|cupti)\.h$": {"cuda", "torch", "tensorrt"},
    r"openvino/": {"openvino"},
    r"onnxruntime\w*\.h$": {"onnxruntime"},
    r"(NvInfer\w*|NvOnnxParser)\.h$": {"tensorrt"},
    r"nvml\.h$": {"nvml"},
}
# A kind of workload is asked (src/base/workload_kind.h), never compared by name.
KIND_BY_NAME = re.compile(r"[!=]=\s*(?:\w+::)*WorkloadKind::k\w+|\bcase\s+(?:\w+::)*WorkloadKind::k\w+")
VENDOR_LIBRARIES = re.compile(r"^(libtorch|libc10|libopenvino|libonnx|libnvinfer|libcudart|libnccl)")


def cmake_calls(path, function):
    """[[argument, …], …] of each call of a CMake function in a file."""
    text = re.sub(r"#.*", "", path.read_text()) if path.exists() else ""
    return [call.split() for call in re.findall(rf"\b{function}\s*\(([^)]*)\)", text)]


def keyword_values(arguments, keyword):
    values, taking = [], False
    for argument in arguments:
        if argument.isupper():
            taking = argument == keyword
        elif taking:
            values.append(argument)
    return values


def layer_order(root):
    """Layers from the lowest to the highest, as the top CMakeLists.txt adds them."""
    text = (root / "CMakeLists.txt").read_text()
    return re.search(r"foreach\(layer ([^)]*)\)", text).group(1).split()


def declared_depends(root, order):
    depends = {}
    for layer in order:
        calls = cmake_calls(root / "src" / layer / "CMakeLists.txt", "paceline_add_layer")
        depends[layer] = {name for call in calls for name in keyword_values(call, "DEPENDS")}
    return depends


def closure(layer, depends):
    """The layer itself and all it reaches."""
    seen, stack = set(), [layer]
    while stack:
        name = stack.pop()
        if name not in seen:
            seen.add(name)
            stack.extend(depends.get(name, ()))
    return seen


def order_violations(order, depends):
    for layer in order:
        for used in sorted(depends[layer]):
            if used not in order[: order.index(layer)]:
                yield f"src/{layer}/CMakeLists.txt: DEPENDS {used}, which is not below {layer}"


def link_violations(root, order):
    """paceline:: targets linked past the DEPENDS lists."""
    for path in sorted((root / "src").glob("*/CMakeLists.txt")):
        for call in cmake_calls(path, "paceline_add_layer") + cmake_calls(path, "target_link_libraries"):
            for library in (argument for argument in call[1:] if argument.startswith("paceline::")):
                if library.removeprefix("paceline::") in order and call[0] != "paceline":  # the executable links cli
                    yield f"{path.relative_to(root)}: links {library}; name it in DEPENDS instead"
    for path in sorted((root / "plugins").rglob("CMakeLists.txt")):
        for library in re.findall(r"paceline::(\w+)", path.read_text()):
            if library in order and library not in PLUGIN_MAY_USE:
                yield f"{path.relative_to(root)}: a plug-in links paceline::{library}; it may link plugin, onnx and base"


def included(path):
    """(line number, written in quotes, path) of each include directive."""
    text = path.read_text(errors="replace")
    for match in INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start(2)) + 1, match.group(1) == '"', match.group(2)


def files_below(folder):
    return sorted(path for pattern in SOURCES for path in folder.rglob(pattern))


def vendor_violations(where, room, header):
    for pattern, rooms in VENDOR_HEADERS.items():
        if re.match(pattern, header) and room not in rooms:
            yield f"{where}: includes {header}; only {', '.join(sorted('plugins/' + r for r in rooms))} may"


def include_violations(root, order, depends):
    for layer in order:
        allowed = closure(layer, depends)
        for path in files_below(root / "src" / layer):
            for line, quoted, header in included(path):
                where, first = f"{path.relative_to(root)}:{line}", header.split("/")[0]
                if quoted and "/" in header and first in order and first not in allowed:
                    yield f"{where}: {layer} includes {header}, but its DEPENDS does not reach {first}"
                if quoted and not (root / "src" / header).exists():
                    yield f"{where}: \"{header}\" is not a path below src/"
                yield from vendor_violations(where, "src", header)


def worker_violations(root, order):
    for layer in order:
        for path in files_below(root / "src" / layer) if layer != WORKER_LAYER else ():
            if str(path.relative_to(root)) in WORKER_STARTS:
                continue
            for line, quoted, header in included(path):
                if quoted and header.split("/")[0] == WORKER_LAYER:
                    yield (f"{path.relative_to(root)}:{line}: includes {header}, which only a worker process needs; "
                           f"{' and '.join(sorted(WORKER_STARTS))} alone may")


def plugin_violations(root, order):
    for path in files_below(root / "plugins"):
        own = path.relative_to(root / "plugins").parts[0]
        for line, quoted, header in included(path):
            where, first = f"{path.relative_to(root)}:{line}", header.split("/")[0]
            if (root / "src" / header).exists():
                if first in order and first not in PLUGIN_MAY_USE and (first != own or own not in FORMAT_OF):
                    yield f"{where}: a plug-in includes {header}; it may include plugin/, onnx/, base/ and its own folder"
            elif quoted and (root / "plugins" / header).exists() and first not in (own, PLUGIN_SUPPORT):
                yield f"{where}: plug-in {own} includes {header} of another plug-in"
            yield from vendor_violations(where, own, header)


def kind_violations(root):
    for path in files_below(root / "src"):
        for line, text in enumerate(path.read_text().splitlines(), 1):
            if found := KIND_BY_NAME.search(text):
                yield f"{path.relative_to(root)}:{line}: \"{found[0]}\": ask traits_of(kind), with another answer if need be"


def room_graph(root):
    """A room is a header and its sources, or a folder inside a layer. {smallest room: {room that it includes, …}}"""
    graph = {}
    for place in (root / "src", root / "plugins"):
        for path in files_below(place):
            room = path.relative_to(root).parent / path.name.split(".")[0]
            used = graph.setdefault(room, set())
            for _, quoted, header in included(path):
                for other in (root / "src" / header, root / "plugins" / header):
                    if quoted and other.exists():
                        used.add(other.relative_to(root).parent / other.name.split(".")[0])
                        break
            used.discard(room)
    return graph


def rings(graph):
    """Sets of rooms that reach each other: strongly connected components, after Tarjan."""
    index, low, stack, found = {}, {}, [], []

    def visit(room):
        index[room] = low[room] = len(index)
        stack.append(room)
        for used in sorted(graph.get(room, ())):
            if used not in index:
                visit(used)
            if used in stack:
                low[room] = min(low[room], low[used])
        if low[room] == index[room]:
            ring = stack[stack.index(room):]
            del stack[stack.index(room):]
            found.append(sorted(ring))

    for room in sorted(graph):
        if room not in index:
            visit(room)
    return [ring for ring in found if len(ring) > 1]


def in_folders(graph, depth):
    """The graph in which all rooms of a folder of a layer at this depth are one."""
    whole = {}
    for room, used in graph.items():
        if room.parts[0] == "src":
            outside = {pathlib.Path(*other.parts[:depth]) for other in used}
            whole.setdefault(pathlib.Path(*room.parts[:depth]), set()).update(outside)
    return {room: used - {room} for room, used in whole.items()}


def ring_violations(root):
    graph = room_graph(root)
    depths = range(max(map(len, (room.parts for room in graph)), default=0), 2, -1)  # down to src/LAYER/ROOM
    for rooms in (graph, *(in_folders(graph, depth) for depth in depths)):
        found = rings(rooms)
        for ring in found:
            yield (f"{', '.join(map(str, ring))}: these include each other in a ring (a header and its source are one, and so "
                   "are the files of a folder inside a layer)")
        if found:
            return


def binary_violations(binary):
    for line in subprocess.run(["ldd", binary], check=True, capture_output=True, text=True).stdout.splitlines():
        if VENDOR_LIBRARIES.match(line.strip()):
            yield f"{binary}: links {line.strip()}; only plug-ins link deep-learning libraries"


def violations(root):
    order = layer_order(root)
    depends = declared_depends(root, order)
    yield from order_violations(order, depends)
    yield from link_violations(root, order)
    yield from include_violations(root, order, depends)
    yield from worker_violations(root, order)
    yield from plugin_violations(root, order)
    yield from kind_violations(root)
    yield from ring_violations(root)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--binary", help="only: this executable links no deep-learning library")
    arguments = parser.parse_args()
    found = list(binary_violations(arguments.binary) if arguments.binary else violations(arguments.root))
    print("\n".join(found) or "layering: dependencies point one way")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
