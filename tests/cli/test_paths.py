# SPDX-License-Identifier: MIT
"""Paths that the user names: pipes, links in a circle, names that are too long, outputs that are inputs."""

import os
import shutil
import unittest

import onnx_files as onnx
import paceline_cli as cli
from test_accuracy import npy_bytes
from test_bad_models import IR

WHOLE = onnx.linear()
ROWS = npy_bytes([0.1 * i for i in range(32)], (8, 4))
LONG = "n" * 5000
BERT = '{"model_type": "bert", "architectures": ["BertModel"], "num_hidden_layers": 1, "hidden_size": 8, "num_attention_heads": 2}'
ONE = ("--threads", 1, "--iterations", 3, "--accuracy-samples", 4, *cli.QUICK)
FILE = ("infer", "--model", "m.onnx", "--shapes", "x:1x4", *ONE)
SPIN = ("infer", "--plugin", cli.SPIN, "--engine", "spin", "--model", "x.spin", "--shapes", "input:{batch}x4", *ONE)
TRAIN = ("train", "--plugin", cli.SPIN, "--model", "tiny_cnn", "--batch", "2", "--steps", "2")

# Commands with PATH in the place of a file that they read.
READERS = {
    "model.onnx": ("infer", "--model", "PATH", *ONE),
    "shapes.onnx": ("infer", "--model", "PATH", "--shapes", "x:1x4", *ONE),
    "model.pt": ("infer", "--model", "PATH", "--shapes", "x:1x4", *ONE),
    "model.pt2": ("infer", "--model", "PATH", "--shapes", "x:1x4", *ONE),
    "model.xml": ("infer", "--model", "PATH", "--shapes", "x:1x4", *ONE),
    "model.blob": ("infer", "--model", "PATH", "--shapes", "x:1x4", *ONE),
    "model.plan": ("infer", "--model", "PATH", "--shapes", "x:1x4", *ONE),
    "weights.safetensors": ("infer", "--model", "tiny_cnn", "--weights", "PATH", *ONE),
    "reference.onnx": (*FILE, "--accuracy-reference", "PATH"),
    "expected.npy": (*FILE, "--load-inputs", "in.npy", "--accuracy-reference", "PATH"),
    "expected.npz": (*FILE, "--load-inputs", "in.npy", "--accuracy-reference", "PATH"),
    "inputs.npy": (*SPIN, "--load-inputs", "PATH"),
    "inputs.npz": (*SPIN, "--load-inputs", "PATH"),
    "calibration.npy": (*FILE, "--precision", "int8", "--calib-data", "PATH"),
    "calibration.npz": (*FILE, "--precision", "int8", "--calib-data", "PATH"),
    "labels.txt": (*FILE, "--load-inputs", "in.npy", "--labels", "PATH"),
    "plugin.so": ("infer", "--plugin", "PATH", "--engine", "spin", "--model", "x.spin", *ONE),
    "plan.yaml": ("run", "PATH"),
    "config.yaml": ("train", "--config", "PATH"),
    "export.onnx": ("export", "--model", "PATH", "--precision", "fp16", "-o", "out.onnx"),
    "export.safetensors": ("export", "--model", "tiny_cnn", "--weights", "PATH", "-o", "out.onnx"),
    "build.onnx": ("build", "--engine", "openvino", "--model", "PATH", "-o", "out.blob"),
    "build.json": ("build", "--engine-config", "PATH"),
    "data.npz": (*TRAIN, "--data.source", "npz", "--data.path", "PATH"),
    "tokens.bin": ("train", "--plugin", cli.SPIN, "--model", "gpt2", "--data.source", "token_file", "--data.path", "PATH"),
    "topology.txt": ("comm", "--plugin", cli.SPIN, "-g", "2", "-b", "8", "-e", "8", "--rounds", "pairs", "--topology", "PATH"),
    "report": ("report", "--source", "PATH"),
}
# Commands with PATH in the place of what they write.
WRITERS = {
    "output": (*SPIN, "-o", "PATH"),
    "junit": (*SPIN, "--junit", "PATH/j.xml"),
    "dump": (*SPIN, "--dump-outputs", "PATH"),
    "export": ("export", "--model", "m.onnx", "--precision", "fp16", "-o", "PATH.onnx"),
    "build": ("build", "--engine", "openvino", "--model", "m.onnx", "-o", "PATH.blob"),
    "schema": ("schema", "plan", "-o", "PATH"),
    "checkpoints": (*TRAIN, "--checkpoint.dir", "PATH", "--checkpoint.every_steps", "1"),
}
OUTPUTS_OF_PATHS = ("resume", "run", "--resume", "PATH")


