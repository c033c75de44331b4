# SPDX-License-Identifier: MIT
"""Words that people type who know other tools, and completion in shells."""

import os
import shutil
import struct
import subprocess
import unittest
from pathlib import Path

import paceline_cli as cli

SHELLS = ("bash", "zsh", "fish")


class ForeignWords(cli.CliTest):
    def expect(self, arguments, *words):
        self.assert_error(self.run_cli(*arguments), 2, *words)
        self.assert_nothing_ran()

    def test_a_flag_of_another_tool_is_answered_with_ours(self):
        for flag, value, words in (("-nireq", "4", "(benchmark_app); here: --scenario closed_loop --concurrency N"),
                                   ("--concurrency-range", "1:4", "(perf_analyzer); here: --scenario closed_loop --concurrency 1,2,3,4"),
                                   ("--saveEngine", "m.plan", "(trtexec); here: paceline build --engine tensorrt")):
            self.expect(["infer", "--model", "tiny_cnn", flag, value], f"{flag}: unknown option", words)

    def test_a_flag_before_the_command(self):
        self.expect(["--onnx=m.onnx"], "'--onnx=m.onnx' is before the command; write: paceline infer --onnx=m.onnx")
        self.expect(["-m", "m.onnx"], "write: paceline infer -m m.onnx")
        self.expect(["--batch", "8", "infer", "-m", "x.onnx"], "write: paceline infer --batch 8 -m x.onnx")
        self.expect(["--ranks", "2"], "write: paceline train --ranks 2")
        self.expect(["-s", "results/x"], "write: paceline report -s results/x")
        self.expect(["-nireq", "4"], "write: paceline infer -nireq 4")

    def test_commands_of_other_tools(self):
        self.expect(["analyze", "results"], "unknown command 'analyze'", "paceline report --source DIR")
        self.expect(["plan.yaml"], "here: paceline run plan.yaml")
        self.expect(["m.onnx"], "here: paceline infer --model m.onnx")
        self.expect(["validate", "-c", "p.yaml"], "paceline run --dry-run PLAN.yaml")

    def test_values_of_other_tools(self):
        self.expect(["infer", "--model", "tiny_cnn", "--engine", "ort"], "engine 'ort' is none of", "here it is onnxruntime")
        self.expect(["infer", "--model", "tiny_cnn", "--engine", "CPU"], "here it is onnxruntime")
        self.expect(["infer", "--model", "tiny_cnn", "--device", "GPU"], "did you mean 'cuda'?")
        self.expect(["infer", "--model", "tiny_cnn", "--scenario", "closed_loop", "--concurrency", "1:4"], "a list is written 1,2,3,4")

    def test_case_does_not_matter(self):
        result = self.infer("--device", "CPU", "--precision", "FP32", "--scenario", "Sync")
        self.assert_code(result, 0)
        self.assertEqual(self.summary()["cases"][0]["benchmark"]["precision"], "fp32")

    def test_aliases_run(self):
        self.assert_code(self.run_cli("infer", "--plugin", cli.SPIN, "--engine", "spin", "-m", "x.spin", "--shapes", "input:{batch}x4",
                                      "-niter", "7", "-d", "cpu", "-b", "2", "-nthreads", "1", *cli.QUICK), 0)
        case = self.summary()["cases"][0]
        self.assertIn("-b2", case["case_id"])
        self.assertEqual(len((self.only_run() / "samples.csv").read_text().splitlines()), 8)

    def test_advice_is_in_the_form_of_what_was_typed(self):
        self.expect(["infer", "--model", "tiny_cnn", "--slo", "p99=50ms"], "add --scenario server")
        self.expect(["train", "--checkpoint.resume"], "add --checkpoint.dir checkpoints")
        plan = self.write("p.yaml", "kind: inference\nmodels: [tiny_cnn]\nslo: p99=50ms\n")
        self.expect(["run", plan], "add scenario: server")


