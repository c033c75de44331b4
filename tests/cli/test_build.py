# SPDX-License-Identifier: MIT
"""paceline build: an ONNX file or a built-in model becomes a file that one engine loads."""

import concurrent.futures
import hashlib
import json
import re
import shlex
import unittest

import paceline_cli as cli


class Build(cli.CliTest):
    def build(self, *arguments, **options):
        return self.run_cli("build", *arguments, **options)

    def infer(self, file, shapes, batch, *arguments):
        return self.run_cli("infer", "--model", file, "--shapes", shapes, "--batch", batch, "--iterations", 3,
                            "--threads", 1, *arguments, *cli.QUICK)

    def case(self):
        file, = self.folder.glob("results/infer/*/result.json")
        return json.loads(file.read_text())

    def test_a_blob_has_the_shapes_it_was_built_for(self):
        done = self.build("--model", "tiny_cnn", "--out", "tiny.blob", "--min-shapes", "input:1x3x32x32",
                          "--opt-shapes", "input:2x3x32x32", "--max-shapes", "input:4x3x32x32", "--json")
        self.assertEqual(done.code, 0, done)
        said = json.loads(done.out)
        self.assertEqual(said["size_bytes"], (self.folder / "tiny.blob").stat().st_size)
        self.assertEqual(said["shapes"], "input:1x3x32x32…4x3x32x32 (tuned for 2x3x32x32)")
        self.assertEqual(said["settings"]["inference_precision"], "f32")
        self.assertTrue(any("opt_shapes" in note for note in said["notes"]))
        self.assertEqual(sorted(p.name for p in self.folder.glob("*tiny*")), ["tiny.blob", "tiny.blob.log"])
        for batch in (1, 4):
            self.assertEqual(self.infer("tiny.blob", "input:{batch}x3x32x32", batch).code, 0)
        done = self.infer("tiny.blob", "input:{batch}x3x32x32", 5)
        self.assertEqual(done.code, 2, done)
        self.assertIn("does not fit this file", done.out + done.err)

    def test_builds_of_one_file_at_once_take_nothing_from_each_other(self):
        batches = (1, 2, 3)
        with concurrent.futures.ThreadPoolExecutor(len(batches)) as pool:
            builds = list(pool.map(lambda batch: self.build("--model", "tiny_cnn", "--out", "tiny.blob", "--batch", batch), batches))
        for batch, done in zip(batches, builds):
            self.assert_code(done, 0)
            self.assertIn(f"input:{batch}x3x32x32", done.out)
        self.assertEqual(sorted(p.name for p in self.folder.glob("*tiny*")), ["tiny.blob", "tiny.blob.log"])
        self.assert_code(self.run_cli("infer", "--model", "tiny.blob", "--iterations", 3, "--threads", 1, *cli.QUICK), 0)

    def test_a_blob_needs_no_shapes(self):
        done = self.build("--model", "tiny_cnn", "--out", "tiny.blob", "--batch", 3)
        self.assertEqual(done.code, 0, done)
        done = self.run_cli("infer", "--model", "tiny.blob", "--iterations", 3, "--threads", 1, *cli.QUICK)
        self.assertEqual(done.code, 0, done)
        case = self.case()
        self.assertEqual(case["outcome"], "ok")
        self.assertEqual(case["benchmark"]["batch_per_rank"], 3)

    def test_a_blob_of_a_float_file_runs_in_float(self):
        self.assertEqual(self.run_cli("export", "--model", "tiny_cnn", "--out", "tiny.onnx").code, 0)
        self.assertEqual(self.build("--onnx", "tiny.onnx", "--out", "tiny.blob").code, 0)
        done = self.infer("tiny.blob", "input:1x3x32x32", 1)
        self.assertEqual(done.code, 0, done)
        self.assertEqual(self.case()["precision"]["executed"][0]["precision"], "fp32")

    def test_several_builds_are_files_of_their_own(self):
        done = self.build("--model", "tiny_cnn", "--out", "tiny.blob", "--builds", 2, "--json")
        self.assertEqual(done.code, 0, done)
        builds = json.loads(done.out)
        self.assertEqual([build["file"].rsplit("/", 1)[-1] for build in builds], ["tiny.blob", "tiny.build2.blob"])
        self.assertEqual(sorted(p.name for p in self.folder.glob("*tiny*")),
                         ["tiny.blob", "tiny.blob.build2.log", "tiny.blob.log", "tiny.build2.blob"])
        for build in builds:
            digest = hashlib.sha256((self.folder / build["file"]).read_bytes()).hexdigest()
            self.assertEqual(build["sha256"], digest)
        self.assertIn("2 builds, ", done.err)
        advised = re.search(r"paceline (infer --engine openvino --model \S+), with --shapes and --batch", done.err)
        self.assertTrue(advised, done.err)
        done = self.run_cli(*shlex.split(advised.group(1)), "--shapes", "input:{batch}x3x32x32", "--batch", 1, "--iterations", 3, *cli.QUICK)
        self.assertEqual(done.code, 0, done)

    def test_builds_that_share_a_timing_cache_are_warned_of(self):
        done = self.build("--model", "tiny_cnn", "--out", "tiny.blob", "--builds", 2, "--timing-cache", "times")
        self.assertNotEqual(done.code, 0, done)  # OpenVINO has none
        self.assertIn("leave it away to see how builds vary", done.out + done.err)

    def test_int8_is_what_the_blob_runs(self):
        done = self.build("--model", "tiny_cnn", "--out", "tiny.blob", "--precision", "int8", "--batch", 2)
        self.assertEqual(done.code, 0, done)
        bits = 7 if "this CPU has no VNNI" in done.out else 8  # sums of 8-bit products would saturate there
        self.assertIn(f"layers in int8 ({bits}-bit weights, uint8 activations)", done.out)
        done = self.infer("tiny.blob", "input:2x3x32x32", 2, "--precision", "int8")
        self.assertEqual(done.code, 0, done)
        self.assertIn("int8", [share["precision"] for share in self.case()["precision"]["executed"]])

    def test_a_config_file_says_the_same(self):
        self.write("engine.json", json.dumps({"onnx": "tiny_cnn", "engine": "openvino", "output": "no.blob",
                                              "opt_shapes": {"input": [3, 3, 32, 32]}}))
        done = self.build("--config", "engine.json", "--out", "tiny.blob", "--json")
        self.assertEqual(done.code, 0, done)
        self.assertEqual(json.loads(done.out)["shapes"], "input:3x3x32x32")
        self.assertFalse((self.folder / "no.blob").exists())

    def test_mistakes(self):
        self.write("no.onnx", "no model")
        self.write("no.json", "{")
        self.write("bad.json", '{"precison": "fp32"}')
        self.write("m.pt", "")
        cases = (
            (["--out", "x.blob"], 2, "--model is missing"),
            (["--model", "tiny_cnn"], 2, "--output is missing"),
            (["--model", "tiny_cnn", "--out", "x.bin"], 2, "end in .blob"),
            (["--model", "tiny_cnn", "--out", "x.blob", "--workspace", "4GiB"], 2, "engine openvino has no option 'workspace'"),
            (["--model", "tiny_cnn", "--out", "x.blob", "--device", "cuda:1"], 2, "engine openvino has no option 'device'"),
            (["--model", "tiny_cnn", "--out", "x.blob", "--device", "cpu"], 2, "built on it; write cuda or cuda:1"),
            (["--model", "tiny_cnn", "--out", "x.blob", "--workspace", "4096"], 2, "at least 1048576 bytes"),
            (["--model", "tiny_cnn", "--engine", "tensort", "--out", "x.plan"], 2, "did you mean 'tensorrt'"),
            (["--model", "m.pt", "--out", "x.blob"], 2, "takes an ONNX file or a built-in model"),
            (["--model", "no.onnx", "--out", "x.blob"], 2, "no.onnx"),
            (["--model", "tiny_cnn", "--out", "x.blob", "--opt-shapes", "inputs:1x3x32x32"], 2, "its inputs are: input"),
            (["--model", "tiny_cnn", "--out", "x.blob", "--opt-shapes", "input:1x3x32x31"], 2, "the model's input is [Nx3x32x32]"),
            (["--model", "tiny_cnn", "--out", "x.blob", "--opt-shapes", "input:1x3x32x32;input:2x3x32x32"], 77, "one profile"),
            (["--model", "tiny_cnn", "--out", "x.blob", "--config", "no.json"], 2, "is no JSON"),
            (["--model", "tiny_cnn", "--out", "x.blob", "--config", "bad.json"], 2, "did you mean 'precision'"),
        )
        for arguments, code, words in cases:
            with self.subTest(arguments):
                done = self.build(*arguments)
                self.assertEqual(done.code, code, done)
                self.assertIn(words, done.err)
                self.assertFalse((self.folder / "x.blob").exists())

    def test_an_invalid_blob(self):
        self.write("no.blob", "no blob")
        self.assertEqual(self.build("--model", "tiny_cnn", "--out", "cut.blob").code, 0)
        whole = (self.folder / "cut.blob").read_bytes()
        (self.folder / "cut.blob").write_bytes(whole[:len(whole) // 2])
        for file in ("no.blob", "cut.blob"):
            with self.subTest(file):
                done = self.infer(file, "input:1x3x32x32", 1, "--output-dir", file + ".results")
                self.assertEqual(done.code, 2, done)
                self.assertIn("cannot load model", done.out + done.err)


if __name__ == "__main__":
    unittest.main()
