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
CALIBRATION, TEST = 32, 160
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
        return self.run_cli("infer", "--model", model, "--engine", engines, "--shapes", "bytes:1x2048:int32", "--batch", 16,
                            "--load-inputs", "test.npy", "--labels", "labels.txt", "--accuracy-samples", TEST, "--iterations", 3,
                            "--precision", "int8", "--calib-data", "calibration.npy", *cli.QUICK, *arguments)

    def test_a_good_file_passes_in_two_engines(self):
        done = self.measure(MODEL)
        self.assert_code(done, 0)
        for case in self.summary()["cases"]:
            c = case["correctness"]
            print(case["case_id"], c["labelled"], c["top1"], c["samples"], case["precision"]["executed"], case["model_file"].get("quantisation"), c["reference"], c["judged_by"])
        print(done)

    def test_scales_times_four(self):
        done = self.run_cli("export", "--model", MODEL, "--precision", "int8", "--shapes", "bytes:1x2048:int32", "--calib-data", "calibration.npy", "--out", "good.onnx")
        print(done)
        print(onnx_scales.main(self.folder / "good.onnx", self.folder / "bad.onnx", 4))
        env = {**self.env, "PYTHONPATH": str(PACKAGES)}
        subprocess.run(["python3", "-c", REFERENCE, MODEL], cwd=self.folder, env=env, check=True)
        for name in ("good.onnx", "bad.onnx"):
            done = self.measure(name, "--accuracy-reference", "float.npy", "--output-dir", name + ".d")
            print(done)
            for case in self.summary(self.only_run(name + ".d"))["cases"]:
                c = case["correctness"]
                print(case["case_id"], case["outcome"], case["reason"], c["labelled"], c["top1"], c["samples"], c["reference"], c["judged_by"])


if __name__ == "__main__":
    cli.main()
