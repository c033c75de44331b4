# SPDX-License-Identifier: MIT
"""A bundle that was built (`make bundle`), unpacked into a folder with a space and run with next to no environment."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

import bundle_lab as lab

GPU = any(Path(path).exists() for path in ("/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg", "/dev/nvhost-gpu"))
ARCHIVE, FACTS, SITE = lab.bundles()[0]
RELEASE = FACTS["torch"][0]


class Bundle(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = Path(tempfile.mkdtemp(prefix="paceline a bundle "))
        cls.addClassCleanup(shutil.rmtree, cls.work)
        with tarfile.open(ARCHIVE) as archive:
            archive.extractall(cls.work)
        cls.home, = cls.work.iterdir()

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="cwd ", dir=self.work))

    def run_in(self, *command, torch=True, **env):
        """Nothing of this process's environment; PyTorch as python3 sees it."""
        path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
        env = {"PATH": path, "HOME": str(self.folder), **({"PYTHONPATH": str(SITE)} if torch else {}), **{k: str(v) for k, v in env.items()}}
        return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=300, env=env, cwd=self.folder)

    def paceline(self, *arguments, **options):
        return self.run_in(self.home / "paceline", *arguments, **options)

    def assert_code(self, result, code):
        self.assertEqual(result.returncode, code, f"{result.stdout}\n---\n{result.stderr}")

    def cases(self):
        summary, = self.folder.glob("results/*/*/run_summary.json")
        return json.loads(summary.read_text())["cases"]

    def test_it_is_small_enough(self):
        self.assertLessEqual(ARCHIVE.stat().st_size, 30_000_000)

    def test_it_says_what_it_holds(self):
        for name in ("torch", "openvino", *(["cuda"] if FACTS["cuda"] else [])):
            self.assertIn(name, FACTS["plugins"])
            self.assertTrue((self.home / f"lib/paceline/plugins/libpaceline_{name}.so").is_file())
        for release in FACTS["torch"]:
            self.assertTrue((self.home / f"lib/paceline/attach/libpaceline_attach_{release}.so").is_file(), release)
        for path in ("lib/paceline/attach/sitecustomize.py", "examples/plans/quickstart.yaml", "tools/compare_pytorch.py", "tests/cli/test_gpu.py", "docs/gpu.md", "LICENSE"):
            self.assertTrue((self.home / path).is_file(), path)

    def test_inference_then_a_report_without_pytorch(self):
        result = self.paceline(*lab.INFER)
        self.assert_code(result, 0)
        cases = self.cases()
        self.assertEqual([c["outcome"] for c in cases], ["ok", "ok"])
        run, = self.folder.glob("results/*/*/run_summary.json")
        result = self.paceline("report", "--source", run.parent, "--format", "csv", torch=False)
        self.assert_code(result, 0)
        self.assertEqual(result.stderr, "")
        self.assertIn("tiny_cnn", result.stdout)

    def test_two_ranks_train(self):
        result = self.paceline(*lab.TRAIN)
        self.assert_code(result, 0)
        self.assertEqual([c["outcome"] for c in self.cases()], ["ok"])

    def test_it_runs_where_it_is_moved_to(self):
        moved = self.work / "moved elsewhere"
        self.home.rename(moved)
        try:
            self.assert_code(self.run_in(moved / "paceline", *lab.INFER), 0)
        finally:
            moved.rename(self.home)

    def test_without_a_pytorch_one_sentence(self):
        result = self.paceline(*lab.INFER, torch=False)
        self.assert_code(result, 77)
        for case in self.cases():
            self.assertRegex(case["reason"], rf"cannot run here: no PyTorch in this environment; to get it: [^ ]+ -m pip install torch=={RELEASE}$")

    def test_with_another_version_one_sentence(self):
        other = self.folder / "other/torch"
        shutil.copytree(SITE / "torch/lib", other / "lib", ignore=lambda folder, names: [n for n in names if n != "libtorch_cpu.so"],
                        copy_function=os.symlink)
        (other / "version.py").write_text("__version__ = '2.12.1+cu130'\n")
        result = self.paceline(*lab.INFER, PACELINE_TORCH_ROOT=other)
        self.assert_code(result, 77)
        for case in self.cases():
            self.assertIn(f"the PyTorch of this environment is 2.12.1, and this paceline has plug-ins for {RELEASE};", case["reason"])

    def test_without_a_pytorch_the_machine_is_judged_all_the_same(self):
        result = self.paceline("validate", torch=False)
        self.assertEqual(result.stderr, "")
        for name, library in (("torch", "PyTorch"), ("openvino", "OpenVINO")):
            self.assertRegex(result.stdout, rf"plug-in {name} +cannot run here: no {library} in this environment +→ [^ ]+ -m pip install")
        self.assertRegex(self.paceline("validate").stdout, rf"plug-in torch +LibTorch {RELEASE}")

    @unittest.skipUnless(FACTS["cuda"], "the bundle was built without CUDA")
    def test_the_tests_for_gpus_start(self):
        for name in ("gpu_cuda", "gpu_cuda_training"):
            result = self.run_in(self.home / "scripts/with_pytorch.sh", self.home / "tests" / name)
            self.assert_code(result, 0)
            self.assertRegex(result.stdout, r"\[  PASSED  \] [1-9]" if GPU else r"\[  SKIPPED \] [1-9]")
        result = self.run_in(self.home / "scripts/with_pytorch.sh", sys.executable, self.home / "tests/cli/test_cuda.py", PYTHONDONTWRITEBYTECODE=1)
        self.assert_code(result, 0)


if __name__ == "__main__":
    unittest.main()
