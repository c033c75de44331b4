# SPDX-License-Identifier: MIT
"""Results name what ran: arithmetic and weights, size of the file, operations, names of outputs.

Nothing here assumes VNNI, AMX, AVX-512 or bf16. OpenVINO obeys ONEDNN_MAX_CPU_ISA, so that a CPU with them shows what one without them does;
ONNX Runtime has no such switch."""

import random
import struct
import unittest

import paceline_cli as cli
from onnx_files import INT4, UINT8, external_weights, model, node, typed_weights, weights

QUICK = ["--iterations", "3", "--repetitions", "1", "--threads", "1", "--accuracy-samples", "16", *cli.QUICK]
ROWS, COLUMNS = 64, 32
ISA_LIMITS = (None, "AVX2")
PLAIN_ISA = "AVX2"  # has no 8-bit products of which OpenVINO's dynamic quantization makes use


def op(kind, inputs, outputs, **attributes):
    return node(kind, inputs, outputs, name=outputs[0], **attributes)


def packed(seed=5):
    rng = random.Random(seed)
    return bytes(rng.randrange(256) for _ in range(ROWS * COLUMNS // 2))


def scales(count):
    rng = random.Random(6)
    return [abs(rng.gauss(0, 0.05)) for _ in range(count)]


def int4_file():
    """Dequantised weights, which ONNX Runtime fuses with the product."""
    nodes = [op("DequantizeLinear", ["w", "s"], ["f"], axis=0, block_size=32), op("MatMul", ["x", "f"], ["y"])]
    tensors = [typed_weights("w", (ROWS, COLUMNS), packed(), INT4, "B"), weights("s", (2, COLUMNS), scales(2 * COLUMNS))]
    return model(nodes, inputs=[("x", ("N", ROWS))], outputs=[("y", ("N", COLUMNS))], tensors=tensors, opset=21, version=10)


def few_bits_file(level):
    """The product that ONNX Runtime makes of the above, with another accuracy level."""
    nodes = [node("MatMulNBits", ["x", "w", "s"], ["y"], domain="com.microsoft", name="y", K=ROWS, N=COLUMNS, bits=4, block_size=32, accuracy_level=level)]
    tensors = [typed_weights("w", (COLUMNS, 2, 16), packed(), UINT8, "B"), weights("s", (2 * COLUMNS,), scales(2 * COLUMNS))]
    return model(nodes, inputs=[("x", ("N", ROWS))], outputs=[("y", ("N", COLUMNS))], tensors=tensors, opset=21, version=10, domains=["com.microsoft"])


PORT = '<port id="{}" precision="{}"{}>{}</port>'


def port(number, kind, shape, names=""):
    return PORT.format(number, kind, f' names="{names}"' if names else "", "".join(f"<dim>{d}</dim>" for d in shape))


def half_ir():
    """Returns a model as ov.save_model writes it by default: weights in half precision that are converted to float."""
    shape, matrix, result = (4, ROWS), (COLUMNS, ROWS), (4, COLUMNS)
    layers = [
        ("x", "Parameter", 'shape="4,64" element_type="f32"', "", "", port(0, "FP32", shape, "x")),
        ("w_half", "Const", 'element_type="f16" shape="32, 64" offset="0" size="4096"', "", "", port(0, "FP16", matrix)),
        ("w", "Convert", 'destination_type="f32"', '<rt_info><attribute name="decompression" version="0"/></rt_info>', port(0, "FP16", matrix), port(1, "FP32", matrix)),
        ("y", "MatMul", 'transpose_a="false" transpose_b="true"', "", port(0, "FP32", shape) + port(1, "FP32", matrix), port(2, "FP32", result, "y")),
        ("y/sink_port_0", "Result", "", "", port(0, "FP32", result), "")]
    text = "".join(f'<layer id="{i}" name="{name}" type="{kind}" version="opset1">' + (f"<data {data}/>" if data else "") + info
                   + (f"<input>{into}</input>" if into else "") + (f"<output>{out}</output>" if out else "") + "</layer>"
                   for i, (name, kind, data, info, into, out) in enumerate(layers))
    edges = "".join(f'<edge from-layer="{a}" from-port="{p}" to-layer="{b}" to-port="{q}"/>' for a, p, b, q in ((0, 0, 3, 0), (1, 0, 2, 0), (2, 1, 3, 1), (3, 2, 4, 0)))
    rng = random.Random(3)
    return (f'<?xml version="1.0"?><net name="m" version="11"><layers>{text}</layers><edges>{edges}</edges></net>'.encode(),
            struct.pack(f"<{ROWS * COLUMNS}e", *[rng.gauss(0, 0.1) for _ in range(ROWS * COLUMNS)]))


class WhatRan(cli.CliTest):
    def measure(self, file, *arguments, engine="onnxruntime", shapes=f"x:{{batch}}x{ROWS}", folder="results", limit=None):
        env = [f"--env.ONEDNN_MAX_CPU_ISA={limit}"] if limit else []
        done = self.run_cli("infer", "--engine", engine, "--model", file, *(["--shapes", shapes] if shapes else []), "-o", folder, *QUICK, *env, *arguments)
        case = self.summary(self.only_run(folder))["cases"][0]
        if limit and "could not create a primitive" in case["reason"]:
            self.skipTest(f"{engine} has no kernel for {file} on this CPU below {limit}")
        self.assertEqual(case["outcome"], "ok", str(done) + case["reason"])
        return case

    def write_file(self, name, data):
        (self.folder / name).write_bytes(data)
        return name

    def ran(self, case):
        return [(p["precision"], p["weights"]) for p in case["precision"]["executed"]]


class Weights(WhatRan):
    def test_an_ir_with_half_weights_computes_in_fp32(self):
        xml, data = half_ir()
        self.write_file("half.xml", xml), self.write_file("half.bin", data)
        for precision in ("auto", "fp32"):
            with self.subTest(precision=precision):
                case = self.measure("half.xml", "--precision", precision, "--batch", 4, engine="openvino", shapes=f"x:4x{ROWS}", folder=precision)
                self.assertEqual((self.ran(case), case["benchmark"]["precision"]), ([("fp32", "fp16")], "fp32"))
                self.assertEqual(case["model_file"]["size_bytes"], len(xml) + len(data))

    def judged(self, case):
        c = case["correctness"]
        self.assertNotEqual(c["verdict"], "failed", c)
        return c["outputs"][0]

    def test_four_bits_have_the_same_limits_in_every_engine(self):
        """Whether activations are rounded depends on engine and CPU; the limits depend on whether they are."""
        self.write_file("int4.onnx", int4_file())
        runs = [("onnxruntime", None), *[("openvino", limit) for limit in ISA_LIMITS]]
        limits = {}
        for engine, limit in runs:
            with self.subTest(engine=engine, limit=limit):
                case = self.measure("int4.onnx", engine=engine, limit=limit, folder=f"{engine}-{limit}")
                (precision, bits), = self.ran(case)
                self.assertEqual((bits, case["benchmark"]["precision"]), ("int4", precision))
                self.assertIn(precision, ("fp32", "int8"))
                if limit == PLAIN_ISA:
                    self.assertEqual(precision, "fp32")
                self.assertLess(case["correctness"]["max_rel_err"], 0.05 if precision == "int8" else 1e-5)
                told = [f["text"] for f in self.summary(self.only_run(f"{engine}-{limit}"))["findings"] if f["id"] == "narrow_weights"]
                self.assertEqual(len(told), 1)
                self.assertIn(f"in {precision} on int4 weights", told[0])
                limits.setdefault(precision, set()).add((case["correctness"]["max_rel_err_tolerance"], self.judged(case)["judged_by"]))
        for precision, found in limits.items():
            self.assertEqual(len(found), 1, f"{precision}: {found}")

    def test_fp32_keeps_activations_in_float(self):
        self.write_file("int4.onnx", int4_file())
        for engine, limit in [("onnxruntime", None), *[("openvino", limit) for limit in ISA_LIMITS]]:
            with self.subTest(engine=engine, limit=limit):
                case = self.measure("int4.onnx", "--precision", "fp32", engine=engine, limit=limit, folder=f"{engine}-{limit}")
                self.assertEqual(self.ran(case), [("fp32", "int4")])
                self.assertEqual((case["correctness"]["verdict"], self.judged(case)["judged_by"]), ("passed", "ulps"))
                if engine == "openvino":
                    self.assertEqual(case["effective_settings"]["dynamic_quantization_group_size"], "0")

    def test_a_product_that_rounds_is_no_reference_for_itself(self):
        for level, precision in ((4, "int8"), (1, "fp32")):
            with self.subTest(level=level):
                self.write_file(f"level{level}.onnx", few_bits_file(level))
                case = self.measure(f"level{level}.onnx", folder=f"level{level}")
                self.assertEqual(self.ran(case), [(precision, "int4")])
                if precision == "int8":
                    self.assertGreater(case["correctness"]["max_rel_err"], 1e-3, "the reference rounded, too")
                else:
                    self.assertLess(case["correctness"]["max_rel_err"], 1e-5)
        case = self.measure("level4.onnx", "--precision", "fp32", folder="fp32")
        self.assertEqual(self.ran(case), [("fp32", "int4")])
        self.assertLess(case["correctness"]["max_rel_err"], 1e-5)


class Facts(WhatRan):
    def test_external_data_are_a_part_of_the_file(self):
        values = struct.pack(f"<{ROWS * COLUMNS}f", *[0.01 * (i % 7) for i in range(ROWS * COLUMNS)])
        file = model([op("MatMul", ["x", "w"], ["y"])], inputs=[("x", ("N", ROWS))], outputs=[("y", ("N", COLUMNS))],
                     tensors=[external_weights("w", (ROWS, COLUMNS), "w.data")])
        self.write_file("m.onnx", file), self.write_file("w.data", values)
        self.assertEqual(self.measure("m.onnx")["model_file"]["size_bytes"], len(file) + len(values))

    def test_both_products_of_attention_are_counted(self):
        heads, length, size = 2, 16, 32
        nodes = [op("MatMul", ["q", "k"], ["scores"]), op("Mul", ["scores", "c"], ["scaled"]), op("Softmax", ["scaled"], ["p"], axis=3), op("MatMul", ["p", "v"], ["y"])]
        shape, turned = ("N", heads, length, size), ("N", heads, size, length)
        self.write_file("attention.onnx", model(nodes, inputs=[("q", shape), ("k", turned), ("v", shape)], outputs=[("y", shape)], tensors=[weights("c", (), [0.17])]))
        shapes = f"q:{{batch}}x{heads}x{length}x{size},k:{{batch}}x{heads}x{size}x{length},v:{{batch}}x{heads}x{length}x{size}"
        for engine in ("onnxruntime", "openvino"):
            with self.subTest(engine=engine):
                case = self.measure("attention.onnx", engine=engine, shapes=shapes, folder=engine)
                self.assertEqual(case["flops"]["model_flops_per_item"], 2 * 2 * heads * length * length * size)
                self.assertEqual(sum(p["operators"] for p in case["precision"]["executed"]), 2)

    def test_outputs_have_the_models_own_names(self):
        """OpenVINO adds the names of operators that it removes behind an output."""
        nodes = [op("MatMul", ["x", "w"], ["an_embedding"]), op("Identity", ["an_embedding"], ["scores"]), op("Identity", ["an_embedding"], ["again"]),
                 op("Relu", ["an_embedding"], ["hidden"]), op("Identity", ["hidden"], ["positive"])]
        outputs = [(name, ("N", COLUMNS)) for name in ("scores", "again", "positive")]
        rng = random.Random(4)
        self.write_file("names.onnx", model(nodes, inputs=[("x", ("N", ROWS))], outputs=outputs, tensors=[weights("w", (ROWS, COLUMNS), [rng.gauss(0, 1) for _ in range(ROWS * COLUMNS)])]))
        told = {}
        for engine in ("onnxruntime", "openvino"):
            case = self.measure("names.onnx", engine=engine, folder=engine)
            told[engine] = [(o["name"], o["kind"]) for o in case["correctness"]["outputs"]]
        self.assertEqual([name for name, _ in told["openvino"]], ["scores", "again", "positive"])
        self.assertEqual(told["openvino"], told["onnxruntime"])


if __name__ == "__main__":
    unittest.main()
