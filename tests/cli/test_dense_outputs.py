# SPDX-License-Identifier: MIT
"""Verdicts of the accuracy gate on outputs that are no class scores: maps in int8, several outputs, files of older operator sets."""

import struct
import unittest

import paceline_cli as cli
from onnx_files import block, model, node, number, weights

SIDE = 16
QUICK = ["--iterations", "3", "--repetitions", "1", "--threads", "1", "--quantisation.samples", "8", *cli.QUICK]
BOOL, INT8, UINT8 = 9, 3, 2  # of ONNX


def int_attribute(name, value):
    """AttributeProto of a whole number: name 1, i 3, type 20."""
    return block(5, block(1, name) + number(3, value) + number(20, 2))


def float_attribute(name, value):
    """AttributeProto of a number: name 1, f 2, type 20."""
    return block(5, block(1, name) + bytes([2 << 3 | 5]) + struct.pack("<f", value) + number(20, 1))


def ints_attribute(name, values):
    """AttributeProto of whole numbers: name 1, ints 8, type 20."""
    return block(5, block(1, name) + b"".join(number(8, v) for v in values) + number(20, 7))


def op(kind, inputs, outputs, *attributes):
    """A node called as its output: two of one name are no model."""
    return node(kind, inputs, outputs) + block(3, outputs[0]) + b"".join(attributes)


def spread(count, step):
    """Numbers between -1 and 1 without a pattern."""
    return [((i * step) % 97) / 48.5 - 1 for i in range(count)]


def segmenter(outputs=("mask",), half=0.5):
    """A picture to a mask with sharp edges, and where asked for the pixels that are in it."""
    same = ints_attribute("pads", [1, 1, 1, 1])
    nodes = [op("Conv", ["image", "w1"], ["c1"], same), op("Relu", ["c1"], ["r1"]), op("Conv", ["r1", "w2"], ["c2"], same),
             op("Mul", ["c2", "gain"], ["score"]), op("Sigmoid", ["score"], ["mask"])]
    tensors = [weights("w1", (8, 1, 3, 3), spread(72, 31)), weights("w2", (1, 8, 3, 3), spread(72, 53)), weights("gain", (), [6.0])]
    kinds = {"mask": ("mask", ("N", 1, SIDE, SIDE)), "inside": ("inside", ("N", 1, SIDE, SIDE), BOOL)}
    if "inside" in outputs:
        nodes.append(op("Greater", ["mask", "half"], ["inside"]))
        tensors.append(weights("half", (), [half]))
    return model(nodes, inputs=[("image", ("N", 1, SIDE, SIDE))], outputs=[kinds[o] for o in outputs], tensors=tensors)


def old_classifier(opset):
    """Conv, Clip with its limits as attributes, and a softmax over the last of two dimensions, as exporters wrote them."""
    nodes = [op("Conv", ["x", "w"], ["c"]), op("Clip", ["c"], ["k"], float_attribute("min", 0.0), float_attribute("max", 6.0)),
             op("GlobalAveragePool", ["k"], ["p"]), op("Flatten", ["p"], ["f"]), op("Gemm", ["f", "g", "b"], ["y"], int_attribute("transB", 1))]
    return model(nodes, inputs=[("x", ("N", 3, 8, 8))], outputs=[("y", ("N", 5))], opset=opset, version=4,
                 tensors=[weights("w", (8, 3, 3, 3), spread(216, 31)), weights("g", (5, 8), spread(40, 17)), weights("b", (5,), spread(5, 3))])


def resizer(opset, kind):
    """A convolution, and an operator that means something else in later sets."""
    scales = weights("scales", (4,), [1.0, 1.0, 2.0, 2.0])
    return model([op("Conv", ["x", "w"], ["c"]), op(kind, ["c", "scales"], ["y"])], inputs=[("x", ("N", 3, 8, 8))],
                 outputs=[("y", ("N", 8, 12, 12))], opset=opset, version=4, tensors=[weights("w", (8, 3, 3, 3), spread(216, 31)), scales])


FILTER = [(i * 37) % 201 - 100 for i in range(36)]


def bytes_tensor(name, shape, values, kind):
    """TensorProto of bytes: dims 1, data_type 2, name 8, raw_data 9."""
    return b"".join(number(1, d) for d in shape) + number(2, kind) + block(8, name) + block(9, bytes(v & 255 for v in values))


def quantised_filter():
    """A convolution as quantisers write it: pairs around its input, its weights and its output."""
    def pair(value):
        return [op("QuantizeLinear", [value, value + "_scale", value + "_zero"], [value + "_q"]),
                op("DequantizeLinear", [value + "_q", value + "_scale", value + "_zero"], [value + "_d"])]

    tensors = [bytes_tensor("w", (4, 1, 3, 3), FILTER, INT8), weights("w_scale", (), [0.01]), bytes_tensor("w_zero", (), [0], INT8)]
    for name, scale in (("x", 0.04), ("c", 0.12)):
        tensors += [weights(name + "_scale", (), [scale]), bytes_tensor(name + "_zero", (), [128], UINT8)]
    nodes = [*pair("x"), op("DequantizeLinear", ["w", "w_scale", "w_zero"], ["w_d"]), op("Conv", ["x_d", "w_d"], ["c"]), *pair("c"),
             op("Identity", ["c_d"], ["y"])]
    return model(nodes, inputs=[("x", ("N", 1, 8, 8))], outputs=[("y", ("N", 4, 6, 6))], tensors=tensors)