class Paths(cli.CliTest):
    def setUp(self):
        super().setUp()
        for name, content in (("m.onnx", WHOLE), ("in.npy", ROWS)):
            (self.folder / name).write_bytes(content)

    def pipe(self, name):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(path)
        return path

    def said(self, command, path, timeout=40):
        """The command ends by itself, with a refusal that shows where; whatever it wrote goes."""
        result = self.run_cli(*[str(word).replace("PATH", path) for word in command], timeout=timeout)
        reasons = [case["reason"] for case in self.summaries()]
        shutil.rmtree(self.folder / "results", ignore_errors=True)
        return result, result.out + result.err + "\n".join(reasons)

    def summaries(self):
        return [case for file in self.folder.glob("results/*/*/run_summary.json") for case in cli.read_json(file)["cases"]]

    def assert_refused(self, command, path, *words, codes=(2, 5)):
        result, text = self.said(command, path)
        self.assertIn(result.code, codes, str(result))
        for word in words:
            self.assertIn(word, text)
        self.assertLess(len(result.err), 6000, str(result))


class Pipes(Paths):
    def test_nothing_waits_for_the_writer_of_a_pipe(self):
        def check(name, command):
            self.pipe(name)
            self.assert_refused(command, name, name, codes=(2, 5, 77) if name == "model.plan" else (2, 5))

        for name, command in READERS.items():
            with self.subTest(name):
                check(name, command)

    def test_parts_of_a_model_are_no_pipes_either(self):
        self.write("bert/config.json", BERT)
        self.pipe("bert/model.safetensors")
        self.assert_refused(("infer", "--model", "PATH", *ONE), "bert", "bert/model.safetensors")
        self.pipe("other/config.json")
        self.assert_refused(("infer", "--model", "PATH", *ONE), "other", "other")
        self.write("ir.xml", IR)
        self.pipe("ir.bin")
        for shapes in ((), ("--shapes", "x:1x4")):
            self.assert_refused(("infer", "--model", "PATH", *shapes, *ONE), "ir.xml", "ir.bin' is a device or a pipe")
        self.pipe("external.data")
        (self.folder / "external.onnx").write_bytes(onnx.linear(tensor=onnx.external_weights("w", (4, 4), "external.data")))
        for engine in ("onnxruntime", "openvino"):
            self.assert_refused(("infer", "--model", "PATH", "--engine", engine, *ONE), "external.onnx", "external.data' is a device or a pipe")
        self.assert_refused(("export", "--model", "PATH", "--precision", "fp16", "-o", "out.onnx"), "external.onnx", "external.data")

    def test_the_log_of_a_build_is_no_pipe(self):
        self.pipe("pipe.log")
        result = self.run_cli("build", "--engine", "openvino", "--model", "m.onnx", "-o", "out.blob", "--log", "pipe.log", timeout=40)
        self.assert_error(result, 2, "--log 'pipe.log' is a pipe")

    def test_a_plan_from_the_pipe_of_a_shell_still_runs(self):
        reader, writer = os.pipe()
        os.write(writer, self.spin_plan(iterations=3).read_bytes())
        os.close(writer)
        self.assert_code(self.finish(self.start("run", f"/dev/fd/{reader}", pass_fds=[reader])), 0)


