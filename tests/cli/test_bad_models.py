# SPDX-License-Identifier: MIT
"""Model files and data that are not what they should be: each case fails by itself, in one line that says what to do; the others run."""

import json
import os
import random
import struct
import time
import zipfile

import onnx_files as onnx
import paceline_cli as cli
from test_accuracy import npy_bytes

NAN = float("nan")
WHOLE = onnx.linear()
DAMAGED = ("damaged, cut short or something else", "again")
EMPTY = ("is empty", "copy or download it again")
CUT = ("is cut short", "missing at its end", "copy or download it again")
LFS = ("is a pointer of Git LFS", "git lfs pull")
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"4d7a" * 16 + b"\nsize 97845732\n"
# .onnx file: bytes, what the message of each engine must hold; None: the engine runs it.
ONNX = {
    "empty": (b"", EMPTY, EMPTY),
    "pointer": (POINTER, LFS, LFS),
    "text": (b"this is no model\n", DAMAGED, DAMAGED),
    "cut": (WHOLE[:len(WHOLE) // 2], CUT, CUT),
    "opset0": (onnx.linear(opset=0), ("MatMul", "export"), ("MatMul", "export")),
    "opset99": (onnx.linear(opset=99), ("Opset 99", "export the model with an opset"), None),
    "format99": (onnx.linear(version=99), ("99", "export the model"), None),
    "external": (onnx.linear(tensor=onnx.external_weights("w", (4, 4), "gone.data")), ("gone.data", "copy"), ("gone.data", "copy")),
    "outside": (onnx.linear(tensor=onnx.external_weights("w", (4, 4), "../../etc/passwd")), ("passwd", "escapes"), ("passwd", "outside")),
    "operator": (onnx.model([onnx.node("Frobnicate", ["x"], ["y"])]), ("Frobnicate", "export"), ("Frobnicate", "export")),
    "domain": (onnx.model([onnx.node("Frobnicate", ["x"], ["y"], "com.acme")]), ("com.acme", "export"), ("com.acme.Frobnicate", "export")),
    "circle": (onnx.model([onnx.node("Add", ["x", "z"], ["y"]), onnx.node("Relu", ["y"], ["z"])]), ("acyclic",), ("'z'|\"z\"",)),
    "dangling": (onnx.model([onnx.node("Relu", ["nobody"], ["y"])]), ("nobody",), ("nobody",)),
    "short_weights": (onnx.linear(tensor=onnx.weights("w", (4, 4), [1.0] * 3)), DAMAGED, DAMAGED),
    "outputless": (onnx.model([onnx.node("Relu", ["x"], ["y"])], outputs=()), ("names no outputs", "export it again"), ("names no outputs", "export it again")),
    "nan": (onnx.linear(tensor=onnx.weights("w", (4, 4), [NAN] * 16)), ("NaN",), ("NaN",)),
}
# A file with what an engine lacks is no file to mend.
CODES = {"nan": "accuracy", "operator": "unsupported", "opset0": "unsupported", ("openvino", "domain"): "unsupported",
         ("onnxruntime", "opset99"): "unsupported", ("onnxruntime", "format99"): "unsupported"}
IR = """<?xml version="1.0"?>
<net name="m" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="1,4" element_type="f32"/>
 <output><port id="0" precision="FP32" names="x"><dim>1</dim><dim>4</dim></port></output></layer>
<layer id="1" name="c" type="Const" version="opset1"><data element_type="f32" shape="1,4" offset="0" size="16"/>
 <output><port id="0" precision="FP32"><dim>1</dim><dim>4</dim></port></output></layer>
<layer id="2" name="add" type="Add" version="opset1"><data auto_broadcast="numpy"/>
 <input><port id="0"><dim>1</dim><dim>4</dim></port><port id="1"><dim>1</dim><dim>4</dim></port></input>
 <output><port id="2" precision="FP32" names="y"><dim>1</dim><dim>4</dim></port></output></layer>
<layer id="3" name="r" type="Result" version="opset1"><input><port id="0"><dim>1</dim><dim>4</dim></port></input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="2" to-port="0"/><edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
<edge from-layer="2" from-port="2" to-layer="3" to-port="0"/></edges></net>
"""
NUMBERS = struct.pack("<4f", 1, 2, 3, 4)
# OpenVINO's own format: .xml, .bin (None: no file), words.
XML = {
    "nobin": (IR, None, (".bin file beside the .xml is missing",)),
    "shortbin": (IR, NUMBERS[:7], (".bin file",)),
    "cut": (IR[:600], NUMBERS, DAMAGED),
    "empty": ("", NUMBERS, EMPTY),
    "pointer": (POINTER.decode(), NUMBERS, LFS),
    "weights_pointer": (IR, POINTER, LFS),
    "text": ("no markup", NUMBERS, DAMAGED),
    "operator": (IR.replace('"Add"', '"Frobnicate"'), NUMBERS, ("Frobnicate", "export")),
    "nan": (IR, struct.pack("<4f", *[NAN] * 4), ("NaN",)),
}
ROWS = npy_bytes([0.1 * i for i in range(32)], (8, 4))


def archive(path, members):
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)


class Files(cli.CliTest):
    def write_bytes(self, name, content):
        (self.folder / name).write_bytes(content)

    def run_models(self, models, engines, shapes="x:1x4", **options):
        plan = self.write("plan.yaml", "\n".join([
            "kind: inference", f"models: [{', '.join(models)}]", f"engines: [{', '.join(engines)}]", f"shapes: '{shapes}'", "threads: 1",
            "iterations: 3", "warmup_iterations: 1", "idle_wait_s: 0", "measure_peak: false", "allow_noisy: true",
            "accuracy: {samples: 24}"]) + "\n")
        result = self.run_cli("run", plan, timeout=300, **options)
        cases = {(c["benchmark"]["engine"], c["benchmark"]["model"].rsplit("/", 1)[-1]): c for c in self.summary()["cases"]}
        return result, cases

    def assert_ok(self, case):
        self.assertEqual((case["outcome"], case["reason"]), ("ok", ""))

    def assert_said(self, case, words, code="data"):
        """One line, short, with what it is about; `a|b` is one of the two."""
        reason = case["reason"]
        self.assertEqual((case["outcome"], case["reason_code"]), ("skipped" if code == "unsupported" else "failed", code), reason)
        self.assertNotIn("\n", reason)
        self.assertLess(len(reason), 400, reason)
        for word in words:
            self.assertTrue(any(w in reason for w in word.split("|")), f"{word}: {reason}")
        for word in ("/src/", ".cc:", ".cpp:", "Exception from", "Traceback", "frame #"):
            self.assertNotIn(word, reason)


class BadModels(Files):
    def test_onnx(self):
        self.write_bytes("whole.onnx", WHOLE)
        (self.folder / "folder.onnx").mkdir()
        for name, (content, _, _) in ONNX.items():
            self.write_bytes(f"{name}.onnx", content)
        result, cases = self.run_models(["whole.onnx", "folder.onnx", *(f"{name}.onnx" for name in ONNX)], ["onnxruntime", "openvino"])
        self.assert_code(result, 2)
        for number, engine in enumerate(("onnxruntime", "openvino"), 1):
            self.assert_ok(cases[engine, "whole.onnx"])
            self.assert_said(cases[engine, "folder.onnx"], ["is a folder"])
            for name, row in ONNX.items():
                with self.subTest(engine=engine, file=name):
                    if row[number] is None:
                        self.assert_ok(cases[engine, f"{name}.onnx"])
                    else:
                        self.assert_said(cases[engine, f"{name}.onnx"], row[number], CODES.get((engine, name)) or CODES.get(name, "data"))

    def test_a_file_without_outputs_is_not_converted(self):
        self.write_bytes("outputless.onnx", ONNX["outputless"][0])
        for arguments in (("export", "--precision", "fp16", "--output", "half.onnx"), ("export", "--precision", "int8", "--output", "int8.onnx"),
                          ("build", "--engine", "openvino", "--output", "m.blob")):
            with self.subTest(arguments):
                result = self.run_cli(arguments[0], "--model", "outputless.onnx", *arguments[1:])
                self.assert_error(result, 2, "outputless.onnx' names no outputs")
                self.assertFalse((self.folder / arguments[-1]).exists())

    def test_impossible_files_are_not_converted(self):
        """Shapes whose numbers are not there or cannot be, nodes that need themselves, files that no message fills."""
        def tensor(*shape):
            return onnx.linear(tensor=b"".join(onnx.number(1, size) for size in shape) + onnx.weights("w", (), [0.5] * 16))
        impossible = {"tensor62": (tensor(1 << 62), "tensor 'w' [4611686018427387904]"), "tensor12": (tensor(10**6, 10**6), "tensor 'w' [1000000,1000000]"),
                      "overflow": (tensor(1 << 40, 1 << 40), "no possible shape"), "circle": (ONNX["circle"][0], "has a cycle: node 'add' (Add)"),
                      "sparse": (WHOLE, "an ONNX file ends at 2 GiB")}
        for name, (content, words) in impossible.items():
            self.write_bytes(f"{name}.onnx", content)
            if name == "sparse":
                os.truncate(self.folder / "sparse.onnx", 300 << 30)
            commands = [("export", "--precision", "fp16", "-o", "out.onnx"), ("export", "--precision", "int8", "-o", "out.onnx"),
                        ("build", "--engine", "openvino", "-o", "out.blob")]
            if name == "sparse":
                commands += [("infer", "--engine", engine, *more, *cli.QUICK) for engine in ("onnxruntime", "openvino") for more in ((), ("--shapes", "x:1x4"))]
            for command in commands:
                with self.subTest(name, command=command):
                    begin = time.monotonic()
                    result = self.run_cli(*command, "--model", f"{name}.onnx")
                    if "--shapes" in command:  # nothing of the plan depends on the file, so the case says it
                        self.assert_code(result, 2)
                        self.assertIn(words, " ".join(result.err.split()))
                    else:
                        self.assert_error(result, 2, f"{name}.onnx", words)
                    self.assertLess(time.monotonic() - begin, 20)
                    self.assertFalse(any((self.folder / out).exists() for out in ("out.onnx", "out.blob")))

    def test_tensors_that_no_memory_holds_are_said_to_be_too_large(self):
        """10^12 elements that the engine makes are a matter of memory; those that it is given are a mistake of the shapes."""
        shape = onnx.number(1, 2) + onnx.number(2, onnx.INT64) + onnx.block(8, "shape") + onnx.block(9, struct.pack("<2q", 10**6, 10**6))
        self.write_bytes("made.onnx", onnx.model([onnx.node("Expand", ["x", "shape"], ["y"])], inputs=[("x", (1, 1))], outputs=[("y", (10**6, 10**6))], tensors=[shape]))
        self.write_bytes("given.onnx", onnx.model([onnx.node("Relu", ["x"], ["y"])], inputs=[("x", (10**6, 10**6))], outputs=[("y", (10**6, 10**6))]))
        result, cases = self.run_models(["made.onnx"], ["onnxruntime", "openvino"], "x:1x1")
        self.assert_code(result, 5)
        for (engine, _), case in cases.items():
            with self.subTest(engine=engine):
                self.assert_said(case, ["out of memory: "], "oom")
                self.assertNotIn("bad_alloc", case["reason"])
        self.assert_error(self.run_cli("infer", "--model", "given.onnx", *cli.QUICK), 2, "given.onnx", "more than 2^34 elements")

    def test_constants_that_no_memory_holds_end_a_build_by_memory(self):
        """Engines fold them while they compile."""
        shape = onnx.number(1, 1) + onnx.number(2, onnx.INT64) + onnx.block(8, "shape") + onnx.block(9, struct.pack("<q", 1 << 41))
        self.write_bytes("made.onnx", onnx.model([onnx.node("ConstantOfShape", ["shape"], ["c"]), onnx.node("Mul", ["x", "c"], ["y"])],
                                                 inputs=[("x", (1,))], outputs=[("y", (1 << 41,))], tensors=[shape]))
        self.assert_error(self.run_cli("build", "--engine", "openvino", "--onnx", "made.onnx", "-o", "out.blob"), 5, "out of memory: ", "made.onnx")
        result, cases = self.run_models(["made.onnx"], ["onnxruntime", "openvino"], "x:1")
        self.assert_code(result, 5)
        for case in cases.values():
            self.assert_said(case, ["memory"], "oom")
            self.assertNotIn("bad_alloc", case["reason"])

    def test_a_header_with_text_for_numbers_is_said_in_words(self):
        header = json.dumps({"conv1.weight": {"dtype": "F32", "shape": "4x4", "data_offsets": [0, 64]}}).encode()
        self.write_bytes("w.safetensors", struct.pack("<Q", len(header)) + header + bytes(64))
        result = self.run_cli("infer", "--model", "tiny_cnn", "--weights", "w.safetensors", *cli.QUICK)
        self.assert_code(result, 2)
        self.assertIn("tensor conv1.weight: ", result.out + result.err)
        self.assertNotIn("json.exception", result.out + result.err)

    def test_random_damage_never_ends_a_run(self):
        """Whatever a library makes of a damaged file, a crash too, is a case with an outcome, and the last one runs."""
        names = []
        for seed in range(12):
            content, chance = bytearray(WHOLE), random.Random(seed)
            for _ in range(4):
                content[chance.randrange(len(content))] = chance.randrange(256)
            names.append(f"damaged{seed}.onnx")
            self.write_bytes(names[-1], bytes(content))
        self.write_bytes("whole.onnx", WHOLE)
        _, cases = self.run_models([*names, "whole.onnx"], ["onnxruntime", "openvino"])
        self.assertEqual(len(cases), 2 * len(names) + 2)
        for (engine, name), case in cases.items():
            with self.subTest(engine=engine, file=name):
                self.assertIn(case["outcome"], ("ok", "failed", "skipped") if name != "whole.onnx" else ("ok",))
                self.assertTrue(case["reason"] or case["outcome"] == "ok")
                self.assertNotIn("\n", case["reason"])

    def test_openvino_files(self):
        for name, (text, weights, _) in {**XML, "whole": (IR, NUMBERS, ())}.items():
            self.write(f"{name}.xml", text)
            if weights is not None:
                self.write_bytes(f"{name}.bin", weights)
        result, cases = self.run_models(["whole.xml", *(f"{name}.xml" for name in XML)], ["openvino"])
        self.assert_code(result, 2)
        self.assert_ok(cases["openvino", "whole.xml"])
        for name, (_, _, words) in XML.items():
            with self.subTest(file=name):
                self.assert_said(cases["openvino", f"{name}.xml"], words, CODES.get(name, "data"))

    def test_shapes_that_do_not_fit(self):
        self.write_bytes("m.onnx", WHOLE)
        for shapes, words in (("x:1x5", ["expects input 'x' float32", "given 'x' float32 [1,5]"]), ("x:1x4:int64", ["given 'x' int64"]),
                              ("y:1x4", ["no input 'y'", "'x' float32"]), ("x:1x4x1", ["given 'x' float32 [1,4,1]"]),
                              ("x:1x4,z:1x4", ["no input 'z'"])):
            with self.subTest(shapes=shapes):
                cli.shutil.rmtree(self.folder / "results", ignore_errors=True)
                result, cases = self.run_models(["m.onnx"], ["onnxruntime", "openvino"], shapes)
                self.assert_code(result, 2)
                for case in cases.values():
                    self.assert_said(case, words, "config")

    def test_library_that_is_not_there(self):
        self.write_bytes("m.onnx", WHOLE)
        result, cases = self.run_models(["m.onnx"], ["onnxruntime", "openvino"], env={"ONNXRUNTIME_ROOT": "/nothing"})
        self.assert_code(result, 0)
        case = cases["onnxruntime", "m.onnx"]
        self.assertEqual((case["outcome"], case["reason_code"]), ("skipped", "unavailable"))
        self.assertIn("ONNXRUNTIME_ROOT is '/nothing'", case["reason"])
        self.assert_ok(cases["openvino", "m.onnx"])


class BadData(Files):
    # file: what is said of it as input and as calibration data
    FILES = {
        "junk.npz": ("junk.npz", "not a readable .npz archive"), "empty.npz": ("empty.npz", "not a readable .npz archive"),
        "cut.npz": ("cut.npz", "not a readable .npz archive"), "flipped.npz": ("flipped.npz", "cannot be unpacked"),
        "member.npz": ("member.npz/x.npy", "cut off"), "none.npz": ("none.npz", "no array named 'x'"),
        "names.npz": ("names.npz", "no such input"), "wide.npy": ("[8, 5]", "needs float32"), "double.npy": ("float64", "needs float32"),
        "rows.npy": ("rows.npy", "contains no samples"), "gone.npy": ("gone.npy", "No such file"), "cut.npy": ("cut.npy", "its shape needs 128"),
    }

    # what is told before a run begins
    TOLD_BY_HEADERS = {"wide.npy": ("[8, 5]", "the model needs float32 [N, 4]"), "double.npy": ("float64", "needs float32"),
                       "rows.npy": ("[0, 4]", "needs float32"), "gone.npy": ("does not exist",),
                       "junk.npz": ("not a readable .npz archive",), "empty.npz": ("not a readable .npz archive",),
                       "cut.npz": ("not a readable .npz archive",), "member.npz": ("cut off",), "cut.npy": ("its shape needs 128",)}

    def setUp(self):
        super().setUp()
        self.write_bytes("m.onnx", WHOLE)
        archive(self.folder / "whole.npz", {"x.npy": ROWS})
        whole = (self.folder / "whole.npz").read_bytes()
        data = whole.index(ROWS[-64:])
        contents = {"junk.npz": b"junk", "empty.npz": b"", "cut.npz": whole[:len(whole) // 2], "cut.npy": ROWS[:-10],
                    "flipped.npz": whole[:data] + bytes([whole[data] ^ 1]) + whole[data + 1:],
                    "wide.npy": npy_bytes([0.5] * 40, (8, 5)), "double.npy": npy_bytes([0.5] * 32, (8, 4), "<f8", "d"),
                    "rows.npy": npy_bytes([], (0, 4))}
        for name, content in contents.items():
            self.write_bytes(name, content)
        archive(self.folder / "member.npz", {"x.npy": ROWS[:60]})
        archive(self.folder / "none.npz", {})
        archive(self.folder / "names.npz", {"a.npy": ROWS, "b.npy": ROWS})

    def measure(self, *arguments, code):
        cli.shutil.rmtree(self.folder / "results", ignore_errors=True)
        result = self.run_cli("infer", "--model", "m.onnx", "--engine", "onnxruntime", "--shapes", "x:1x4", "--threads", 1, "--iterations", 3,
                              "--accuracy-samples", 4, *cli.QUICK, *arguments)
        self.assert_code(result, code)
        return self.summary()["cases"][0]

    def test_inputs(self):
        for name, words in self.FILES.items():
            with self.subTest(file=name):
                if name not in self.TOLD_BY_HEADERS:
                    self.assert_said(self.measure("--load-inputs", name, code=2), words)
                    continue
                cli.shutil.rmtree(self.folder / "results", ignore_errors=True)
                result = self.run_cli("infer", "--model", "m.onnx", "--engine", "onnxruntime", "--shapes", "x:1x4", "--load-inputs", name)
                self.assert_error(result, 2, "--load-inputs", *self.TOLD_BY_HEADERS[name])
                self.assertFalse((self.folder / "results").exists(), "a run began")

    def test_a_name_that_no_input_has(self):
        result = self.infer("--load-inputs", "z:whole.npz", shapes="input:{batch}x4")
        self.assert_error(result, 2, "'z:whole.npz' names the input 'z', and the model has no such input; its inputs are input: write input:whole.npz")
        self.assert_nothing_ran()

    def test_calibration(self):
        for name, words in self.FILES.items():
            with self.subTest(file=name):
                self.assert_said(self.measure("--precision", "int8", "--calib-data", name, code=2), words)

    def test_calibration_arrays_are_used_or_refused(self):
        for name in ("a.npy", "b.npy"):
            self.write_bytes(name, ROWS)
        for given, words in (("x:a.npy,x:b.npy", ["'x:a.npy' and 'x:b.npy' both bring the input 'x'"]),
                             ("z:a.npy", ["'z:a.npy'", "no such input", "its inputs are x"]), ("x:a.npy,z:b.npy", ["'z:b.npy'", "no such input"])):
            with self.subTest(given=given):
                self.assert_said(self.measure("--precision", "int8", "--calib-data", given, code=2), words)
                for command, output in (("export", "int8.onnx"), ("build", "int8.blob")):
                    result = self.run_cli(command, "--model", "m.onnx", "--precision", "int8", "--output", output, "--calib-data", given)
                    self.assert_error(result, 2, *words)
                    self.assertFalse((self.folder / output).exists())

    def test_calibration_and_inputs_of_nan(self):
        self.write_bytes("nan.npy", npy_bytes([NAN] * 32, (8, 4)))
        self.assert_said(self.measure("--precision", "int8", "--calib-data", "nan.npy", code=2), ["'x'", "NaN", "calibration data"])
        self.assert_said(self.measure("--load-inputs", "nan.npy", code=1), ["NaN"], "accuracy")

    def test_weights_of_nan_do_not_become_integers(self):
        self.write_bytes("m.onnx", onnx.linear(tensor=onnx.weights("w", (4, 4), [1.0] * 15 + [NAN])))
        self.assert_said(self.measure("--precision", "int8", code=2), ["weights 'w' contain NaN", "check the model"])

    def test_calibration_without_data_is_said(self):
        result = self.run_cli("infer", "--model", "m.onnx", "--engine", "onnxruntime", "--shapes", "x:1x4", "--threads", 1, "--iterations", 3,
                              "--accuracy-samples", 4, "--precision", "int8", *cli.QUICK)
        self.assertIn("calibrated with random inputs: fine for speed, not for accuracy", result.err)

    def test_float_files_that_cannot_be_quantised(self):
        for name in ("cut", "external", "operator"):
            with self.subTest(file=name):
                self.write_bytes("m.onnx", ONNX[name][0])
                words = {"cut": "cut short", "external": "gone.data", "operator": "nothing to quantise"}[name]
                self.assert_said(self.measure("--precision", "int8", code=2), [words])


class FloatReference(Files):
    """Another model file as what outputs are compared with."""

    def measure(self, reference, engine="onnxruntime", code=0):
        cli.shutil.rmtree(self.folder / "results", ignore_errors=True)
        result = self.run_cli("infer", "--model", "m.onnx", "--engine", engine, "--shapes", "x:1x4", "--threads", 1, "--iterations", 3,
                              "--accuracy-samples", 4, "--accuracy-reference", reference, *cli.QUICK)
        self.assert_code(result, code)
        return result

    def setUp(self):
        super().setUp()
        self.write_bytes("m.onnx", WHOLE)

    def test_the_same_weights_pass(self):
        self.write_bytes("float.onnx", WHOLE)
        for engine in ("onnxruntime", "openvino"):
            self.measure("float.onnx", engine)
            found = self.summary()["cases"][0]["correctness"]
            confirmed = ", confirmed by openvino" if engine == "onnxruntime" else ""
            self.assertEqual((found["passed"], found["reference"]), (True, "the fp32 run of float.onnx in onnxruntime" + confirmed))

    def test_other_weights_fail(self):
        self.write_bytes("float.onnx", onnx.linear(tensor=onnx.weights("w", (4, 4), [0.1 * i for i in range(16)])))
        self.measure("float.onnx", code=1)
        case = self.summary()["cases"][0]
        self.assert_said(case, ["float.onnx in onnxruntime"], "accuracy")

    def test_a_file_that_is_not_there(self):
        result = self.run_cli("infer", "--model", "m.onnx", "--shapes", "x:1x4", "--accuracy-reference", "gone.onnx")
        self.assert_error(result, 2, "gone.onnx", "does not exist")
        self.assert_nothing_ran()

    def test_files_that_are_no_reference(self):
        step = onnx.node("Relu", ["z"], ["y"])
        for name, content, words, code in (("inputs", onnx.model([step], inputs=(("z", ("N", 4)),)), ["no input 'x'", "'z' float32"], "config"),
                                           ("text", b"this is no model\n", DAMAGED, "data"),
                                           ("wide", onnx.model([onnx.node("Concat", ["x", "x"], ["y"])]), ["could not be made"], "data")):
            with self.subTest(file=name):
                self.write_bytes(f"{name}.onnx", content)
                self.measure(f"{name}.onnx", code=2)
                self.assert_said(self.summary()["cases"][0], [*words, "reference could not be made"], code)


class FileBatches(Files):
    """Dynamic batching of model files: what their shapes allow."""

    def serve(self, model, *arguments, engine, code=0):
        cli.shutil.rmtree(self.folder / "results", ignore_errors=True)
        result = self.run_cli("infer", "--model", model, "--engine", engine, "--shapes", "x:1x4", "--threads", 1, "--iterations", 400,
                              "--accuracy-samples", 8, "--batch", 1, "--scenario", "server", "--arrival-rate", "2000", "--max-batch", "4",
                              "--batch-timeout-ms", "2", *cli.QUICK, *arguments)
        self.assert_code(result, code)
        return self.summary()["cases"][0]

    def test_an_open_batch_is_dynamic(self):
        self.write_bytes("m.onnx", WHOLE)
        for engine in ("onnxruntime", "openvino"):
            with self.subTest(engine=engine):
                case = self.serve("m.onnx", engine=engine)
                load = case["load"][0]
                self.assertEqual((load["batching"], load["max_batch"]), ("dynamic", 4))
                self.assertGreater(load["mean_batch"], 1)
                self.assertTrue(case["correctness"]["passed"])
                self.assertEqual(sum(s["requests"] for s in load["batch_sizes"]), load["completed"])

    def fixed(self, batch):
        shape = (batch, 4)
        self.write_bytes(f"fixed{batch}.onnx", onnx.model([onnx.node("Relu", ["x"], ["y"])], inputs=(("x", shape),), outputs=(("y", shape),)))
        return f"fixed{batch}.onnx"

    def test_a_batch_fixed_at_the_largest_is_filled_up(self):
        for engine in ("onnxruntime", "openvino"):
            with self.subTest(engine=engine):
                case = self.serve(self.fixed(4), engine=engine)
                self.assertRegex(case["load"][0]["batching"], "^padded to 4: .")
                self.assertTrue(case["correctness"]["passed"])

    def test_a_batch_fixed_at_another_size_is_refused(self):
        for engine in ("onnxruntime", "openvino"):
            with self.subTest(engine=engine):
                case = self.serve(self.fixed(1), engine=engine, code=2)
                self.assert_said(case, ["expects input 'x' float32 [1,4]", "server.max_batch 4 loads the model for batches of 4"], "config")


class BadTorchModels(Files):
    def test_torchscript_and_packages(self):
        self.assert_code(self.run_cli("export", "--model", "tiny_cnn", "--format", "torchscript", "--out", "whole.pt"), 0)
        whole = (self.folder / "whole.pt").read_bytes()
        files = {"empty.pt": b"", "text.pt": b"no model", "cut.pt": whole[:len(whole) // 2], "start.pt": whole[:100],
                 "text.pt2": b"no model", "empty.pt2": b""}
        for name, content in files.items():
            self.write_bytes(name, content)
        for name in ("other.pt", "other.pt2"):
            archive(self.folder / name, {"hello.txt": "x"})
        archive(self.folder / "exported.pt2", {"m/archive_format": "pt2", "m/models/model.json": "{}", "m/data/weights/weight_0": "x"})
        for name in ("folder.pt", "folder.pt2"):
            (self.folder / name).mkdir()
        names = [*files, "other.pt", "other.pt2", "exported.pt2", "folder.pt", "folder.pt2"]
        words = {"folder.pt": "is a folder", "folder.pt2": "is a folder", "empty.pt": "is empty", "empty.pt2": "is empty",
                 "exported.pt2": "is a program of torch.export, without compiled code; compile it: python3 -c"}
        for suffix, engines in ((".pt", ["eager", "torchscript"]), (".pt2", ["aotinductor"])):
            cli.shutil.rmtree(self.folder / "results", ignore_errors=True)
            models = [n for n in names if n.endswith(suffix)]
            result, cases = self.run_models([*(["whole.pt"] if suffix == ".pt" else []), *models], engines, "input:1x3x32x32")
            self.assert_code(result, 2)
            for (engine, name), case in cases.items():
                with self.subTest(engine=engine, file=name):
                    if name == "whole.pt":
                        self.assertEqual(case["outcome"], "ok", case["reason"])
                    else:
                        known = case["reason_code"] == "reference"   # the same file failed for the case before
                        self.assert_said(case, [words.get(name, "cannot be read as")],
                                         "reference" if known else "data")


if __name__ == "__main__":
    cli.main()
