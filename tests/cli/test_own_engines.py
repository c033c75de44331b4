# SPDX-License-Identifier: MIT
"""The engines of examples/plugin, built against an installed Paceline, measured and checked like our own."""

import os
import unittest
from pathlib import Path

import paceline_cli as cli

EXAMPLES = Path(os.environ.get("PACELINE_EXAMPLES", ""))


class Examples(cli.CliTest):
    def run_engine(self, name, *arguments, **options):
        plugin = EXAMPLES / f"libpaceline_{name}.so"
        return self.run_cli("infer", "--plugin", plugin, "--engine", name, *arguments, "--iterations", 20, *cli.QUICK, **options)


class Naive(Examples):
    def test_runs_its_own_model(self):
        self.assert_code(self.run_engine("naive", "--model", "affine", "--shapes", "x:4x16", "--threads", 1), 0)
        case = self.summary()["cases"][0]
        self.assertEqual(case["precision"]["executed"], [{"precision": "fp32", "flops_share": 1, "operators": 1, "weights": ""}])
        self.assertIsNone(case["correctness"]["max_rel_err"], case["correctness"])

    def test_refuses_in_its_own_words(self):
        result = self.run_engine("naive", "--model", "affine", "--shapes", "x:4x16", "--precision", "bf16")
        self.assert_code(result, 77)
        self.assertIn("engine naive computes in fp32, not in bf16", result.err)


@unittest.skipUnless((EXAMPLES / "libpaceline_opencv.so").exists(), "engine opencv was not built: install libopencv-dnn-dev")
class OpenCv(Examples):
    def setUp(self):
        super().setUp()
        self.model = self.folder / "tiny.onnx"
        self.assert_code(self.run_cli("export", "--model", "tiny_cnn", "--batch", 2, "--out", self.model), 0)

    def opencv(self, *arguments):
        return self.run_engine("opencv", "--batch", 2, "--threads", 1, *arguments)

    def test_equals_the_reference(self):
        self.assert_code(self.opencv("--model", self.model, "--shapes", "input:2x3x32x32"), 0)
        case = self.summary()["cases"][0]
        self.assertEqual(case["outcome"], "ok")
        self.assertIn("onnxruntime", case["correctness"]["reference"])
        self.assertLess(case["correctness"]["max_rel_err"], 1e-5)
        self.assertEqual([share["precision"] for share in case["precision"]["executed"]], ["fp32"])
        self.assertEqual(case["effective_settings"]["threads"], "1")

    def test_a_cut_file_fails_with_its_name(self):
        self.model.write_bytes(self.model.read_bytes()[:1000])
        result = self.opencv("--model", self.model, "--shapes", "input:2x3x32x32")
        self.assert_code(result, 2)
        self.assertIn("copy or download it again", result.err)
        self.assertIn("tiny.onnx", result.err)

    def test_a_built_in_model_is_skipped_with_the_way_out(self):
        result = self.opencv("--model", "tiny_cnn")
        self.assert_code(result, 77)
        self.assertIn("paceline export --model tiny_cnn", result.err)


if __name__ == "__main__":
    cli.main()
