# SPDX-License-Identifier: MIT
"""The wheel that was built (`make wheel`) in fresh environments: with nothing, with each PyTorch of .deps/, with the other engines' wheels."""

import base64
import csv
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

import bundle_lab as lab

WHEEL = lab.wheel()
QUICK = ("--iterations", "5", "--warmup", "1", "--idle-wait-s", "0", "--no-measure-peak", "--allow-noisy", "--accuracy", "off")


class Contents(unittest.TestCase):
    def setUp(self):
        self.archive = zipfile.ZipFile(WHEEL)
        self.addCleanup(self.archive.close)
        self.info = re.match(r"paceline-[^-]+", WHEEL.name).group() + ".dist-info"

    def text(self, name):
        return self.archive.read(f"{self.info}/{name}").decode()

    def test_it_is_small_enough(self):
        self.assertLessEqual(WHEEL.stat().st_size, 40_000_000)

    def test_it_attaches_to_jobs_of_each_release(self):
        facts = json.loads(self.archive.read("paceline/bundle.json"))
        versions = (Path(__file__).resolve().parents[2] / "scripts/versions.sh").read_text()
        more = re.search(r"^ATTACH_RELEASES=([\d.,]+)", versions, re.M)[1].split(",")
        for release in (*facts["torch"], *more):
            self.assertIn(f"paceline/lib/paceline/attach/libpaceline_attach_{release}.so", self.archive.namelist())
        self.assertIn("paceline/lib/paceline/attach/sitecustomize.py", self.archive.namelist())

    def test_the_record_is_true_and_whole(self):
        rows = {name: (digest, size) for name, digest, size in csv.reader(io.StringIO(self.text("RECORD")))}
        self.assertEqual(set(rows), set(self.archive.namelist()))
        self.assertEqual(rows.pop(f"{self.info}/RECORD"), ("", ""))
        for name, (digest, size) in rows.items():
            data = self.archive.read(name)
            self.assertEqual(len(data), int(size), name)
            self.assertEqual(digest, "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode(), name)

    def test_its_name_and_its_metadata_agree(self):
        tag = re.search(r"^Tag: (.*)$", self.text("WHEEL"), re.M).group(1)
        version = re.search(r"^Version: (.*)$", self.text("METADATA"), re.M).group(1)
        self.assertEqual(WHEEL.name, f"paceline-{version}-{tag}.whl")
        extras = dict(re.findall(r'^Requires-Dist: (.*); extra == "(.*)"$', self.text("METADATA"), re.M))
        self.assertEqual(set(extras.values()), {"onnxruntime", "openvino", "results", "torch"})
        facts = json.loads(self.archive.read("paceline/bundle.json"))
        for release in facts["torch"]:
            self.assertRegex(next(text for text, extra in extras.items() if extra == "torch"), re.escape(release))


    def test_the_documents_name_it_and_its_releases(self):
        facts = json.loads(self.archive.read("paceline/bundle.json"))
        documents = Path(__file__).resolve().parents[2]
        for name, words in (("README.md", [WHEEL.name]), ("docs/getting-started.md", [
                WHEEL.name, f"PyTorch {' and '.join(facts['torch'])}", f"OpenVINO {facts['extras']['openvino'].split('=')[-1]}",
                f"ONNX Runtime from {facts['extras']['onnxruntime'].split('=')[-1]} on"])):
            text = (documents / name).read_text()
            for word in words:
                self.assertIn(word, text, name)


class Environment(unittest.TestCase):
    """A fresh environment with the wheel and nothing from an index; what a test lets it see is linked into it."""

    @classmethod
    def setUpClass(cls):
        cls.home = Path(tempfile.mkdtemp(prefix="paceline a wheel "))
        cls.addClassCleanup(shutil.rmtree, cls.home)
        cls.venv = cls.home / "venv"
        subprocess.run([sys.executable, "-m", "venv", cls.venv], check=True)
        subprocess.run([cls.venv / "bin/pip", "install", "-q", "--no-index", "--disable-pip-version-check", WHEEL], check=True)
        cls.site, = cls.venv.glob("lib/python3*/site-packages")

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="cwd ", dir=self.home))
        self.addCleanup(self.see_nothing)

    def call(self, *command, code=0):
        env = {"PATH": "/usr/bin:/bin", "HOME": str(self.folder)}
        result = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=300, env=env, cwd=self.folder)
        self.assertEqual(result.returncode, code, f"{command}\n{result.stdout}\n---\n{result.stderr}")
        return result

    def see_nothing(self):
        for link in self.site.iterdir():
            if link.is_symlink():
                link.unlink()

    def paceline(self, *arguments, code=0):
        return self.call(self.venv / "bin/paceline", *arguments, code=code)

    def see(self, site, *packages):
        for package in packages or [path.name for path in site.iterdir() if path.is_dir()]:
            if not (self.site / package).exists():
                (self.site / package).symlink_to(site / package)

    def cases(self):
        summary, = self.folder.glob("results/*/*/run_summary.json")
        return json.loads(summary.read_text())["cases"]

    def outcomes(self):
        return [case["outcome"] for case in self.cases()]

    def test_with_nothing_one_sentence_for_each_thing_that_is_missing(self):
        python = re.escape(str(self.venv / "bin/python")) + "[0-9.]*"
        wanted = {"eager": "PyTorch", "onnxruntime": "ONNX Runtime", "openvino": "OpenVINO"}
        result = self.paceline("infer", "--model", "tiny_cnn", "--engine", ",".join(wanted), *QUICK, code=77)
        for (engine, library), case in zip(wanted.items(), self.cases()):
            self.assertRegex(case["reason"], rf"^engine '{engine}' needs the \w+ plug-in, which cannot run here: no {library} in this environment; "
                                             rf"to get it: {python} -m pip install '?{'torch' if engine == 'eager' else engine}[=>]=[^ ]+$")
            self.assertIn(library, " ".join(result.stdout.split()))

    def test_what_needs_no_engine_works_without(self):
        self.assertIn("no PyTorch in this environment", self.paceline("--version").stdout)
        self.assertIn("usage", self.paceline("infer", "--help").stdout)
        for file in ("share/man/man1/paceline.1", "share/bash-completion/completions/paceline", "share/paceline/examples/plans/tiny.yaml"):
            self.assertTrue((self.venv / file).is_file(), file)
        self.assertTrue((self.site / "paceline_results/__init__.py").is_file())

    def test_each_pytorch_gets_its_plug_in(self):
        with zipfile.ZipFile(WHEEL) as archive:
            releases = json.loads(archive.read("paceline/bundle.json"))["torch"]
        tried = 0
        for release in releases:
            site = lab.site_of(release)
            if not site:
                continue
            with self.subTest(release):
                self.see_nothing()
                self.see(site)
                shutil.rmtree(self.folder / "results", ignore_errors=True)
                self.paceline(*lab.INFER)
                self.assertEqual(self.outcomes(), ["ok", "ok"])
                self.assertRegex(self.paceline("--version").stdout, rf"plug-in torch: built for LibTorch {re.escape(release)}\n")
                tried += 1
        self.assertGreater(tried, 0, f"no PyTorch of {releases} in {lab.DEPS}")

    def test_the_engines_for_onnx_files(self):
        packages = lab.DEPS / "python"
        model = packages / "onnxruntime/datasets/mul_1.onnx"
        if not model.is_file() or not (packages / "openvino").is_dir():
            self.skipTest(f"no onnxruntime and openvino in {packages}; scripts/setup.sh --checks unpacks them")
        for engine in ("onnxruntime", "openvino"):
            self.see(packages, engine)
            shutil.rmtree(self.folder / "results", ignore_errors=True)
            self.paceline("infer", "--model", model, "--engine", engine, *QUICK)
            self.assertEqual(self.outcomes(), ["ok"])
        self.assertRegex(self.paceline("--version").stdout, "plug-in torch: cannot run here: no PyTorch")


if __name__ == "__main__":
    unittest.main()
