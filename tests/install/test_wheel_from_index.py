# SPDX-License-Identifier: MIT
"""`pip install` of the wheel with ONNX Runtime from the package index, then a first result: in a fresh environment, and in bare roots."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import bare_root_lab
import bundle_lab as lab

WHEEL = lab.wheel()
RELEASES = ("bookworm", "trixie", "noble")   # Debian 12 and 13, Ubuntu 24.04
MODEL = "onnxruntime/datasets/mul_1.onnx"    # a file that ONNX Runtime's package brings
QUICK = "--iterations 20 --idle-wait-s 0 --no-measure-peak --allow-noisy"


def download(target, python):
    """The wheel and what it needs for that Python; ends the test where no index can be reached."""
    result = subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--only-binary=:all:", "--python-version", python,
                             "--dest", str(target), f"{WHEEL}[onnxruntime]"], capture_output=True, text=True, check=False)
    if result.returncode:
        lab.skip(f"pip reaches no index with ONNX Runtime for Python {python}: {result.stderr.strip().splitlines()[-1][:200]}")
    return target


class FromIndex(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="paceline index "))
        self.addCleanup(shutil.rmtree, self.folder)

    def check(self, home):
        summary, = home.glob("results/*/*/run_summary.json")
        self.assertEqual([c["outcome"] for c in json.loads(summary.read_text())["cases"]], ["ok"])

    def test_a_fresh_environment(self):
        packages = download(self.folder / "packages", "%d.%d" % sys.version_info[:2])
        start = time.monotonic()
        for command in ("python3 -m venv venv", f"venv/bin/pip install -q --no-index --find-links '{packages}' '{WHEEL}[onnxruntime]'",
                        f"venv/bin/paceline infer --model venv/lib/python3*/site-packages/{MODEL} {QUICK}"):
            result = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, cwd=self.folder)
            self.assertEqual(result.returncode, 0, f"{result.stdout}\n---\n{result.stderr}")
        self.check(self.folder)
        print(f"a fresh environment: first result after {time.monotonic() - start:.1f} s, the download not counted", flush=True)

    def test_bare_roots(self):
        for release, root in bare_root_lab.make_roots(RELEASES, "python3", "python3-venv").items():
            with self.subTest(release):
                bare_root_lab.empty_home(root)
                python = re.search(r"python(3\.\d+)$", str(next(path for path in (root / "usr/lib").glob("python3.*") if path.is_dir()))).group(1)
                packages = download(self.folder / release, python)
                start = time.monotonic()
                result = bare_root_lab.run_in(root, packages, f"cd /root && ! command -v cc && python3 -m venv venv && "
                    f"venv/bin/pip install -q --no-index --find-links /opt/site /opt/site/{WHEEL.name}[onnxruntime] && "
                    f"venv/bin/paceline infer --model venv/lib/python3*/site-packages/{MODEL} {QUICK}")
                self.assertEqual(result.returncode, 0, f"{result.stdout}\n---\n{result.stderr}")
                self.check(root / "root")
                print(f"{bare_root_lab.name_of(root)}: first result after {time.monotonic() - start:.1f} s, the download not counted", flush=True)


if __name__ == "__main__":
    unittest.main()
