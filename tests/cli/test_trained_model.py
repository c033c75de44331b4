# SPDX-License-Identifier: MIT
"""The accuracy gate on a trained model: magika, which tells what kind of file some bytes are, as its PyPI package ships it. Labelled
data are the files of the packages that scripts/setup.sh --checks unpacks; what they are called says what they are."""

import array
import os
import subprocess
import unittest
from pathlib import Path

import onnx_scales
import paceline_cli as cli
from test_accuracy import npy_bytes

PACKAGES = Path(os.environ.get("PACELINE_PYTHON_PACKAGES", ""))
MODEL = PACKAGES / "magika/models/standard_v3_3/model.onnx"
KINDS = {".py": "python", ".hpp": "cpp", ".f90": "fortran", ".f": "fortran", ".c": "c", ".csv": "csv", ".so": "elf"}
TOKENS, PADDING, BLOCK = 1024, 256, 4096   # of config.min.json: first and last bytes of a file, stripped, filled up
CALIBRATION, TEST = 32, 112
# The outputs of the float file, by ONNX Runtime's own Python: what a user has who compares two files.
REFERENCE = """
import numpy, onnxruntime, sys
session = onnxruntime.InferenceSession(sys.argv[1])
inputs = numpy.load("test.npy")
numpy.save("float.npy", numpy.concatenate([session.run(None, {"bytes": row[None]})[0] for row in inputs]))
"""


def tokens(file):
    """The model's input for a file, as the package's own Python makes it."""
    with open(file, "rb") as stream:
        first = stream.read(BLOCK).lstrip()[:TOKENS]
        stream.seek(-min(BLOCK, file.stat().st_size), os.SEEK_END)
        last = stream.read(BLOCK).rstrip()[-TOKENS:]
    filling = lambda part: [PADDING] * (TOKENS - len(part))
    return [*first, *filling(first), *filling(last), *last]


def labelled_files():
    """(file, kind) in a fixed order, kinds by turns as far as there are files; small ones and doubles left out."""
    of_kind, seen = {}, set()
    for file in sorted(PACKAGES.rglob("*")):
        kind = KINDS.get(file.suffix)
        if not kind or not file.is_file() or file.stat().st_size < 2 * BLOCK or file.stat().st_size in seen:
            continue
        seen.add(file.stat().st_size)
        of_kind.setdefault(kind, []).append(file)
    turns = [(place, kind, file) for kind, files in of_kind.items() for place, file in enumerate(files)]
    return [(file, kind) for _, kind, file in sorted(turns, key=lambda t: t[:2])]


class TrainedModel(cli.CliTest):
    @classmethod
    def setUpClass(cls):
        if not MODEL.is_file():
            raise unittest.SkipTest("no package with a trained model: scripts/setup.sh --checks installs it")
        names = cli.read_json(MODEL.with_name("config.min.json"))["target_labels_space"]
        files = labelled_files()[:CALIBRATION + TEST]
        cls.rows = [tokens(file) for file, _ in files]
        cls.labels = [names.index(kind) for _, kind in files]

    def setUp(self):
        super().setUp()
        self.write_rows("calibration.npy", self.rows[:CALIBRATION])
        self.write_rows("test.npy", self.rows[CALIBRATION:])
        self.write("labels.txt", "".join(f"{label}\n" for label in self.labels[CALIBRATION:]))

    def write_rows(self, name, rows):
        values = array.array("i", [v for row in rows for v in row])
        (self.folder / name).write_bytes(npy_bytes(values, (len(rows), 2 * TOKENS), "<i4", "i"))

    def measure(self, model, *arguments, engines="onnxruntime,openvino"):
        return self.run_cli("infer", "--model", model, "--engine", engines, "--shapes", "bytes:{batch}x2048:int32", "--batch", 8,
                            "--load-inputs", "test.npy", "--labels", "labels.txt", "--accuracy-samples", TEST, "--iterations", 1,
                            "--precision", "int8", "--calib-data", "calibration.npy", *cli.QUICK, *arguments)

    def cases(self, below):
        """Returns both engines' cases, after what every case says of itself."""
        cases = self.summary(self.only_run(below))["cases"]
        self.assertEqual([c["benchmark"]["engine"] for c in cases], ["onnxruntime", "openvino"])
        for case in cases:
            shares = {p["precision"]: p["flops_share"] for p in case["precision"]["executed"]}
            self.assertGreater(shares["int8"], 0.9)
            self.assertEqual((case["correctness"]["samples"], case["correctness"]["judged_by"]), (TEST, "answers"))
            self.assertGreater(case["correctness"]["labelled"]["reference_top1"]["value"], 0.9, "labels and model do not fit each other")
        return cases

    def test_int8_passes_and_tells_the_change_of_accuracy(self):
        done = self.measure(MODEL)
        self.assert_code(done, 0)
        for case in self.cases("results"):
            change = case["correctness"]["labelled"]["change"]
            self.assertLess(abs(change["value"]), 0.05)
            self.assertLess(change["ci_low"], change["value"])
            self.assertGreater(change["ci_high"], change["value"])
        self.assertRegex(" ".join(done.out.split()), rf"by [+-]\S+ points \(-\S+ to [+-]\S+\) on {TEST} labelled inputs: \d+ lost, \d+ gained")

    def test_a_file_with_scales_times_four_fails_where_the_whole_one_passes(self):
        self.assert_code(self.run_cli("export", "--model", MODEL, "--precision", "int8", "--calib-data", "calibration.npy", "--out", "good.onnx"), 0)
        self.assertEqual(onnx_scales.main(self.folder / "good.onnx", self.folder / "bad.onnx", 4), 4)
        subprocess.run(["python3", "-c", REFERENCE, MODEL], cwd=self.folder, env={**self.env, "PYTHONPATH": str(PACKAGES)}, check=True)
        for name, code in (("good", 0), ("bad", 1)):
            done = self.measure(f"{name}.onnx", "--accuracy-reference", "float.npy", "--output-dir", name)
            self.assert_code(done, code)
            for case in self.cases(name):
                change = case["correctness"]["labelled"]["change"]
                self.assertEqual(case["reason_code"], "accuracy" if code else "", case["reason"])
                self.assertEqual(change["ci_high"] < -0.05, bool(code), change)
                self.assertEqual(case["headline"]["p50_ns"]["value"] is None, bool(code))
        self.assertIn("more than the 10 % accepted", done.err)
        self.assert_code(self.measure("good.onnx", "--accuracy-reference", MODEL, "--output-dir", "by_model"), 0)
        for by_file, by_model in zip(self.cases("good"), self.cases("by_model")):
            self.assertIn("the fp32 run of", by_model["correctness"]["reference"])
            self.assertAlmostEqual(by_model["correctness"]["top1"]["value"], by_file["correctness"]["top1"]["value"], 2)

    def test_too_few_inputs_cannot_claim(self):
        self.write_rows("test.npy", self.rows[CALIBRATION:CALIBRATION + 48])
        self.write("labels.txt", "".join(f"{label}\n" for label in self.labels[CALIBRATION:CALIBRATION + 48]))
        done = self.measure(MODEL, "--accuracy-claim", "0.005", engines="onnxruntime")
        self.assert_code(done, 3)
        case = self.summary()["cases"][0]
        self.assertEqual((case["outcome"], case["correctness"]["claim"]["verdict"]), ("ok", "cannot_claim"))
        self.assertIn("598 distinct inputs", done.out)


if __name__ == "__main__":
    cli.main()