class SuiteFiles(cli.CliTest):
    """A training suite's own file trains, and says what of it has no effect."""

    FILE = """
data: {name: synthetic, path: null, batch_size: 8, num_workers: 2, pin_memory: true, prefetch_factor: 4, persistent_workers: true}
model: {name: tiny_cnn, num_classes: 10, channels_last: false}
training: {epochs: 1, precision: fp32, optimizer: Adam, learning_rate: 0.001, weight_decay: 0.0, momentum: null, grad_clip_norm: 1.0, seed: 1337,
           cudnn_benchmark: true, compile: {enabled: false, mode: default}}
benchmark: {enabled: true, warmup_steps: 1, measure_by: steps, measure_steps: 6, measure_seconds: 30, log_step_times: true, sync_cuda: false, evaluate_after: false}
distributed: {backend: gloo, gradient_accumulation_steps: 1, world_size: null, local_rank: null}
run: {experiment_name: suite, run_id: null, save_dir: out, capture_env: true, commit_hash: null, notes: first try}
profiling: {enabled: false}
"""

    def train(self, *arguments, code=0):
        self.write("suite.yaml", self.FILE)
        result = self.run_cli("train", "--config", "suite.yaml", "--plugin", cli.SPIN, "--device", "cpu", "--threads", "1", "--idle-wait-s", "0", "--allow-noisy", *arguments)
        self.assert_code(result, code)
        return result

    def test_it_trains(self):
        result = self.train("--training.epochs=1", "--data.synthetic_samples", "64")
        self.assertIn("note     first try", result.out)
        self.assertNotIn("has no effect", result.err)
        case = self.summary(self.only_run("out"))["cases"][0]
        self.assertEqual((case["benchmark"]["precision"], case["stats"]["n"]), ("fp32", 6))
        plan = (self.only_run("out") / "plan.yaml").read_text()
        for words in ("experiment_name: suite", "optimizer: adam", "lr: 0.001", "clip_norm: 1", "seed: 1337"):
            self.assertIn(words, plan)

    def test_flags_of_training_scripts(self):
        result = self.train("--monitor", "--log-interval", "10", "--persistent-workers", "--pin-memory", "--dry-run")
        self.assertNotIn("--monitor", result.err)
        self.assertIn("--log-interval '10' has no effect", result.err)
        self.assertNotIn("--persistent-workers", result.err)
        self.assertNotIn("--pin-memory", result.err)

    def test_what_cannot_be_done_is_refused(self):
        self.assert_error(self.train("--model.pretrained", "true", code=2), 2, "--model.pretrained", "write weights: FILE.safetensors")
        self.assert_error(self.train("--training.presision", "bf16", code=2), 2, "did you mean '--training.precision'?")


    def dry(self, text, *arguments, code=0):
        self.write("own.yaml", text)
        result = self.run_cli("train", "--config", "own.yaml", "--dry-run", *arguments)
        self.assert_code(result, code)
        return result

    def test_a_compiled_model_is_trained_without_it(self):
        text = "training: {epochs: 1, compile: {enabled: true}}\nmodel: {name: tiny_cnn}\n"
        self.assertIn("training.compile.enabled 'true' has no effect: torch.compile is not available", self.dry(text).err)
        self.assertNotIn("compile", self.dry(text, "--training.compile.enabled=false").err)

    def test_the_command_line_wins_over_what_a_file_says(self):
        self.dry("training: {epochs: 1}\nmodel: {name: tiny_cnn, pretrained: true}\n", code=2)
        self.dry("training: {epochs: 1}\nmodel: {name: tiny_cnn, pretrained: true}\n", "--model.pretrained=false")
        self.dry("training: {epochs: 1, precision: {name: amp}}\nmodel: {name: tiny_cnn}\n", "--training.precision=fp32")

    def test_a_typed_length_replaces_the_one_of_a_file(self):
        for length, flag in (("measure_steps: 9", "--benchmark.measure_seconds=2"), ("measure_seconds: 9", "--measure-steps=7"),
                             ("measure_by: steps, measure_steps: 9, measure_seconds: 5", "--measure-seconds=2")):
            self.dry(f"training: {{lr: 0.1}}\nmodel: {{name: tiny_cnn}}\nbenchmark: {{{length}}}\n", flag)

    def test_nccl_without_a_gpu_is_gloo(self):
        for ranks in ("1", "2"):
            result = self.dry("training: {lr: 0.1}\nmodel: {name: tiny_cnn}\ndistributed: {backend: nccl}\n", "--ranks", ranks)
            self.assertIn("it uses gloo", result.err)

    def test_a_missing_folder_of_data_is_filled(self):
        text = "training: {{lr: 0.1}}\nmodel: {{name: tiny_cnn}}\ndata: {{source: {}, path: {}}}\n"
        self.assertIn("data.path 'new/set' does not exist: cifar10 is fetched into it", self.dry(text.format("cifar10", "new/set")).err)
        self.assertIn("does not exist; check the path", self.dry(text.format("cifar10", "new/set.tar.gz"), code=2).err)

    def test_another_profiler_of_a_plan_is_answered_before_the_run(self):
        result = self.dry("training: {lr: 0.1}\nmodel: {name: tiny_cnn}\nprofiling: {enabled: true, tool: nsys}\n")
        self.assertIn("nothing is profiled: the profile pass of a plan is Kineto's", result.err)

    def test_one_rank_waits_for_nobody_and_a_variable_monitors_it(self):
        self.env["PACELINE_MONITOR"] = "1"
        self.train("--training.epochs=1", "--data.synthetic_samples", "64", "--expect", "exposed_share <= 10%")
        run = self.only_run("out")
        self.assertEqual(self.summary(run)["gates"][0]["verdict"], "met")
        self.assertTrue((run / "monitor.jsonl").is_file())

    def test_a_variable_that_is_no_switch_is_refused_before_a_run(self):
        self.assert_error(self.run_cli("train", "--model", "tiny_cnn", env={"PACELINE_MONITOR": "yes"}), 2, "PACELINE_MONITOR 'yes'")
        self.assert_nothing_ran()

    def test_words_of_other_suites(self):
        self.write("own.yaml", "training: {lr: 0.1}\nmodel: {name: tiny_cnn}\n")
        self.assert_code(self.run_cli("benchmark", "run", "--config", "own.yaml", "--dry-run"), 0)
        self.assert_code(self.run_cli("profile", "-g", "1", "-d", "3", "--model", "tiny_cnn", "--dry-run"), 0)
        for gate in ("efficiency >= 85%", "exposed_share <= 10 %", "gpu_utilization >= 85%"):
            self.assert_code(self.run_cli("train", "--config", "own.yaml", "--expect", gate, "--dry-run"), 0)
        self.assert_error(self.run_cli("train", "--config", "own.yaml", "--expect", "p50_ms <= 5%", "--dry-run"), 2, "p50_ms is in ms, not a share")