class Files(cli.CliTest):
    def file(self, name, content):
        (self.folder / name).write_bytes(content)
        return name

    def run_file(self, name, *arguments):
        return self.run_cli("infer", "--model", name, "--engine", "onnxruntime", *QUICK, *arguments)

    def case(self, run=None):
        return self.summary(self.only_run(run) if run else None)["cases"][0]


class DenseOutputs(Files):
    def test_a_mask_in_int8_is_judged_by_the_quantile_of_its_errors(self):
        self.file("net.onnx", segmenter())
        self.assert_code(self.run_file("net.onnx", "--precision", "int8", "-o", "int8"), 0)
        c = self.case("int8")["correctness"]
        output = c["outputs"][0]
        self.assertEqual((output["name"], output["kind"], output["judged_by"]), ("mask", "dense", "quantile_error"))
        self.assertIn("an input has [1, 16, 16]", output["because"])
        self.assertGreater(c["max_rel_err"], 0.3, "one pixel at an edge, which decided before")
        self.assertLess(output["quantile_err"], 0.5)
        self.assertGreater(c["centred_cosine"], 0.95)
        # The old rule is there for who wants it, and the message says what settles it.
        self.assert_code(self.run_file("net.onnx", "--precision", "int8", "--accuracy-output", "none", "--accuracy.max_rel_err", "0.3", "-o", "strict"), 1)
        reason = self.case("strict")["reason"]
        for word in ("output 'mask' (none): max error", "--accuracy.max_rel_err"):
            self.assertIn(word, reason)

    def test_fp32_is_judged_in_units_of_its_sensitivity(self):
        self.file("net.onnx", segmenter())
        self.assert_code(self.run_file("net.onnx"), 0)
        self.assertEqual(self.case()["correctness"]["outputs"][0]["judged_by"], "ulps")

    def test_every_output_is_compared(self):
        self.file("net.onnx", segmenter(outputs=("mask", "inside")))
        self.file("other.onnx", segmenter(outputs=("mask", "inside"), half=0.9999))
        self.assert_code(self.run_file("net.onnx", "-o", "same"), 0)
        c = self.case("same")["correctness"]
        self.assertEqual([(o["name"], o["kind"], o["passed"]) for o in c["outputs"]], [("mask", "dense", True), ("inside", "integers", True)])
        self.assert_code(self.run_file("net.onnx", "--accuracy-reference", "other.onnx", "-o", "wrong"), 1)
        case = self.case("wrong")
        self.assertIn("output 'inside' (integers): ", case["reason"])
        self.assertEqual(case["correctness"]["worst_output"], "output 'inside'")

    def test_the_limits_are_those_of_the_precision_that_a_file_has(self):
        self.file("net8.onnx", quantised_filter())
        self.file("net.onnx", model([op("Conv", ["x", "w"], ["y"])], inputs=[("x", ("N", 1, 8, 8))], outputs=[("y", ("N", 4, 6, 6))],
                                    tensors=[weights("w", (4, 1, 3, 3), [v * 0.01 for v in FILTER])]))
        self.assert_code(self.run_file("net8.onnx", "--accuracy-reference", "net.onnx"), 0)
        case = self.case()
        self.assertEqual((case["benchmark"]["precision"], case["correctness"]["verdict"]), ("int8", "cannot_say"), "its inputs are generated")
        self.assertGreater(case["correctness"]["max_rel_err"], 1e-4, "more than fp32 allows")


class OlderOperatorSets(Files):
    def notes(self, name):
        limits = ["--accuracy.max_rel_err", 2, "--accuracy.centred_cosine", -1]  # the figures of so small a model say nothing
        self.assert_code(self.run_file(name, "--precision", "int8", *limits, "-o", name + ".out"), 0)
        return " ".join(self.case(name + ".out")["model_file"]["quantisation"]["notes"])

    def test_a_file_whose_operators_mean_the_same_is_raised(self):
        for opset in (9, 10):
            with self.subTest(opset=opset):
                notes = self.notes(self.file(f"old{opset}.onnx", old_classifier(opset)))
                self.assertIn(f"operator set {opset} was raised to 13", notes)
                self.assertNotIn("one scale per tensor", notes)

    def test_one_that_enlarges_is_raised(self):
        for opset, op in ((9, "Upsample"), (10, "Resize")):
            notes = self.notes(self.file(f"{op}.onnx", resizer(opset, op)))
            self.assertIn(f"operator set {opset} was raised to 13", notes)

    def test_what_stays_below_set_10_is_refused_with_the_command_that_converts_it(self):
        result = self.run_file(self.file("classifier8.onnx", old_classifier(8)), "--precision", "int8")
        self.assertNotEqual(result.code, 0)
        reason = self.case()["reason"]
        for word in ("operator set 8, int8 needs 10 or later", "onnx.version_converter", "convert_version"):
            self.assertIn(word, reason)


if __name__ == "__main__":
    unittest.main()