class Names(Paths):
    def test_links_in_a_circle(self):
        for name, command in {**READERS, **WRITERS, OUTPUTS_OF_PATHS[0]: OUTPUTS_OF_PATHS[1:]}.items():
            with self.subTest(name):
                path = "loop" + os.path.splitext(name)[1] if name in READERS else "loop"
                for loop in {path, "loop", "loop.onnx", "loop.blob"}:
                    if not os.path.lexists(self.folder / loop):
                        os.symlink(loop, self.folder / loop)
                self.assert_refused(command, path, "loop", codes=(2, 5, 77) if name == "model.plan" else (2, 5))

    def test_names_of_5000_characters(self):
        for name, command in {**READERS, **WRITERS, OUTPUTS_OF_PATHS[0]: OUTPUTS_OF_PATHS[1:]}.items():
            with self.subTest(name):
                path = LONG + os.path.splitext(name)[1] if name in READERS else LONG
                self.assert_refused(command, path, "nnnnnnnn", codes=(2, 5, 77) if name == "model.plan" else (2, 5))


class Overwriting(Paths):
    def aliases(self):
        """Makes other names of the file."""
        os.symlink("m.onnx", self.folder / "link.onnx")
        os.link(self.folder / "m.onnx", self.folder / "hard.onnx")
        os.symlink(".", self.folder / "here")
        return ("m.onnx", "./m.onnx", "here/m.onnx", "link.onnx", "hard.onnx", self.folder / "m.onnx", "nothere/../m.onnx")

    def test_export_keeps_its_input(self):
        (self.folder / "nothere").mkdir()
        for output in self.aliases():
            for precision in ("fp16", "int8"):
                with self.subTest(str(output), precision=precision):
                    result = self.run_cli("export", "--model", "m.onnx", "--precision", precision, "--output", output)
                    self.assert_error(result, 2, "--output would overwrite", "m.onnx", "--model")
                    self.assertEqual((self.folder / "m.onnx").read_bytes(), WHOLE)

    def test_so_do_its_other_files(self):
        data = onnx.linear(tensor=onnx.external_weights("w", (4, 4), "out.onnx.data"))
        (self.folder / "split.onnx").write_bytes(data)
        (self.folder / "out.onnx.data").write_bytes(bytes(64))
        for command, words in ((("export", "--model", "split.onnx", "--precision", "fp16", "-o", "out.onnx"), ("out.onnx.data", "--model")),
                               (("export", "--model", "m.onnx", "--precision", "int8", "--calib-data", "x:in.npy", "-o", "in.npy"), ("in.npy", "--calib-data")),
                               (("export", "--model", "m.onnx", "--precision", "int8", "--calib-data", "serving:x:0:in.npy", "-o", "in.npy"), ("in.npy", "--calib-data")),
                               (("build", "--engine", "openvino", "--model", "m.onnx", "-o", "out.blob", "--log", "m.onnx"), ("m.onnx", "--model")),
                               ((*FILE, "--junit", "m.onnx"), ("m.onnx", "--model")), ((*FILE, "--load-inputs", "x:in.npy", "--junit", "here.npy"), ("in.npy", "--load-inputs"))):
            with self.subTest(command):
                if not os.path.lexists(self.folder / "here.npy"):
                    os.symlink("in.npy", self.folder / "here.npy")
                self.assert_error(self.run_cli(*command), 2, "would overwrite", *words)
                self.assertEqual((self.folder / "m.onnx").read_bytes(), WHOLE)
                self.assertEqual((self.folder / "in.npy").read_bytes(), ROWS)
                self.assertEqual((self.folder / "out.onnx.data").read_bytes(), bytes(64))

    def test_a_build_keeps_an_input_of_its_own_kind(self):
        shutil.copy(self.folder / "m.onnx", self.folder / "out.blob.fp16.onnx")
        whole = (self.folder / "m.onnx").read_bytes()
        result = self.run_cli("build", "--engine", "openvino", "--model", "out.blob.fp16.onnx", "--precision", "fp16", "-o", "out.blob")
        self.assert_code(result, 0)
        self.assertEqual((self.folder / "out.blob.fp16.onnx").read_bytes(), whole)
        self.assertEqual(sorted(p.name for p in self.folder.glob("out.blob*")), ["out.blob", "out.blob.fp16.onnx", "out.blob.log"])

    def test_another_file_may_be_replaced(self):
        (self.folder / "old.onnx").write_bytes(WHOLE)
        self.assert_code(self.run_cli("export", "--model", "m.onnx", "--precision", "fp16", "-o", "old.onnx"), 0)
        self.assertNotEqual((self.folder / "old.onnx").read_bytes(), WHOLE)


if __name__ == "__main__":
    cli.main()
