# SPDX-License-Identifier: MIT
"""Checks one command of the documents without doing what takes long: `Checker(folder, env).problem(command)`."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import paceline_cli as cli
from doc_commands import ROOT

BUILD = Path(os.environ.get("PACELINE_BUILD", ROOT / "build/release"))
EXAMPLES = os.environ.get("PACELINE_EXAMPLES", "/tmp/naive") + "/"   # where the pages build the plug-in of examples/
MEASURES = ("run", "infer", "train", "comm", "profile")
RUNS_AT_ONCE = ("report", "schema", "completion", "--version", "--help")
WITHOUT_OPTIONS = ("completion", "--version", "--help")
COMMANDS = (*MEASURES, *RUNS_AT_ONCE, "export", "build", "validate", "monitor", "compare", "tune", "history")

# Commands that nothing here can run, by how they begin, and why. Options of paceline behind such words are checked all the same.
MARKED = {
    "paceline profile --tool ncu": "needs a GPU",
    "paceline profile --from kernels.ncu-rep": "needs Nsight Compute",
    "paceline profile --from timeline.nsys-rep": "needs Nsight Systems",
    "paceline attach": "starts a job of the user's",
    "scripts/profile_nsight.sh": "needs Nsight Systems or Nsight Compute",
    "docker": "needs Docker",
    "srun": "needs Slurm",
    "mpirun": "needs Open MPI",
    "torchrun": "needs PyTorch's launcher",
    "taskset": "starts what follows",
    "pip install": "installs from the network",
    "survey/bin/pip install": "installs from the network",
    "python3 -m": "installs from the network",
    "hf download": "needs the network",
    "duckdb": "needs DuckDB; cli.exports runs it where it is",
    "python -m paceline_results": "cli.exports runs it",
    "python3 -c": "needs PyTorch in Python",
    "sudo chmod": "needs root",
    "tar": "needs a bundle",
    "cd": "of the shell",
    "cat": "of the shell",
    "export": "of the shell",
    "paceline analyze": "no command; what to type instead stands beside it",
    "paceline list": "the same",
    "paceline convert": "the same",
}
# Words that stand for a value, and one.
STANDS_FOR = {"N": "2", "S": "5", "X": "1.5", "SIZE": "1M", "RANK": "0", "NAME": "resnet50", "ENGINE": "eager", "STAGE": "quick", "CASE_ID": "1",
              "CHANGES": "link=2x", "COMMAND": "true", "R,G,B": "1,2,3", "HOST:PORT": "node0:29500", "FILE.plan": "net.onnx"}
FILES = {"--model": "net.onnx", "--onnx": "net.onnx", "--config": "PLAN.yaml", "--server.arrival": "times.txt", "--output": "out.pdf"}   # what FILE is behind them
BUILT = re.compile(r"\bresnet50\.(pt2|blob)")   # models that take long to build, or need Python; another one is read in their place
# Missing parts of a command, as the tool says it, and words that let it be read to its end.
INCOMPLETE = re.compile(r"no model is named|no run given|no plan given|needs a value, e\.g\.|need at least 2 ranks|; add --|listed twice|a server needs")
# Message about the last option, of this program or of the other one that measures a side of a comparison.
SAYS_UNKNOWN = re.compile(r"paceline: ([AB]: .*: paceline: )?--no-such-option: ")
BESIDE = {"--rdzv-endpoint": ["--nnodes", "2", "--node-rank", "0"]}
IN_A_BUNDLE = {"scripts/with_pytorch.sh": "scripts/bundle/with_pytorch.sh"}   # and where the sources have them
# Scripts that call the tool, and what makes them measure nothing.
CALLERS = {"bench_single_gpu": ["--dry-run"], "bench_multi_gpu": ["--dry-run"], "run_single_node": ["--dry-run"], "run_multi_node": ["--dry-run"],
           "run_distributed": ["--dry-run"], "analyze_results": []}
# Stops a tool of ours once it has read its arguments; Python packages that it would compute with may be missing.
READS_ARGUMENTS = """
import argparse, importlib.abc, importlib.machinery, runpy, sys
from unittest import mock
class Missing(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        if name.split(".")[0] in ("numpy", "torch", "onnx", "sklearn", "torchvision"):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
    def create_module(self, spec):
        return mock.MagicMock(name=spec.name)
    def exec_module(self, module):
        pass
read = argparse.ArgumentParser.parse_args
def stop(*arguments, **options):
    read(*arguments, **options)
    sys.exit(0)
argparse.ArgumentParser.parse_args = stop
sys.meta_path.append(Missing())
sys.path.insert(0, sys.argv[1].rpartition("/")[0])
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
sys.exit("it did not read its arguments with argparse")
"""


def is_ours(word):
    return word in ("paceline", "./paceline") or word.startswith("paceline:")


def tool_words(words):
    """The words behind `paceline`, or behind the `--` of one of our tools; empty: the command has none."""
    for place, word in enumerate(words[:-1]):
        if is_ours(word) and words[place + 1] in COMMANDS or word == "--" and words[0].startswith("tools/"):
            return words[place + 1:]
    return ()


def mark_of(words):
    """The entry of MARKED that a command falls under, if any."""
    return next((mark for mark in MARKED if tuple(mark.split()) == words[:len(mark.split())]), None)


def value_of(word, before):
    if before == "--model":
        word = BUILT.sub("net.onnx", word)
    return FILES.get(before, word) if word == "FILE" else STANDS_FOR.get(word, word.replace("/tmp/naive/", EXAMPLES))


def values_for(words):
    """The words with a value for each that stands for one."""
    words = [word for word in words if word not in ("…", "...")]
    if "--what-if" in words:
        words = ["TRAINED" if word == "DIR" else word for word in words]
    return tuple(map(value_of, words, ["", *words]))


class Checker:
    """Answers what is wrong with a command, in words; nothing: it is right."""

    def __init__(self, folder, env):
        self.folder, self.env = folder, {**env, "PACELINE": cli.BINARY, "DEVICE": "cpu"}
        self.checks = ((r"make", self.of_make), (r"cmake", self.of_cmake), (r"ctest", self.of_ctest),
                       (r"(build/release/tests/)?(unit_\w+|plugin_\w+|training_scale)", self.of_test),
                       (r"tools/\w+\.py|(VENV|survey)/bin/python", self.of_python_tool), (r"scripts/gpu_day\.sh", self.of_gpu_day),
                       (rf"scripts/({'|'.join(CALLERS)})\.sh", self.of_caller), (r"(scripts|tools|\.ci)/[\w./]+", self.of_script))

    def problem(self, command):
        words = values_for(command.words)
        inner, mark = tool_words(words), mark_of(command.words)
        whole = command.whole and is_ours(words[0]) and not mark
        wrong = self.of_tool(inner) if inner and whole else self.of_options(inner) if inner else ""
        if wrong or inner and is_ours(words[0]):
            return wrong
        check = next((check for pattern, check in self.checks if re.fullmatch(pattern, words[0])), None)
        if check:
            return check(words, command.variables)
        return "" if mark else f"nothing checks it; {'there is no such command' if is_ours(words[0]) else 'add a check, or an entry of MARKED'}"

    def run(self, words, **env):
        done = subprocess.run(words, cwd=self.folder, env={**self.env, **env}, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=cli.TIMEOUT_S)
        return cli.Finished(done.returncode, done.stdout, done.stderr)

    def of_tool(self, words):
        """A whole command line of paceline."""
        reads_files = "--from" in words
        if words[0] not in (*MEASURES, *RUNS_AT_ONCE):
            return self.of_options(words)
        if any(word.endswith("libpaceline_opencv.so") and not Path(word).exists() for word in words):
            return ""   # built where there is an OpenCV
        done = self.run([cli.BINARY, *words, *(["--dry-run"] if words[0] in MEASURES and not reads_files else [])])
        return "" if done.code == 0 else str(done)

    def of_options(self, words):
        """All wrong options are reported together: what else is wrong shows beside one that surely is."""
        if words[0] in WITHOUT_OPTIONS or "--help" in words:
            done = self.run([cli.BINARY, *words])
            return "" if done.code == 0 else str(done)
        beside = [more for option, others in BESIDE.items() if option in words and others[0] not in words for more in others]
        done = self.run([cli.BINARY, *words, *beside, "--no-such-option"])
        said = [line for line in done.err.splitlines() if line.startswith("paceline: ") and not INCOMPLETE.search(line)]
        return "" if done.code == 2 and len(said) == 1 and SAYS_UNKNOWN.match(said[0]) else str(done)

    def of_make(self, words, variables):
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        for word in words[1:]:
            name, is_variable, _ = word.partition("=")
            if not re.search(rf"^{re.escape(name)} *[:?]?=" if is_variable else rf"^{re.escape(name)}:", makefile, re.M):
                return f"the Makefile has no {'variable' if is_variable else 'target'} '{name}'"
        return ""

    def of_cmake(self, words, variables):
        presets = {preset["name"] for preset in json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]}
        files = [ROOT / "CMakeLists.txt", *(ROOT / "cmake").rglob("*.cmake"), *(ROOT / "plugins").rglob("CMakeLists.txt")]
        for word, after in zip(words, [*words[1:], ""]):
            if word == "--preset" and after not in presets:
                return f"there is no preset '{after}'"
            if word == "-S" and not (ROOT / after / "CMakeLists.txt").exists():
                return f"there is no {after}/CMakeLists.txt"
            if word.startswith("-DPACELINE_") and not any(word[2:].partition("=")[0] in path.read_text() for path in files):
                return f"nothing reads {word[2:].partition('=')[0]}"
        return ""

    def of_ctest(self, words, variables):
        options = [word for before, word in zip(words, words[1:]) if "--test-dir" not in (before, word)]
        done = self.run(["ctest", "--test-dir", BUILD, "-N", *options])
        return "" if re.search(r"Total Tests: [1-9]", done.out) else f"no test has such a name: {done}"

    def of_test(self, words, variables):
        path = BUILD / "tests" / Path(words[0]).name
        if not path.exists():
            return f"there is no {path}"
        return "" if not words[1:] or "\n  " in self.run([path, "--gtest_list_tests", *words[1:]]).out else "no test has such a name"

    def of_python_tool(self, words, variables):
        words = words[1:] if words[0].endswith("/python") else words
        done = self.run([sys.executable, "-c", READS_ARGUMENTS, ROOT / words[0], *words[1:]])
        return "" if done.code == 0 else str(done)

    def of_gpu_day(self, words, variables):
        return self.of_python_tool(["scripts/gpu_day.py", *words[1:]], variables)

    def of_caller(self, words, variables):
        done = self.run([ROOT / words[0], *words[1:], *CALLERS[Path(words[0]).stem]], **variables)
        return "" if done.code == 0 else str(done)

    def of_script(self, words, variables):
        path = ROOT / IN_A_BUNDLE.get(words[0], words[0])
        if not os.access(path, os.X_OK):
            return "there is no such program"
        text = path.read_text(encoding="utf-8")
        return "".join(f"it has no option {flag}" for flag in re.findall(r"--[\w-]+", " ".join(words)) if flag not in text)
