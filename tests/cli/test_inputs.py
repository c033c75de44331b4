# SPDX-License-Identifier: MIT
"""Inputs that mean something: integers lie in the table that they index, one number alone is asked for, and what is suggested runs."""

import re
import shlex
import struct
import zipfile

import paceline_cli as cli
from onnx_files import INT32, INT64, model, node, weights
from test_accuracy import npy_bytes

TYPES = {"<f4": ("f", 4), "<i4": ("i", 4), "<i8": ("q", 8)}
ENGINES = ("onnxruntime", "openvino")


def table(rows, width=4, name="t"):
    return weights(name, (rows, width), [0.01 * (i % 97) for i in range(rows * width)])


def arrays(path):
    """The arrays of an .npz as flat lists."""
    found = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            content = archive.read(name)
            size = struct.unpack("<H", content[8:10])[0]
            code, width = TYPES[re.search(rb"'descr': '(...)'", content).group(1).decode()]
            data = content[10 + size:]
            found[name.removesuffix(".npy")] = list(struct.unpack(f"<{len(data) // width}{code}", data))
    return found


class Inputs(cli.CliTest):
    def file(self, nodes, inputs, outputs, tensors=(), name="m.onnx"):
        (self.folder / name).write_bytes(model(nodes, inputs=inputs, outputs=outputs, tensors=tensors))
        return name

    def lookup(self, rows, kind=INT64, shape=("N", 64), before=(), index="ids"):
        """y = rows of a table at `ids`."""
        return self.file([*before, node("Gather", ["t", index], ["y"])], [("ids", shape, kind)], [("y", (*shape, 4))], [table(rows)])

    def run_file(self, *arguments, engine="onnxruntime", file="m.onnx"):
        return self.run_cli("infer", "--model", file, "--engine", engine, "--iterations", "5", "--repetitions", "1", *cli.QUICK, *arguments)

    def drawn(self, *arguments, engine="onnxruntime"):
        """The inputs of a run that went well, all batches."""
        cli.shutil.rmtree(self.folder / "dump", ignore_errors=True)
        result = self.run_file("--dump-outputs", "dump", *arguments, engine=engine)
        self.assert_code(result, 0)
        self.assertNotIn("failed", result.out)
        found = {}
        for file in sorted((self.folder / "dump").rglob("inputs-*.npz")):
            for name, values in arrays(file).items():
                found.setdefault(name, []).extend(values)
        return found


