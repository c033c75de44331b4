# SPDX-License-Identifier: MIT
"""int8 and fp16 files of our own: what they hold, what the result says of them, and what goes wrong."""

import json
import math
import random
import unittest

import onnx_files
import onnx_scales
import paceline_cli as cli
import transformer_files
from test_accuracy import npy_bytes

# One red pixel.
RED = bytes.fromhex("89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154"
                    "08d763f8cfc000000301010018dd8db00000000049454e44ae426082")
INT8 = ["--precision", "int8", "--quantisation.samples", 8]


class Quantise(cli.CliTest):
    def tiny(self, *arguments, engine="onnxruntime", model="tiny_cnn"):
        return self.run_cli("infer", "--model", model, "--engine", engine, "--threads", 1, "--iterations", 3, *cli.QUICK, *arguments)

    def export(self, name, *arguments, model="tiny_cnn"):
        return self.run_cli("export", "--model", model, "--out", name, *arguments)

    def case(self, run=None):
        return self.summary(run)["cases"][0]

    def test_the_result_says_how_the_file_was_made(self):
        done = self.tiny(*INT8)
        self.assert_code(done, 0)
        self.assertIn("calibrated with random inputs: fine for speed, not for accuracy", done.err)
        case = self.case()
        made = case["model_file"]["quantisation"]
        self.assertEqual((made["precision"], made["activations"], made["bias"], made["method"]),
                         ("int8", "uint8", "int32", "percentile 99.99"))
        self.assertEqual((made["layers"], made["samples"]), (3, 8))
        self.assertEqual(made["float_layers"], [])
        self.assertIn("8 random inputs through ONNX Runtime", made["calibration"])
        self.assertEqual(case["correctness"]["verdict"], "cannot_say")  # random inputs decide nothing about eight bits
        run = self.only_run()
        kept = [p for p in run.glob("calibration-*.json")]
        self.assertEqual(len(kept), 1)
        ranges = cli.read_json(kept[0])["ranges"]
        self.assertIn("input", ranges)
        trt = kept[0].with_name(kept[0].name + ".trt").read_text().splitlines()
        self.assertEqual(trt[0], "TRT-100100-EntropyCalibration2")
        self.assertEqual(len(trt), len(ranges) + 1)

    def test_one_calibration_serves_two_engines(self):
        done = self.run_cli("infer", "--model", "tiny_cnn", "--engine", "onnxruntime,openvino", "--threads", 1, "--iterations", 3,
                            *cli.QUICK, *INT8)
        self.assert_code(done, 0)
        self.assertEqual((done.out + done.err).count("quantise  tiny_cnn"), 1)

    def test_a_cache_is_used_when_it_fits_and_said_when_it_does_not(self):
        cache = ["--calib-cache", "cache.json"]
        self.assert_code(self.export("a.onnx", *INT8, *cache, "--json"), 0)
        again = self.export("b.onnx", *INT8, *cache)
        self.assertIn("from cache", again.out)
        self.assertEqual((self.folder / "a.onnx").read_bytes(), (self.folder / "b.onnx").read_bytes())
        other = self.export("c.onnx", *INT8, *cache, "--weights-seed", 3)
        self.assertIn("not used: it belongs to another model", other.out)
        (self.folder / "cache.json").write_text("{}")
        self.assert_error(self.export("d.onnx", "--quiet", *INT8, *cache), 2, "is no calibration cache", "cannot write tiny_cnn as int8")
        self.assertFalse((self.folder / "d.onnx").exists())

    def test_methods_differ_and_exclusions_count(self):
        sizes = {}
        for method in ("minmax", "percentile", "entropy"):
            self.assert_code(self.export(method, *INT8, "--quantisation.method", method), 0)
            sizes[method] = (self.folder / method).read_bytes()
        self.assertNotEqual(sizes["minmax"], sizes["entropy"])
        done = self.export("part", *INT8, "--quantisation.exclude", "first,last")
        self.assertIn("1 layers in int8", done.out)
        self.assertIn("2 operators left in float", done.out)
        wrong = self.export("none", *INT8, "--quantisation.exclude", "conv9")
        self.assert_code(wrong, 2)
        self.assertIn("no layer is called 'conv9'; the first is", wrong.err)

    def test_calibration_data_from_files(self):
        self.assert_code(self.export("f.onnx"), 0)
        missing = self.export("x", *INT8, "--calib-data", "none.npz")
        self.assertNotEqual(missing.code, 0)
        self.assertIn("none.npz", missing.err)
        both = self.tiny(*INT8, "--calib-data", "a.npy", "--calib-images", "b")
        self.assert_code(both, 2)
        self.assertIn("exclude each other", both.err)

    def test_a_file_is_calibrated_with_pictures(self):
        done = self.export("x", *INT8, "--calib-images", "photos")
        self.assert_code(done, 2)
        self.assertIn("photos", done.err)
        (self.folder / "photos").mkdir()
        (self.folder / "photos" / "red.png").write_bytes(RED)
        done = self.export("f.onnx", *INT8, "--calib-images", "photos")
        self.assert_code(done, 0)
        self.assertNotIn("random", done.out + done.err)
        self.assertIn("photos", done.out)
        both = self.export("g.onnx", *INT8, "--calib-images", "photos", "--calib-data", "a.npy")
        self.assert_code(both, 2)
        self.assertIn("exclude each other", both.err)

    def test_sensitivity_names_every_layer(self):
        done = self.export("s.onnx", *INT8, "--int8-sensitivity")
        self.assert_code(done, 0)
        said = cli.read_json(self.folder / "s.onnx.sensitivity.json")
        self.assertEqual(len(said["layers"]), 3)
        for layer in said["layers"]:
            self.assertIn(layer["name"], done.out)
            self.assertGreater(layer["max_rel_err"], 0)
        errors = [layer["centred_cosine"] for layer in said["layers"]]
        self.assertEqual(errors, sorted(errors))
        self.assertLess(said["all_layers"]["centred_cosine"], 1)
        self.assertIn("nothing to exclude", done.out)

    def test_ranges_that_do_not_fit_fail_the_accuracy_check(self):
        cache = ["--calib-cache", "cache.json"]
        self.assert_code(self.tiny(*INT8, *cache), 0)
        kept = cli.read_json(self.folder / "cache.json")
        kept["ranges"] = {name: [low / 32, high / 32] for name, (low, high) in kept["ranges"].items()}
        self.write("cache.json", json.dumps(kept))
        done = self.tiny(*INT8, *cache, "--output-dir", "clipped", "--accuracy.centred_cosine", "0.95")
        self.assert_code(done, 1)
        case = self.case(self.only_run("clipped"))
        self.assertEqual(case["reason_code"], "accuracy")
        self.assertIn("cache", case["model_file"]["quantisation"]["calibration"])

    def test_a_damaged_file_is_another_of_the_same_size(self):
        self.assert_code(self.export("good.onnx", *INT8), 0)
        good, bad = (self.folder / name for name in ("good.onnx", "bad.onnx"))
        self.assertEqual(onnx_scales.main(good, bad, 4), 6)
        self.assertEqual(good.stat().st_size, bad.stat().st_size)
        self.assertNotEqual(good.read_bytes(), bad.read_bytes())
        self.assert_code(self.tiny("--precision", "int8", "--shapes", "input:1x3x32x32", model="bad.onnx"), 0)

    def test_a_given_file_is_compared_with_its_own_unoptimised_run(self):
        """Whether the engine or the format is at fault; the precision is the file's, nobody writes it."""
        self.assert_code(self.export("f.onnx"), 0)
        self.assert_code(self.export("q.onnx", *INT8, model="f.onnx"), 0)
        self.tiny("--accuracy-reference", "f.onnx", model="q.onnx")
        self.assertEqual(self.case()["correctness"]["engine_reference"], "the file's own unoptimised run in onnxruntime")
        self.tiny("--accuracy-reference", "f.onnx", "--output-dir", "float", model="f.onnx")
        self.assertEqual(self.case(self.only_run("float"))["correctness"]["engine_reference"], "")

    def test_float16_halves_the_file(self):
        self.assert_code(self.export("f.onnx"), 0)
        done = self.export("h.onnx", "--precision", "fp16", model="f.onnx")
        self.assert_code(done, 0)
        full, half = ((self.folder / name).stat().st_size for name in ("f.onnx", "h.onnx"))
        self.assertLess(half, 0.6 * full)

    def test_free_sizes_are_those_of_the_calibration_data(self):
        """A file that leaves its length open: float16 needs no sizes, int8 takes them from the arrays, whatever is measured later."""
        product = [onnx_files.node("MatMul", ["x", "w"], ["y"])]
        weights = onnx_files.weights("w", (4, 4), [0.1 * i - 0.7 for i in range(16)])
        (self.folder / "f.onnx").write_bytes(onnx_files.model(product, (("x", ("N", "L", 4)),), (("y", ("N", "L", 4)),), (weights,)))
        self.assert_code(self.export("h.onnx", "--precision", "fp16", model="f.onnx"), 0)
        refused = self.export("q.onnx", *INT8, model="f.onnx")
        self.assert_code(refused, 77)
        self.assertIn("input 'x' [1xNx4] has a free dimension besides the batch; give --calib-data x:FILE.npy", refused.err)
        (self.folder / "a.npy").write_bytes(npy_bytes([(7 * i % 61 - 30) / 10 for i in range(8 * 6 * 4)], (8, 6, 4)))
        self.assert_code(self.export("q.onnx", *INT8, "--calib-data", "a.npy", model="f.onnx"), 0)
        measured = self.tiny(*INT8, "--calib-data", "x:a.npy", "--shapes", "x:{batch}x3x4", model="f.onnx")
        self.assert_code(measured, 0)
        self.assertEqual(self.case()["model_file"]["quantisation"]["layers"], 1)

    def test_what_cannot_be_quantised_is_said(self):
        self.assert_code(self.export("q.onnx", *INT8), 0)
        twice = self.export("qq.onnx", *INT8, model="q.onnx")
        self.assert_code(twice, 77)
        self.assertIn("quantised already", twice.err)
        script = self.export("t.pt", *INT8, "--format", "torchscript")
        self.assert_code(script, 2)
        self.assertIn("--precision int8 is for format onnx, and not for torchscript", script.err)
        eager = self.tiny(*INT8, engine="eager")
        self.assert_code(eager, 77)

    def test_json_of_an_export(self):
        done = self.export("j.onnx", *INT8, "--json")
        said = json.loads(done.out)
        self.assertEqual(said["precision"], "int8")
        self.assertEqual(said["quantisation"]["layers"], 3)


