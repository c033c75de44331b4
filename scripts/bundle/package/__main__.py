# SPDX-License-Identifier: MIT
"""Starts the tool in place of this process, with the engines' libraries of this Python's environment. None of them is imported."""

import importlib.util
import os
import pathlib
import sys

PACKAGES = {"PACELINE_TORCH_ROOT": "torch", "ONNXRUNTIME_ROOT": "onnxruntime", "OPENVINO_ROOT": "openvino"}


def folder_of(package):
    spec = importlib.util.find_spec(package)
    return next(iter(spec.submodule_search_locations or ()), None) if spec else None


def main():
    tool = pathlib.Path(__file__).resolve().parent / "paceline"
    if sys.path and sys.path[0] in ("", os.getcwd()):   # of `python -m`: a folder `torch` there is no package
        del sys.path[0]
    for variable, package in PACKAGES.items():
        if not os.environ.get(variable):
            os.environ[variable] = folder_of(package) or "none"
    os.environ.setdefault("PACELINE_PYTHON", sys.executable)
    typed = pathlib.Path(sys.argv[0]).absolute()
    command = typed if typed.name != "__main__.py" else pathlib.Path(sys.executable).parent / "paceline"   # of `python -m`
    if os.access(command, os.X_OK):
        os.environ.setdefault("PACELINE_LAUNCHER", str(command))
    os.execv("/bin/sh", ["/bin/sh", str(tool), *sys.argv[1:]])


if __name__ == "__main__":
    main()
