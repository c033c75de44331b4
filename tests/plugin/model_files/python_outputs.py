#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs ONNX files that PyPI packages ship in the engines' own Python, for found_files_test.cc to compare with.

usage: python_outputs.py PACKAGES OUT    PACKAGES: a folder that scripts/setup.sh --checks fills; exit 77 without it
TorchScript files are run by PACELINE_TORCH_PYTHON (else python3), where that has PyTorch.
Writes OUT/<engine>/<n>/: model (a path), and per input and output a line and an .npy file.
"""
import os
import pathlib
import shutil
import subprocess
import sys

PACKAGES, OUT = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
shutil.rmtree(OUT, ignore_errors=True)   # nobody compares with the answers of packages that are gone
if not (PACKAGES / "onnxruntime").is_dir():
    print("no Python packages of the engines: scripts/setup.sh --checks installs them")
    sys.exit(77)
sys.path.insert(0, str(PACKAGES))
import numpy as np          # noqa: E402
import onnxruntime          # noqa: E402
import openvino             # noqa: E402

ENGINES = ("onnxruntime", "openvino")
# File, inputs as (name, type, shape, largest integer), engines that run it. Among them: convolutions and attention with open
# dimensions, recurrent layers, branches (If), integers as input, scalars, outputs that are sequences.
MODELS = (
    ("onnxruntime/datasets/mul_1.onnx", [("X", "float32", (3, 2))], ENGINES),
    ("onnxruntime/datasets/sigmoid.onnx", [("x", "float32", (3, 4, 5))], ENGINES),
    ("onnxruntime/datasets/logreg_iris.onnx", [("float_input", "float32", (3, 2))], ENGINES[:1]),
    ("rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx", [("x", "float32", (2, 3, 48, 192))], ENGINES),
    ("rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx", [("x", "float32", (1, 3, 64, 96))], ENGINES),
    ("rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx", [("x", "float32", (2, 3, 48, 80))], ENGINES),
    ("silero_vad/data/silero_vad_16k_op15.onnx",
     [("input", "float32", (2, 576)), ("state", "float32", (2, 2, 128)), ("sr", "int64", (), 16000)], ENGINES[:1]),
    ("silero_vad/data/silero_vad_op18_ifless.onnx",
     [("input", "float32", (2, 576)), ("state", "float32", (2, 2, 128)), ("sr", "int64", (), 16000)], ENGINES),
    ("silero_vad/data/silero_vad_openvino_16k.onnx", [("input", "float32", (1, 576)), ("state", "float32", (2, 1, 128))], ENGINES),
    ("silero_vad/data/silero_vad_16k_sequence.onnx",
     [("input", "float32", (4, 576)), ("h", "float32", (1, 1, 128)), ("c", "float32", (1, 1, 128))], ENGINES),
    ("magika/models/standard_v3_3/model.onnx", [("bytes", "int32", (2, 2048), 256)], ENGINES),
)

# A recurrent network with a scalar integer beside its samples; what it remembers is part of the file.
SCRIPTS = (("silero_vad/data/silero_vad.jit", [("x", "float32", (2, 512)), ("sr", "int64", (), 16000)]),)
RUN_SCRIPT = """
import numpy, sys, torch
file, folder, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
inputs = [torch.from_numpy(numpy.load(f"{folder}/input{i}.npy")) for i in range(count)]
with torch.inference_mode():
    output = torch.jit.load(file)(*[i if i.dim() else i.item() for i in inputs])
numpy.save(f"{folder}/output0.npy", output.numpy())
"""


def value(kind, shape, largest=1):
    generator = np.random.default_rng(7)
    if kind == "float32":
        return generator.standard_normal(shape).astype(kind)
    return np.full(shape, largest, kind) if shape == () else generator.integers(0, largest, shape, kind)


def run_onnxruntime(path, inputs):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"]).run(None, inputs)


def run_openvino(path, inputs):
    core = openvino.Core()
    model = core.read_model(path)
    model.reshape({name: list(data.shape) for name, data in inputs.items()})
    compiled = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return list(compiled(inputs).values())


RUNNERS = {"onnxruntime": run_onnxruntime, "openvino": run_openvino}


def write_case(folder, path, inputs, outputs):
    folder.mkdir(parents=True)
    (folder / "model").write_text(path)
    (folder / "inputs").write_text("".join(f"{name}\n" for name in inputs))
    for i, data in enumerate(inputs.values()):
        np.save(folder / f"input{i}.npy", data)
    arrays = [output for output in outputs if isinstance(output, np.ndarray)]   # sequences are not compared
    for i, data in enumerate(arrays):
        np.save(folder / f"output{i}.npy", data)


def run_script(number, path, inputs):
    """By another interpreter; without PyTorch in it there is no case."""
    python, folder = os.environ.get("PACELINE_TORCH_PYTHON", "python3"), OUT / "torchscript" / f"{number}"
    if subprocess.run([python, "-c", "import torch, numpy"], capture_output=True, check=False).returncode != 0:
        return print(f"no TorchScript: {python} has no PyTorch; PACELINE_TORCH_PYTHON names one that has")
    write_case(folder, path, inputs, [])
    return subprocess.run([python, "-c", RUN_SCRIPT, path, folder, str(len(inputs))], check=True)


def main():
    for number, (file, specs, engines) in enumerate(MODELS):
        path = str(PACKAGES / file)
        inputs = {name: value(*rest) for name, *rest in specs}
        for engine in engines:
            write_case(OUT / engine / f"{number}", path, inputs, RUNNERS[engine](path, inputs))
    for number, (file, specs) in enumerate(SCRIPTS):
        run_script(number, str(PACKAGES / file), {name: value(*rest) for name, *rest in specs})
    print(f"{len(MODELS) + len(SCRIPTS)} files")


main()