class Drawn:
    """A file under construction: weights by name, drawn from a seed."""

    def __init__(self, seed=7):
        self.draw, self.tensors, self.nodes, self.outputs = random.Random(seed), [], [], []

    def weights(self, name, shape, scale=0.3, values=None):
        values = values or [self.draw.gauss(0, scale) for _ in range(math.prod(shape))]
        self.tensors.append(onnx_files.weights(name, shape, values))
        return name

    def node(self, op, inputs, output, **attributes):
        self.nodes.append(onnx_files.node(op, inputs, [output], name=output, **attributes))
        return output

    def output(self, name, shape):
        self.outputs.append((name, shape))

    def bytes(self, inputs, **versions):
        return onnx_files.model(self.nodes, inputs, self.outputs, self.tensors, **versions)


def products(rows):
    """Every way of writing a matrix product with constant weights, x being [rows, 16] and z [rows, 4, 16]."""
    f = Drawn()
    w = lambda: f.weights(f"w{len(f.tensors)}", (16, 16))
    bias = lambda *shape: f.weights(f"b{len(f.tensors)}", shape)
    copy = lambda value: f.node("Identity", [value], f"{value}.copy")  # as torch.onnx.export writes weights that are equal
    matrix = {
        "added": lambda out: f.node("Add", [f.node("MatMul", ["x", w()], out + ".m"), bias(16)], out),
        "added_to": lambda out: f.node("Add", [bias(1, 16), f.node("MatMul", ["x", w()], out + ".m")], out),
        "residual": lambda out: f.node("Add", [f.node("MatMul", ["x", w()], out + ".m"), "x"], out),
        "plain": lambda out: f.node("MatMul", ["x", w()], out),
        "gemm": lambda out: f.node("Gemm", ["x", w(), bias(16)], out),
        "no_bias": lambda out: f.node("Gemm", ["x", w()], out),
        "row": lambda out: f.node("Gemm", ["x", w(), bias(1, 16)], out, transB=1),
        "scalar": lambda out: f.node("Gemm", ["x", w(), bias(1)], out),
        "factors": lambda out: f.node("Gemm", ["x", w(), bias(16)], out, alpha=0.5, beta=2.0),
        "computed": lambda out: f.node("Gemm", ["x", w(), "x"], out, beta=0.5),
        "summed": lambda out: f.node("Sum", [f.node("Gemm", ["x", w()], out + ".g"), "x"], out),
        "turned": lambda out: f.node("Transpose", [f.node("Gemm", ["x", w()], out + ".g")], out),
        "activated": lambda out: f.node("Relu", [f.node("Add", [f.node("MatMul", ["x", w()], out + ".m"), bias(16)], out + ".a")], out),
    }
    deeper = {
        "tokens": lambda out: f.node("Add", [f.node("MatMul", ["z", w()], out + ".m"), bias(16)], out),
        "turned_weights": lambda out: f.node("Add", [bias(16), f.node("MatMul", ["z", f.node("Transpose", [w()], out + ".t", perm=[1, 0])], out + ".m")], out),
        "scaled": lambda out: f.node("Mul", [f.node("MatMul", ["z", w()], out + ".m"), bias(1)], out),
        "copied": lambda out: f.node("Add", [f.node("MatMul", ["z", copy(w())], out + ".m"), copy(copy(bias(16)))], out),
        "dropped": lambda out: f.node("Add", [f.node("Dropout", [f.node("MatMul", ["z", w()], out + ".m")], out + ".d"), bias(16)], out),
    }
    for name, make in matrix.items():
        f.output(make(name), (16, rows) if name == "turned" else (rows, 16))
    for name, make in deeper.items():
        f.output(make(name), (rows, 4, 16))
    return f.bytes((("x", (rows, 16)), ("z", (rows, 4, 16)))), len(matrix) + len(deeper)


