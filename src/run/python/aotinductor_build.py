# SPDX-License-Identifier: MIT
"""Compiles a TorchScript file with PyTorch's AOTInductor into a package (.pt2), for `paceline build --engine aotinductor`.

usage: aotinductor_build.py ORDER.json
ORDER: script, inputs [{name, dtype, shape}], device, precision, torch (major.minor), freezing, metadata, package, answer.
ANSWER: {"missing": sentence} where this Python cannot do it here, else an empty one and {"versions"} of what compiled it.
"""
import json
import os
import shutil
import sys
import traceback
import warnings

DTYPES = {"fp32": "float32", "tf32": "float32", "bf16": "bfloat16", "fp16": "float16"}


def missing(order):
    """What this machine lacks for the order, with the remedy in the same sentence; empty: nothing."""
    python = sys.executable
    try:
        import torch
    except (ImportError, OSError) as error:
        line = str(error).strip().splitlines()
        return (f"'{python}' has no working PyTorch ({line[-1] if line else 'import torch fails'}); activate an environment with "
                f"torch {order['torch']}, or set PACELINE_PYTHON to its python")
    if torch.__version__.split(".")[:2] != order["torch"].split("."):
        return (f"'{python}' has PyTorch {torch.__version__}, and packages for this LibTorch need {order['torch']}: activate an environment "
                f"with torch {order['torch']}, or set PACELINE_PYTHON to its python")
    compiler = os.environ.get("CXX", "").strip() or "g++"
    if not shutil.which(compiler.split()[0]):
        return f"AOTInductor needs a C++ compiler, and '{compiler}' is not there; install g++, or set CXX to the one to use"
    try:
        from torch.utils.cpp_extension import CUDA_HOME
    except ImportError as error:
        package = (error.name or "setuptools").split(".")[0]
        return f"AOTInductor needs {package}, and '{python}' lacks it ({error}); install it: {python} -m pip install {package}"
    if not order["device"].startswith("cuda"):
        return ""
    if not torch.cuda.is_available():
        built = f"sees no GPU (CUDA {torch.version.cuda})" if torch.version.cuda else "was built without CUDA"
        return f"a package for {order['device']} is compiled on a GPU, and the PyTorch {torch.__version__} of '{python}' {built}"
    if (torch.device(order["device"]).index or 0) >= torch.cuda.device_count():
        return f"there is no device {order['device']}; PyTorch sees {torch.cuda.device_count()}"
    try:
        import triton  # noqa: F401
    except ImportError as error:
        return f"AOTInductor needs Triton on a GPU, and '{python}' has none ({error}); install it: {python} -m pip install triton"
    if not CUDA_HOME:
        return "AOTInductor needs the headers of a CUDA toolkit; put its nvcc on PATH, or set CUDA_HOME to its folder"
    return ""


def example(spec, torch):
    dtype = getattr(torch, spec["dtype"])
    return torch.randn(spec["shape"]).to(dtype) if dtype.is_floating_point else torch.ones(spec["shape"], dtype=dtype)


def moved(value, torch, device, dtype):
    """A tensor, type or device of the fp32 model on the CPU, as the package has it."""
    if isinstance(value, torch.Tensor):
        return value.detach().to(device, dtype if value.dtype == torch.float32 else value.dtype)
    if isinstance(value, torch.device):
        return torch.device(device)
    return dtype if value is torch.float32 else value


def operators_of(order, examples, torch):
    """The file's operators on the order's device and in its precision. A trace has written type and device into some of them."""
    from torch.fx.experimental.proxy_tensor import make_fx

    device, dtype = order["device"], getattr(torch, DTYPES[order["precision"]])
    module = torch.jit.load(order["script"], map_location="cpu").eval()
    operators = make_fx(lambda *inputs: module(*inputs))(*examples)
    for node in operators.graph.nodes:
        node.args = torch.fx.node.map_aggregate(node.args, lambda value: moved(value, torch, device, dtype))
        node.kwargs = torch.fx.node.map_aggregate(node.kwargs, lambda value: moved(value, torch, device, dtype))
        if node.op == "get_attr":
            setattr(operators, node.target, moved(getattr(operators, node.target), torch, device, dtype))
    operators.recompile()
    return operators, [moved(value, torch, device, dtype) for value in examples]


def compile_package(order):
    import torch
    import torch._inductor

    warnings.filterwarnings("ignore", category=FutureWarning)
    tf32 = order["precision"] == "tf32"
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = tf32
    # Threads: those of the process that runs the package, not of this one.
    configs = {"freezing": order["freezing"], "cpp.dynamic_threads": True, "aot_inductor.metadata": dict(order["metadata"])}
    if order["device"].startswith("cuda"):
        from torch.utils.cpp_extension import CUDA_HOME

        # For the linker: a driver need not have a libcuda.so besides its libcuda.so.1.
        folders = [f"{CUDA_HOME}/lib64/stubs", f"{CUDA_HOME}/lib64", os.environ.get("LIBRARY_PATH")]
        os.environ["LIBRARY_PATH"] = os.pathsep.join(filter(None, folders))
        configs["aot_inductor.weight_use_caching_allocator"] = True  # whose figures are the case's memory
    with torch.no_grad():
        operators, examples = operators_of(order, [example(spec, torch) for spec in order["inputs"]], torch)
        program = torch.export.export(operators, tuple(examples))
        torch._inductor.aoti_compile_and_package(program, package_path=order["package"], inductor_configs=configs)
    versions = {"PyTorch": torch.__version__, "Python": sys.version.split()[0]}
    if order["device"].startswith("cuda"):
        import triton

        versions["Triton"] = triton.__version__
    return versions


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        order = json.load(file)
    answer = {"missing": missing(order)}
    if not answer["missing"]:
        try:
            answer["versions"] = compile_package(order)
        except Exception as error:  # the last line of the log is what the user reads
            traceback.print_exc()
            said = [line.strip() for line in str(error).splitlines() if line.strip()]
            sys.exit(f"{type(error).__name__}: {said[0] if said else 'it gives no reason'}")
    with open(order["answer"], "w", encoding="utf-8") as file:
        json.dump(answer, file)


main()
