#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the plug-ins of a bundle require the library of their engine, in the release that with_pytorch.sh finds; writes bundle.json.

usage: manifests.py BUNDLE PACELINE_VERSION COMMIT
"""

import json
import pathlib
import sys


def quoted(requirement):
    return f"'{requirement}'" if set(requirement) & set("<>") else requirement


def requirements(manifests):
    """Lists packages for each engine: as extras of the wheel, and in the sentences of the tool."""
    built = {m["name"]: m["built_for"] for m in manifests if not m["not_built_because"]}
    found = {}
    if "onnxruntime" in built:
        found["onnxruntime"] = f"onnxruntime>=1.{built['onnxruntime']['ONNX Runtime API']}"
    if "openvino" in built:
        found["openvino"] = f"openvino=={built['openvino']['OpenVINO']}"
    return found


def torch_requirement(releases):
    """The newest release that there are plug-ins for, or one that is there already."""
    def minor(text):
        return int(text.split(".")[1])
    ordered = sorted(releases, key=lambda text: tuple(map(int, text.split("."))))
    between = set(range(minor(ordered[0]), minor(ordered[-1]))) - {minor(text) for text in ordered}
    if len(ordered) == 1:
        return f"torch=={ordered[0]}"
    return ",".join([f"torch>={ordered[0]}", f"<={ordered[-1]}", *(f"!=2.{number}.*" for number in sorted(between))])


def needs(manifest, releases, wanted):
    """The library that a plug-in needs: (name, variable of its release, this release, all, what pip installs)."""
    built = manifest["built_for"]
    if "LibTorch" in built:
        return {"library": "PyTorch", "variable": "PACELINE_TORCH_VERSION", "version": built["LibTorch"], "releases": releases,
                "install": quoted(f"torch=={releases[0]}")}
    if "OpenVINO" in built:
        return {"library": "OpenVINO", "variable": "PACELINE_OPENVINO_VERSION", "version": built["OpenVINO"], "releases": [built["OpenVINO"]],
                "install": quoted(wanted["openvino"])}
    if "ONNX Runtime API" in built:
        return {"library": "ONNX Runtime", "variable": "PACELINE_ONNXRUNTIME_VERSION", "version": "", "releases": [],
                "install": quoted(wanted["onnxruntime"])}
    return None


def main():
    bundle, paceline, commit = pathlib.Path(sys.argv[1]), *sys.argv[2:4]
    folder = bundle / "lib/paceline/plugins"
    files = {path: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
    manifests = [m for path, m in files.items() if "-" not in path.stem]   # torch-2.11.0.json: of one more release
    built = {m["name"]: m["built_for"] for m in manifests if not m["not_built_because"]}
    first = built["torch"]["LibTorch"]
    releases = [first, *sorted({m["built_for"]["LibTorch"] for m in files.values() if "LibTorch" in m["built_for"]} - {first}, reverse=True)]
    wanted = requirements(manifests)
    for path, manifest in files.items():
        asked = needs(manifest, releases, wanted)
        if asked and not manifest["not_built_because"]:
            path.write_text(json.dumps({**manifest, "needs": asked}, indent=1) + "\n")
    cuda = built.get("cuda", {})
    nccl = cuda.get("NCCL", "none")
    facts = {"paceline": paceline, "commit": commit, "torch": releases, "cuda": cuda.get("CUDA"), "nccl": None if nccl == "none" else nccl,
             "glibc": "2.35", "plugins": sorted(built), "left_out": {m["name"]: m["not_built_because"] for m in manifests if m["not_built_because"]},
             "extras": {"torch": torch_requirement(releases), **wanted}}
    # One key per line: with_pytorch.sh reads "torch" with sed.
    lines = ",\n".join(f" {json.dumps(key)}: {json.dumps(value)}" for key, value in facts.items())
    (bundle / "bundle.json").write_text("{\n" + lines + "\n}\n")


if __name__ == "__main__":
    main()
