# SPDX-License-Identifier: MIT
"""--device as a user meets it, on a machine without an NVIDIA GPU; with one, those tests are skipped."""

import re
import unittest

import onnx_files as onnx
import paceline_cli as cli

QUICK = ("--model", "tiny_cnn", "--iterations", "3", "--warmup", "1", "--idle-wait-s", "0")


class Device(cli.CliTest):
    def test_an_invalid_device_is_a_usage_error(self):
        for word in ("gpu", "cuda:x", "cuda:01"):
            result = self.run_cli("infer", *QUICK, "--device", word)
            self.assert_code(result, 2)
            self.assertIn(f"device '{word}' is none of auto, cpu, cuda, cuda:0, cuda:1", result.err)

    @unittest.skipIf(cli.GPU, "this machine shows an NVIDIA device")
    def test_without_a_gpu_the_case_is_skipped_and_says_why(self):
        for word, name in (("cuda", "cuda:0"), ("cuda:9", "cuda:9")):
            result = self.run_cli("infer", *QUICK, "--device", word)
            self.assert_code(result, 77)
            self.assertRegex(result.out + result.err, f"device '{name}': |needs the cuda plug-in, which is not built")

    def test_engines_without_cuda_say_where_they_run(self):
        result = self.run_cli("infer", *QUICK, "--engine", "openvino", "--device", "cuda")
        self.assert_code(result, 77)
        self.assertRegex(result.out + result.err, "openvino' (does not run on cuda:0 here; it does on: cpu|needs the)")

    @unittest.skipIf(cli.GPU, "this machine shows an NVIDIA device")
    def test_validate_knows_the_plug_in_without_loading_it(self):
        self.assertRegex(self.run_cli("validate").out, "plug-in cuda +(built, not loaded: |not built: )")

    NO_GPU = "device   cpu: no NVIDIA GPU here (neither /dev/nvidia0 nor /dev/dxg)"

    def first_line(self, *arguments, **options):
        result = self.run_cli(*arguments, "--dry-run", **options)
        self.assert_code(result, 0)
        return result.out.splitlines()[0]

    @unittest.skipIf(cli.GPU, "this machine shows an NVIDIA device")
    def test_the_first_line_says_where_it_runs_and_why(self):
        for command in (("infer", *QUICK), ("train", "--model", "tiny_cnn", "--steps", "2"), ("comm", "-e", "1K"),
                        ("run", self.write("plan.yaml", "kind: inference\nmodel: tiny_cnn\n"))):
            self.assertEqual(self.first_line(*command), self.NO_GPU)

    @unittest.skipIf(cli.GPU, "this machine shows an NVIDIA device")
    @unittest.skipUnless(cli.SPIN, "the test plug-in is not here")
    def test_a_run_begins_with_where_it_runs_and_stores_it(self):
        result = self.infer("--repetitions", "1")
        self.assert_code(result, 0)
        self.assertEqual(result.out.splitlines()[0], self.NO_GPU)
        case, = self.summary()["cases"]
        self.assertEqual(case["config_effective"]["device"], "cpu")
        self.assertEqual(case["benchmark"]["device"], "")
        self.assertEqual(self.first_line("infer", *QUICK, "--device", "cpu"), "device   cpu, as asked")

    @unittest.skipIf(cli.GPU, "this machine shows an NVIDIA device")
    def test_a_gpu_that_is_there_and_not_used_is_said(self):
        def told(*arguments):
            return self.on_a_shown_gpu(*arguments, "--dry-run").splitlines()[0]

        why = "device   cpu: the GPU here is not used: "
        self.assertRegex(told("infer", *QUICK), why + "(engine 'eager' needs the cuda plug-in, which is not built|plug-in '.*cuda)")
        self.assertRegex(told("infer", *QUICK, "--engine", "openvino"), why + "engine 'openvino' (does not run on cuda:0 here|needs the)")
        self.assertEqual(told("infer", *QUICK, "--device", "cpu"), "device   cpu, as asked; the GPU here is not used")
        self.assertRegex(told("comm", "-e", "1K"), why + "|device   cuda: auto takes a GPU")

    @unittest.skipIf(cli.GPU, "this machine shows an NVIDIA device")
    def test_onnx_runtime_without_the_provider_is_one_sentence(self):
        (self.folder / "m.onnx").write_bytes(onnx.linear())
        words = ("infer", "--model", "m.onnx", "--engine", "onnxruntime", "--device", "cuda", "--shapes", "x:2x4", *QUICK[2:])
        if "needs the onnxruntime plug-in" in self.on_a_shown_gpu(*words, codes=(77,)):
            self.skipTest("the plug-in for ONNX Runtime is not here")
        for provider, name in (("cuda", "CUDAExecutionProvider"), ("tensorrt", "TensorrtExecutionProvider")):
            said = " ".join(self.on_a_shown_gpu(*words, "--onnxruntime.provider", provider, codes=(77,)).split())
            self.assertIn(f"has no {name} (it has ", said)
            self.assertIn("set ONNXRUNTIME_ROOT to that folder", said)

    @unittest.skipIf(cli.GPU, "this machine shows an NVIDIA device")
    @unittest.skipUnless(cli.SPIN, "the test plug-in is not here")
    def test_a_plug_in_is_asked_before_its_ranks_take_the_gpu(self):
        self.env["SPIN_CUDA"] = "1"
        train = ("train", "--plugin", cli.SPIN, "--model", "tiny_cnn", "--steps", "2", "--repetitions", "1", "--idle-wait-s", "0", "--allow-noisy", "--threads", "1")
        for words in (train, ("comm", "--plugin", cli.SPIN, "-e", "1K")):
            self.assertEqual(self.on_a_shown_gpu(*words, "--dry-run").splitlines()[0], "device   cuda: auto takes a GPU where one can be used")
        self.env.update({"SPIN_IS_FAULT": "1", "SPIN_FAULT": "unavailable", "SPIN_FAULT_AT": "load"})
        for words in (train, ("comm", "--plugin", cli.SPIN, "-e", "1K")):
            self.assertEqual(self.on_a_shown_gpu(*words, "--dry-run").splitlines()[0], "device   cpu: the GPU here is not used: the library is not here")
        self.on_a_shown_gpu(*train)  # and there it runs
        case, = self.summary()["cases"]
        self.assertEqual(case["outcome"], "ok", case["reason"])
        self.assertEqual(case["benchmark"]["device"], "")

    @unittest.skipIf(cli.GPU, "this machine shows an NVIDIA device")
    @unittest.skipUnless(cli.SPIN, "the test plug-in is not here")
    def test_memory_of_the_device_is_estimated_before_training_starts(self):
        self.env["SPIN_CUDA"] = "1"
        words = ("train", "--plugin", cli.SPIN, "--model", "resnet50", "--steps", "2", "--idle-wait-s", "0", "--allow-noisy", "--threads", "1")
        parts = r"\(parameters, gradients and optimizer state 307 MB, inputs [\d.]+ [MG]B, activations [\d.]+ [MG]B\)"
        self.assertRegex(" ".join(self.on_a_shown_gpu(*words, "--batch", "32", "--dry-run", nvml=True).split()), "memory: at least 531 MB per rank on a device of 151 GB " + parts)
        large = ("--batch", "60000", "--data.synthetic-samples", "60000")
        least = f"out of memory: a rank needs at least 422 GB on its device {parts}, and the largest here has 151 GB; use a smaller batch"
        self.assertRegex(" ".join(self.on_a_shown_gpu(*words, *large, "--dry-run", nvml=True).split()), "fails: " + least)
        self.assertRegex(self.on_a_shown_gpu(*words, *large, codes=(77,), nvml=True), least)

    @unittest.skipIf(cli.GPU, "this machine shows an NVIDIA device")
    def test_memory_of_the_device_is_estimated_before_inputs_are_made(self):
        large = ("infer", "--model", "resnet50", "--device", "cuda", "--batch", "60000")
        words = ("needs at least 422 GB (inputs 36.1 GB, weights 102 MB, activations 385 GB), and cuda:0 (NVIDIA H200) has 151 GB; "
                 "use a smaller batch")
        self.assertIn("fails: out of memory: an inference of 60000 images " + words, " ".join(self.on_a_shown_gpu(*large, "--dry-run", nvml=True).split()))
        out = self.on_a_shown_gpu(*large, "--idle-wait-s", "0", codes=(5, 77), nvml=True)  # 77: without the plug-in
        self.assertRegex(out, "needs the cuda plug-in, which is not built|" + re.escape(words))
        self.assertNotIn("inputs  resnet50", out)


if __name__ == "__main__":
    cli.main()