class ReadBack(cli.CliTest):
    """Precisions that ONNX Runtime and OpenVINO ran, read back from them."""

    def run_int8(self, content, *arguments, engine="onnxruntime,openvino", out="results"):
        (self.folder / "model.onnx").write_bytes(content)
        done = self.run_cli("infer", "--model", "model.onnx", "--engine", engine, "--threads", 1, "--iterations", 3, *cli.QUICK,
                            "--precision", "int8", "--quantisation.samples", 256, "--output-dir", out, *arguments)
        self.assert_code(done, 0)
        return self.summary(self.only_run(out))["cases"]

    def assert_all_int8(self, cases, layers):
        for case in cases:
            ran = {e["precision"]: (e["operators"], round(e["flops_share"], 6)) for e in case["precision"]["executed"]}
            self.assertEqual(ran, {"int8": (layers, 1.0)}, case["label"])
            self.assert_near_the_reference(case)

    def assert_near_the_reference(self, case):
        """Each output by itself: the gate cannot say what 8 bits cost where inputs are random. 256 samples leave none outside the ranges."""
        self.assertTrue(case["correctness"]["outputs"])
        for output in case["correctness"]["outputs"]:
            said = f"{case['label']}: {output}"
            self.assertGreater(output["centred_cosine"], 0.99, said)
            self.assertGreater(output["cosine"], 0.99, said)  # a lost bias
            self.assertLess(output["max_rel_err"], 0.15, said)  # a lost factor


