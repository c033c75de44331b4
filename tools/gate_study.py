#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How well the accuracy gate distinguishes right engines from wrong ones: nets of many kinds on every engine, right and wrong on purpose.

usage: VENV/bin/python tools/gate_study.py [--folder gate] [--paceline build/release/bin/paceline] [--only WORD] [--docs docs/benchmarks.md]

Each net of NETS has random weights and is written as an ONNX file and as a TorchScript file (VENV needs torch and onnx). Each is measured as it is,
and in copies that compute wrongly against the right file (--accuracy-reference): one layer with weights and inputs in fp16, in bf16, a channel that is
lost, a class that is lost, and scores beside boxes in pixels that are gone, swapped or 5 % off. On CPUs that have bf16 the right files and the first
two of these scores run in it, too; its errors are in 2^16 e. A false failure is a right run that fails; a false pass is a wrong one that passes,
however little its copy changes. A copy whose outputs are the right file's to the bit is counted apart, because labels often are. A run without a
verdict is an error, and counts as such. --docs writes the table between the marks of that page. The exit code is 1 where there is a false failure, a
false pass or an error.
"""
import argparse
import collections
import copy
import json
import os
import pathlib
import re
import subprocess
import sys
import warnings

sys.setdlopenflags(os.RTLD_LAZY)
import torch
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parent.parent
QUICK = ["--iterations", "3", "--repetitions", "1", "--warmup", "1", "--idle-wait-s", "0", "--no-measure-peak", "--allow-noisy", "--threads", "1", "--quiet",
         "--accuracy-samples", "16"]
ENGINES = {".onnx": ["onnxruntime", "openvino"], ".pt": ["eager", "torchscript"]}
MARKS = ("<!-- gate study: begin -->\n", "<!-- gate study: end -->\n")


class Residual(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return x + self.inner(x)


class Attention(nn.Module):
    """One block of a transformer, written out so that every exporter takes it."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.norm1, self.norm2 = heads, nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        n, t, w = x.shape
        q, k, v = self.qkv(self.norm1(x)).reshape(n, t, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        a = torch.softmax(q @ k.transpose(-1, -2) * (w // self.heads) ** -0.5, -1) @ v
        x = x + self.out(a.transpose(1, 2).reshape(n, t, w))
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm2(x))))


class Mean(nn.Module):
    def forward(self, x):
        return x.mean(1)


class Times(nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def forward(self, x):
        return x * self.factor


class LastOf(nn.Module):
    """The recurrent layer's output at the last place."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x)[0][:, -1]


class TwoHeads(nn.Module):
    """A detector's head: boxes and scores for each place of a grid."""

    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(conv(3, 16, stride=2), conv(16, 32, stride=2))
        self.boxes, self.scores = nn.Conv2d(32, 4, 1), nn.Conv2d(32, 10, 1)

    def forward(self, x):
        t = self.trunk(x)
        return self.boxes(t).flatten(2).transpose(1, 2), torch.sigmoid(self.scores(t)).flatten(2).transpose(1, 2)


class OneTable(TwoHeads):
    """A detector whose boxes in pixels and scores below 1 are columns of one output."""

    def forward(self, x):
        t = self.trunk(x)
        return torch.cat([640 * torch.sigmoid(self.boxes(t)), torch.sigmoid(self.scores(t) - 4)], 1).flatten(2).transpose(1, 2)


class Excite(nn.Module):
    """Squeeze and excite: channels are weighed by what the mean over all pixels says."""

    def __init__(self, width):
        super().__init__()
        self.down, self.up = nn.Conv2d(width, width // 4, 1), nn.Conv2d(width // 4, width, 1)

    def forward(self, x):
        return x * torch.sigmoid(self.up(torch.relu(self.down(x.mean((2, 3), keepdim=True)))))


class PixelMean(nn.Module):
    def forward(self, x):
        return x.mean((2, 3))


class Cancels(nn.Module):
    """A sum of a thousand values whose signs alternate."""

    def __init__(self):
        super().__init__()
        self.signs = nn.Parameter(torch.tensor([1.0, -1.0]).repeat(512) * torch.rand(16, 1024))

    def forward(self, x):
        return (x[:, None, :].abs() * self.signs).sum(2)


class ThereAndBack(nn.Module):
    def forward(self, x):
        return (x + 1e4) - 1e4


class Decoder(nn.Module):
    """Tokens in, scores of the next token out."""

    def __init__(self):
        super().__init__()
        self.table, self.blocks = nn.Embedding(50, 64), nn.Sequential(Attention(64, 4), Attention(64, 4))
        self.head = nn.Linear(64, 50)

    def forward(self, x):
        return self.head(self.blocks(self.table(x)))


class Label(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x).argmax(1)


def perceptron():
    return nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))


