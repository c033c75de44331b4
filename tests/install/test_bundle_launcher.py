# SPDX-License-Identifier: MIT
"""How a bundle, and the wheel of it, find the engines' libraries of a machine: the scripts beside a made-up tool, with made-up libraries."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts" / "bundle"
TOOL = """#!/bin/sh
echo "arguments: $*"
echo "libraries: ${LD_LIBRARY_PATH:-none}"
echo "root: ${PACELINE_TORCH_ROOT:-unset} python: ${PACELINE_PYTHON:-unset} bin: ${PACELINE_BIN:-unset}"
echo "releases: ${PACELINE_TORCH_VERSION:-none} ${PACELINE_ONNXRUNTIME_VERSION:-none} ${PACELINE_OPENVINO_VERSION:-none}"
echo "others: ${ONNXRUNTIME_ROOT:-unset} ${OPENVINO_ROOT:-unset}"
echo "launcher: ${PACELINE_LAUNCHER:-unset}"
exit ${TOOL_CODE:-0}
"""
NEEDED = ("sh", "dirname", "readlink", "sed", "head", "tr")


def make_torch(site, version="2.11.0+cu130"):
    """A package that must not be imported."""
    torch = site / "torch"
    (torch / "lib").mkdir(parents=True)
    (torch / "lib/libtorch_cpu.so").touch()
    (torch / "__init__.py").write_text("raise SystemExit('PyTorch was imported')\n")
    (torch / "version.py").write_text(f"from typing import Optional\n__version__ = '{version}'\ncuda: Optional[str] = '13.0'\n")
    (site / "nvidia/cu13/lib").mkdir(parents=True)
    return torch


def make_package(site, name, library):
    """As the wheels of ONNX Runtime and OpenVINO are laid out."""
    file = site / name / library
    file.parent.mkdir(parents=True)
    file.touch()
    (site / name / "__init__.py").write_text(f"raise SystemExit('{name} was imported')\n")
    return site / name


class Launcher(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="paceline bundle "))
        self.addCleanup(shutil.rmtree, self.folder)
        self.bundle = self.folder / "the bundle"
        for name, target in (("paceline", "paceline"), ("with_pytorch.sh", "scripts/with_pytorch.sh")):
            (self.bundle / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SCRIPTS / name, self.bundle / target)
        self.script(self.bundle / "bin/paceline", TOOL)
        (self.bundle / "bundle.json").write_text('{\n "paceline": "0.1.0",\n "torch": ["2.15.0", "2.11.0"],\n "cuda": "13.0"\n}\n')
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.folder)}

    def script(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path

    def environment_with(self, site, folder):
        """A virtual environment whose python3 sees `site`."""
        self.script(folder / "bin/python3", f'#!/bin/sh\nPYTHONPATH="{site}" exec {shutil.which("python3")} "$@"\n')
        return folder

    def paceline(self, *arguments, command=None, cwd=None, **env):
        return subprocess.run([str(command or self.bundle / "paceline"), *arguments], capture_output=True, text=True, check=False,
                              timeout=60, env={**self.env, **{k: str(v) for k, v in env.items()}}, cwd=cwd or self.folder)

    def assert_runs_with(self, result, torch):
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn(f"libraries: {torch}/lib:{torch.parent}/nvidia/cu13/lib\n", result.stdout)
        self.assertIn(f"root: {torch} ", result.stdout)
        self.assertIn("releases: 2.11.0 none none\n", result.stdout)

    def assert_refused(self, result, code, *words):
        self.assertEqual((result.returncode, result.stdout), (code, ""), result.stderr)
        self.assertRegex(result.stderr, r"\Apaceline: [^\n]+\n\Z")
        for word in words:
            self.assertIn(word, result.stderr)

    def assert_runs_without(self, result, release="none"):
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("libraries: none\n", result.stdout)
        self.assertIn(f"releases: {release} none none\n", result.stdout)

    def strict(self, **variables):
        """Runs a command that needs PyTorch, such as the tests for GPUs."""
        return self.paceline("sh", "-c", "echo it ran", command=self.bundle / "scripts/with_pytorch.sh", **variables)

    def test_a_version_that_is_no_file_is_ignored(self):
        """Opening a pipe would wait for its writer, and reading a device would not end."""
        for name, make in (("pipe", os.mkfifo), ("device", lambda file: file.symlink_to("/dev/zero")), ("large", lambda file: os.truncate(os.open(file, os.O_CREAT | os.O_WRONLY), 50 << 30))):
            for part in ("version.py", "build-version"):
                torch = make_torch(self.folder / name / part)
                (torch / "version.py").unlink()
                make(torch / part)
                with self.subTest(name, part=part):
                    self.assert_refused(self.paceline("true", command=self.bundle / "scripts/with_pytorch.sh", PACELINE_TORCH_ROOT=torch), 77, "of an unknown version")

    def test_the_one_python3_sees_without_importing_it(self):
        torch = make_torch(self.folder / "site")
        self.assert_runs_with(self.paceline("infer", "--model", "x y", PYTHONPATH=torch.parent), torch)

    def test_arguments_and_exit_code_are_the_tools(self):
        torch = make_torch(self.folder / "site")
        result = self.paceline("infer", "--model", "x  y", PYTHONPATH=torch.parent, TOOL_CODE=4)
        self.assertEqual(result.returncode, 4)
        self.assertIn("arguments: infer --model x  y\n", result.stdout)

    def test_the_environment_comes_before_python3_and_the_variable_before_both(self):
        everywhere, active, named = (make_torch(self.folder / name) for name in ("everywhere", "active", "named"))
        venv = self.environment_with(active.parent, self.folder / "my venv")
        self.assert_runs_with(self.paceline("infer", PYTHONPATH=everywhere.parent, VIRTUAL_ENV=venv), active)
        self.assert_runs_with(self.paceline("infer", PYTHONPATH=everywhere.parent, CONDA_PREFIX=venv), active)
        self.assert_runs_with(self.paceline("infer", PYTHONPATH=everywhere.parent, VIRTUAL_ENV=venv, PACELINE_TORCH_ROOT=named), named)

    def test_a_folder_named_torch_in_the_working_directory_is_ignored(self):
        make_torch(self.folder / "here")
        self.assert_runs_without(self.paceline("infer", cwd=self.folder / "here"))

    def test_none_at_all(self):
        bare = self.folder / "path"
        bare.mkdir()
        for name in NEEDED:
            (bare / name).symlink_to(shutil.which(name))
        for variables in ({}, {"PATH": bare}):
            self.assert_runs_without(self.paceline("infer", **variables))
            self.assert_refused(self.strict(**variables), 77, "PyTorch 2.15.0 2.11.0, and neither the active environment nor python3",
                                "pip install torch==2.15.0", "PACELINE_TORCH_ROOT")

    def test_another_version(self):
        torch = make_torch(self.folder / "site", "2.14.0+cpu")
        for variables in ({"PYTHONPATH": torch.parent}, {"PACELINE_TORCH_ROOT": torch}):
            self.assert_runs_without(self.paceline("train", **variables), release="2.14.0")
            self.assert_refused(self.strict(**variables), 77, "runs with PyTorch 2.15.0 2.11.0", f"'{torch}' is 2.14.0", "torch==2.15.0")
        (torch / "version.py").unlink()
        self.assert_refused(self.strict(PACELINE_TORCH_ROOT=torch), 77, "of an unknown version")

    def test_those_of_other_engines(self):
        site = self.folder / "site"
        onnxruntime = make_package(site, "onnxruntime", "capi/libonnxruntime.so.1.31.1")
        openvino = make_package(site, "openvino", "libs/libopenvino.so.2641")
        result = self.paceline("infer", PYTHONPATH=site)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for line in (f"libraries: {openvino}/libs", "releases: none 1.31.1 2026.4.1", f"others: {onnxruntime} {openvino}"):
            self.assertIn(line + "\n", result.stdout)
        result = self.paceline("infer", PYTHONPATH=site, ONNXRUNTIME_ROOT="none", OPENVINO_ROOT="none")
        self.assert_runs_without(result)
        self.assertIn("others: unset unset\n", result.stdout)

    def test_a_folder_of_the_users_answers_for_itself(self):
        result = self.paceline("infer", ONNXRUNTIME_ROOT="/nothing", OPENVINO_ROOT="/nothing", LD_LIBRARY_PATH="/some/where")
        for line in ("libraries: /some/where", "releases: none unknown unknown"):
            self.assertIn(line + "\n", result.stdout)

    def test_versions_as_pytorch_writes_them(self):
        for number, text in enumerate(("2.11.0", "2.11.0+cpu", "2.11.0+cu130")):
            torch = make_torch(self.folder / f"site{number}", text)
            self.assert_runs_with(self.paceline("infer", PACELINE_TORCH_ROOT=torch), torch)
        torch = make_torch(self.folder / "nightly", "2.11.0a0+git70d99e9")
        self.assert_refused(self.strict(PACELINE_TORCH_ROOT=torch), 77, "2.11.0a0")
        archive = make_torch(self.folder / "archive")
        (archive / "version.py").unlink()
        (archive / "build-version").write_text("2.11.0+cpu\n")
        self.assert_runs_with(self.paceline("infer", PACELINE_TORCH_ROOT=archive), archive)

    def test_a_variable_that_names_no_pytorch_is_a_mistake(self):
        self.assert_refused(self.paceline("infer", PACELINE_TORCH_ROOT=self.folder), 2, f"'{self.folder}' is no PyTorch")

    def test_control_characters_of_variables_do_not_reach_the_terminal(self):
        """ESC, a line end, CSI as one character, and one that turns the direction of text."""
        odd = "a\x1b]0;title\x07\nb\u009b1m\u202e\x7fc größe"
        for variables in ({"PACELINE_TORCH_ROOT": self.folder / odd}, {"PACELINE_TORCH_ROOT": make_torch(self.folder / odd, "1.0")}):
            result = self.strict(**variables)
            self.assertIn(result.returncode, (2, 77))
            self.assertRegex(result.stderr, r"\Apaceline: [^\n]+\n\Z")
            self.assertIn("a?]0;title??b?1m??c größe", result.stderr)

    def test_the_variable_can_say_none(self):
        make_torch(self.folder / "site")
        result = self.paceline("infer", PACELINE_TORCH_ROOT="none", PYTHONPATH=self.folder / "site")
        self.assert_runs_without(result)
        self.assertEqual(result.stderr, "")

    def test_commands_that_need_none_look_for_none(self):
        torch = make_torch(self.folder / "site")
        for arguments in ((), ("report", "--source", "x"), ("schema", "options"), ("infer", "--help"), ("run", "-h"), ("attach", "--", "true")):
            self.assert_runs_without(self.paceline(*arguments, PYTHONPATH=torch.parent))

    def test_what_was_in_the_path_of_libraries_stays(self):
        torch = make_torch(self.folder / "site")
        result = self.paceline("infer", PACELINE_TORCH_ROOT=torch, LD_LIBRARY_PATH="/some/where")
        self.assertIn(f"libraries: {torch}/lib:{torch.parent}/nvidia/cu13/lib:/some/where\n", result.stdout)

    def test_roots_of_cuda_come_behind_its_own(self):
        torch = make_torch(self.folder / "site")
        for name, folder in (("CUDA_HOME", "cuda/lib64"), ("NCCL_ROOT", "nccl/lib")):
            (self.folder / folder).mkdir(parents=True)
            result = self.paceline("infer", PACELINE_TORCH_ROOT=torch, LD_LIBRARY_PATH="/some/where", **{name: (self.folder / folder).parent})
            self.assertIn(f"libraries: {torch}/lib:{torch.parent}/nvidia/cu13/lib:{self.folder / folder}:/some/where\n", result.stdout)

    def test_one_within_another_changes_nothing(self):
        torch = make_torch(self.folder / "site")
        inner = self.bundle / "scripts/with_pytorch.sh"
        self.assert_runs_with(self.paceline(self.bundle / "paceline", "infer", command=inner, PACELINE_TORCH_ROOT=torch), torch)

    def test_other_commands_run_with_it(self):
        torch = make_torch(self.folder / "site")
        result = self.paceline("sh", "-c", 'echo "$LD_LIBRARY_PATH|$PACELINE_BIN|$PACELINE_PLUGINS"', command=self.bundle / "scripts/with_pytorch.sh",
                               PYTHONPATH=torch.parent)
        self.assertEqual(result.stdout.strip().split("|")[1:], [str(self.bundle / "paceline"), str(self.bundle / "lib/paceline/plugins")])
        self.assertIn(f"{torch}/lib", result.stdout)
        self.assertEqual(self.paceline(command=self.bundle / "scripts/with_pytorch.sh").returncode, 2)

    def in_wheel(self, site, *arguments, **env):
        """The package that pip installs, run by an interpreter that sees `site`."""
        package = self.folder / "wheel/paceline"
        shutil.copytree(self.bundle, package, dirs_exist_ok=True)
        shutil.copytree(SCRIPTS / "package", package, dirs_exist_ok=True)
        return self.paceline("-m", "paceline", *arguments, command=sys.executable, PYTHONPATH=f"{package.parent}:{site}", **env)

    def test_the_package_of_the_wheel_asks_its_own_python(self):
        torch = make_torch(self.folder / "site")
        make_package(torch.parent, "onnxruntime", "capi/libonnxruntime.so.1.31.1")
        elsewhere = make_torch(self.folder / "elsewhere", "2.15.0")
        active = self.environment_with(elsewhere.parent, self.folder / "active")
        result = self.in_wheel(torch.parent, "infer", "--model", "x  y", VIRTUAL_ENV=active, TOOL_CODE=4)
        self.assertEqual((result.returncode, result.stderr), (4, ""))
        for line in ("arguments: infer --model x  y", "releases: 2.11.0 1.31.1 none"):
            self.assertIn(line + "\n", result.stdout)
        self.assertIn(f"root: {torch} python: {sys.executable} ", result.stdout)
        self.assert_runs_without(self.in_wheel("/nowhere", "infer", VIRTUAL_ENV=active, cwd=elsewhere.parent))

    def test_the_tool_knows_what_started_it(self):
        def launcher(result):
            return [line.removeprefix("launcher: ") for line in result.stdout.splitlines() if line.startswith("launcher: ")]

        self.assertEqual(launcher(self.paceline("validate")), [str(self.bundle / "paceline")])
        self.assertEqual(launcher(self.paceline("validate", PACELINE_LAUNCHER="/usr/bin/paceline")), ["/usr/bin/paceline"])
        self.in_wheel("/nowhere", "validate")
        script = self.script(self.folder / "venv/bin/paceline", f"#!{sys.executable}\nfrom paceline.__main__ import main\nmain()\n")
        self.assertEqual(launcher(self.paceline("validate", command=script, PYTHONPATH=self.folder / "wheel")), [str(script)])

    def test_a_link_to_the_launcher_works(self):
        torch = make_torch(self.folder / "site")
        link = self.folder / "link"
        link.symlink_to(self.bundle / "paceline")
        self.assert_runs_with(self.paceline("infer", command=link, PACELINE_TORCH_ROOT=torch), torch)


if __name__ == "__main__":
    unittest.main()