class Integers(Inputs):
    def test_ids_are_uniform_over_the_table_on_every_engine(self):
        self.lookup(5000)
        first = None
        for engine in ENGINES:
            with self.subTest(engine=engine):
                ids = self.drawn(engine=engine)["ids"]
                self.assertLess(max(ids), 5000)
                self.assertGreaterEqual(min(ids), 0)
                self.assertGreater(len(set(ids)), len(ids) // 2)
                self.assertAlmostEqual(sum(ids) / len(ids) / 2500, 1, delta=0.2)
                first = first or ids
                self.assertEqual(ids, first, "engines get the same inputs")

    def test_a_table_of_one_row_is_read_at_its_row(self):
        cast = node("Cast", ["ids"], ["wide"], to=7)
        for words in ({}, {"kind": INT32, "before": [cast], "index": "wide"}, {"shape": ()}, {"kind": INT32, "shape": ()}):
            for engine in ENGINES:
                with self.subTest(engine=engine, **{k: str(v) for k, v in words.items()}):
                    self.lookup(1, **words)
                    self.assertEqual(set(self.drawn(engine=engine)["ids"]), {0})

    def test_the_axis_says_which_dimension_is_indexed(self):
        self.file([node("Gather", ["t", "ids"], ["y"], axis=1)], [("ids", ("N",), INT64)], [("y", (9, "N"))], [table(9, 3)])
        self.assertEqual(set(self.drawn()["ids"]), {0, 1, 2})

    def test_an_index_of_the_batch_stays_in_it(self):
        self.file([node("Gather", ["x", "beam_idx"], ["y"])], [("x", ("N", 16)), ("beam_idx", ("N",), INT32)], [("y", ("N", 16))])
        for engine in ENGINES:
            for batch, most in ((1, 0), (3, 2)):
                with self.subTest(engine=engine, batch=batch):
                    self.assertEqual(max(self.drawn("--batch", batch, engine=engine)["beam_idx"]), most)

    def test_an_openvino_file_tells_what_its_integers_index(self):
        """As OpenVINO's converters write an axis: a constant of one element; open dimensions have no names."""
        row = "<dim>-1</dim><dim>16</dim>"
        (self.folder / "m.xml").write_text(f"""<?xml version="1.0"?>
<net name="m" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="?,16" element_type="f32"/>
 <output><port id="0" precision="FP32" names="x">{row}</port></output></layer>
<layer id="1" name="beam_idx" type="Parameter" version="opset1"><data shape="?" element_type="i32"/>
 <output><port id="0" precision="I32" names="beam_idx"><dim>-1</dim></port></output></layer>
<layer id="2" name="axis" type="Const" version="opset1"><data element_type="i64" shape="1" offset="0" size="8"/>
 <output><port id="0" precision="I64"><dim>1</dim></port></output></layer>
<layer id="3" name="g" type="Gather" version="opset8"><data batch_dims="0"/>
 <input><port id="0">{row}</port><port id="1"><dim>-1</dim></port><port id="2"><dim>1</dim></port></input>
 <output><port id="3" precision="FP32" names="y">{row}</port></output></layer>
<layer id="4" name="r" type="Result" version="opset1"><input><port id="0">{row}</port></input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="3" to-port="0"/><edge from-layer="1" from-port="0" to-layer="3" to-port="1"/>
<edge from-layer="2" from-port="0" to-layer="3" to-port="2"/><edge from-layer="3" from-port="3" to-layer="4" to-port="0"/></edges></net>
""")
        (self.folder / "m.bin").write_bytes(struct.pack("<q", 0))
        for batch, most in ((1, 0), (3, 2)):
            with self.subTest(batch=batch):
                result = self.run_file("--batch", batch, "--dump-outputs", f"d{batch}", engine="openvino", file="m.xml")
                self.assert_code(result, 0)
                dumped = [arrays(file) for file in sorted((self.folder / f"d{batch}").rglob("inputs-*.npz"))]
                self.assertEqual(max(i for values in dumped for i in values["beam_idx"]), most)

    def test_an_array_that_was_forgotten_is_not_made_up(self):
        self.file([node("Gather", ["x", "idx"], ["y"], axis=1)], [("x", ("N", 16)), ("idx", (3,), INT32)], [("y", ("N", 3))])
        (self.folder / "x.npy").write_bytes(npy_bytes([1.0] * 32, (2, 16)))
        self.assertLess(max(self.drawn()["idx"]), 16)
        result = self.run_file("--load-inputs", "x:x.npy")
        self.assertIn("--input-values idx:VALUE", result.out + result.err)
        self.assertEqual(set(self.drawn("--load-inputs", "x:x.npy", "--input-values", "idx:7")["idx"]), {7})

    def test_a_built_in_model_has_names_too(self):
        result = self.run_cli("infer", "--model", "bert-large", "--input-values", "words:5", "--dry-run")
        self.assert_error(result, 2, "words:5", "matches no input of the model")

    def test_calibration_draws_them_too(self):
        product = weights("w", (4, 4), [0.1 * i for i in range(16)])
        self.file([node("Gather", ["t", "ids"], ["e"]), node("MatMul", ["e", "w"], ["y"])], [("ids", ("N", 8), INT64)], [("y", ("N", 8, 4))],
                  [table(1), product])
        self.assert_code(self.run_cli("export", "--model", "m.onnx", "--precision", "int8", "--out", "int8.onnx"), 0)

    def test_ones_are_said_with_the_option_that_draws(self):
        self.file([node("Cast", ["steps"], ["f"], name="f", to=1), node("Cast", ["mask"], ["g"], name="g", to=1), node("Add", ["f", "g"], ["y"])],
                  [("steps", ("N", 4), INT64), ("mask", ("N", 4), INT64)], [("y", ("N", 4))])
        result = self.run_file()
        self.assert_code(result, 0)
        said = [line for line in (result.out + result.err).splitlines() if "filled with 1" in line]
        self.assertEqual(len(said), 1, str(result))
        self.assertIn("'steps'", said[0])
        self.assertIn("--input-values steps:FROM..TO", said[0])
        self.assertEqual(set(self.drawn("--input-values", "steps:3..4")["steps"]), {3, 4})

    def test_values_that_do_not_fit_are_refused(self):
        self.lookup(5)
        for value, word in (("ids:0.5", "int64"), ("ids:4..2", "below its lower end"), ("other:1", "its inputs are ids"), ("ids", "names no input"),
                            ("ids:x", "no number")):
            with self.subTest(value=value):
                self.assert_error(self.run_file("--input-values", value), 2, value, word)


class OneNumber(Inputs):
    def sampled(self):
        """y = x times a sampling rate."""
        return self.file([node("Cast", ["sr"], ["f"], to=1), node("Mul", ["x", "f"], ["y"])], [("x", ("N", 4)), ("sr", (), INT64)],
                         [("y", ("N", 4))])

    def test_it_is_asked_for_and_the_answer_runs(self):
        self.sampled()
        result = self.run_file()
        self.assert_error(result, 2, "'sr' (int64)", "--input-values sr:16000")
        self.assert_nothing_ran()
        option = re.search(r"e\.g\. (--input-values \S+)", result.err).group(1)
        for engine in ENGINES:
            with self.subTest(engine=engine):
                self.assertEqual(set(self.drawn(*shlex.split(option), engine=engine)["sr"]), {16000})

    def test_a_plan_gets_a_line_of_a_plan(self):
        self.sampled()
        lines = ["kind: inference", "models: [m.onnx]", "iterations: 5"]
        self.write("p.yaml", "\n".join(lines) + "\n")
        result = self.run_cli("run", "p.yaml", "--dry-run")
        self.assert_code(result, 2)
        line = re.search(r"input_values: \S+", result.err).group(0)
        self.write("p.yaml", "\n".join([*lines, line]) + "\n")
        self.assert_code(self.run_cli("run", "p.yaml", *cli.QUICK), 0)

    def test_it_may_stand_beside_arrays(self):
        self.sampled()
        (self.folder / "x.npy").write_bytes(npy_bytes([1.0] * 8, (2, 4)))
        result = self.run_file("--load-inputs", "x:x.npy")
        self.assertIn("--input-values sr:VALUE", result.out + result.err)
        self.assertEqual(set(self.drawn("--load-inputs", "x:x.npy", "--input-values", "sr:8000")["sr"]), {8000})


class Sizes(Inputs):
    def cache(self):
        """A decoder's cache [batch,2,past,8] that grows by x [batch,2,4,8]."""
        return self.file([node("Concat", ["past", "x"], ["present"], axis=2)], [("past", ("batch", 2, "past", 8)), ("x", ("batch", 2, 4, 8))],
                         [("present", ("batch", 2, "all", 8))])

    def test_an_empty_dimension_is_a_size(self):
        self.cache()
        for engine in ENGINES:
            for batch in (1, 2):
                with self.subTest(engine=engine, batch=batch):
                    drawn = self.drawn("--shapes", "past:{batch}x2x0x8", "--batch", batch, engine=engine)
                    self.assertEqual(drawn["past"], [])

    def test_an_empty_array_is_one(self):
        self.cache()
        (self.folder / "past.npy").write_bytes(npy_bytes([], (3, 2, 0, 8)))
        (self.folder / "x.npy").write_bytes(npy_bytes([0.5] * 3 * 64, (3, 2, 4, 8)))
        for engine in ENGINES:
            with self.subTest(engine=engine):
                self.assertEqual(len(self.drawn("--load-inputs", "past:past.npy,x:x.npy", engine=engine)["x"]), 3 * 64)

    def test_arrays_give_the_sizes_that_the_file_leaves_open(self):
        self.file([node("Relu", ["x"], ["y"])], [("x", ("N", "C", "L"))], [("y", ("N", "C", "L"))])
        (self.folder / "a.npy").write_bytes(npy_bytes([0.1] * 6 * 15, (6, 3, 5)))
        with zipfile.ZipFile(self.folder / "a.npz", "w") as archive:
            archive.writestr("x.npy", npy_bytes([0.1] * 6 * 15, (6, 3, 5)))
        for given in ("a.npy", "x:a.npy", "a.npz"):
            with self.subTest(given=given):
                self.assertEqual(len(self.drawn("--load-inputs", given, "--batch", 2)["x"]), 6 * 15)
                self.assertIn("x:{batch}x3x5", (self.only_run() / "plan.yaml").read_text())
                cli.shutil.rmtree(self.folder / "results")

    def test_one_written_shape_settles_its_symbols(self):
        self.file([node("Add", ["a", "b"], ["y"])], [("a", ("N", "L")), ("b", ("N", "L"))], [("y", ("N", "L"))])
        self.assertEqual({k: len(v) // 64 for k, v in self.drawn("--shapes", "a:{batch}x7").items()}, {"a": 7, "b": 7})

    def test_shapes_that_repeat_the_file_need_no_batch(self):
        product = node("MatMul", ["x", "t"], ["a"])
        self.file([product, node("ReduceMax", ["w"], ["b"], keepdims=0), node("Add", ["a", "b"], ["y"])],
                  [("x", (1, 4)), ("w", (7, 4))], [("y", (1, 3))], [table(4, 3)])
        alone = self.drawn()
        self.assertEqual(self.drawn("--shapes", "x:1x4,w:7x4"), alone)
        self.assertEqual(self.drawn("--shapes", "w:7x4"), alone)


class Suggestions(Inputs):
    """Suggested commands are written to be typed, and run."""

    def follow(self, result, *arguments, pattern=r"(--shapes '[^']*'|--batch \d+)"):
        options = re.findall(pattern, result.err)
        self.assertTrue(options, str(result))
        for option in options:
            with self.subTest(option=option):
                done = self.run_file(*arguments, *shlex.split(option))
                self.assert_code(done, 0)
                self.assertNotIn("failed", done.out)

    def test_open_shapes(self):
        ids = [("input_ids", ("batch", "sequence"), INT64), ("mask", ("batch", "past_sequence + sequence"), INT64),
               ("past", ("batch", 2, "past_sequence", 4)), ("x", ("batch", 2, "sequence", 4))]
        nodes = [node("Concat", ["past", "x"], ["present"], axis=2), node("Cast", ["mask"], ["m"], to=1),
                 node("Gather", ["t", "input_ids"], ["e"])]
        self.file(nodes, ids, [("present", ("batch", 2, "total", 4)), ("m", ("batch", "all")), ("e", ("batch", "sequence", 4))], [table(9)])
        result = self.run_file()
        self.assert_error(result, 2, "past:{batch}x2x0x4", "mask:{batch}x128:int64")
        self.follow(result)

    def test_one_symbol_has_one_example(self):
        self.file([node("Add", ["a", "b"], ["y"])], [("a", ("N", "L")), ("b", ("N", 1, 1, "L"))], [("y", ("N", 1, "N", "L"))])
        self.follow(self.run_file())

    def test_a_batch_that_is_not_the_files(self):
        self.file([node("Relu", ["x"], ["y"])], [("x", (2, 4))], [("y", (2, 4))])
        result = self.run_file("--batch", "4")
        self.assert_error(result, 2, "use --batch 2")
        self.follow(result, pattern=r"(--batch \d+)")

    def test_a_batch_that_the_shapes_do_not_have(self):
        self.file([node("Relu", ["x"], ["y"])], [("x", ("N", 4))], [("y", ("N", 4))])
        result = self.run_file("--batch", "4", "--shapes", "x:2x4")
        self.assert_error(result, 2, "--shapes 'x:{batch}x4'")
        self.follow(result, "--batch", "4")

    def test_two_readings_in_a_plan_are_lines_of_a_plan(self):
        plan = self.spin_plan()
        text = plan.read_text().replace('shapes: "input:{batch}x4"', 'shapes: "a:2x4,b:3x4"')
        plan.write_text(text)
        result = self.run_cli("run", plan, "--dry-run")
        self.assert_code(result, 2)
        lines = re.findall(r"batch: \d+|shapes: '[^']*'", result.err)
        self.assertEqual(len(lines), 3, str(result))
        for line in lines:
            with self.subTest(line=line):
                kept = text if line.startswith("batch") else text.replace('shapes: "a:2x4,b:3x4"', "")
                plan.write_text(kept + line + "\n")
                self.assert_code(self.run_cli("run", plan, "--dry-run"), 0)


if __name__ == "__main__":
    cli.main()