class RawInputs(cli.CliTest):
    def test_trtexec_loads_bare_numbers(self):
        (self.folder / "x.bin").write_bytes(struct.pack("<12f", *range(12)))
        self.assert_code(self.infer("--loadInputs=input:x.bin"), 0)
        self.assertEqual(self.summary()["cases"][0]["correctness"]["inputs"], "load_inputs input:x.bin")

    def test_another_size_is_refused_with_both_sizes(self):
        (self.folder / "x.bin").write_bytes(bytes(30))
        result = self.infer("--load-inputs", "x.bin")
        self.assert_code(result, 2)
        for words in ("'x.bin' has 30 bytes", "input 'input' takes 16 per sample, or a multiple of it: float32 [1, 4]"):
            self.assertIn(words, self.summary()["cases"][0]["reason"])


class ReportFolders(cli.CliTest):
    def setUp(self):
        super().setUp()
        self.assert_code(self.infer(), 0)

    def test_a_name_without_an_extension_is_a_folder(self):
        for output in ("study", "slash.d/"):
            self.assert_code(self.run_cli("report", "-s", self.only_run(), "--format", "study,csv", "--output", output), 0)
            self.assertEqual(sorted(p.name for p in (self.folder / output).iterdir()), ["benchmark_results.csv", "report.csv"])

    def test_the_results_here_are_the_usual_source(self):
        self.assert_code(self.run_cli("report", "generate", "--format", "html", "-o", "new/dir/x.html"), 0)
        self.assertTrue((self.folder / "new/dir/x.html").is_file())

    def test_a_name_with_one_and_an_existing_file_are_files(self):
        self.write("plain", "")
        for output in ("table.csv", "plain"):
            self.assert_code(self.run_cli("report", "-s", self.only_run(), "--format", "csv", "--output", output), 0)
            self.assertIn("p50", (self.folder / output).read_text())

    def test_help_lists_every_format(self):
        text = self.run_cli("report", "--help").out
        for name in ("html", "markdown", "csv", "study", "json", "text"):
            self.assertRegex(text, rf"(?m)^  {name} +\S")


