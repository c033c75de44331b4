# SPDX-License-Identifier: MIT
"""A model file of the user's: its inputs are read from it, what is written is what is measured."""

import re
import shlex
import struct
import unittest
import zipfile

import paceline_cli as cli
from onnx_files import INT64, block, linear, model, node, number, weights
from test_accuracy import matrix, npy_bytes
from test_bad_models import IR, NUMBERS

INT32, UINT8 = 6, 2  # of ONNX
QUICK = ["--iterations", "5", "--repetitions", "1", *cli.QUICK]


def int64s(name, values):
    """TensorProto of whole numbers: dims 1, data_type 2, name 8, raw_data 9."""
    return number(1, len(values)) + number(2, INT64) + block(8, name) + block(9, struct.pack(f"<{len(values)}q", *values))


def npz(path):
    """Arrays of float32 as lists."""
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    data = {name: c[10 + struct.unpack("<H", c[8:10])[0]:] for name, c in contents.items()}
    return {name: list(struct.unpack(f"<{len(d) // 4}f", d)) for name, d in data.items()}


class OwnModels(cli.CliTest):
    def file(self, name, content):
        (self.folder / name).write_bytes(content)
        return name

    def product(self):
        """x [1,8] times w [8,500]: both are inputs, both shapes are fixed."""
        return self.file("product.onnx", model([node("MatMul", ["x", "w"], ["y"])], inputs=[("x", (1, 8)), ("w", (8, 500))],
                                               outputs=[("y", (1, 500))]))

    def open_product(self):
        return self.file("open.onnx", model([node("MatMul", ["x", "w"], ["y"])], inputs=[("x", ("rows", 8)), ("w", (8, "columns"))],
                                            outputs=[("y", ("rows", "columns"))]))

    def stateful(self):
        """y [batch,4] = x + the sum of a state [2,batch,4] over its layers."""
        return self.file("state.onnx", model(
            [node("ReduceSum", ["state", "axes"], ["sum"]), node("Squeeze", ["sum", "axes"], ["flat"]), node("Add", ["x", "flat"], ["y"])],
            inputs=[("x", ("batch", 4)), ("state", (2, "batch", 4))], outputs=[("y", ("batch", 4))], tensors=[int64s("axes", [0])]))

    def run_file(self, name, *arguments, engine="onnxruntime"):
        return self.run_cli("infer", "--model", name, "--engine", engine, *QUICK, *arguments)

    def shapes_of(self, run=None):
        text = ((run or self.only_run()) / "plan.yaml").read_text(encoding="utf-8")
        return next(line.split(":", 1)[1].strip().strip("'\"") for line in text.splitlines() if line.strip().startswith("shapes:"))

    def test_a_file_with_fixed_shapes_needs_nothing_else(self):
        for engine in ("onnxruntime", "openvino"):
            with self.subTest(engine=engine):
                self.assert_code(self.run_file(self.product(), "-o", engine, engine=engine), 0)
                self.assertEqual(self.shapes_of(self.only_run(engine)), "x:{batch}x8,w:8x500")

    def test_sizes_that_are_written_are_measured(self):
        result = self.run_file(self.open_product(), "--shapes", "w:8x20000,x:1x8", "--batch", "1")
        self.assert_code(result, 0)
        self.assertEqual(self.shapes_of(), "x:{batch}x8,w:8x20000")
        case = self.summary()["cases"][0]
        self.assertEqual(case["outcome"], "ok", case)
        self.assertIn("b1", case["case_id"])

    def test_what_is_open_is_asked_for_as_a_command_to_copy(self):
        result = self.run_file(self.open_product())
        self.assert_error(result, 2, "'w' [8, columns]", "--shapes 'w:8x128'")
        self.assert_nothing_ran()
        self.assert_code(self.run_file("open.onnx", "--shapes", "w:8x128"), 0)

    def test_two_readings_of_the_batch_are_an_error(self):
        (self.folder / "net.ts").write_bytes(b"")
        result = self.run_cli("infer", "--model", "net.ts", "--engine", "torchscript", "--shapes", "x:1x512,w:20000x512", *QUICK)
        self.assert_error(result, 2, "can be 1 (dimension 0 of 'x') or 20000 (dimension 0 of 'w')", "x:{batch}x512,w:20000x512")
        self.assert_nothing_ran()

    def test_a_state_has_its_batch_in_another_dimension(self):
        rows, batch = 6, 3
        x = [[float(4 * r + c) for c in range(4)] for r in range(rows)]
        state = [[[100.0 * layer + 10 * r + c for c in range(4)] for r in range(rows)] for layer in range(2)]
        (self.folder / "x.npy").write_bytes(matrix(x))
        (self.folder / "state.npy").write_bytes(npy_bytes([v for layer in state for row in layer for v in row], (2, rows, 4)))
        expected = [[x[r][c] + state[0][r][c] + state[1][r][c] for c in range(4)] for r in range(rows)]
        (self.folder / "y.npy").write_bytes(matrix(expected))
        for engine in ("onnxruntime", "openvino"):
            with self.subTest(engine=engine):
                result = self.run_file(self.stateful(), "--batch", batch, "--load-inputs", "x:x.npy,state:state.npy",
                                       "--accuracy-reference", "y.npy", "-o", engine, engine=engine)
                self.assert_code(result, 0)
                case = self.summary(self.only_run(engine))["cases"][0]
                self.assertTrue(case["correctness"]["passed"], case["correctness"])
                self.assertEqual(case["correctness"]["samples"], rows)
        self.assertEqual(self.shapes_of(self.only_run("onnxruntime")), "x:{batch}x4,state:2x{batch}x4")

    def test_a_state_can_be_fed_back(self):
        """next = state + x: what is compared are the answers to the first inputs, whatever the state has become."""
        self.file("lstm.onnx", model([node("Add", ["x", "state"], ["next:0"]), node("Neg", ["next:0"], ["y"])],
                                     inputs=[("x", ("N", 4)), ("state", ("N", 4))], outputs=[("y", ("N", 4)), ("next:0", ("N", 4))]))
        for engine in ("onnxruntime", "openvino"):
            with self.subTest(engine=engine):
                self.assert_code(self.run_file("lstm.onnx", "--feedback", "next:0:state", "--batch", "2", "-o", engine, engine=engine), 0)
                case = self.summary(self.only_run(engine))["cases"][0]
                self.assertTrue(case["correctness"]["passed"], case["correctness"])
                self.assertEqual(case["benchmark"]["params"]["feedback"], "next:0:state")
        result = self.run_file("lstm.onnx", "--feedback", "memory:state", "-o", "wrong")
        self.assertEqual(result.code, 2, str(result))
        self.assertIn("feedback 'memory:state': write OUTPUT:INPUT; the outputs are y, next:0, the inputs x, state", result.out + result.err)
        result = self.run_file("lstm.onnx", "--feedback", "next:0:state", "--scenario", "closed_loop", "--concurrency", "1", "-o", "loop")
        self.assertIn("'feedback' is for scenario: sync", result.out + result.err)

    def test_the_state_is_fed_between_timed_inferences(self):
        """An engine that adds 1 to its state and takes 5 ms from 10 on; its first inference takes 50 ms, with feedback and without."""
        env = {"SPIN_FAULT": "count", "SPIN_FAULT_US": "5000", "SPIN_FIRST_US": "50000"}
        for name, pairs in (("fed", ["--feedback", "output:input"]), ("same", [])):
            with self.subTest(name):
                self.assert_code(self.infer(*pairs, "-o", name, engine="fault", iterations=40, env=env), 0)
                case = self.summary(self.only_run(name))["cases"][0]
                self.assertGreaterEqual(case["repetitions"][0]["first_iteration_ns"], 50e6)
                self.assertEqual("feedback_us_between_inferences" in case["effective_settings"], name == "fed", case["effective_settings"])
        fed = self.summary(self.only_run("fed"))["cases"][0]
        self.assertGreaterEqual(fed["headline"]["p50_ns"]["value"], 5e6)
        self.assertGreater(float(fed["effective_settings"]["feedback_us_between_inferences"]), 0)

    def test_inputs_that_are_given_are_used_or_refused(self):
        for name in ("a.npy", "b.npy"):
            (self.folder / name).write_bytes(matrix([[1.0] * 4] * 2))
        self.file("net.onnx", model([node("Relu", ["x"], ["y"])]))
        for given, word in (("x:a.npy,x:b.npy", "both bring the input 'x'"), ("z:a.npy", "no such input"), ("a.npy,b.npy", "no such input")):
            with self.subTest(given=given):
                result = self.run_file("net.onnx", "--load-inputs", given, "-o", "out")
                self.assertNotEqual(result.code, 0, str(result))
                self.assertIn(word, result.out + result.err)

    def test_a_scalar_is_the_same_for_every_batch(self):
        self.file("scaled.onnx", model([node("Mul", ["x", "scale"], ["y"])], inputs=[("x", ("N", 4)), ("scale", ())]))
        self.assert_code(self.run_file("scaled.onnx", "--batch", "1,8"), 0)
        self.assertEqual(self.shapes_of(), "x:{batch}x4,scale:scalar")
        self.assertEqual([c["outcome"] for c in self.summary()["cases"]], ["ok", "ok"])

    def test_a_fixed_size_that_no_output_has_is_no_batch(self):
        self.file("signal.onnx", model([node("ReduceSum", ["audio", "axes"], ["level"])], inputs=[("audio", (160,))], outputs=[("level", (1,))],
                                       tensors=[int64s("axes", [0])]))
        self.assert_code(self.run_file("signal.onnx", "-o", "signal"), 0)
        self.assertEqual(self.shapes_of(self.only_run("signal")), "audio:160")
        self.file("eight.onnx", model([node("Relu", ["x"], ["y"])], inputs=[("x", (8, 4))], outputs=[("y", (8, 4))]))
        self.assert_code(self.run_file("eight.onnx", "-o", "eight"), 0)
        self.assertEqual(self.shapes_of(self.only_run("eight")), "x:{batch}x4")

    def test_a_file_whose_inputs_share_no_size_has_no_batch(self):
        self.file("mm.onnx", model([node("MatMul", ["a", "b"], ["y"])], inputs=[("a", (2, 3)), ("b", (3, 4))], outputs=[("y", (2, 4))]))
        self.assert_code(self.run_file("mm.onnx"), 0)
        self.assertEqual(self.shapes_of(), "a:2x3,b:3x4")

    def test_a_file_has_its_own_precision(self):
        scale = [weights("scale", (), [0.1]), number(2, UINT8) + block(8, "zero") + block(9, bytes([128])),
                 number(1, 32) + number(1, 16) + number(2, UINT8) + block(8, "w") + block(9, bytes(range(128)) * 4)]
        self.file("int8.onnx", model([node("QuantizeLinear", ["x", "scale", "zero"], ["q"]),
                                      node("MatMulInteger", ["q", "w", "zero", "zero"], ["y"])], inputs=[("x", ("N", 32))],
                                     outputs=[("y", ("N", 16), INT32)], tensors=scale))
        self.file("float.onnx", model([node("MatMul", ["x", "w"], ["y"])], inputs=[("x", ("N", 32))], outputs=[("y", ("N", 16))],
                                      tensors=[weights("w", (32, 16), [0.01] * 512)]))
        self.assert_code(self.run_file("float.onnx,int8.onnx"), 0)
        cases = self.summary()["cases"]
        self.assertEqual([(c["outcome"], c["benchmark"]["precision"]) for c in cases], [("ok", "fp32"), ("ok", "int8")])
        self.assertEqual([c["precision"]["asked"] for c in cases], ["auto", "auto"])
        self.assertFalse(any("fp32" in c["case_id"] for c in cases), "the name says no precision that was not asked for")
        (self.folder / "other.npy").write_bytes(matrix([[1e6] * 15 + [0.0]] * 64))
        self.assert_code(self.run_file("int8.onnx", "--accuracy-reference", "other.npy", "-o", "wrong"), 1)
        wrong = self.summary(self.only_run("wrong"))["cases"][0]
        self.assertEqual((wrong["reason_code"], wrong["benchmark"]["precision"]), ("accuracy", "int8"))
        self.assert_code(self.run_file("int8.onnx", "--precision", "fp32", "-o", "asked"), 1)
        self.assertIn("asked fp32, ran", self.summary(self.only_run("asked"))["cases"][0]["reason"])

    def test_outputs_can_be_dumped(self):
        self.file("two.onnx", model([node("Relu", ["x"], ["y"]), node("Neg", ["x"], ["z/neg:0"])], inputs=[("x", ("N", 4))],
                                    outputs=[("y", ("N", 4)), ("z/neg:0", ("N", 4))]))
        result = self.run_file("two.onnx", "--batch", "2", "--accuracy-samples", "4", "--dump-outputs", "dump")
        self.assert_code(result, 0)
        folder = self.folder / "dump" / self.summary()["cases"][0]["case_id"]
        for batch in range(2):
            with self.subTest(batch=batch):
                inputs, outputs = npz(folder / f"inputs-{batch}.npz"), npz(folder / f"outputs-{batch}.npz")
                self.assertEqual((list(inputs), sorted(outputs)), (["x.npy"], ["y.npy", "z/neg:0.npy"]))
                self.assertEqual(len(inputs["x.npy"]), 8)
                self.assertEqual(outputs["y.npy"], [max(v, 0.0) for v in inputs["x.npy"]])
                self.assertEqual(outputs["z/neg:0.npy"], [-v for v in inputs["x.npy"]])

    def test_dumps_hold_one_run(self):
        self.file("relu.onnx", model([node("Relu", ["x"], ["y"])]))
        arguments = ("relu.onnx", "--batch", "1", "--dump-outputs", "dump")
        self.assert_code(self.run_file(*arguments, "--accuracy-samples", "4"), 0)
        folder = self.folder / "dump" / self.summary()["cases"][0]["case_id"]
        self.assertEqual(len(list(folder.glob("outputs-*.npz"))), 4)
        self.assert_code(self.run_file(*arguments, "--accuracy-samples", "2", "-o", "shorter"), 0)
        self.assertEqual(sorted(p.name for p in folder.iterdir()), ["inputs-0.npz", "inputs-1.npz", "outputs-0.npz", "outputs-1.npz"])

    def test_an_output_may_depend_on_the_whole_batch(self):
        self.file("sum.onnx", model([node("CumSum", ["x", "axis"], ["y"])], tensors=[int64s("axis", [0])]))
        self.assert_code(self.run_file("sum.onnx", "--batch", "4", "--accuracy-samples", "16"), 0)

    def test_a_folder_for_outputs_that_cannot_be_made_is_named(self):
        self.write("taken", "")
        self.file("net.onnx", model([node("Relu", ["x"], ["y"])]))
        result = self.run_file("net.onnx", "--dump-outputs", "taken")
        self.assertNotEqual(result.code, 0)
        self.assertIn("taken", result.out + result.err)

    def test_missing_files_and_unknown_models_are_distinguished(self):
        self.write("hf/config.json", "{}")
        self.write("tf/saved_model.pb", "")
        self.write("plain/readme.txt", "")
        for name in ("w.safetensors", "m.keras", "m.xyz"):
            self.write(name, "")
        for name, words in (("hf", ["Hugging Face folder", "hf/config.json", "no model_type", "optimum-cli"]), ("tf", ["TensorFlow", "tf2onnx"]),
                            ("plain", ["is a folder; give the model file in it"]), ("w.safetensors", ["weights alone", "--weights"]),
                            ("m.keras", ["TensorFlow"]), ("m.xyz", ["no engine reads"])):
            with self.subTest(name=name):
                self.assert_error(self.run_cli("infer", "--model", name), 2, f"'{name}'", *words)

    def test_a_size_that_no_memory_holds(self):
        """Before anything is made or measured."""
        for rows in ("N", 1):
            shape = (rows, 2 ** 50)
            self.file("huge.onnx", model([node("Relu", ["x"], ["y"])], inputs=[("x", shape)], outputs=[("y", shape)]))
            for engine in ("onnxruntime", "openvino"):
                with self.subTest(rows=rows, engine=engine):
                    result = self.run_file("huge.onnx", engine=engine)
                    self.assert_error(result, 2, "'huge.onnx'", "input 'x' has more than 2^34 elements")
                    self.assertLess(len(result.err), 300)
                    self.assert_nothing_ran()

    def test_openvino_s_own_files_need_no_shapes(self):
        self.write("m.xml", IR)
        self.file("m.bin", NUMBERS)
        self.assert_code(self.run_cli("infer", "--model", "m.xml", *QUICK), 0)
        self.assertEqual(self.shapes_of(), "x:{batch}x4")
        case = self.summary()["cases"][0]
        self.assertEqual((case["outcome"], case["benchmark"]["engine"]), ("ok", "openvino"))

    def test_names_may_hold_colons(self):
        self.file("tf.onnx", model([node("Relu", ["in:0"], ["y"])], inputs=[("in:0", (1, 4))]))
        (self.folder / "a.npy").write_bytes(matrix([[1.0] * 4] * 2))
        self.assert_code(self.run_file("tf.onnx", "--load-inputs", "in:0:a.npy"), 0)
        self.assert_code(self.run_file("tf.onnx", "--shapes", "in:0:1x4", "-o", "again"), 0)


