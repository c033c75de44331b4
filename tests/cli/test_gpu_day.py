# SPDX-License-Identifier: MIT
"""scripts/gpu_day.sh in its dry form: every stage on the CPU or on the doubles, a part that fails, a budget that is too small."""

import os
import re
import signal
import subprocess
import sys
import tarfile
import threading
import time
import unittest
import unittest.mock
from pathlib import Path

import paceline_cli as cli

SOURCE = Path(__file__).resolve().parents[2]
BUILD = Path(cli.BINARY).parents[1] if cli.BINARY else Path()
DEPS = Path(os.environ.get("PACELINE_DEPS", SOURCE / ".deps"))
# The python3 that runs this with the PyTorch that Paceline was built with, whose CUDA libraries are empty ones (scripts/setup.sh).
PYTHON_WITH_TORCH = """#!/bin/sh
export PYTHONPATH="{deps}/torch:{deps}/torchrun/python:{site}" LD_LIBRARY_PATH="{deps}/torchrun/stubs"
exec {python} "$@"
"""
# A tool in front of a program, as compute-sanitizer and ncu are: it notes its own arguments and runs the program.
STAND_IN = """#!{python}
import subprocess, sys
words = sys.argv[1:]
begin = next(i for i, w in enumerate(words) if w.endswith({programs}))
code = subprocess.call(words[begin:])
{after}
sys.exit(code)
"""
SUMMARY = 'print("========= ERROR SUMMARY: {errors} errors")'
CSV = 'open(words[words.index("--log-file") + 1], "w").write(\'"ID","Metric Name"\\n"0","gpu__time_duration.sum"\\n\')'


class GpuDay(cli.CliTest):
    def program(self, name, text):
        path = self.write(f"bin/{name}", text)
        path.chmod(0o755)
        return path

    def python_with_torch(self):
        if not (DEPS / "torchrun/torchrun").exists() or not (DEPS / "torch").exists():
            self.skipTest("no Python with torch: scripts/setup.sh --checks made none")
        self.write("site/sitecustomize.py", "import os, sys\nsys.setdlopenflags(os.RTLD_LAZY)\n")
        return self.program("python", PYTHON_WITH_TORCH.format(deps=DEPS.resolve(), site=self.folder / "site", python=sys.executable))

    def stand_in(self, name, programs, after):
        return self.program(name, STAND_IN.format(python=sys.executable, programs=programs, after=after))

    def begin(self, stage, *arguments):
        command = [SOURCE / "scripts/gpu_day.sh", stage, "--device", "cpu", "--build", BUILD, "--out", self.folder / "out", *map(str, arguments)]
        process = subprocess.Popen(command, env=self.env, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   start_new_session=True)
        self.addCleanup(cli.end_group, process)
        return process

    def day(self, stage, *arguments, code=0):
        done = self.finish(self.begin(stage, *arguments), timeout=400)
        self.assert_code(done, code)
        return done

    def rows(self, done):
        """{part: (what, result, seconds, words)} of the table, which is the last of what was printed."""
        lines = done.out.splitlines()
        begin = lines.index("| part | what | result | seconds | what to look at |")
        cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[begin + 2:]]
        for row in cells:
            self.assertEqual(len(row), 5, row)
        return {row[0]: row[1:] for row in cells}

    def assert_all_ok(self, done, parts, not_built=()):
        rows = self.rows(done)
        self.assertEqual(list(rows), parts)
        for name, row in rows.items():
            self.assertEqual(row[1], "skipped" if name in not_built else "ok", f"{name}: {row}\n{done}")
            self.assertEqual("not built: " in row[3], name in not_built, row)
        return rows

    def archive(self, stage):
        with tarfile.open(self.folder / f"out/gpu_day_{stage}.tar.gz") as tar:
            return {member.name.removeprefix(stage + "/"): tar.extractfile(member).read().decode("utf-8", "replace")
                    for member in tar.getmembers() if member.isfile()}

    def assert_archive(self, stage, done, parts):
        """The machine, the table that was printed, and a log of each part."""
        files = self.archive(stage)
        self.assertTrue(done.out.endswith(files["table.md"]))
        for name in ("nvidia-smi.txt", "paceline.txt", "python-torch.txt", "python-packages.txt", "uname.txt"):
            self.assertIn(f"machine/{name}", files)
        self.assertIn("paceline ", files["machine/paceline.txt"])
        for part in parts:
            self.assertIn(f"{part}/log.txt", files)
        return files


