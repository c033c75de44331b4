# SPDX-License-Identifier: MIT
"""The Dockerfile names only what is there: scripts, targets of make, files that its context holds."""

import fnmatch
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import dockerfile_lab as lab


class Dockerfile(unittest.TestCase):
    def setUp(self):
        self.stages = lab.stages()

    def test_stages(self):
        self.assertEqual(list(self.stages), ["cuda", "cpu"])  # the last one is what `docker build .` makes
        self.assertRegex(self.stages["cuda"].base, r"tensorrt:\d\d\.\d\d")
        for stage in self.stages.values():
            self.assertNotRegex(stage.base, ":latest$")
            self.assertIn(":", stage.base)

    def test_targets_of_make(self):
        targets = set(re.findall(r"^([a-z-]+):", (lab.ROOT / "Makefile").read_text(), re.M))
        for stage in self.stages.values():
            called = [word for run in stage.all("RUN") for command in run.split("&&") if command.split()[0] == "make"
                      for word in command.split()[1:] if re.fullmatch("[a-z-]+", word) and not word.startswith("-")]
            self.assertEqual(called, ["install"])
            self.assertLessEqual(set(called), targets)

    def test_scripts_are_there(self):
        for stage in self.stages.values():
            for name in re.findall(r"scripts/[\w./]+", " ".join(stage.all("RUN"))):
                self.assertTrue((lab.ROOT / name).is_file(), name)
        self.assertIn("TORCH_VERSION=", (lab.ROOT / "scripts/versions.sh").read_text())

    def test_the_context_holds_every_file_of_the_repository(self):
        ignored = [line for line in (lab.ROOT / ".dockerignore").read_text().split() if line]
        tracked = subprocess.run(["git", "ls-files"], cwd=lab.ROOT, capture_output=True, text=True, check=False)
        if tracked.returncode != 0:
            self.skipTest("not in a repository")
        for file in tracked.stdout.splitlines():
            for pattern in ignored:
                self.assertFalse(file.split("/")[0] == pattern or fnmatch.fnmatch(file, pattern), f"{file} is ignored by {pattern}")
        for folder in (".deps", "build"):
            self.assertIn(folder, ignored)

    def called(self, *words):
        """Returns the last stage's reaction to these words: its entry point, with a stand-in for the tool."""
        entry, = self.stages["cpu"].last_list("ENTRYPOINT")
        with tempfile.TemporaryDirectory() as folder:
            tool = Path(folder, "paceline")
            tool.write_text('#!/bin/sh\necho "paceline $*"\n')
            tool.chmod(0o755)
            return subprocess.run([lab.ROOT / Path(entry).relative_to("/opt/paceline"), *words], capture_output=True, text=True, check=True, cwd=folder,
                                  env={"PATH": f"{folder}:/usr/bin:/bin"}).stdout

    def test_words_are_for_the_tool_and_programs_are_programs(self):
        self.assertEqual(self.called(), "paceline \n")
        self.assertEqual(self.called("comm", "-b", "8"), "paceline comm -b 8\n")
        self.assertEqual(self.called("--help"), "paceline --help\n")
        self.assertEqual(self.called("paceline", "validate"), "paceline validate\n")
        self.assertEqual(self.called("/bin/sh", "-c", "echo a shell"), "a shell\n")
        self.assertEqual(self.called("bash", "-c", "echo $0 two words", "one"), "one two words\n")

    def test_scripts_of_the_image_need_no_path_to_it(self):
        for name in ("./scripts/build.sh", "scripts/bench_single_gpu.sh"):
            self.assertIn("usage: scripts/", self.called(name, "--help"))

    def test_the_working_folder_has_the_scripts_for_a_shell_too(self):
        for stage in self.stages.values():
            self.assertEqual(stage.all("WORKDIR"), ["/opt/paceline", "/work"])
            self.assertIn("mkdir -p /work && ln -s /opt/paceline/scripts /work/scripts", stage.all("RUN"))
        with tempfile.TemporaryDirectory() as folder:  # the link as the stages make it: a script finds its own folder behind it
            Path(folder, "scripts").symlink_to(lab.ROOT / "scripts")
            shown = subprocess.run(["bash", "-c", "./scripts/build.sh --help"], capture_output=True, text=True, check=True, cwd=folder).stdout
        self.assertIn("usage: scripts/build.sh", shown)

    def test_the_entry_point_is_what_is_installed(self):
        for stage in self.stages.values():
            self.assertEqual((stage.last_list("ENTRYPOINT"), stage.last_list("CMD")), (["/opt/paceline/scripts/container.sh"], ["--help"]))
            self.assertIn(". .", stage.all("COPY"))
            self.assertTrue(any("PREFIX=/usr/local" in run for run in stage.all("RUN")), "installed where PATH looks")
            self.assertIn("paceline --version", stage.all("RUN"))


class Manifests(unittest.TestCase):
    """Pods ask for a GPU and for the shared memory that NCCL wants."""

    def test_gpus_and_shared_memory(self):
        files = sorted((lab.ROOT / "scripts/kubernetes").glob("*.yaml"))
        self.assertEqual(len(files), 2)
        for file in files:
            text = file.read_text()
            for words in (r"limits: \{.*nvidia\.com/gpu: 1\}", r"- \{name: shm, mountPath: /dev/shm\}", r"- \{name: shm, emptyDir: \{medium: Memory, sizeLimit: 8Gi\}\}",
                          r"image: \S+:cuda\n"):
                self.assertEqual(len(re.findall(words, text)), 1, f"{file.name}: {words}")
            memory = int(re.search(r"limits: .*memory: (\d+)Gi", text)[1])
            self.assertGreater(memory, 8, "shared memory counts as memory of the pod")
            try:
                import yaml
            except ImportError:
                continue
            self.assertIn(yaml.safe_load(text)["kind"], ("JobSet", "PyTorchJob"))


if __name__ == "__main__":
    unittest.main()
