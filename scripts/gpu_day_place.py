# SPDX-License-Identifier: MIT
"""Where the tool, its test programs and the tools of CUDA are: in a bundle, or in a source tree that was built."""
import glob
import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
CUDA_FOLDERS = ("$CUDA_HOME", "/usr/local/cuda", "/usr/local/cuda-*", "/opt/nvidia/nsight-compute/*", "/opt/nvidia/compute-sanitizer")


def absolute(program):
    """A name that PATH resolves stays a name: parts run in separate folders."""
    return str(pathlib.Path(program).absolute()) if "/" in program else program


class Place:
    """Paths and words of one installation. Commands are lists, so that paths may contain spaces."""

    def __init__(self, options):
        self.bundle = (ROOT / "bundle.json").exists()
        self.build = pathlib.Path(options.build or ROOT / "build/release").resolve()
        self.launcher = [str(ROOT / "scripts/with_pytorch.sh")] if self.bundle else []
        built = ROOT / "paceline" if self.bundle else self.build / "bin/paceline"
        self.paceline = absolute(options.paceline) if options.paceline else str(built)
        self.python = absolute(options.python) if options.python else self._python_of_torch()
        self.tests = ROOT / "tests" if self.bundle else self.build / "tests"

    def _python_of_torch(self):
        if not self.bundle:
            return "python3"
        said = subprocess.run([*self.launcher, "sh", "-c", "printf %s \"${PACELINE_PYTHON:-python3}\""], capture_output=True, text=True)
        return said.stdout.strip() if said.returncode == 0 and said.stdout.strip() else "python3"

    def absent_tool(self):
        """Why nothing can run here, or nothing."""
        return "" if os.access(self.paceline, os.X_OK) else f"there is no {self.paceline}: build it with 'make tool', or name it with --paceline"

    def test_file(self, name):
        return str(self.tests / name)

    def test_program(self, name):
        return [*self.launcher, self.test_file(name)]

    def absent_test(self, name):
        if (self.tests / name).exists():
            return ""
        return f"the bundle contains no tests/{name}" if self.bundle else f"not built: ninja -C {self.build} {name}"

    def cli_test(self, name, *classes):
        """(command, environment) of a file in tests/cli."""
        spin = self.tests / "libpaceline_spin.so"
        return (["python3", str(ROOT / "tests/cli" / name), *classes],
                {"PACELINE_BIN": self.paceline, "PACELINE_SPIN": str(spin) if spin.exists() else "none", "PYTHONDONTWRITEBYTECODE": "1"})

    def torch_of_python(self):
        """(version and CUDA of the interpreter's PyTorch, "") or ("", why there is none)."""
        code = "import torch; print(torch.__version__, torch.version.cuda)"
        try:
            said = subprocess.run([self.python, "-c", code], capture_output=True, text=True, timeout=120)
        except (OSError, subprocess.TimeoutExpired) as problem:
            return "", f"{self.python}: {problem}"
        if said.returncode == 0:
            return said.stdout.strip(), ""
        last = (said.stderr.strip().splitlines() or ["no words"])[-1]
        return "", f"{self.python} cannot import torch ({last}); --python names an interpreter that can"


def program_of_cuda(name, given):
    """A tool of the CUDA toolkit: the one named, else of PATH, else where toolkits are installed; None: there is none."""
    if given:
        return absolute(given)
    places = [folder for pattern in CUDA_FOLDERS for folder in sorted(glob.glob(os.path.expandvars(pattern)), reverse=True)]
    path = os.pathsep.join(f"{folder}/{below}" for folder in places for below in ("bin", "."))
    return shutil.which(name) or shutil.which(name, path=path)


def tensorrt_root():
    """$TENSORRT_ROOT, or the folder of TensorRT's or TensorRT-RTX's libraries beside the bundle; None: there is none."""
    if given := os.environ.get("TENSORRT_ROOT"):
        return given
    patterns = ("libnvinfer.so*", "libtensorrt_rtx.so*")
    for top in sorted(p for p in [*ROOT.glob("tensorrt*"), *ROOT.parent.glob("tensorrt*")] if p.is_dir()):
        found = next((path for pattern in patterns for path in sorted(top.rglob(pattern))), None)
        if found:
            return str(found.parent)
    return None
