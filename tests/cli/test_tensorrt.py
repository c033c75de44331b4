# SPDX-License-Identifier: MIT
"""paceline build --engine tensorrt with the real libraries, where there are headers and libraries: TENSORRT_ROOT says where. TensorRT
itself builds on a machine with a GPU only; TensorRT-RTX needs none. Without them the test double of tests/plugin/tensorrt has run."""

import json
import os
import unittest
from pathlib import Path

import onnx_files as onnx
import paceline_cli as cli

BATCHES = ("--min-shapes", "input:1x3x224x224", "--opt-shapes", "input:8x3x224x224", "--max-shapes", "input:32x3x224x224")


class WithTensorRt(cli.CliTest):
    """Skipped, with the tool's own reason, where nothing can be built."""

    def setUp(self):
        super().setUp()
        self.write("probe.onnx", "").write_bytes(onnx.linear())
        done = self.plan("probe.onnx", "--out", "probe.plan")
        if done.code == 77:
            self.skipTest("only the test double ran: " + done.err.strip().splitlines()[-1])
        self.assert_code(done, 0)

    def plan(self, model, *arguments, timeout=600):
        return self.run_cli("build", "--model", model, "--engine", "tensorrt", *arguments, timeout=timeout)

    def refused(self, model, *arguments, code, words):
        done = self.plan(model, "--out", "m.plan", *arguments)
        self.assert_code(done, code)
        for word in words:
            self.assertIn(word, done.err)
        self.assertFalse((self.folder / "m.plan").exists(), "a file was left")


class ResNet50(WithTensorRt):
    def built(self, precision, *arguments):
        done = self.plan("resnet50", "--precision", precision, "--out", "m.plan", "--json", *BATCHES, *arguments)
        if done.code == 77 and "to calibrate with" in done.err:
            self.skipTest(done.err.strip())
        self.assert_code(done, 0)
        said = json.loads(done.out)
        print(f"{said['versions']}: resnet50 {precision} built in {said['duration_ns'] / 1e9:.1f} s, {said['size_bytes']} bytes, "
              f"{said['settings']['layer_types']}")
        self.assertEqual(said["size_bytes"], (self.folder / "m.plan").stat().st_size)
        self.assertEqual(said["shapes"], "input:1x3x224x224…32x3x224x224 (tuned for 8x3x224x224)")
        self.assertEqual(said["settings"]["tf32"], "on" if precision == "tf32" else "off")
        self.assertNotEqual((self.folder / "m.plan.log").read_text(), "")
        self.assertEqual(sorted(p.name for p in self.folder.glob("m.*")), ["m.plan", "m.plan.log"])
        return said

    def test_fp32(self):
        self.assertNotIn("float16", self.built("fp32")["settings"]["layer_types"])

    def test_fp16(self):
        said = self.built("fp16")
        self.assertIn("float16", said["settings"]["layer_types"])
        self.assertLess(said["size_bytes"], 70e6)  # 25.6 million weights of two bytes, not of four

    def test_int8(self):
        said = self.built("int8", "--quantisation.samples", "4")
        self.assertIn("int8", said["settings"]["layer_types"])
        self.assertEqual(said["quantisation"]["activations"], "int8")


