# SPDX-License-Identifier: MIT
"""Model files of unusual form: what runs, what int8 and fp16 files become of them, and in which words the rest is refused."""

import os
import struct
import subprocess
import sys
import unittest
from pathlib import Path

import onnx_files as onnx
import paceline_cli as cli
from test_quantise import Drawn

PACKAGES = Path(os.environ.get("PACELINE_PYTHON_PACKAGES", ""))
RUN = ["--threads", 1, "--iterations", 3, *cli.QUICK]
ENGINES = ("onnxruntime", "openvino")
PICTURE = ("N", 3, 8, 8)
HALF = ["--accuracy.max_rel_err", "5e-3"]  # of float16
INT8 = ["--precision", "int8", "--quantisation.samples", 16]
# ORT format from an ONNX file.
TO_ORT = """import sys; import onnxruntime as o; s = o.SessionOptions(); s.optimized_model_filepath = sys.argv[2]
s.add_session_config_entry('session.save_model_format', 'ORT'); o.InferenceSession(sys.argv[1], s)"""


def network(middle, outputs=(("y", ("N", 4)),), **more):
    """x -> convolution c -> what `middle` makes of it, h -> convolution -> mean -> y. `middle` gets the file under construction."""
    f = Drawn()
    f.node("Conv", ["x", f.weights("w", (8, 3, 3, 3))], "c")
    middle(f)
    f.node("Conv", ["h", f.weights("w2", (4, 8, 3, 3))], "d")
    f.node("Flatten", [f.node("GlobalAveragePool", ["d"], "p")], "y")
    return onnx.model(f.nodes, (("x", PICTURE),), outputs, f.tensors, **more)


def scalar(f, name, number, kind=onnx.INT64, code="q"):
    f.tensors.append(onnx.typed_weights(name, (), [number], kind, code))
    return name


def relu(f):
    f.node("Relu", ["c"], "h")


def loop(f):
    """Three times half of it; the factor comes from outside."""
    body = onnx.graph([onnx.node("Mul", ["a", "half"], ["b"]), onnx.node("Identity", ["go"], ["on"], name="go_on")],
                      (("i", (), onnx.INT64), ("go", (), onnx.BOOL), ("a", ("N", 8, 6, 6))), (("on", (), onnx.BOOL), ("b", ("N", 8, 6, 6))))
    f.weights("half", (), values=[0.5])
    f.node("Loop", [scalar(f, "times", 3), scalar(f, "true", 1, onnx.BOOL, "b"), "c"], "h", body=body)


def branch(f):
    """A convolution in one of two branches."""
    f.weights("w3", (8, 8, 1, 1))
    f.node("Greater", [f.node("ReduceMean", ["x"], "mean", keepdims=0), f.weights("zero", (), values=[0.0])], "go")
    then = onnx.graph([onnx.node("Conv", ["c", "w3"], ["t"], name="inner")], (), (("t", ("N", 8, 6, 6)),))
    other = onnx.graph([onnx.node("Neg", ["c"], ["e"])], (), (("e", ("N", 8, 6, 6)),))
    f.node("If", ["go"], "h", then_branch=then, else_branch=other)


def sequence(f):
    f.node("SequenceConstruct", ["c", "c"], "s")
    f.node("SequenceAt", ["s", scalar(f, "one", 1)], "h")


def clip(f):
    for name, number in (("low", 0.0), ("high", 6.0)):
        f.node("Constant", [], name, value_float=number)
    f.node("Clip", ["c", "low", "high"], "h")


BLOCK = onnx.function("block", ["a", "b"], ["o"], [onnx.node("Conv", ["a", "b"], ["c"]), onnx.node("Relu", ["c"], ["o"])])


def functions():
    f = Drawn()
    for source, name, shape in (("x", "g", (8, 3, 3, 3)), ("g", "h", (4, 8, 3, 3))):
        f.nodes.append(onnx.node("block", [source, f.weights(f"{name}.w", shape)], [name], domain="pkg", name=name))
    f.node("Flatten", [f.node("GlobalAveragePool", ["h"], "p")], "y")
    return onnx.model(f.nodes, (("x", PICTURE),), (("y", ("N", 4)),), f.tensors, domains=("pkg",), functions=(BLOCK,))