class Tests(GpuDay):
    @unittest.skipUnless((BUILD / "tests/plugin_cuda").exists(), "the plug-in cuda is not built here")
    def test_stage(self):
        parts = ["validate", "plugin_cuda", "plugin_cuda_parts", "cli"]
        done = self.day("tests")
        rows = self.assert_all_ok(done, parts)
        self.assertRegex(rows["plugin_cuda_parts"][3], r"^[1-9]\d* passed")
        self.assertRegex(rows["cli"][3], r"^[1-9]\d* passed")
        self.assert_archive("tests", done, parts)


class Inference(GpuDay):
    def test_stage(self):
        parts = ["precisions", "channels_last", "graphs", "batch_one", "copies", "transformer", "study"]
        done = self.day("inference")
        rows = self.assert_all_ok(done, parts)
        self.assertEqual([rows[part][3] for part in parts], ["2 cases"] * 4 + ["1 case", "1 case", "4 cases"])
        files = self.assert_archive("inference", done, parts)
        for part in parts:
            self.assertTrue([name for name in files if name.startswith(f"{part}/results") and name.endswith("/run_summary.json")], part)
        self.assertEqual(len(re.findall(r"^\| study \| tiny_cnn ", files["figures.md"], re.M)), 4)
        self.assertIn(files["figures.md"], done.out)


class Training(GpuDay):
    def test_stage(self):
        parts = ["one_rank", "channels_last", "fresh_data", "ddp_gloo", "two_ranks", "lost_rank", "profile", "checkpoint"]
        done = self.day("training")
        rows = self.assert_all_ok(done, parts)
        self.assertIn("rank 1", rows["lost_rank"][3])
        self.assertEqual(rows["checkpoint"][3], "went on from step 5")
        files = self.assert_archive("training", done, parts)
        self.assertFalse([name for name in files if "scratch" in name], "checkpoints do not belong into the archive")


# Without CUDA's headers there is nothing for its sanitizer.
NOT_BUILT = () if (BUILD / "tests/plugin_cuda_parts").exists() else ("sanitizer",)


class Tools(GpuDay):
    def test_stage(self):
        """The tools of CUDA are stand-ins that run what they are put in front of."""
        sanitizer = self.stand_in("compute-sanitizer", '("plugin_cuda_parts",)', SUMMARY.format(errors=0))
        ncu = self.stand_in("ncu", '("/paceline",)', CSV)
        parts = ["compare", "sanitizer", "ncu", "closed_loop", "instances", "timing", "overlap"]
        done = self.day("tools", "--compute-sanitizer", sanitizer, "--ncu", ncu, "--python", self.python_with_torch())
        rows = self.assert_all_ok(done, parts, NOT_BUILT)
        self.assertEqual(rows["timing"][3], "4 cases, 2 back to back")
        self.assertRegex(rows["compare"][3], r"^eager fp32 b2: ratio \d+\.\d{3} \(\d+\.\d{3}–\d+\.\d{3}\)$")
        if not NOT_BUILT:
            self.assertRegex(rows["sanitizer"][3], r"^0 errors; [1-9]\d* passed")
        files = self.assert_archive("tools", done, [part for part in parts if part not in NOT_BUILT])
        self.assertIn("| tiny_cnn | eager | fp32 | 2 |", files["compare/compare.md"])
        self.assertIn(files["compare/compare.md"], files["figures.md"])

    @unittest.skipIf(NOT_BUILT, "plugin_cuda_parts is not built")
    def test_what_the_tool_counts_and_what_is_missing(self):
        sanitizer = self.stand_in("compute-sanitizer", '("plugin_cuda_parts",)', SUMMARY.format(errors=2))
        python = self.program("python", "#!/bin/sh\necho 'No module named torch' >&2\nexit 1\n")
        done = self.day("tools", "--compute-sanitizer", sanitizer, "--python", python, "--only", "compare,sanitizer,ncu", code=1)
        rows = self.rows(done)
        self.assertEqual([rows[part][1] for part in ("compare", "sanitizer", "ncu")], ["skipped", "failed", "skipped"])
        self.assertIn("cannot import torch", rows["compare"][3])
        self.assertIn("counted 2 errors", rows["sanitizer"][3])


