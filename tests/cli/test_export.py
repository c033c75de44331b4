# SPDX-License-Identifier: MIT
"""paceline export: what it writes, and what it says when it cannot."""

import json
import unittest

import paceline_cli as cli


class Export(cli.CliTest):
    def export(self, *arguments, **options):
        return self.run_cli("export", *arguments, **options)

    def test_onnx_holds_the_weights_under_their_own_names(self):
        done = self.export("--model", "tiny_cnn", "--out", "tiny.onnx", "--dynamic-batch", "--json")
        self.assertEqual(done.code, 0, done)
        said = json.loads(done.out)
        content = (self.folder / "tiny.onnx").read_bytes()
        self.assertEqual(said["size_bytes"], len(content))
        self.assertEqual(said["inputs"], "input:Nx3x32x32:float32")
        for word in (b"conv1.weight", b"bn2.running_var", b"fc.bias", b"BatchNormalization", b"MaxPool", b"Gemm", b"paceline"):
            self.assertIn(word, content)

    def test_the_same_seed_writes_the_same_file(self):
        for name, seed in (("a", 3), ("b", 3), ("c", 4)):
            self.assertEqual(self.export("--model", "tiny_cnn", "--out", name, "--weights-seed", seed).code, 0)
        content = {name: (self.folder / name).read_bytes() for name in "abc"}
        self.assertEqual(content["a"], content["b"])
        self.assertNotEqual(content["a"], content["c"])

    def test_large_weights_go_beside_the_file(self):
        done = self.export("--model", "tiny_cnn", "--out", "tiny.onnx", "--external-data-above", "1K")
        self.assertEqual(done.code, 0, done)
        self.assertLess((self.folder / "tiny.onnx").stat().st_size, 10_000)
        self.assertGreater((self.folder / "tiny.onnx.data").stat().st_size, 90_000)

    def test_torchscript_runs_where_the_model_did(self):
        self.assertEqual(self.export("--model", "tiny_cnn", "--format", "torchscript", "--out", "tiny.pt").code, 0)
        done = self.run_cli("infer", "--model", "tiny.pt", "--engine", "torchscript", "--shapes", "input:2x3x32x32", "--batch", 2,
                            "--iterations", 3, "--threads", 1, *cli.QUICK)
        self.assertEqual(done.code, 0, done)

    def test_the_name_of_the_file_says_its_format(self):
        done = self.export("--model", "tiny_cnn", "--out", "tiny.pt", "--json")
        self.assertEqual(done.code, 0, done)
        self.assertEqual(json.loads(done.out)["format"], "torchscript")
        for arguments, words in ((["--out", "tiny.onnx", "--file-format", "torchscript"], "--out tiny.onnx: by its name it is taken for onnx, and torchscript"),
                                 (["--out", "tiny.blob"], "taken for a file of engine openvino, and onnx is written"),
                                 (["--out", "tiny.pth", "--precision", "int8"], "--precision int8 is for format onnx, and not for torchscript")):
            self.assert_error(self.export("--model", "tiny_cnn", *arguments), 2, words)

    def test_mistakes(self):
        self.write("mine.onnx", "")
        cases = (
            ([], 2, "--model is missing"),
            (["--model", "tiny_cnn"], 2, "--output is missing"),
            (["--model", "tiny_cn", "--out", "x"], 2, "did you mean 'tiny_cnn'"),
            (["--model", "mine.onnx", "--out", "x"], 2, "export writes built-in models"),
            (["--model", "tiny_cnn", "--out", "."], 2, "is a folder"),
            (["--model", "tiny_cnn", "--out", "x", "--sequence-length", "8"], 2, "takes no sequences"),
            (["--model", "gpt2", "--out", "x", "--sequence-length", "5000"], 2, "at most 1024 tokens"),
            (["--model", "tiny_cnn", "--out", "x", "--opset", "12"], 2, "from 13 to 21"),
            (["--model", "tiny_cnn", "--out", "x", "--weights", "none.safetensors"], 2, "none.safetensors"),
            (["--model", "vit_b_16", "--out", "x", "--opset", "13"], 77, "LayerNormalization needs opset 17"),
        )
        for arguments, code, words in cases:
            with self.subTest(arguments):
                done = self.export(*arguments)
                self.assertEqual(done.code, code, done)
                self.assertIn(words, done.err)
                self.assertFalse((self.folder / "x").exists())

    def test_an_unwritable_target_is_named(self):
        done = self.export("--model", "tiny_cnn", "--out", "/proc/none/x.onnx")
        self.assertNotEqual(done.code, 0)
        self.assertIn("/proc/none", done.err)


if __name__ == "__main__":
    unittest.main()