class OddTest(cli.CliTest):
    def save(self, name, content):
        (self.folder / name).write_bytes(content)
        return name

    def infer(self, model, *arguments, engines=ENGINES, code=0):
        cli.shutil.rmtree(self.folder / "results", ignore_errors=True)
        done = self.run_cli("infer", "--model", model, "--engine", ",".join(engines), *RUN, *arguments)
        self.assert_code(done, code)
        return self.summary()["cases"]

    def assert_right(self, cases):
        for case in cases:
            self.assertEqual((case["outcome"], case["reason"]), ("ok", ""), case["label"])
            self.assertNotEqual(case["correctness"]["verdict"], "failed", case["label"])

    def export(self, model, out, *arguments, code=0):
        done = self.run_cli("export", "--model", model, "--out", out, *arguments)
        self.assert_code(done, code)
        return done


class PassThrough(OddTest):
    """An output that is an input: what is read of it is the input, not memory that nobody wrote."""

    def setUp(self):
        super().setUp()
        self.save("m.onnx", network(relu, outputs=(("y", ("N", 4)), ("x", PICTURE))))

    def test_it_runs_on_every_engine(self):
        for _ in range(2):
            self.assert_right(self.infer("m.onnx"))

    def test_its_int8_file_is_the_same_each_time(self):
        for name in ("a.onnx", "b.onnx"):
            self.export("m.onnx", name, *INT8, "--calib-cache", f"{name}.json")
        self.assertEqual((self.folder / "a.onnx").read_bytes(), (self.folder / "b.onnx").read_bytes())
        low, high = cli.read_json(self.folder / "a.onnx.json")["ranges"]["x"]
        self.assertTrue(-6 < low < -2 and 2 < high < 6, (low, high))  # of normal numbers
        self.assert_right(self.infer("a.onnx"))

    def test_weights_and_copies_as_outputs(self):
        f = Drawn()
        f.node("MatMul", ["x", f.weights("w", (4, 4))], "y")
        f.node("Identity", ["x"], "copy")
        for name, shape in (("y", ("N", 4)), ("copy", ("N", 4)), ("w", (4, 4))):
            f.output(name, shape)
        self.save("m.onnx", f.bytes((("x", ("N", 4)),)))
        self.assert_right(self.infer("m.onnx"))


class Precisions(OddTest):
    """Files of other precision made of files with functions, branches, loops, sequences and constants of every form."""

    FORMS = {"clip": clip, "loop": loop, "branch": branch, "sequence": sequence}

    def test_float16(self):
        for name, middle in self.FORMS.items():
            with self.subTest(name):
                self.save("m.onnx", network(middle))
                self.export("m.onnx", "h.onnx", "--precision", "fp16")
                for case in self.infer("h.onnx", "--accuracy-reference", "m.onnx", *HALF):
                    self.assertEqual((case["outcome"], case["reason"]), ("ok", ""), case["label"])
                    self.assertLess(case["correctness"]["outputs"][0]["max_rel_err"], 5e-3, case["label"])

    def test_int8(self):
        left = {"branch": ("1 operators left in float",)}
        for name, middle in self.FORMS.items():
            with self.subTest(name):
                self.save("m.onnx", network(middle))
                done = self.export("m.onnx", "q.onnx", *INT8)
                for words in left.get(name, ("0 operators left in float",)):
                    self.assertIn(words, done.out)
                self.assert_right(self.infer("q.onnx"))

    def test_layers_in_functions_are_quantised(self):
        self.save("m.onnx", functions())
        done = self.export("m.onnx", "q.onnx", *INT8)
        self.assertIn("2 layers in int8", done.out)
        self.assertIn("0 operators left in float", done.out)
        for case in self.infer("q.onnx"):
            ran = {e["precision"]: e["operators"] for e in case["precision"]["executed"]}
            self.assertEqual(ran, {"int8": 2}, case["label"])
        self.export("m.onnx", "h.onnx", "--precision", "fp16")
        self.assert_right(self.infer("h.onnx", *HALF))


