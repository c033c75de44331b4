# SPDX-License-Identifier: MIT
"""Packages of AOTInductor: paceline build --engine aotinductor, and infer on what it wrote.

Classes: Refused needs no PyTorch for Python (stand-ins take its place); Compiled needs one: PACELINE_TORCH_PYTHON, else that of scripts/setup.sh --checks.
"""

import json
import os
import re
import shutil
import subprocess
import unittest
import zipfile
from pathlib import Path

import paceline_cli as cli

DEPS = Path(os.environ.get("PACELINE_DEPS", ""))
BUILD_S = 280
# The PyTorch of set-up lacks CUDA's libraries: stand-ins take their place, whose symbols are looked up when they are called.
PYTHON = """#!/bin/sh
PYTHONPATH={folder}/lazy:{deps}/torch:{deps}/torchrun/python LD_LIBRARY_PATH={deps}/torchrun/stubs exec python3 -W ignore "$@"
"""
LAZY = "import os, sys\nsys.setdlopenflags(os.RTLD_LAZY)\n"


class Packages(cli.CliTest):
    def build(self, *arguments, env=None, model="tiny_cnn"):
        return self.run_cli("build", "--engine", "aotinductor", "--model", model, "--batch", 2, "--out", "tiny.pt2", *arguments, env=env, timeout=BUILD_S)

    def infer(self, model, *arguments):
        return self.run_cli("infer", "--model", model, "--device", "cpu", "--iterations", 3, "--threads", 1, *cli.QUICK, *arguments)

    def assert_no_package(self):
        self.assertEqual([path.name for path in self.folder.glob("*.pt2*") if not path.name.endswith(".log")], [])