class RunsInInt8(ReadBack):
    """The file that is written runs in 8 bits, whatever form its layers have."""

    def test_every_form_of_a_matrix_product(self):
        for rows in (1, "N"):
            with self.subTest(rows=rows):
                content, layers = products(rows)
                self.assert_all_int8(self.run_int8(content, out=f"rows{rows}"), layers)

    def test_a_convolution_before_any_clip(self):
        f = Drawn()
        for i, (low, high) in enumerate(((0.0, 6.0), (-1.0, 1.0), (-0.3, 0.2))):
            c = f.node("Conv", ["x", f.weights(f"w{i}", (8, 3, 3, 3)), f.weights(f"b{i}", (8,))], f"c{i}")
            limits = [f.weights(f"low{i}", (), values=[low]), f.weights(f"high{i}", (), values=[high])]
            f.output(f.node("GlobalAveragePool", [f.node("Clip", [c, *limits], f"k{i}")], f"y{i}"), ("N", 8, 1, 1))
        self.assert_all_int8(self.run_int8(f.bytes((("x", ("N", 3, 16, 16)),))), 3)

    def test_the_plain_file_runs_in_int8_too(self):
        """Exported files are what infer ran: a user's own session needs no option."""
        content, layers = products("N")
        (self.folder / "model.onnx").write_bytes(content)
        self.assert_code(self.run_cli("export", "--model", "model.onnx", "--out", "q.onnx", *INT8), 0)
        done = self.run_cli("infer", "--model", "q.onnx", "--engine", "onnxruntime,openvino", "--threads", 1, "--iterations", 3, *cli.QUICK)
        self.assert_code(done, 0)
        self.assert_all_int8(self.summary()["cases"], layers)