class Names(OddTest):
    """Contents of a file count, not how its name is spelled."""

    def test_endings_in_capitals_and_none(self):
        for name in ("NET.ONNX", "2222"):
            with self.subTest(name):
                self.save(name, onnx.linear())
                self.assert_right(self.infer(name))
                self.export(name, "h.onnx", "--precision", "fp16")

    def test_networks_of_openvino(self):
        from test_bad_models import IR, NUMBERS
        for name, weights in (("NET.XML", "NET.bin"), ("CAPS.XML", "CAPS.BIN"), ("net", "net.bin")):
            with self.subTest(name):
                self.write(name, IR)
                (self.folder / weights).write_bytes(NUMBERS)
                self.assert_right(self.infer(name, engines=("openvino",)))

    def test_the_first_engine_is_that_of_the_file(self):
        self.save("2222", onnx.linear())
        done = self.run_cli("infer", "--model", "2222", *RUN)
        self.assert_code(done, 0)
        self.assertEqual(self.summary()["cases"][0]["benchmark"]["engine"], "onnxruntime")

    @unittest.skipUnless((PACKAGES / "onnxruntime").is_dir(), "no onnxruntime for Python")
    def test_the_format_of_onnx_runtime(self):
        self.save("m.onnx", onnx.linear())
        subprocess.run([sys.executable, "-c", TO_ORT, "m.onnx", "m.ort"], cwd=self.folder, check=True, env={**os.environ, "PYTHONPATH": str(PACKAGES)})
        (self.folder / "m.ort").rename(self.folder / "M.ORT")
        (case,) = self.infer("M.ORT", engines=("onnxruntime",))
        self.assertEqual((case["outcome"], case["reason"]), ("ok", ""))
        refused = self.infer("M.ORT", engines=("openvino",), code=77)[0]
        self.assertIn("engine 'openvino' reads no .ort files; those that do: onnxruntime", refused["reason"])