class Refused(Packages):
    def torch(self, version, text="", extension="CUDA_HOME = None"):
        """A Python whose package `torch` is ours."""
        self.write("fake/torch/__init__.py", f"__version__ = '{version}'\n{text}")
        self.write("fake/torch/utils/cpp_extension.py", extension)
        return {"PACELINE_PYTHON": "python3", "PYTHONPATH": str(self.folder / "fake")}

    def release(self):
        done = self.build(env=self.torch("1.0.0"))
        self.assert_error(done, 77, "has PyTorch 1.0.0, and packages for this LibTorch need 2.", "or set PACELINE_PYTHON to its python")
        return re.search(r"need (2\.\d+):", done.err).group(1)

    def test_a_python_that_lacks_something_is_one_sentence(self):
        self.write("fake/none/torch/__init__.py", "raise ImportError('libcudnn.so.9: cannot open shared object file')")
        version = self.release() + ".7"
        self.assert_error(self.build(env=self.torch(version, extension="import setup_tools_of_nobody")), 77,
                          "AOTInductor needs setup_tools_of_nobody, and '", "-m pip install setup_tools_of_nobody")
        for env, words in ((self.torch(version) | {"CXX": "no-compiler -O2"}, ["'no-compiler -O2' is not there; install g++, or set CXX"]),
                           ({"PACELINE_PYTHON": "no-python"}, ["'no-python' is not there", "set PACELINE_PYTHON"]),
                           ({"PACELINE_PYTHON": "", "PYTHONPATH": str(self.folder / "fake/none")},
                            ["has no working PyTorch (libcudnn.so.9: cannot open shared object file)", "activate an environment with torch 2."])):
            with self.subTest(env):
                self.assert_error(self.build(env=env), 77, *words)
                self.assert_no_package()

    def test_a_program_that_breaks_is_reported_with_its_last_lines(self):
        version = self.release() + ".0+cpu"
        done = self.build(env=self.torch(version))
        self.assert_error(done, 5, "for aotinductor: exit code 1: ModuleNotFoundError: No module named 'torch._inductor'", "log: ")
        self.assertIn("Traceback", (self.folder / "tiny.pt2.log").read_text())
        self.assert_no_package()
        done = self.build(env=self.torch(version, "import os\nos._exit(0)"))
        self.assert_error(done, 5, "its Python program gave no answer")
        done = self.build("--timeout-s", 3, env=self.torch(version, "import time\ntime.sleep(60)"))
        self.assert_error(done, 5, "no end within timeout_s = 3 s")
        self.assert_no_package()

    def test_mistakes(self):
        self.write("m.onnx", "")
        cases = (
            (["--out", "x.blob"], 2, "files of engine aotinductor end in .pt2"),
            (["--model", "m.onnx"], 2, "build takes a TorchScript file or a built-in model for aotinductor"),
            (["--precision", "int8"], 77, "packages are compiled in fp32, tf32, bf16, fp16, not in int8"),
            (["--precision", "tf32"], 77, "tf32 is a mode of NVIDIA GPUs"),
            (["--device", "gpu9"], 2, "write cpu, cuda or cuda:1"),
            (["--workspace", "4GiB"], 2, "engine aotinductor has no option 'workspace'"),
            (["--opt-shapes", "input:2x3x32x32", "--max-shapes", "input:4x3x32x32"], 77, "a package has one shape per input"),
            (["--opt-shapes", "input:2x3x32x31"], 2, "the model's input is [Nx3x32x32]"),
        )
        for arguments, code, words in cases:
            with self.subTest(arguments):
                self.assert_error(self.build(*arguments, env={"PACELINE_PYTHON": "no-python"}), code, words)
        self.assertEqual(self.run_cli("export", "--model", "tiny_cnn", "--out", "m.pt").code, 0)
        done = self.build(model="m.pt")
        self.assert_error(done, 2, "does not say which shape its input", "give --opt-shapes")
        self.assert_no_package()

    @unittest.skipIf(cli.GPU, "for machines without a GPU")
    def test_a_package_for_a_gpu_needs_one(self):
        self.assert_error(self.build("--device", "cuda"), 77, "device 'cuda:0': no NVIDIA GPU here")

    def test_what_a_build_in_a_run_lacks_is_one_sentence(self):
        for env, more, code, words in ((self.torch("1.0.0"), [], 77, "has PyTorch 1.0.0, and packages for this LibTorch need 2."),
                                       ({"PACELINE_PYTHON": "no-python"}, [], 77, "set PACELINE_PYTHON"),
                                       ({}, ["--precision", "int8"], 77, "packages are compiled in fp32, tf32, bf16, fp16, not in int8")):
            with self.subTest(words):
                shutil.rmtree(self.folder / "results", ignore_errors=True)
                done = self.run_cli("infer", "--model", "tiny_cnn", "--engine", "aotinductor", "--batch", 2, "--device", "cpu", *more, *cli.QUICK, env=env)
                self.assertEqual(done.code, code, done)
                case, = self.summary()["cases"]
                self.assertEqual(case["outcome"], "skipped")
                self.assertIn(words, case["reason"])

    def test_a_package_is_no_reference_of_others(self):
        done = self.infer("tiny_cnn", "--engine", "eager", "--batch", 2, "--accuracy-reference", "aotinductor")
        self.assertIn("paceline build --engine aotinductor --model tiny_cnn --batch 2 --out tiny_cnn.pt2", " ".join(done.out.split()))

    def test_an_invalid_package(self):
        with zipfile.ZipFile(self.folder / "empty.pt2", "w") as archive:
            archive.writestr("archive_format", "pt2")
        self.write("text.pt2", "not a package")
        for name in ("text.pt2", "empty.pt2"):
            for shapes in ([], ["--shapes", "input:2x3x32x32"]):
                with self.subTest(name, shapes=shapes):
                    done = self.infer(name, *shapes)
                    self.assertEqual(done.code, 2, done)
                    self.assertIn("cannot be read as an AOTInductor package", done.out + done.err)