class Options(WithTensorRt):
    def test_settings_are_read_back(self):
        done = self.plan("tiny_cnn", "--saveEngine", "m.engine", "--memPoolSize", "workspace:512M", "--timingCacheFile", "times",
                         "--minShapes", "input:1x3x32x32", "--optShapes", "input:4x3x32x32", "--maxShapes", "input:8x3x32x32", "--json")
        self.assert_code(done, 0)
        said = json.loads(done.out)
        self.assertEqual(said["settings"]["workspace_limit_bytes"], str(512 << 20))
        self.assertEqual(said["settings"]["profiling_verbosity"], "detailed")
        self.assertTrue((self.folder / "m.engine").exists())

    def test_tf32_from_a_config_file(self):
        self.write("engine.json", json.dumps({"model": "tiny_cnn", "engine": "tensorrt", "precision": "tf32", "output": "m.plan",
                                              "workspace": "1GiB", "opt_shapes": {"input": [2, 3, 32, 32]}}))
        done = self.run_cli("build", "--config", "engine.json", "--json")
        self.assert_code(done, 0)
        settings = json.loads(done.out)["settings"]
        self.assertEqual((settings["tf32"], settings["workspace_limit_bytes"]), ("on", str(1 << 30)))

    def test_several_profiles(self):
        done = self.plan("tiny_cnn", "--out", "m.plan", "--opt-shapes", "input:1x3x32x32;input:8x3x32x32", "--json")
        self.assert_code(done, 0)
        self.assertEqual(json.loads(done.out)["settings"]["profiles"], "2")

    def test_several_builds(self):
        done = self.plan("tiny_cnn", "--out", "m.plan", "--builds", "2", "--json")
        self.assert_code(done, 0)
        self.assertEqual([build["file"].rsplit("/", 1)[-1] for build in json.loads(done.out)], ["m.plan", "m.build2.plan"])
        self.assertTrue((self.folder / "m.build2.plan").exists())

    def test_a_library_that_is_not_tensorrt_says_so(self):
        done = self.plan("tiny_cnn", "--out", "m.plan", "--json")
        said = json.loads(done.out)
        if "TensorRT-RTX" in said["versions"]:
            self.assertNotIn("TensorRT", said["versions"])
            self.assertIn("which is not TensorRT", " ".join(said["notes"]))
        else:
            self.assertIn("TensorRT", said["versions"])