class FromOneFileToTheAnswer(cli.CliTest):
    """Two commands: a first look at a file, which ends with the command that compares engines and precisions."""

    def test_the_second_command_names_the_fastest(self):
        rows, width = 4, 64
        product = [((7 * i) % 13 - 6) / 40 for i in range(width * width)]
        (self.folder / "my net.onnx").write_bytes(model(
            [node("MatMul", ["x", "w"], ["m"]), node("Relu", ["m"], ["y"])],
            inputs=[("x", (rows, width))], outputs=[("y", (rows, width))], tensors=[weights("w", (width, width), product)]))
        quick = ("--idle-wait-s", "0", "--no-measure-peak", "--warmup", "2", "--iterations", "40")
        first = self.run_cli("infer", "--model", "my net.onnx", *quick)
        self.assert_code(first, 0)  # whatever the grade
        command = first.out.rstrip().splitlines()[-1].strip()
        self.assertTrue(command.startswith("paceline infer --model 'my net.onnx'"), first.out)
        self.assertTrue(command.endswith("--engine onnxruntime,openvino --precision fp32,int8 --repetitions 6"), command)
        second = self.run_cli(*shlex.split(command)[1:], "-o", "second")
        self.assert_code(second, 0)
        answer = " ".join(second.out.rstrip().split("\n\n")[-1].split())
        case = "(onnxruntime|openvino) (fp32|int8)"
        self.assertRegex(answer, rf"^(The fastest is {case}|Which case is the fastest cannot be said: |.* are the fastest, equal within "
                                 rf"|Which of 4 cases is the fastest is not claimed: the times .*By the figures alone it is {case})")
        self.assertRegex(answer, rf"([\d.]+(–[\d.]+)? times as fast as|faster than) {case}|equal within 5 % \(ratio [\d.]+–[\d.]+\)|not claimed")
        self.assertIn("int8", answer)
        self.assertNotIn("paceline infer", second.out)

    def test_int8_is_offered_only_where_something_runs_in_it(self):
        (self.folder / "r.onnx").write_bytes(model([node("Relu", ["x"], ["y"])], inputs=[("x", ("N", 8))], outputs=[("y", ("N", 8))]))
        result = self.run_cli("infer", "--model", "r.onnx", *cli.QUICK, "--iterations", "5")
        self.assert_code(result, 0)
        self.assertTrue(result.out.rstrip().endswith("--engine onnxruntime,openvino --repetitions 6"), result.out)

    def test_an_engine_that_cannot_run_the_file_is_not_offered(self):
        """OpenVINO has no operators of ai.onnx.ml: no fault of the file's."""
        side = [0.1 * i - 0.7 for i in range(16)]
        only = model([node("Binarizer", ["x"], ["y"], domain="ai.onnx.ml")], domains=["ai.onnx.ml"])
        with_product = model([node("MatMul", ["x", "w"], ["m"]), node("Binarizer", ["m"], ["b"], domain="ai.onnx.ml"), node("Add", ["m", "b"], ["y"])],
                             tensors=[weights("w", (4, 4), side)], domains=["ai.onnx.ml"])
        for name, content, ending in (("only", only, None), ("with", with_product, "--engine onnxruntime --precision fp32,int8 --repetitions 6")):
            (self.folder / f"{name}.onnx").write_bytes(content)
            result = self.run_cli("infer", "--model", f"{name}.onnx", *cli.QUICK, "--iterations", "5", "-o", name)
            self.assert_code(result, 0)
            if ending:
                self.assertTrue(result.out.rstrip().endswith(ending), result.out)
            else:
                self.assertNotIn("To compare engines", result.out)
        both = self.run_cli("infer", "--model", "with.onnx", *cli.QUICK, "--iterations", "5", "--engine", "onnxruntime,openvino", "-o", "both")
        self.assert_code(both, 0)
        self.assertIn("skipped (unsupported)", both.out)
        self.assertNotIn("Fix what", both.out)

    def test_who_compares_already_is_not_told_to(self):
        (self.folder / "n.onnx").write_bytes(linear())
        for asked in (("--engine", "openvino"), ("--precision", "fp32"), ("--repetitions", "2")):
            result = self.run_cli("infer", "--model", "n.onnx", *cli.QUICK, "--iterations", "5", *asked, "-o", asked[0].strip("-"))
            self.assert_code(result, 0)
            self.assertNotIn("To compare engines", result.out)


if __name__ == "__main__":
    unittest.main()