def conv(i, o, norm=True, **options):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1, **options), nn.BatchNorm2d(o) if norm else nn.Identity(), nn.ReLU())


def head(width, classes=10):
    return nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, classes))


def zero_head():
    net = nn.Sequential(conv(3, 16), conv(16, 32), head(32))
    nn.init.zeros_(net[-1][-1].weight)
    return net


def wide_range():
    """Activations from 1e-6 to 1e6 side by side."""
    net = nn.Sequential(nn.Linear(64, 64), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 16))
    with torch.no_grad():
        net[0].weight *= torch.logspace(-6, 6, 64)[:, None]
    return net


# name: the net, the shape of an input, what it is
NETS = {
    "plain convolutions": (lambda: nn.Sequential(conv(3, 16, False), conv(16, 32, False), conv(32, 32, False), head(32)), (3, 32, 32)),
    "convolutions with batch norm": (lambda: nn.Sequential(conv(3, 16), Residual(conv(16, 16)), Residual(conv(16, 16)), head(16)), (3, 32, 32)),
    "deep residual": (lambda: nn.Sequential(conv(3, 16), *[Residual(conv(16, 16)) for _ in range(16)], head(16)), (3, 16, 16)),
    "depthwise": (lambda: nn.Sequential(conv(3, 32), conv(32, 32, groups=32), nn.Conv2d(32, 64, 1), nn.Hardswish(), conv(64, 64, groups=64), head(64)), (3, 32, 32)),
    "transformer": (lambda: nn.Sequential(*[Attention(64, 4) for _ in range(4)], nn.LayerNorm(64), Mean(), nn.Linear(64, 10)), (16, 64)),
    "recurrent (LSTM)": (lambda: nn.Sequential(LastOf(nn.LSTM(32, 64, batch_first=True)), nn.Linear(64, 10)), (12, 32)),
    "detector head": (TwoHeads, (3, 32, 32)),
    "segmentation map": (lambda: nn.Sequential(conv(3, 16), conv(16, 32, stride=2), conv(32, 16), nn.Upsample(scale_factor=2.0, mode="nearest"), nn.Conv2d(16, 5, 1), nn.Sigmoid()),
                         (3, 32, 32)),
    "embedding": (lambda: nn.Sequential(*[Attention(64, 4) for _ in range(2)], Mean(), nn.Linear(64, 32), nn.Tanh()), (16, 64)),
    "outputs of 1e-10": (lambda: nn.Sequential(conv(3, 16), conv(16, 32), head(32), Times(1e-10)), (3, 32, 32)),
    "zero head": (zero_head, (3, 32, 32)),
    "wide dynamic range": (wide_range, (64,)),
    "perceptron": (perceptron, (64,)),
    "boxes and scores in one table": (OneTable, (3, 64, 64)),
    "mean over 224 x 224": (lambda: nn.Sequential(conv(3, 8), PixelMean()), (3, 224, 224)),
    "squeeze and excite over 112 x 112": (lambda: nn.Sequential(conv(3, 16, stride=2), Excite(16), conv(16, 16, stride=2), Excite(16), head(16)), (3, 224, 224)),
    "a sum that cancels": (lambda: nn.Sequential(nn.Linear(64, 1024), Cancels()), (64,)),
    "(y + 1e4) - 1e4": (lambda: nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 16), ThereAndBack()), (64,)),
    "decoder (integers in)": (Decoder, (12,)),
    "labels (integers out)": (lambda: Label(perceptron()), (64,)),
    "float64": (lambda: perceptron().double(), (64,)),
}
DTYPES = {"decoder (integers in)": torch.int64, "float64": torch.float64}


class InLess(nn.Module):
    """A layer with rounded weights and inputs."""

    def __init__(self, layer, dtype):
        super().__init__()
        self.layer, self.dtype = copy.deepcopy(layer), dtype
        with torch.no_grad():
            for p in self.layer.parameters():
                p.copy_(p.to(dtype).to(p.dtype))

    def forward(self, x):
        return self.layer(x.to(self.dtype).type_as(x))