class Refusals(WithTensorRt):
    def test_files_that_are_no_model(self):
        whole = onnx.linear()
        for name, content in (("empty", b""), ("text", b"no model\n"), ("cut", whole[:len(whole) // 2])):
            with self.subTest(name):
                (self.folder / "m.onnx").write_bytes(content)
                self.refused("m.onnx", code=2, words=["m.onnx"])

    def test_an_operator_that_it_does_not_have(self):
        (self.folder / "m.onnx").write_bytes(onnx.model([onnx.node("Frobnicate", ["x"], ["y"])]))
        self.refused("m.onnx", code=77, words=["operator Frobnicate (node 'frobnicate')", "export the model without it"])

    def test_options_that_do_not_go(self):
        self.refused("tiny_cnn", "--dla", "0", code=77, words=["no DLA here"])
        self.refused("tiny_cnn", "--device", "cuda:99", code=77, words=["driver"])
        self.refused("tiny_cnn", "--precision", "bf16", code=77, words=["no precision 'bf16'"])
        self.write("times", "no times")
        self.refused("tiny_cnn", "--timing-cache", "times", code=2, words=["timing cache", "delete it"])


class Plans(WithTensorRt):
    def run_plan(self, batch):
        return self.run_cli("infer", "--engine", "probe.plan", "--shapes", "x:{batch}x4", "--batch", batch, "--iterations", 3,
                            "--output-dir", f"batch{batch}", *cli.QUICK)

    def test_a_plan_runs_with_tensorrt_only(self):
        """Built for a batch of 1. What is built here runs where this is TensorRT itself, which needs a GPU to build."""
        done = self.run_plan(1)
        if "here is TensorRT-RTX" in done.out:
            return self.assert_code(done, 77)
        self.assert_code(done, 0)
        done = self.run_plan(2)
        self.assert_code(done, 2)
        self.assertIn("expects input 'x' float32 [1,4]", done.out + done.err)


@unittest.skipUnless(os.environ.get("PACELINE_TENSORRT_DOUBLE"), "the double of TensorRT is not built")
class OnTheDouble(cli.CliTest):
    """Plans run by the test double of TensorRT and of the driver (tests/plugin/tensorrt)."""

    def setUp(self):
        super().setUp()
        root = Path(os.environ["PACELINE_TENSORRT_DOUBLE"])
        self.env.update(TENSORRT_ROOT=str(root), LD_LIBRARY_PATH=str(root / "lib"))
        self.plugin, = root.glob("libpaceline_tensorrt_double_*.so")
        lines = 'input x float -1 4\nlayer relu float\noutput y float\ninspector {"Layers": [{"Name": "relu"}]}\nprofile 0 x min 1 4 opt 5 4 max 8 4\nstrongly_typed 1\n'
        version = int(root.name.rsplit("_", 1)[1])
        (self.folder / "m.plan").write_bytes(b"ftrt" + bytes(20) + bytes((version, 0, 0, 0)) + lines.encode())

    def run_plan(self, *arguments):
        return self.run_cli("infer", "--engine", "m.plan", "--plugin", self.plugin, "--iterations", 3, *arguments, *cli.QUICK)

    def test_a_plan_needs_no_shapes(self):
        self.assert_code(self.run_plan(), 0)
        case, = self.summary()["cases"]
        self.assertEqual((case["outcome"], case["benchmark"]["batch_per_rank"]), ("ok", 5))

    def test_the_batch_is_another_one_of_its_profile(self):
        self.assert_code(self.run_plan("--batch", 8, "--shapes", "x:{batch}x4"), 0)
        self.assertEqual(self.summary()["cases"][0]["benchmark"]["batch_per_rank"], 8)

    def test_shapes_that_are_given_count(self):
        self.assert_code(self.run_plan("--shapes", "x:2x4"), 0)
        self.assertEqual(self.summary()["cases"][0]["benchmark"]["batch_per_rank"], 2)

    def test_two_devices_share_a_queue(self):
        """The double of the driver has two, and refuses what belongs to the other one's context."""
        def run(*arguments, below, codes=(0,)):
            out = self.on_a_shown_gpu("infer", "--engine", "m.plan", "--plugin", self.plugin, "--iterations", 40, "--repetitions", 1, *arguments, *cli.QUICK,
                                      "--output-dir", below, codes=codes)
            return self.summary(self.only_run(below))["cases"], out

        if len(os.sched_getaffinity(0)) > 1:
            (one, two), _ = run("--gpus", "1,2", "--devices", "1,0", below="two")
            self.assertEqual([c["outcome"] for c in (one, two)], ["ok", "ok"], two["reason"])
            self.assertEqual(one["load"][0]["instances"], [])
            self.assertEqual(sum(i["completed"] for i in two["load"][0]["instances"]), 40)
        (lost,), _ = run("--devices", "5", below="lost", codes=(77,))
        self.assertEqual(lost["reason"], "there is no device cuda:5; the driver shows 2")

    def test_a_file_that_is_no_plan(self):
        self.write("m.plan", "no plan\n" * 9)
        done = self.run_plan()
        self.assert_code(done, 2)
        self.assertIn("no plan of TensorRT", done.out + done.err)


class Absent(cli.CliTest):
    """Messages of a machine without TensorRT; also where the plug-in is not built."""

    def test_build_and_run(self):
        self.write("m.plan", "no plan")
        for command in (["build", "--model", "tiny_cnn", "--engine", "tensorrt", "--out", "x.plan"],
                        ["infer", "--model", "m.plan", "--shapes", "x:1x4", *cli.QUICK]):
            with self.subTest(command[0]):
                done = self.run_cli(*command, env={"TENSORRT_ROOT": str(self.folder)})
                self.assert_code(done, 77)
                self.assertRegex(done.out + done.err, "tensorrt plug-in, which is not built|no library of TensorRT|NVIDIA")
                self.assertFalse((self.folder / "x.plan").exists())

    def test_validate_has_a_row(self):
        self.assertRegex(self.run_cli("validate", env={"TENSORRT_ROOT": str(self.folder)}).out, "plug-in tensorrt +")


if __name__ == "__main__":
    cli.main()