class Inputs(OddTest):
    def test_a_model_without_inputs(self):
        f = Drawn()
        f.node("MatMul", [f.weights("a", (4, 4)), f.weights("b", (4, 4))], "y")
        self.save("m.onnx", onnx.model(f.nodes, (), (("y", (4, 4)),), f.tensors))
        self.assert_right(self.infer("m.onnx"))
        self.export("m.onnx", "h.onnx", "--precision", "fp16")
        self.assert_error(self.run_cli("infer", "--model", "m.onnx", "--batch", 4, *RUN), 2, "takes no inputs; leave the batch out")

    def test_a_number_that_the_file_compares(self):
        """As silero-vad asks whether `sr` is 16000."""
        f = Drawn()
        scalar(f, "wide", 16000)
        f.node("Equal", ["sr", "wide"], "is_wide")
        sides = [onnx.graph([onnx.node("MatMul", ["x", f.weights(name, (4, 4))], [f"{name}.y"])], (), ((f"{name}.y", ("N", 4)),)) for name in ("a", "b")]
        f.node("If", ["is_wide"], "y", then_branch=sides[0], else_branch=sides[1])
        f.output("y", ("N", 4))
        self.save("m.onnx", f.bytes((("x", ("N", 4)), ("sr", (), onnx.INT64))))
        done = self.run_cli("infer", "--model", "m.onnx", "--engine", ",".join(ENGINES), *RUN)
        self.assert_code(done, 0)
        self.assertIn("'sr' is 16000, with which the file compares it", done.out + done.err)
        self.assert_right(self.summary()["cases"])

    def test_inputs_that_are_no_tensors(self):
        parts = onnx.block(1, "parts") + onnx.block(2, onnx.block(4, onnx.block(1, onnx.block(1, onnx.number(1, onnx.FLOAT)))))
        inner = (onnx.block(1, onnx.node("ConcatFromSequence", ["parts"], ["y"], axis=0)) + onnx.block(2, "g") + onnx.block(11, parts)
                 + onnx.block(12, onnx.value("y", ("N",))))
        self.save("m.onnx", onnx.number(1, 8) + onnx.block(7, inner) + onnx.block(8, onnx.number(2, 17)))
        words = "input 'parts' is a sequence of tensors, which is not supported"
        self.assert_error(self.run_cli("infer", "--model", "m.onnx", *RUN), 77, "m.onnx", words)
        self.assert_error(self.run_cli("export", "--model", "m.onnx", "--out", "q.onnx", *INT8), 77, words)

    def test_declared_zeros_and_symbols_that_stand_twice(self):
        product = [onnx.node("MatMul", ["x", "x"], ["y"])]
        for name, shape, words in (("zero", (0, 4), ["declares a size of 0 for 'x' [0, 4]", "--shapes 'x:0x4'"]),
                                   ("square", ("n", "n"), ["'n' stands twice in 'x'", "--shapes 'x:128x128'"])):
            with self.subTest(name):
                self.save("m.onnx", onnx.model(product, (("x", shape),), (("y", shape),)))
                self.assert_error(self.run_cli("infer", "--model", "m.onnx", *RUN), 2, *words)
        self.assert_right(self.infer("m.onnx", "--shapes", "x:128x128"))

    def test_a_mask_covers_past_and_new_tokens(self):
        """Attention that adds a mask to scores over past and new tokens."""
        nodes = [onnx.node("Cast", ["input_ids"], ["f"], to=1), onnx.node("Unsqueeze", ["f", "last"], ["e"], name="wide"),
                 onnx.node("Concat", ["past.key", "e4"], ["keys"], axis=2), onnx.node("Unsqueeze", ["e", "first"], ["e4"]),
                 onnx.node("Squeeze", ["keys", "sides"], ["k"]), onnx.node("Cast", ["attention_mask"], ["m"], to=1, name="mask"),
                 onnx.node("Mul", ["k", "m"], ["y"])]
        order = [0, 1, 3, 2, 4, 5, 6]
        ints = [onnx.typed_weights(name, (len(v),), v, onnx.INT64, "q") for name, v in (("last", [2]), ("first", [1]), ("sides", [1, 3]))]
        inputs = (("input_ids", ("batch", "sequence"), onnx.INT64), ("attention_mask", ("batch", "total"), onnx.INT64),
                  ("past.key", ("batch", 1, "past_sequence", 1)))
        self.save("m.onnx", onnx.model([nodes[i] for i in order], inputs, (("y", ("batch", "total")),), ints))
        self.assert_right(self.infer("m.onnx", "--shapes", "input_ids:1x3:int64,past.key:1x1x5x1"))
        for case in self.infer("m.onnx", "--shapes", "input_ids:1x3:int64,past.key:1x1x5x1,attention_mask:1x3:int64", code=2):
            self.assertIn("past (5) and new tokens (3) need 8; write --shapes 'attention_mask:1x8:int64'", case["reason"], case["label"])

    def test_weights_that_git_lfs_did_not_fetch(self):
        from test_bad_models import POINTER
        self.save("m.onnx", onnx.linear(tensor=onnx.external_weights("w", (4, 4), "m.data")))
        (self.folder / "m.data").write_bytes(POINTER)
        for case in self.infer("m.onnx", code=2):
            self.assertEqual(case["reason_code"], "data")
            self.assertIn("m.data' is a pointer of Git LFS", case["reason"])
        (self.folder / "m.data").write_bytes(struct.pack("<3f", 1, 2, 3))
        for engine in ENGINES:
            self.assert_code(self.run_cli("infer", "--model", "m.onnx", "--engine", engine, *RUN, "-o", engine), 2)
        for name in ("empty", "pointer"):
            self.save("model", b"" if name == "empty" else POINTER)
            self.assert_error(self.run_cli("infer", "--model", "model", *RUN), 2, "is empty" if name == "empty" else "git lfs pull")


if __name__ == "__main__":
    cli.main()
