# SPDX-License-Identifier: MIT
"""The scripts that people of older tools type: what each calls, with a stand-in for the tool that tells its arguments, and with the real one."""

import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

import paceline_cli as cli

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"
STAND_IN = '#!/bin/sh\nprintf "called"\nfor word in "$@"; do printf " %s" "$word"; done\nprintf "\\n"\n'

# script, arguments, variables, what the tool is called with
CALLS = (
    ("bench_single_gpu", ["m.plan", "--batch", "32"], {}, "infer --model m.plan --device cuda --warmup 100 --iterations 1000 --batch 32"),
    ("bench_single_gpu", ["eager"], {"DEVICE": "cpu"}, "infer --model resnet50 --engine eager --device cpu --warmup 100 --iterations 1000"),
    ("bench_single_gpu", ["torchscript"], {"MODEL": "vit_b_16"}, "infer --model vit_b_16 --engine torchscript --device cuda --warmup 100 --iterations 1000"),
    ("bench_multi_gpu", ["m.plan"], {"WORLD_SIZE": "2"},
     "infer --model m.plan --gpus 1,2 --repetitions 6 --warmup 100 --iterations 1000"),
    ("bench_multi_gpu", ["m.plan"], {"WORLD_SIZE": "4"},
     "infer --model m.plan --gpus 1,2,4 --repetitions 6 --warmup 100 --iterations 1000"),
    ("bench_multi_gpu", ["m.plan"], {"WORLD_SIZE": "6"},
     "infer --model m.plan --gpus 1,2,4,6 --repetitions 6 --warmup 100 --iterations 1000"),
    ("bench_multi_gpu", ["m.plan"], {"WORLD_SIZE": "1"},
     "infer --model m.plan --gpus 1 --repetitions 6 --warmup 100 --iterations 1000"),
    ("bench_multi_gpu", ["m.onnx"], {"WORLD_SIZE": "2", "DEVICE": "cpu"},
     "infer --model m.onnx --device cpu --scenario closed_loop --instances 1,2 --threads-per-instance THREADS --repetitions 6 --warmup 100 --iterations 1000"),
    ("export_onnx_resnet50", [], {}, "export --model resnet50 --dynamic-batch --output resnet50.onnx"),
    ("export_onnx_resnet50", ["a b.onnx", "--opset", "13"], {}, "export --model resnet50 --dynamic-batch --output a b.onnx --opset 13"),
    ("build_trt_engine", [], {}, f"build --config {ROOT}/examples/engine_config.json"),
    ("build_trt_engine", ["m.onnx", "--precision", "fp16"], {}, "build --engine tensorrt --onnx m.onnx --output m.plan --precision fp16"),
    ("build_trt_engine", ["m.onnx", "x.plan"], {}, "build --engine tensorrt --onnx m.onnx --output x.plan"),
    ("run_single_node", ["2", "p.yaml", "--training.lr=0.1"], {}, "train --config p.yaml --ranks 2 --training.lr=0.1"),
    ("run_multi_node", ["p.yaml"], {"NNODES": "2", "NODE_RANK": "1", "MASTER_ADDR": "node0"},
     "train --config p.yaml --nnodes 2 --node-rank 1 --rdzv-endpoint node0:29500 --nproc-per-node 1"),
    ("run_distributed", ["4", "128", "10"], {}, "train --ranks 4 --batch-size 128 --epochs 10"),
    ("benchmark", [], {}, "train --model resnet50 --ranks 1,2,4 --batch-size 128 --epochs 5 --monitor"),
    ("benchmark", ["--lr", "0.4"], {}, "train --model resnet50 --ranks 1,2,4 --batch-size 128 --epochs 5 --monitor --lr 0.4"),
    ("benchmark", ["p.yaml", "--dry-run"], {}, "run p.yaml --dry-run"),
    ("analyze_results", ["results"], {}, "report --source results --format text"),
    ("analyze_results", ["results", "r.html"], {}, "report --source results --format html --output r.html"),
)
NAMES = sorted({call[0] for call in CALLS} | {"profile_nsight"})
# script, arguments, variables, a word of the message; all end with 2 and call nothing
MISTAKES = (
    ("bench_single_gpu", [], {}, "usage: scripts/bench_single_gpu.sh ENGINE"),
    ("bench_single_gpu", ["no.plan"], {}, "no file 'no.plan'"),
    ("bench_single_gpu", ["--batch", "3"], {}, "'--batch' is no engine"),
    ("bench_multi_gpu", ["m.plan"], {"WORLD_SIZE": "two"}, "WORLD_SIZE is 'two'"),
    ("build_trt_engine", ["no.onnx"], {}, "scripts/export_onnx_resnet50.sh writes one"),
    ("profile_nsight", [], {}, "usage: scripts/profile_nsight.sh ENGINE"),
    ("run_single_node", ["2"], {}, "usage: scripts/run_single_node.sh N PLAN.yaml"),
    ("run_single_node", ["p.yaml", "2"], {}, "N is 'p.yaml'"),
    ("run_multi_node", ["p.yaml"], {"NNODES": "2"}, "NODE_RANK is not set"),
    ("run_distributed", ["4", "128"], {}, "usage: scripts/run_distributed.sh RANKS BATCH EPOCHS"),
    ("run_distributed", ["4", "0", "10"], {}, "BATCH is '0'"),
    ("analyze_results", ["nowhere"], {}, "no folder 'nowhere'"),
)
PLACES = ("PACELINE", "WORLD_SIZE", "NNODES", "NODE_RANK", "MASTER_ADDR", "MASTER_PORT", "NPROC_PER_NODE", "DEVICE", "MODEL", "CONFIG", "CUDA_HOME", "OUT_DIR")