class Quick(GpuDay):
    def test_stage(self):
        checks = [name for name in ("plugin_cuda", "plugin_cuda_parts") if (BUILD / "tests" / name).exists()]
        parts = ["validate", *checks, "lost_rank", "checkpoint", "timing", "overlap"]
        done = self.day("quick", "--only", ",".join(parts))
        self.assert_all_ok(done, parts)
        self.assert_archive("quick", done, parts)

    def test_what_is_not_timed_runs_side_by_side(self):
        sys.path.insert(0, str(SOURCE / "scripts"))
        self.addCleanup(sys.path.remove, str(SOURCE / "scripts"))
        import gpu_day_run as running
        met, shares = threading.Barrier(2), []

        def meet(part, cpus):
            shares.append(cpus)
            met.wait(20)

        with unittest.mock.patch.object(running, "shares_of_cpus", lambda: [[0], [1]]):
            running.run_side_by_side(["a", "b"], meet)
        self.assertEqual(sorted(shares), [[0], [1]])

        def fail(part, cpus):
            raise ValueError(part)

        with self.assertRaisesRegex(ValueError, "a"):
            running.run_side_by_side(["a"], fail)


class TensorRt(GpuDay):
    def test_stage(self):
        parts = ["plugin_tensorrt_double_10", "plugin_tensorrt_double_11", "absent"]
        done = self.day("tensorrt")
        rows = self.assert_all_ok(done, parts)
        self.assertRegex(rows["plugin_tensorrt_double_10"][3], r"^[1-9]\d* passed, 0 skipped")
        self.assert_archive("tensorrt", done, parts)