def softmax_before_a_convolution(opset):
    """The last axis of a value whose rank the file does not declare, then a convolution with one filter of large weights, whose result is
    0 because a softmax adds up to 1. One scale for all filters leaves nothing of the others."""
    f = Drawn()
    rows = f.node("Softmax", [f.node("Transpose", ["x"], "t", perm=[0, 1, 3, 2])], "s", axis=3)
    filters = [100.0] * 32 + [f.draw.gauss(0, 0.3) for _ in range(4 * 32)]
    c = f.node("Conv", [rows, f.weights("w", (5, 4, 1, 8), values=filters), f.weights("b", (5,), values=[-400.0, 0.0, 0.0, 0.0, 0.0])], "c")
    for name, number in (("from", 1), ("to", 5), ("axis", 1)):
        f.tensors.append(onnx_files.typed_weights(name, (1,), [number], onnx_files.INT64, "q"))
    f.output(f.node("Slice", [c, "from", "to", "axis"], "y"), ("N", 4, 8, 1))
    return f.bytes((("x", ("N", 4, 8, 8)),), opset=opset)


class OldOperatorSets(ReadBack):
    def test_a_softmax_of_unknown_rank_does_not_keep_scales_per_tensor(self):
        for opset in (11, 12, 13):
            with self.subTest(opset=opset):
                cases = self.run_int8(softmax_before_a_convolution(opset), out=f"opset{opset}")
                self.assert_all_int8(cases, 1)
                notes = cases[0]["model_file"]["quantisation"]["notes"]
                said = f"the file's operator set {opset} was raised to 13: its answers stay the same"
                self.assertEqual([n for n in notes if "operator set" in n], [said] if opset < 13 else [])

    def test_softmax_over_several_axes_and_enlarging_are_converted(self):
        f = Drawn()
        c = f.node("Conv", ["x", f.weights("w", (4, 4, 3, 3))], "c")
        s = f.node("Softmax", [c], "s", axis=2)
        u = f.node("Upsample", [s, f.weights("scales", (4,), values=[1.0, 1.0, 2.0, 2.0])], "u", mode="nearest")
        f.output(f.node("Tanh", [f.node("Conv", [u, f.weights("w2", (4, 4, 3, 3))], "d")], "y"), ("N", 4, 10, 10))
        cases = self.run_int8(f.bytes((("x", ("N", 4, 8, 8)),), opset=9, version=4))
        self.assert_all_int8(cases, 2)
        self.assertIn("operator set 9 was raised to 13", " ".join(cases[0]["model_file"]["quantisation"]["notes"]))

    def test_what_cannot_be_converted_is_named(self):
        f = Drawn()
        c = f.node("Conv", ["x", f.weights("w", (4, 4, 3, 3))], "c")
        r = f.node("Resize", [c, f.weights("scales", (4,), values=[1.0, 1.0, 0.5, 0.5])], "shrunk", mode="nearest")
        f.output(f.node("GlobalAveragePool", [r], "y"), ("N", 4, 1, 1))
        cases = self.run_int8(f.bytes((("x", ("N", 4, 8, 8)),), opset=10, version=5), engine="onnxruntime")
        notes = " ".join(cases[0]["model_file"]["quantisation"]["notes"])
        self.assertIn("scales per channel need operator set 13, and 'shrunk (Resize)' has no equivalent from set 11 on", notes)


INTEGER_PRODUCTS = ("MatMulIntegerToFloat", "QLinearMatMul", "QGemm", "FullyConnected")
ACTIVATIONS = "both sides are activations, which stay in float because 8 bits lose a softmax"