class ScriptTest(cli.CliTest):
    def setUp(self):
        super().setUp()
        for name in PLACES:
            self.env.pop(name, None)
        self.tool = self.program("stand-in")
        for name in ("m.plan", "m.onnx", "p.yaml"):
            self.write(name, "")
        (self.folder / "results").mkdir()

    def program(self, name, text=STAND_IN):
        path = self.write(name, text)
        path.chmod(0o755)
        return path

    def script(self, name, *arguments, scripts=SCRIPTS, **env):
        done = subprocess.run([scripts / f"{name}.sh", *map(str, arguments)], env={**self.env, **env}, cwd=self.folder, capture_output=True,
                              text=True, check=False, timeout=300)
        return cli.Finished(done.returncode, done.stdout, done.stderr)


class Calls(ScriptTest):
    def test_each_calls_the_tool_and_says_how(self):
        for name, arguments, env, expected in CALLS:
            with self.subTest(name, arguments=arguments):
                done = self.script(name, *arguments, PACELINE=str(self.tool), **env)
                self.assert_code(done, 0)
                # As many for each process as all of them can have.
                threads = max(1, len(os.sched_getaffinity(0)) // int(env.get("WORLD_SIZE", 1)))
                expected = expected.replace("THREADS", str(threads))
                self.assertIn(f"called {expected}\n", done.out)
                self.assertIn(f"+ {self.tool} {expected.split()[0]} ", done.err)

    def test_the_page_for_users_of_other_tools_has_each(self):
        page = (ROOT / "docs/older-tools.md").read_text()
        named = {Path(word).stem for word in re.findall(r"scripts/\w+\.sh", page)}
        self.assertEqual(named, {*NAMES, "build"})
        for word in re.findall(r"`(?:paceline run |paceline build --config )?(examples/[\w./]+|notebooks/[\w./]+)`", page):
            self.assertTrue((ROOT / word).exists(), word)

    def test_each_has_help(self):
        for name in NAMES:
            for flag in ("--help", "-h"):
                done = self.script(name, flag, PACELINE=str(self.tool))
                self.assert_code(done, 0)
                self.assertRegex(done.out, rf"^usage: .*scripts/{name}\.sh")
                self.assertNotIn("set -euo", done.out)
                self.assertNotIn("called", done.out)

    def test_mistakes_call_nothing(self):
        for name, arguments, env, word in MISTAKES:
            with self.subTest(name, arguments=arguments):
                done = self.script(name, *arguments, PACELINE=str(self.tool), **env)
                self.assert_code(done, 2)
                self.assertIn(word, done.err)
                self.assertEqual(done.out, "")

    def test_control_characters_of_variables_and_arguments_do_not_reach_the_terminal(self):
        done = self.script("benchmark", "x", PACELINE="no\x1b[31m\u009b1m\nsuch")
        self.assert_code(done, 2)
        self.assertIn("PACELINE='no?[31m?1m?such' is no program", done.err)

    def test_the_exit_code_is_that_of_the_tool(self):
        self.program("stand-in", "#!/bin/sh\nexit 5\n")
        for name, arguments, env, _ in CALLS:
            self.assert_code(self.script(name, *arguments, PACELINE=str(self.tool), **env), 5)

    def test_ranks_of_a_launcher_are_not_what_world_size_means(self):
        self.program("stand-in", '#!/bin/sh\necho "world ${WORLD_SIZE-unset}"\n')
        self.assertIn("world unset", self.script("bench_multi_gpu", "m.plan", PACELINE=str(self.tool), WORLD_SIZE="2").out)


class Places(ScriptTest):
    """Which tool is called."""

    def setUp(self):
        super().setUp()
        self.env["PATH"] = os.defpath
        if shutil.which("paceline", path=os.defpath):
            self.skipTest("a paceline is installed on the default PATH")

    def found(self, scripts, **env):
        return self.script("run_single_node", 2, "p.yaml", scripts=self.folder / scripts, **env)

    def copy(self, folder):
        shutil.copytree(SCRIPTS, self.folder / folder / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
        return f"{folder}/scripts"

    def check(self, scripts, tool, **env):
        done = self.found(scripts, **env)
        self.assert_code(done, 0)
        self.assertIn(f"+ {self.folder / tool} train", done.err)

    def test_of_the_build(self):
        scripts = self.copy("tree")
        self.program("tree/build/release/bin/paceline")
        self.check(scripts, "tree/build/release/bin/paceline")
        os.symlink(self.folder / scripts / "run_single_node.sh", self.folder / "run_single_node.sh")
        self.check(".", "tree/build/release/bin/paceline")

    def test_of_the_installation(self):
        scripts = self.copy("prefix/share/paceline")
        self.program("prefix/bin/paceline")
        self.check(scripts, "prefix/bin/paceline")

    def test_of_the_bundle(self):
        scripts = self.copy("paceline-1")
        self.program("paceline-1/paceline")
        self.program("paceline-1/bin/paceline")
        self.check(scripts, "paceline-1/paceline")

    def test_of_path(self):
        scripts = self.copy("tree")
        self.program("elsewhere/paceline")
        self.check(scripts, "elsewhere/paceline", PATH=f"{os.defpath}:{self.folder}/elsewhere")

    def test_the_variable_wins(self):
        scripts = self.copy("tree")
        self.program("tree/build/release/bin/paceline")
        self.check(scripts, "stand-in", PACELINE=str(self.tool))
        done = self.found(scripts, PACELINE="/nowhere/paceline")
        self.assert_code(done, 2)
        self.assertIn("PACELINE='/nowhere/paceline' is no program", done.err)

    def test_none(self):
        done = self.found(self.copy("tree"))
        self.assert_code(done, 77)
        self.assertIn("build it with 'make tool', or set PACELINE", done.err)


class Nsight(ScriptTest):
    def profiler(self, name):
        return self.program(f"cuda/bin/{name}", f'#!/bin/sh\necho "{name} $*"\n')

    def profile(self, *arguments, **env):
        return self.script("profile_nsight", "m.plan", *arguments, PACELINE=str(self.tool), CUDA_HOME=str(self.folder / "cuda"), **env)

    def test_one_after_the_other(self):
        self.profiler("nsys"), self.profiler("ncu")
        done = self.profile("--batch", "8", OUT_DIR="out")
        self.assert_code(done, 0)
        called = [line for line in done.out.splitlines() if line.startswith("called ")]
        self.assertEqual(called, [f"called profile --tool {name} infer --model m.plan --device cuda --output-dir out --batch 8" for name in ("nsys", "ncu")])

    def test_one_of_them(self):
        self.profiler("ncu")
        if shutil.which("nsys"):
            self.skipTest("nsys is installed")
        called, = [line for line in self.profile().out.splitlines() if line.startswith("called ")]
        self.assertIn("--tool ncu", called)

    def test_none(self):
        if shutil.which("nsys") or shutil.which("ncu") or Path("/usr/local/cuda/bin/ncu").exists():
            self.skipTest("a profiler is installed")
        done = self.profile()
        self.assert_code(done, 77)
        self.assertIn("neither nsys nor ncu", done.err)


@unittest.skipUnless((SCRIPTS / "build.sh").exists(), "a bundle is not built")
class Build(ScriptTest):
    def test_without_arguments_it_makes_the_tool(self):
        self.program("bin/make", '#!/bin/sh\necho "make $* in $PWD"\n')
        done = self.script("build", PATH=f"{self.folder}/bin:{os.environ['PATH']}")
        self.assert_code(done, 0)
        self.assertEqual(done.out, f"make --no-print-directory tool in {ROOT}\n")

    def test_help_and_mistakes(self):
        done = self.script("build", "--help")
        self.assert_code(done, 0)
        self.assertIn("usage: scripts/build.sh [BUILD_DIR JOBS TARGET…]", done.out)
        done = self.script("build", "build/release")
        self.assert_code(done, 2)
        self.assertIn("usage: scripts/build.sh", done.err)


class WithTheTool(ScriptTest):
    """Each as typed, with the real tool, on whatever this machine has."""

    def setUp(self):
        super().setUp()
        self.env["PACELINE"] = cli.BINARY
        self.spin = ("--plugin", cli.SPIN, "--engine", "spin", "--shapes", "input:{batch}x4", *cli.QUICK, "--iterations", "20")

    def test_one_device(self):
        self.assert_code(self.script("bench_single_gpu", "x.spin", *self.spin, DEVICE="cpu"), 0)
        self.assertEqual([c["outcome"] for c in self.summary()["cases"]], ["ok"])

    def test_several_devices(self):
        done = self.script("bench_multi_gpu", "x.spin", *self.spin, "--threads-per-instance", "1", DEVICE="cpu", WORLD_SIZE="2")
        self.assert_code(done, 0)
        cases = self.summary()["cases"]
        self.assertEqual([c["benchmark"]["instances"] for c in cases], [1, 2])
        self.assertEqual([c["benchmark"]["threads"] for c in cases], [1, 1])
        for case in cases:
            self.assertIsNotNone(case["throughput"]["per_s"]["ci_low"])
            self.assertEqual(len(case["repetitions"]), 6)
        self.assertRegex(" ".join(done.out.split()), r"2×1 does [\d.]+x the work of 1×1(?: \([\d.–]+\), an efficiency of \d+ %|, an efficiency of \d+ % \(no claim: )")

    @unittest.skipIf(cli.GPU, "there is a GPU")
    def test_without_a_device_the_reason_is_said(self):
        done = self.script("bench_single_gpu", "eager")
        self.assert_code(done, 77)
        self.assertRegex(done.out + done.err, "no NVIDIA GPU here|needs the")

    def test_without_tensorrt_the_reason_is_said(self):
        done = self.script("build_trt_engine", TENSORRT_ROOT=str(self.folder))
        self.assert_code(done, 77)
        self.assertRegex(done.out + done.err, "tensorrt plug-in, which is not built|no library of TensorRT|NVIDIA")

    def test_training_is_planned_as_typed(self):
        for name, arguments, case in (("run_distributed", (4, 128, 10), "resnet50-train-fp32-b128-r4"),
                                      ("run_single_node", (2, ROOT / "examples/plans/synthetic_resnet50.yaml"), "resnet50-train-fp32-b32-r2"),
                                      ("benchmark", (), "resnet50-train-fp32-b128-r4")):
            done = self.script(name, *arguments, "--dry-run")
            self.assert_code(done, 0)
            self.assertIn(case, done.out)
        done = self.run_cli("train", "--batch-size", 128, "--epochs", 10, "--lr", 0.1, "--dry-run")
        self.assert_code(done, 0)
        self.assertIn("resnet50-train-fp32-b128-r1", done.out)

    def test_a_run_is_analysed(self):
        run = shutil.copytree(Path(__file__).parent / "data/run", self.folder / "results/stored/run")
        done = self.script("analyze_results", run)
        self.assert_code(done, 0)
        self.assertIn("findings", done.out)
        self.assertIn("<html", (run / "report.html").read_text())


class WithLibTorch(ScriptTest):
    def setUp(self):
        super().setUp()
        self.env["PACELINE"] = cli.BINARY

    def test_epochs_of_two_ranks(self):
        done = self.script("run_distributed", 2, 4, 1, "--model", "tiny_cnn", "--device", "cpu", "--threads", 1, "--data.synthetic_samples", 32,
                           "--warmup-steps", 1, "--measure-steps", 2, "--idle-wait-s", 0, "--allow-noisy")
        self.assert_code(done, 0)
        case, = self.summary()["cases"]
        self.assertEqual((case["outcome"], case["case_id"]), ("ok", "tiny_cnn-train-fp32-b4-r2-cpu"))

    def test_export(self):
        done = self.script("export_onnx_resnet50", "m.onnx", "--model", "tiny_cnn")
        self.assert_code(done, 0)
        self.assertGreater((self.folder / "m.onnx").stat().st_size, 1000)


if __name__ == "__main__":
    cli.main()
