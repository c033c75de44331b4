# SPDX-License-Identifier: MIT
"""A number that was measured under a debugger, tracer, checker or injected library says so, and is of grade C."""

import shutil
import subprocess
import unittest

import paceline_cli as cli


class Instruments(cli.CliTest):
    def case_under(self, name, before=(), arguments=(), env=None, timeout=cli.TIMEOUT_S):
        command = [*before, cli.BINARY, "infer", "--plugin", cli.SPIN, "--engine", "spin", "--model", "x.spin", "--shapes", "input:{batch}x4",
                   "--iterations", "20", *cli.QUICK, "-o", name, *arguments]
        done = subprocess.run(list(map(str, command)), cwd=self.folder, env={**self.env, **(env or {})}, capture_output=True, text=True, check=False,
                              timeout=timeout, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        case, = self.summary(self.only_run(name))["cases"]
        return case, done.stdout

    def assert_marked(self, case, out, tool):
        self.assertEqual(case["grade"], "C")
        self.assertRegex(case["grade_reasons"][0], "^not comparable: it was measured under " + tool)
        self.assertIn("not comparable: it was measured under", out)

    def need(self, program):
        if not shutil.which(program):
            self.skipTest(f"{program} is not installed")

    def test_alone_it_is_comparable(self):
        case, out = self.case_under("alone", env={"LD_PRELOAD": ""})
        self.assertEqual(case["noise"]["instrument"], "")
        self.assertNotIn("not comparable", out)

    def test_injected_libraries_by_their_variables(self):
        for variable, tool in (("CUDA_INJECTION64_PATH", "a library injected into CUDA"), ("NSYS_PROFILING_SESSION_ID", "nsys")):
            case, out = self.case_under(variable, env={variable: "none"})
            self.assert_marked(case, out, tool)

    def test_a_library_that_a_tool_maps(self):
        self.need("cc")
        source = self.write("tool.c", "int paceline_test_tool;\n")
        library = self.folder / "libcuda-injection.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
        case, out = self.case_under("mapped", env={"LD_PRELOAD": str(library)})
        self.assert_marked(case, out, "ncu")

    def test_a_program_that_watches_its_children(self):
        """A shell of ncu's name stands for ncu."""
        shell = self.folder / "ncu"
        shutil.copy("/bin/sh", shell)
        case, out = self.case_under("parent", before=(shell, "-c", '"$@"; exit $?', "sh"))
        self.assert_marked(case, out, "ncu")

    def test_strace(self):
        self.need("strace")
        if subprocess.run(["strace", "-f", "-o", "/dev/null", "true"], check=False).returncode:
            self.skipTest("strace may not trace here")
        case, out = self.case_under("strace", before=("strace", "-f", "-e", "trace=execve", "-o", "/dev/null"))
        self.assert_marked(case, out, "strace, which traces it")
        case, out = self.case_under("not_followed", before=("strace", "-e", "trace=execve", "-o", "/dev/null"))
        self.assertEqual(case["noise"]["instrument"], "")  # the worker itself is not traced

    def test_gdb_in_front_of_one_process(self):
        self.need("gdb")
        case, out = self.case_under("gdb", before=("gdb", "-q", "-batch", "-return-child-result", "-ex", "run", "--args"), arguments=("--in-process", "-r", "1"))
        self.assert_marked(case, out, "gdb, which traces it")

    def test_training_and_collectives_say_it_too(self):
        for command in (("train", "--plugin", cli.SPIN, "--model", "tiny_cnn", "--steps", "5", "--warmup-steps", "1"),
                        ("comm", "--plugin", cli.SPIN, "--ranks", "2", "-b", "1K", "-e", "1K", "-n", "5")):
            result = self.run_cli(*command, "--device", "cpu", "--allow-noisy", "--idle-wait-s", "0", "-o" if command[0] == "train" else "--output-dir",
                                  command[0], env={"NVTX_INJECTION64_PATH": "none"})
            self.assert_code(result, 0)
            case, = self.summary(self.only_run(command[0]))["cases"]
            self.assertIn("not comparable: it was measured under a library injected into NVTX (NVTX_INJECTION64_PATH=none)", case["grade_reasons"])


if __name__ == "__main__":
    cli.main()