class Compiled(Packages):
    def python(self):
        chosen = os.environ.get("PACELINE_TORCH_PYTHON")
        if not chosen and (DEPS / "torchrun/stubs").is_dir():
            self.write("lazy/sitecustomize.py", LAZY)
            own = self.write("python", PYTHON.format(folder=self.folder, deps=DEPS))
            own.chmod(0o755)
            chosen = str(own)
        chosen = chosen or "python3"
        if subprocess.run([chosen, "-c", "import torch"], capture_output=True, check=False, env=self.env).returncode != 0:
            self.skipTest(f"{chosen} has no PyTorch; PACELINE_TORCH_PYTHON names one that has")
        return chosen

    def edited(self, name, **changes):
        """The package with other metadata."""
        with zipfile.ZipFile(self.folder / "tiny.pt2") as source, zipfile.ZipFile(self.folder / name, "w", zipfile.ZIP_STORED) as target:
            for entry in source.namelist():
                data = source.read(entry)
                if entry.endswith("_metadata.json"):
                    metadata = json.loads(data) | changes
                    data = json.dumps({key: value for key, value in metadata.items() if value is not None})
                target.writestr(zipfile.ZipInfo(entry, (1980, 1, 1, 0, 0, 0)), data)
        return name

    def test_a_package_runs_beside_eager(self):
        done = self.build("--json", env={"PACELINE_PYTHON": self.python()})
        self.assertEqual(done.code, 0, done)
        said = json.loads(done.out)
        self.assertEqual(said["shapes"], "input:2x3x32x32")
        self.assertEqual(said["settings"], {"device": "cpu", "freezing": "on"})
        self.assertEqual(sorted(path.name for path in self.folder.glob("tiny*")), ["tiny.pt2", "tiny.pt2.log"])
        self.runs_beside_eager()
        self.refuses_what_it_was_not_compiled_for()

    def test_every_engine_stands_in_one_table(self):
        """The package is made in the run; an engine that is not here is one sentence."""
        done = self.run_cli("infer", "--model", "tiny_cnn", "--engine", "all", "--batch", "2,3", "--device", "cpu", "--iterations", 3, "--threads", 1,
                            *cli.QUICK, env={"PACELINE_PYTHON": self.python()}, timeout=BUILD_S)
        self.assertEqual(done.code, 0, done)
        cases = self.summary()["cases"]
        self.assertEqual([case["benchmark"]["engine"] for case in cases[::2]],
                         ["eager", "torchscript", "aotinductor", "openvino", "onnxruntime", "tensorrt"])
        for case in cases:
            engine = case["benchmark"]["engine"]
            if case["outcome"] == "skipped" and engine in ("openvino", "onnxruntime", "tensorrt"):
                self.assertIn(engine, case["reason"])
                continue
            self.assertEqual((engine, case["outcome"]), (engine, "ok"), case["reason"])
            self.assertTrue(case["correctness"]["passed"])
            self.assertIn("eager fp32", case["correctness"]["reference"])
        built = [case["model_file"] for case in cases if case["benchmark"]["engine"] == "aotinductor"]
        self.assertEqual([file["format"] for file in built], [".pt2", ".pt2"])
        for file in built:
            self.assertGreater(file["prepare_ns"], 1e9)
            self.assertGreater(file["size_bytes"], 1000)
        self.assertEqual(list(self.folder.glob("results/**/*.pt2")), [], "a package outlived its run")
        self.assertEqual(len(list(self.folder.glob("results/**/build.log"))), 2)
        self.assertIn("built in", self.run_cli("report", "--source", self.only_run(), "--format", "markdown").out)

    def runs_beside_eager(self):
        done = self.infer("tiny_cnn,tiny.pt2", "--engine", "auto", "--batch", 2, "--accuracy-reference", "tiny_cnn", "--accuracy-samples", 8)
        self.assertEqual(done.code, 0, done)
        eager, package = self.summary()["cases"]
        for case in (eager, package):
            self.assertEqual(case["outcome"], "ok")
            self.assertTrue(case["correctness"]["passed"])
            self.assertIn("the fp32 run of tiny_cnn in eager", case["correctness"]["reference"])
        self.assertEqual(package["benchmark"]["engine"], "aotinductor")
        self.assertLess(package["correctness"]["max_rel_err"], 1e-4)
        # Weights of another seed: the same package is wrong.
        done = self.infer("tiny.pt2", "--accuracy-reference", "tiny_cnn", "--weights-seed", 1, "--accuracy-samples", 8, "--output-dir", "other")
        self.assertEqual(done.code, 1, done)
        self.assertEqual(list(self.folder.glob("**/aotinductor*")), [])

    def refuses_what_it_was_not_compiled_for(self):
        foreign = {"PACELINE_INPUTS": None, "PACELINE_PRECISION": None}
        shapes = ["--shapes", "input:{batch}x3x32x32", "--batch"]
        for name, changes, arguments, code, words in (
                ("cuda.pt2", {"AOTI_DEVICE_KEY": "cuda"}, [], 77, "was compiled for cuda, and this case runs on cpu; use --device cuda"),
                ("bf16.pt2", {"PACELINE_PRECISION": "bf16"}, [], 77, "was compiled for bf16, and fp32 is asked for; use --precision bf16"),
                ("amx.pt2", {"AOTI_CPU_ISA": "AVX2 AMX_TILE NO"}, [], None, "and this CPU has no amx_tile; build it on this machine"),
                ("shapes.pt2", foreign, [], 2, "was not made by paceline build, and does not say which inputs it has; give --shapes"),
                ("foreign.pt2", foreign, [*shapes, 2], 0, ""),
                ("foreign8.pt2", foreign, [*shapes, 8], 2, "expected: 2, but got: 8"),
                ("inputs.pt2", {"PACELINE_INPUTS": "[{}]"}, [], 2, "cannot be read")):
            if code is None and "amx_tile" in Path("/proc/cpuinfo").read_text():
                continue
            with self.subTest(name):
                done = self.infer(self.edited(name, **changes), *arguments, "--output-dir", name + ".results")
                self.assertEqual(done.code, 77 if code is None else code, done)
                self.assertIn(words, re.sub(r"\s+", " ", done.out + done.err))


if __name__ == "__main__":
    unittest.main()