def middle_layer(net):
    """The name of the middle one of the layers that multiply."""
    names = [n for n, m in net.named_modules() if isinstance(m, (nn.Conv2d, nn.Linear))]
    return names[len(names) // 2]


def replaced(net, name, make):
    net = copy.deepcopy(net)
    parent, _, own = name.rpartition(".")
    setattr(net.get_submodule(parent), own, make(net.get_submodule(name)))
    return net


def without_channel(layer, channel=0):
    layer = copy.deepcopy(layer)
    with torch.no_grad():
        layer.weight[channel] = 0
        if layer.bias is not None:
            layer.bias[channel] = 0
    return layer


def without_channels(layer):
    with torch.no_grad():
        layer.weight.zero_()
        layer.bias.fill_(-30)
    return layer


def last_layer(net):
    return [n for n, m in net.named_modules() if isinstance(m, (nn.Conv2d, nn.Linear))][-1]


def lost_class(layer):
    layer = copy.deepcopy(layer)
    with torch.no_grad():
        layer.bias[0] -= 10 * layer.weight.abs().sum(1).max() + 1
    return layer


def scores(change):
    """Changes the layer whose ten outputs are scores; nets without one have no such copy."""
    def spoil(net):
        name = next((n for n, m in net.named_modules() if n.rpartition(".")[2] == "scores"), None)
        return name and replaced(net, name, lambda layer: change(copy.deepcopy(layer)))
    return spoil


def swapped(layer):
    order = [1, 0, *range(2, len(layer.weight))]
    with torch.no_grad():
        layer.weight.copy_(layer.weight[order])
        layer.bias.copy_(layer.bias[order])
    return layer


def one_column_off(layer):
    with torch.no_grad():
        layer.bias[3] += 0.05
    return layer


SEEDS = {
    "one layer in fp16": lambda net: replaced(net, middle_layer(net), lambda m: InLess(m, torch.float16)),
    "one layer in bf16": lambda net: replaced(net, middle_layer(net), lambda m: InLess(m, torch.bfloat16)),
    "a lost channel": lambda net: replaced(net, middle_layer(net), without_channel),
    "a lost class": lambda net: replaced(net, last_layer(net), lost_class),
    "no scores": scores(lambda layer: without_channels(layer)),
    "two classes swapped": scores(swapped),
    "one class 5 % off": scores(one_column_off),
}
BF16_UNITS = 2**16  # of e: what rounding to bfloat16 may cost
IN_BF16 = ("no scores", "two classes swapped")  # found in eager's bf16, too


def example(shape, dtype, count=2):
    return torch.randint(0, 50, (count, *shape)) if dtype == torch.int64 else torch.randn(count, *shape, dtype=dtype)


def write(net, shape, file, dtype):
    x = example(shape, dtype)
    if file.suffix == ".pt":
        torch.jit.trace(net, x).save(str(file))
    else:
        torch.onnx.export(net, (x,), str(file), dynamo=False, opset_version=17, do_constant_folding=False, training=torch.onnx.TrainingMode.PRESERVE,
                          input_names=["x"], output_names=["y", "z"] if isinstance(net(x), tuple) else ["y"],
                          dynamic_axes={"x": {0: "N"}, "y": {0: "N"}})


def trained_statistics(net, shape, dtype):
    """Batch norms of a fresh net do nothing; a few random batches give them something to do."""
    net.train()
    with torch.no_grad():
        for _ in range(3):
            net(example(shape, dtype, 16))
    return net.eval()


def measure(paceline, engine, file, reference, shape, folder, dtype, precision="fp32"):
    kind = {torch.int64: ":int64", torch.float64: ":float64"}.get(dtype, "")
    arguments = [paceline, "infer", "--engine", engine, "--model", file, "--shapes", "x:{batch}x" + "x".join(map(str, shape)) + kind, "-o", folder, *QUICK]
    if dtype != torch.float64 or precision != "fp32":  # such a file runs in float64
        arguments += ["--precision", precision]
    if reference:
        arguments += ["--accuracy-reference", reference]
    done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True)
    runs = sorted(folder.glob("*/*/run_summary.json"))
    if not runs:
        return "error", done.stderr[-500:], {}
    case = json.loads(runs[-1].read_text())["cases"][0]
    c = case["correctness"]
    if case["outcome"] == "skipped" and precision != "fp32":
        return "skipped", case["reason"], c
    if case["outcome"] != "ok":
        return "failed" if case["reason_code"] == "accuracy" else "error", case["reason"], c
    if c["verdict"] not in ("passed", "cannot_say"):
        return "error", f"the case is ok, and the verdict is '{c['verdict']}'", c
    return c["verdict"], "", c


def errors_in_units(c):
    found = [o["error_ulps"]["value"] if isinstance(o.get("error_ulps"), dict) else o.get("error_ulps") for o in c.get("outputs", [])]
    found = [f for f in found if f is not None]
    return max(found, default=None)