class Transformers(ReadBack):
    """Every product with weights runs in 8 bits, in ONNX Runtime and OpenVINO, of a folder and of exported files."""

    def assert_runs_in_int8(self, model, layers, *arguments, out="results"):
        done = self.run_cli("infer", "--model", model, "--engine", "onnxruntime,openvino", "--threads", 1, "--iterations", 3, "--layer-profile",
                            *cli.QUICK, *INT8, "--output-dir", out, *arguments)
        self.assert_code(done, 0)
        run = self.only_run(out)
        for case in self.summary(run)["cases"]:
            label, ran = case["label"], {e["precision"]: e for e in case["precision"]["executed"]}
            self.assertEqual(ran["int8"]["operators"], layers, label)
            self.assertGreater(ran["int8"]["flops_share"], 0.8, label)
            self.assertEqual({g["reason"] for g in case["precision"]["in_float"]}, {ACTIVATIONS}, label)
            self.assertEqual(case["correctness"]["verdict"], "passed" if "--load-inputs" in arguments else "cannot_say", label)
            rows = cli.read_csv(cli.case_dir(run, case["case_id"]) / "layers.csv")
            types = [row["type"] for row in rows if row["precision"] == "int8" and row["type"] in INTEGER_PRODUCTS]
            self.assertEqual(len(types), layers, label)

    def test_a_folder_as_save_pretrained_writes_it(self):
        size = transformer_files.Size()
        transformer_files.write_bert_folder(self.folder / "bert", size)
        self.assert_runs_in_int8("bert", 6 * size.layers, "--sequence-length", size.tokens)

    def ids(self, size):
        """Other tokens to calibrate with than to check with."""
        for name, rows, seed in (("calibration", 8, 2), ("ids", 32, 3)):
            transformer_files.write_ids(self.folder / f"{name}.npy", size, rows, seed)
        return "--calib-data", "ids:calibration.npy", "--load-inputs", "ids:ids.npy"

    def test_an_encoder_of_operator_set_12(self):
        size = transformer_files.Size()
        for batch in ("batch", 1):
            transformer_files.write_encoder(self.folder / f"{batch}.onnx", size, batch=batch)
            with self.subTest(batch=batch):
                self.assert_runs_in_int8(f"{batch}.onnx", 6 * size.layers + 1, *self.ids(size), out=f"out-{batch}")

    def test_a_decoder_of_operator_set_17(self):
        size = transformer_files.Size()
        transformer_files.write_decoder(self.folder / "decoder.onnx", size)
        self.assert_runs_in_int8("decoder.onnx", 4 * size.layers + 1, *self.ids(size))


class NamedInFloat(ReadBack):
    """Which layers ran in float, why, and what to do: in the finding and in the result."""

    def findings(self, content, *arguments, engine="onnxruntime"):
        case, = self.run_int8(content, *arguments, engine=engine)
        findings = cli.read_json(self.only_run() / "run_summary.json")["findings"]
        return case, [f for f in findings if f["id"] == "float_layers"]

    def test_layers_that_were_excluded(self):
        content, layers = products("N")
        case, (finding,) = self.findings(content, "--quantisation.exclude", "plain,tokens.m")
        self.assertIn(f"2 of {layers} matrix products ran in fp32", finding["text"])
        self.assertIn("because quantisation.exclude names them: 'tokens.m'", finding["text"])
        self.assertIn("Take them out of quantisation.exclude", finding["advice"])
        self.assertEqual([(g["layers"], g["of"], g["kind"]) for g in case["precision"]["in_float"]], [(2, layers, "matrix product")])

    def test_a_convolution_that_ends_the_model(self):
        f = Drawn()
        first = f.node("Relu", [f.node("Conv", ["x", f.weights("w", (8, 3, 3, 3))], "first")], "r")
        f.output(f.node("Conv", [first, f.weights("w2", (4, 8, 3, 3))], "last"), ("N", 4, 4, 4))
        content = f.bytes((("x", ("N", 3, 8, 8)),))
        _, (finding,) = self.findings(content, "--allow-precision-fallback")
        self.assertIn("1 of 2 convolutions ran in fp32", finding["text"])
        self.assertIn("because their output is not quantised, which ONNX Runtime requires for a convolution: 'last'", finding["text"])
        self.assertIn("--engine openvino", finding["advice"])

    def test_activations_in_signed_integers(self):
        content, _ = products("N")
        _, (finding,) = self.findings(content, "--quantisation.activations", "int8", "--allow-precision-fallback")
        self.assertIn("because the activations are int8, which ONNX Runtime multiplies in float on x86", finding["text"])
        self.assertIn("--quantisation.activations uint8", finding["advice"])

    def test_weights_that_the_model_computes(self):
        f = Drawn()
        scaled = f.node("Mul", [f.node("Transpose", ["x"], "t", perm=[1, 0]), f.weights("s", (1,))], "scaled")
        f.output(f.node("Gemm", [f.node("MatMul", ["x", f.weights("w", (16, 16))], "m"), scaled], "g"), (4, 4))
        _, (finding,) = self.findings(f.bytes((("x", (4, 16)),)), "--allow-precision-fallback")
        self.assertIn("because the weights are computed in the model: 'g'", finding["text"])


