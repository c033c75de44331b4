# SPDX-License-Identifier: MIT
"""--device as a user meets it, on a machine without an NVIDIA GPU; with one, those tests are skipped."""

import unittest

import paceline_cli as cli

QUICK = ("--model", "tiny_cnn", "--iterations", "3", "--warmup", "1", "--idle-wait-s", "0")


class Device(cli.CliTest):
    def test_a_device_that_is_none_is_a_usage_error(self):
        for word in ("gpu", "cuda:x", "cuda:01"):
            result = self.run_cli("infer", *QUICK, "--device", word)
            self.assert_code(result, 2)
            self.assertIn(f"device '{word}' is none of cpu, cuda, cuda:0, cuda:1", result.err)

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


if __name__ == "__main__":
    cli.main()