def study(paceline, folder, only):
    rows, wrong = [], []
    for name, (make, shape) in NETS.items():
        if only and only not in name:
            continue
        torch.manual_seed(1)
        dtype = DTYPES.get(name, torch.float32)
        net = trained_statistics(make(), shape, dtype)
        for suffix, engines in ENGINES.items():
            right = folder / (re.sub(r"\W+", "_", name) + suffix)
            write(net, shape, right, dtype)
            files = {"right": right}
            for seed, spoil in SEEDS.items():
                wrong_net = spoil(net)
                if wrong_net is None:
                    continue
                files[seed] = right.with_name(f"{right.stem}-{re.sub(r'[^a-z0-9]+', '_', seed)}{suffix}")
                write(wrong_net.eval(), shape, files[seed], dtype)
            for engine, precision in [(engine, "fp32") for engine in engines] + [("eager", "bf16")] * ("eager" in engines):
                row = {"net": name, "engine": engine if precision == "fp32" else f"{engine} {precision}"}
                for what, file in files.items():
                    if precision == "bf16" and what != "right" and what not in IN_BF16:
                        continue
                    out = folder / f"{file.stem}-{engine}-{precision}"
                    verdict, reason, c = measure(paceline, engine, file, None if what == "right" else right, shape, out, dtype, precision)
                    if verdict == "skipped":  # a CPU without that precision
                        break
                    if what != "right" and verdict == "passed" and all(o.get("max_abs_err") == 0 for o in c["outputs"]):
                        verdict = "same"  # the change makes no label another
                    row[what] = (verdict, errors_in_units(c))
                    bad = verdict == "error" or (verdict == "failed" if what == "right" else verdict == "passed")
                    if bad:
                        wrong.append(f"{name}, {engine}, {what}: {verdict}: {reason}")
                if "right" not in row:
                    continue
                rows.append(row)
                print(row, flush=True)
    return rows, wrong


def in_words(found, error):
    counted = collections.Counter(verdict.replace("_", " ") for verdict, _ in found)
    return ", ".join(f"{n} {verdict}" for verdict, n in counted.most_common()) + ("" if error is None else f" ({error:.2g})")


def cells_of(rows, limit=1):
    """Verdicts of the right files with their largest error in e, and of the wrong ones with the smallest of a failed one."""
    right = [row["right"] for row in rows]
    wrong = [row[seed] for row in rows for seed in SEEDS if seed in row]
    errors = [error / limit for _, error in right if error is not None]
    failed = [error / limit for verdict, error in wrong if verdict == "failed" and error is not None]
    return [in_words(right, max(errors, default=None)), in_words(wrong, min(failed, default=None))]


def table(rows):
    """A row per net, over its engines."""
    kinds = ["right", *SEEDS]
    lines = ["| net | right (largest error) | wrong on purpose (smallest error that failed) | bf16: right | wrong |", "|---|---|---|---|---|"]
    for net in dict.fromkeys(row["net"] for row in rows):
        of_net = [row for row in rows if row["net"] == net]
        bf16 = [row for row in of_net if row["engine"].endswith("bf16")]
        cells = cells_of([row for row in of_net if row not in bf16]) + cells_of(bf16, BF16_UNITS)
        lines.append(f"| {net} | {' | '.join(cells)} |")
    counts = collections.Counter(("right" if kind == "right" else "wrong", row[kind][0]) for row in rows for kind in kinds if kind in row)
    errors = counts["right", "error"] + counts["wrong", "error"]
    lines += ["", f"Right: {counts['right', 'passed']} passed, {counts['right', 'failed']} failed (false failures), {counts['right', 'cannot_say']} cannot say. "
              f"Wrong on purpose: {counts['wrong', 'failed']} failed, {counts['wrong', 'passed']} passed (false passes), {counts['wrong', 'cannot_say']} cannot say, {counts['wrong', 'same']} have the right outputs."
              + (f" Errors: {errors} runs have no verdict." if errors else "")]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("gate"))
    parser.add_argument("--paceline", default=str(ROOT / "build/release/bin/paceline"))
    parser.add_argument("--only", default="")
    parser.add_argument("--docs", type=pathlib.Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    options.folder.mkdir(parents=True, exist_ok=True)
    rows, wrong = study(options.paceline, options.folder.resolve(), options.only)
    text = table(rows)
    print(text)
    if options.docs:
        page = options.docs.read_text()
        before, rest = page.split(MARKS[0])
        options.docs.write_text(before + MARKS[0] + text + MARKS[1] + rest.split(MARKS[1])[1])
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