class Completion(cli.CliTest):
    def script(self, shell):
        result = self.run_cli("completion", shell)
        self.assert_code(result, 0)
        return str(self.write(f"paceline.{shell}", result.out))

    def complete(self, *words):
        """Returns bash's offers for the last word."""
        quoted = " ".join(f"'{w}'" for w in words)
        code = (f"source {self.script('bash')}; COMP_WORDS=(paceline {quoted}); COMP_CWORD={len(words)}; "
                "_paceline; printf '%s\\n' \"${COMPREPLY[@]}\"; complete -p paceline >&2")
        done = subprocess.run(["bash", "--norc", "-c", code], capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "complete -o default -F _paceline paceline\n")
        return done.stdout.split()

    def test_bash_completes_commands_flags_and_values(self):
        self.assertEqual(self.complete("in"), ["infer"])
        self.assertIn("benchmark", self.complete(""))
        self.assertEqual(self.complete("infer", "--scen"), ["--scenario"])
        self.assertEqual(self.complete("--quiet", "infer", "--scen"), ["--scenario"])
        self.assertEqual(self.complete("infer", "--scenario", ""), ["sync", "closed_loop", "server", "offline"])
        self.assertEqual(self.complete("infer", "--engine", "o"), ["openvino", "onnxruntime"])
        self.assertEqual(self.complete("infer", "--engine", "eager,onn"), ["eager,onnxruntime"])
        self.assertEqual(self.complete("infer", "--engine", "=", "onn"), ["onnxruntime"])
        self.assertEqual(self.complete("infer", "--engine", "="), ["eager", "torchscript", "aotinductor", "openvino", "onnxruntime", "tensorrt"])
        self.assertIn("amp", self.complete("train", "--precision", ""))
        self.assertNotIn("int8", self.complete("train", "--precision", ""))
        self.assertEqual(self.complete("infer", "-m", "res"), ["resnet50"])
        self.assertEqual(self.complete("completion", ""), list(SHELLS))
        self.assertIn("exit-codes", self.complete("schema", ""))
        self.assertEqual(self.complete("run", ""), [], "files are left to readline")

    def test_every_script_has_every_command(self):
        for shell in SHELLS:
            text = Path(self.script(shell)).read_text()
            for command in ("run", "benchmark", "infer", "train", "export", "build", "validate", "report", "schema", "completion"):
                self.assertRegex(text, rf"\b{command}\b", shell)
            self.assertNotIn("worker", [word for line in text.splitlines() for word in line.split()[:1]])

    def test_the_scripts_are_of_the_shell(self):
        for shell in SHELLS:
            if program := shutil.which(shell):
                done = subprocess.run([program, "-n", self.script(shell)], capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""), shell)

    def test_another_shell_or_none(self):
        self.assert_error(self.run_cli("completion", "tcsh"), 2, "'tcsh'", "bash, zsh, fish")
        self.assert_error(self.run_cli("completion"), 2, "paceline completion bash | zsh | fish")


class ManPage(cli.CliTest):
    def test_it_renders_without_a_warning(self):
        groff = shutil.which("groff")
        if not groff:
            self.skipTest("groff is not installed")
        page = self.write("paceline.1", self.run_cli("schema", "man").out)
        done = subprocess.run([groff, "-ww", "-man", "-Tascii", "-P-cbou", str(page)], capture_output=True, text=True, check=True,
                              env={**os.environ, "LC_ALL": "C"})
        self.assertEqual(done.stderr, "")
        for words in ("paceline infer", "--batch-sizes", "EXIT STATUS", "interrupted"):
            self.assertIn(words, done.stdout.replace("\N{HYPHEN}", "-"))


if __name__ == "__main__":
    cli.main()