class Float16OfIntegers(cli.CliTest):
    """A file that holds integers is cast to float16 so that the types agree, and both engines load it."""

    def integers(self, f, name, count):
        return onnx_files.typed_weights(name, (count // 4, 4), [f.draw.randint(-127, 127) for _ in range(count)], 3, "b")

    def assert_runs(self, f, shape=("N", 16), **versions):
        (self.folder / "f.onnx").write_bytes(f.bytes((("x", shape),), **versions))
        done = self.run_cli("infer", "--model", "f.onnx", "--engine", "onnxruntime,openvino", "--precision", "fp16", "--allow-precision-fallback",
                            "--threads", 1, "--iterations", 3, *cli.QUICK)
        self.assert_code(done, 0)
        self.assertEqual([case["correctness"]["passed"] for case in self.summary()["cases"]], [True, True])

    def test_weights_tables_and_biases_out_of_integers(self):
        f = Drawn()
        f.tensors += [self.integers(f, "q", 64), onnx_files.typed_weights("qb", (4,), [100, -200, 300, 50], 6, "i"),
                      onnx_files.typed_weights("row", (1,), [2], onnx_files.INT64, "q")]
        scale = f.weights("scale", (), values=[0.01])
        w, bias = f.node("DequantizeLinear", ["q", scale], "w"), f.node("DequantizeLinear", ["qb", scale], "bias")
        product = f.node("Add", [f.node("MatMul", ["x", w], "m"), bias], "a")
        scaled = f.node("Mul", [product, scale], "scaled")
        f.output(f.node("Add", [scaled, f.node("Gather", [w, "row"], "g")], "y"), ("N", 4))
        self.assert_runs(f, opset=13, version=7)

    def test_pairs_around_float_operators(self):
        f = Drawn()
        f.tensors.append(onnx_files.typed_weights("zero", (), [128], 2, "B"))
        scale = f.weights("scale", (), values=[0.05])
        back = f.node("DequantizeLinear", [f.node("QuantizeLinear", ["x", scale, "zero"], "q"), scale, "zero"], "d")
        f.output(f.node("Softmax", [f.node("Add", [back, "x"], "a")], "y"), ("N", 16))
        self.assert_runs(f, opset=13, version=7)

    def test_numbers_that_are_quantised_as_they_come(self):
        f = Drawn()
        f.nodes.append(onnx_files.node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]))
        f.output(f.node("Mul", [f.node("DequantizeLinear", ["q", "s", "z"], "d"), f.weights("w", (16,))], "y"), ("N", 16))
        self.assert_runs(f, opset=13, version=7)


class FormatVersions(ReadBack):
    def test_files_of_every_version_of_the_format_load_after_either_conversion(self):
        for version, opset in ((4, 10), (5, 11), (6, 12), (7, 13), (8, 17), (9, 19), (10, 21)):
            with self.subTest(version=version):
                f = Drawn()
                c = f.node("Conv", ["x", f.weights("w", (8, 3, 3, 3)), f.weights("b", (8,))], "c")
                f.output(f.node("GlobalAveragePool", [f.node("Relu", [c], "r")], "y"), ("N", 8, 1, 1))
                content = f.bytes((("x", ("N", 3, 8, 8)),), opset=opset, version=version)
                for case in self.run_int8(content, out=f"int8-{version}"):
                    self.assertEqual([e["precision"] for e in case["precision"]["executed"]], ["int8"], case["label"])
                self.assert_code(self.run_cli("export", "--model", "model.onnx", "--precision", "fp16", "--out", "h.onnx"), 0)
                done = self.run_cli("infer", "--model", "h.onnx", "--engine", "onnxruntime,openvino", "--threads", 1, "--iterations", 3, *cli.QUICK,
                                    "--output-dir", f"fp16-{version}")
                self.assert_code(done, 0)


if __name__ == "__main__":
    cli.main()
