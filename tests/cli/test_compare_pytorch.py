# SPDX-License-Identifier: MIT
"""tools/compare_pytorch.py: its command line, what both sides are told, and what Python does on a device.

No machine that runs this has a GPU: Device looks at the calls that tools/pytorch_side.py makes, on a torch that only writes them down.
tests/cli/test_gpu_day.py runs the comparison on the CPU with PyTorch itself.
"""

import json
import subprocess
import sys
import types
import unittest
from pathlib import Path
from unittest import mock

import paceline_cli as cli

TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))

import compare_pytorch  # noqa: E402
import pytorch_side  # noqa: E402

BOTH = {"model": "tiny_cnn", "engine": "eager", "precision": "fp32", "device": "cuda:0", "layout": "contiguous", "batch": 2, "threads": 1, "warmup": 1,
        "iterations": 2, "io": "device", "cudnn_benchmark": False}
SYNCHRONISED = ["cuda.current_stream", "current_stream.synchronize"]


class CommandLine(unittest.TestCase):
    def refused(self, *arguments):
        done = subprocess.run([sys.executable, TOOLS / "compare_pytorch.py", *arguments], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2, done)
        return done.stderr

    def test_what_does_not_go_is_named(self):
        self.assertIn("--python is needed", self.refused())
        self.assertIn("'gpu' is none of cpu, cuda", self.refused("--python", "p", "--device", "gpu"))
        self.assertIn("'fp64' is none of fp32, tf32", self.refused("--python", "p", "--precisions", "fp32,fp64"))
        self.assertIn("add --device cuda", self.refused("--python", "p", "--io", "pinned"))
        self.assertIn("add --device cuda", self.refused("--python", "p", "--cudnn-benchmark"))

    def told(self, *arguments):
        """{side: command} of one row's first pair."""
        with mock.patch.object(sys, "argv", ["compare_pytorch.py", "--python", "p", "--models", "tiny_cnn", "--engines", "eager", "--batches", "4",
                                             "--pairs", "6", *arguments]):
            args = compare_pytorch.parse()
        row, = compare_pytorch.rows_of(args)
        case = {"headline": {"p50_ns": {"value": 5}}, "overhead": {"overhead_fraction": 0}}
        said = {"p": "[4, 6]\n", args.paceline: json.dumps({"cases": [case]})}
        commands = {}

        def run(command, **_):
            commands["Python" if command[0] == "p" else "paceline"] = command
            return types.SimpleNamespace(returncode=0, stdout=said[command[0]], stderr="")
        with mock.patch.object(subprocess, "run", run), mock.patch.object(sys, "stderr"):
            self.assertEqual(compare_pytorch.compare(args, row)["ratio"], 1)
        return commands

    def test_both_sides_get_the_same(self):
        commands = self.told("--device", "cuda:1", "--precisions", "tf32", "--io", "pinned", "--layout", "channels_last", "--cudnn-benchmark")
        for side, words in commands.items():
            for word in ("--model=tiny_cnn", "--engine=eager", "--precision=tf32", "--batch=4", "--device=cuda:1", "--io=pinned",
                         "--layout=channels_last", "--warmup=5", "--iterations=20"):
                self.assertIn(word, words, side)
        self.assertIn("--cudnn-benchmark", commands["Python"])
        self.assertEqual(commands["paceline"][-2:], ["--cuda.cudnn_benchmark", "true"])

    def test_the_cpu_gets_no_devices(self):
        commands = self.told()
        for side, words in commands.items():
            self.assertIn("--device=cpu", words, side)
            self.assertFalse([w for w in words if w.startswith(("--io", "--cud"))], side)


class Recorded:
    """Notes each call by its name; what is read of it, or returned by it, does the same."""

    def __init__(self, calls, name=""):
        self.__dict__.update(calls=calls, name=name)

    def __getattr__(self, name):
        return Recorded(self.calls, f"{self.name}.{name}".removeprefix("."))

    def __setattr__(self, name, value):
        self.calls.append((f"{self.name}.{name}", value))

    def __call__(self, *arguments, **named):
        self.calls.append((self.name, named))
        return Recorded(self.calls, self.name.rsplit(".", 1)[-1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.calls.append((f"end of {self.name}", None))


class Device(unittest.TestCase):
    def calls(self, **changed):
        """The calls of a whole measurement."""
        calls = []
        torch = Recorded(calls)
        models = types.SimpleNamespace(MODELS={"tiny_cnn": Recorded(calls, "Model")}, SIDES={"tiny_cnn": 32})
        with mock.patch.dict(sys.modules, pytorch_models=models):
            options = types.SimpleNamespace(**{**BOTH, **changed})
            pytorch_side.set_switches(torch, options)
            self.assertEqual(len(pytorch_side.measure(torch, options)), options.iterations)
        return calls

    def names(self, calls):
        return [name for name, _ in calls]

    def test_tf32_and_cudnns_benchmark_are_set_whatever_they_are(self):
        for precision, tf32 in (("fp32", False), ("tf32", True), ("bf16", False), ("amp_fp16", False)):
            calls = dict(self.calls(precision=precision, cudnn_benchmark=tf32))
            self.assertEqual(calls["backends.cuda.matmul.allow_tf32"], tf32, precision)
            self.assertEqual(calls["backends.cudnn.allow_tf32"], tf32, precision)
            self.assertEqual(calls["backends.cudnn.benchmark"], tf32, precision)

    def last_iteration(self, calls):
        """Names after the synchronisation of the iteration before."""
        names = self.names(calls)
        ends = [i for i, name in enumerate(names) if name.endswith("synchronize")]
        return names[ends[-2] + 1:ends[-1] + 1]

    def test_an_iteration_ends_when_the_outputs_are_on_the_host(self):
        self.assertEqual(self.last_iteration(self.calls()), ["to", "empty.copy_", *SYNCHRONISED])

    def test_what_io_names_is_copied_in_every_iteration(self):
        for io, copies, pinned in (("device", ["to", "empty.copy_"], True), ("pinned", ["to.copy_", "to", "empty.copy_"], True),
                                   ("pageable", ["to.copy_", "to", "empty.copy_"], False), ("none", ["to"], True)):
            calls = self.calls(io=io)
            self.assertEqual(self.last_iteration(calls), [*copies, *SYNCHRONISED], io)
            self.assertEqual({named["non_blocking"] for name, named in calls if name.endswith("copy_")}, {pinned} if io != "none" else set(), io)
            self.assertEqual("cpu.pin_memory" in self.names(calls), io == "pinned", io)
            self.assertEqual(dict(calls)["empty"]["pin_memory"], pinned, io)

    def test_autocast_stands_around_each_forward_and_around_a_trace(self):
        self.assertEqual(self.last_iteration(self.calls(precision="amp_fp16"))[:3], ["device", "autocast", "to"])
        calls = self.calls(precision="amp_fp16", engine="torchscript")
        traced = self.names(calls)
        self.assertEqual([named for name, named in calls if name == "autocast"], [{"cache_enabled": False}])
        self.assertLess(traced.index("autocast"), traced.index("jit.trace"))
        self.assertNotIn("autocast", self.names(self.calls(precision="bf16")))

    def test_the_default_stream_is_waited_for_before_our_own_begins(self):
        names = self.names(self.calls())
        self.assertLess(names.index("cuda.synchronize"), names.index("cuda.stream"))
        self.assertLess(names.index("inference_mode"), names.index("empty"))


if __name__ == "__main__":
    cli.main()
