#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles a model ahead of time with PyTorch's AOTInductor: a package (.pt2) for `paceline infer --engine aotinductor`.

Run it with the Python whose PyTorch is the one Paceline was built for (same major.minor), on the machine that will run the
package: the code is made for this CPU and for exactly these shapes. It needs a C++ compiler, and half a minute.

  tools/export_aoti.py --model resnet50 --shapes input:8x3x224x224 --out resnet50_b8.pt2      a built-in model (random weights)
  tools/export_aoti.py --torchscript m.pt --shapes x:1x3x64x64 --out m.pt2                    any TorchScript file
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

ROOT = pathlib.Path(__file__).resolve().parent.parent


def parse_shapes(text, torch):
    """["input:8x3x32x32", "ids:1x128:int64"] as example tensors."""
    examples = []
    for item in text.split(","):
        match = re.fullmatch(r"\w+:(\d+(?:x\d+)*)(?::(\w+))?", item)
        if not match:
            sys.exit(f"export_aoti: '{item}' is not NAME:DIMxDIM[:DTYPE]")
        shape = [int(extent) for extent in match[1].split("x")]
        dtype = getattr(torch, match[2] or "float32")
        examples.append(torch.randn(shape, dtype=dtype) if dtype.is_floating_point else torch.ones(shape, dtype=dtype))
    return examples


def built_in(arguments, folder):
    """The built-in model's TorchScript file, written by paceline itself: the same weights in both."""
    file = pathlib.Path(folder) / "model.pt"
    command = [arguments.paceline, "export", "--model", arguments.model, "--format", "torchscript", "--out", str(file), "--quiet",
               "--weights-seed", str(arguments.weights_seed)]
    length = re.search(r"input_ids:\d+x(\d+)", arguments.shapes)
    subprocess.run(command + (["--sequence-length", length[1]] if length else []), check=True)
    return file


def compile_package(script, examples, out, freezing):
    import torch
    from torch.fx.experimental.proxy_tensor import make_fx

    module = torch.jit.load(script, map_location="cpu").eval()
    with torch.no_grad():
        operators = make_fx(lambda *inputs: module(*inputs))(*examples)
        program = torch.export.export(operators, tuple(examples))
        torch._inductor.aoti_compile_and_package(program, package_path=str(out), inductor_configs={"freezing": freezing})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--model", help="a built-in model")
    source.add_argument("--torchscript", help="a TorchScript file")
    parser.add_argument("--shapes", required=True, help="NAME:DIMxDIM[:DTYPE],… batch included")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="the package, FILE.pt2")
    parser.add_argument("--weights-seed", type=int, default=0)
    parser.add_argument("--no-freezing", action="store_true", help="weights stay replaceable; slower")
    parser.add_argument("--paceline", default=str(ROOT / "build/release/bin/paceline"))
    arguments = parser.parse_args()
    if arguments.out.suffix != ".pt2":
        sys.exit(f"export_aoti: --out '{arguments.out}': a package's name ends in .pt2")
    try:
        import torch
    except (ImportError, OSError) as error:
        sys.exit(f"export_aoti: this Python has no working PyTorch ({error}); run it with one that has: PYTHON {sys.argv[0]} …")
    warnings.filterwarnings("ignore", category=FutureWarning)
    with tempfile.TemporaryDirectory() as folder:
        script = arguments.torchscript or built_in(arguments, folder)
        compile_package(str(script), parse_shapes(arguments.shapes, torch), arguments.out, not arguments.no_freezing)
    print(f"{arguments.out}: compiled by PyTorch {torch.__version__} for {arguments.shapes}")


if __name__ == "__main__":
    main()