class Mishaps(GpuDay):
    def wrapper(self, body):
        return self.program("paceline", f'#!/bin/sh\n{body}\nexec "{cli.BINARY}" "$@"\n')

    def test_a_part_that_fails_leaves_the_others(self):
        broken = self.wrapper('case "$*" in *"--scenario closed_loop --concurrency"*) echo "paceline: seeded" >&2; exit 5 ;; esac')
        done = self.day("tools", "--paceline", broken, "--only", "closed_loop,instances", code=1)
        rows = self.rows(done)
        self.assertEqual((rows["closed_loop"][1], rows["instances"][1]), ("failed", "ok"))
        self.assertIn("exit code 5: paceline: seeded; look at tools/closed_loop/log.txt", rows["closed_loop"][3])
        self.assertIn("paceline: seeded", self.archive("tools")["closed_loop/log.txt"])
        self.assertIn("--- end of tools/closed_loop/log.txt", done.out)

    def test_a_case_that_fails_is_no_success_whatever_the_exit_code_says(self):
        broken = self.wrapper(f'"{cli.BINARY}" "$@" --model gone.pt --shapes input:1x3x32x32; exit 0')
        done = self.day("inference", "--paceline", broken, "--only", "transformer", code=1)
        self.assertRegex(self.rows(done)["transformer"][3], "cases not ok|0 cases have results")

    def test_what_does_not_fit_into_the_budget_is_left_out_by_name(self):
        slow = self.wrapper('case "$*" in *"--inject"*|*"--layout"*) sleep 600 ;; esac')
        begin = time.monotonic()
        done = self.day("training", "--paceline", slow, "--only", "channels_last,fresh_data,profile", "--budget", "15", code=3)
        self.assertLess(time.monotonic() - begin, 45)
        rows = self.rows(done)
        self.assertEqual({row[1] for row in rows.values()}, {"left out"})
        self.assertRegex(rows["channels_last"][3], r"^stopped after \d+ s: .*--only channels_last")
        self.assertRegex(rows["profile"][3], r"^needs \d+ s, 0 s are left; .*--only profile")
        self.assertIn("channels_last/log.txt", self.archive("training"))

    def test_interrupted_it_still_leaves_its_archive_and_no_process(self):
        process = self.begin("training", "--paceline", self.wrapper('case "$*" in train*) sleep 600 ;; esac'), "--only", "one_rank,profile")
        for line in process.stdout:
            if b"1/2 one_rank" in line:
                break
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        done = self.finish(process, timeout=60)
        self.assert_code(done, 3)
        self.assertEqual([row[3] for row in self.rows(done).values()], ["stopped by SIGTERM"] * 2)
        self.assertIn("one_rank/log.txt", self.archive("training"))
        self.assert_group_empty(process)

    def test_without_a_gpu_every_part_says_why(self):
        done = self.day("tensorrt", "--device", "cuda", code=77)
        for row in self.rows(done).values():
            self.assertEqual(row[1], "skipped")
            self.assertIn("set TENSORRT_ROOT", row[3])

    def test_what_is_too_large_is_left_out_of_the_archive(self):
        sys.path.insert(0, str(SOURCE / "scripts"))
        self.addCleanup(sys.path.remove, str(SOURCE / "scripts"))
        import gpu_day_machine as machine
        stage = self.folder / "training"
        (stage / "profile").mkdir(parents=True)
        (stage / "profile/trace_rank0.json").write_bytes(os.urandom(60_000))
        (stage / "profile/samples.csv").write_bytes(os.urandom(1_000))
        archive = self.folder / "a.tar.gz"
        self.assertEqual(machine.write_archive(stage, archive, limit=100_000), [])
        self.assertEqual(machine.write_archive(stage, archive, limit=30_000), ["trace_rank*.json"])
        self.assertLess(archive.stat().st_size, 30_000)
        with tarfile.open(archive) as tar:
            self.assertEqual(sorted(m.name for m in tar if m.isfile()), ["training/left_out.txt", "training/profile/samples.csv"])

    def test_on_a_gpu_every_stage_fits_into_nine_minutes(self):
        for stage in ("tests", "inference", "training", "tools", "tensorrt", "quick"):
            done = self.day(stage, "--device", "cuda", "--list")
            needs = {beside: [int(found) for found in re.findall(rf"^\w+  (\d+) s  {words}", done.out, re.M)]
                     for beside, words in ((True, r".*\(side by side\)"), (False, r"(?!.*\(side by side\))"))}
            self.assertEqual(sum(map(len, needs.values())), len(done.out.splitlines()))
            self.assertGreater(len(needs[False]), 3)
            on_16_cpus = sum(needs[True]) / 4 + max(needs[True], default=0)
            self.assertLess(sum(needs[False]) + on_16_cpus, 9 * 60 - 40, stage)

    def test_arguments(self):
        for arguments, words in ((["nothing"], "invalid choice"), (["tests", "--device", "gpu"], "invalid choice: 'gpu'"),
                                 (["tests", "--only", "gone"], "there is no part 'gone'"), (["tests", "--paceline", "/gone"], "there is no /gone")):
            done = self.finish(subprocess.Popen([SOURCE / "scripts/gpu_day.sh", *arguments, "--build", BUILD], env=self.env, stdout=subprocess.PIPE,
                                                stderr=subprocess.PIPE))
            self.assert_code(done, 2)
            self.assertIn(words, done.err)


if __name__ == "__main__":
    cli.main()
