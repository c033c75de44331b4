# SPDX-License-Identifier: MIT
"""examples/engine_config.json is what `paceline build --config` takes, and fits the schema that the tool prints."""

import json
import unittest
from pathlib import Path

import paceline_cli as cli

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/engine_config.json"


class Example(cli.CliTest):
    def test_it_holds_what_an_engine_needs(self):
        config = json.loads(EXAMPLE.read_text())
        for key in ("precision", "min_shapes", "opt_shapes", "max_shapes", "workspace", "dla", "timing_cache", "calib_cache", "calib_images"):
            self.assertIn(key, config)

    def test_it_fits_the_schema(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("no jsonschema here")
        schema = json.loads(self.run_cli("schema", "engine-config").out)
        jsonschema.validate(json.loads(EXAMPLE.read_text()), schema)
        with self.assertRaises(jsonschema.ValidationError):
            jsonschema.validate({"precision": "fp17"}, schema)

    def test_the_tool_reads_it(self):
        """Where TensorRT is missing that is all it says: no word about a key or a value."""
        done = self.run_cli("build", "--config", EXAMPLE, env={"TENSORRT_ROOT": str(self.folder)})
        self.assert_code(done, 77)
        self.assertRegex(done.err, "tensorrt plug-in, which is not built|no library of TensorRT|NVIDIA")
        self.assertNotIn(str(EXAMPLE), done.err)

    def test_mistakes_in_it_are_named(self):
        for key, value, words in (("precision", "fp17", "'precision': precision 'fp17'"), ("workspase", "4GiB", "did you mean 'workspace'?"),
                                  ("input_nam", "x", "did you mean 'input_name'?")):
            file = self.write("engine.json", json.dumps({**json.loads(EXAMPLE.read_text()), key: value}))
            self.assert_error(self.run_cli("build", "--config", file), 2, "engine.json", words)

    def test_words_of_other_tools(self):
        """Words of other tools get the same answers."""
        file = self.write("theirs.json", json.dumps({
            "onnx_path": "resnet50", "engine": "tensorrt", "engine_path": "m.plan", "fp16": True, "int8": False, "workspace_mb": 4096,
            "dla_core": -1, "calibration": {"cache": None}, "shapes": {"input": {"min": [1, 3, 224, 224], "opt": [8, 3, 224, 224], "max": [32, 3, 224, 224]}}}))
        done = self.run_cli("build", "--config", file, env={"TENSORRT_ROOT": str(self.folder)})
        self.assert_code(done, 77)
        self.assertNotIn("theirs.json", done.err)

    def test_shapes_without_a_name_and_a_calibration_cache(self):
        for more in ({}, {"input_name": "input"}):
            file = self.write("theirs.json", json.dumps({
                "onnx_path": "resnet50", "engine": "tensorrt", "engine_path": "m.plan", "precision": "int8", "workspace_mb": 4096, "int8_calib_cache": "c.cache",
                "min_shape": [1, 3, 224, 224], "opt_shape": [8, 3, 224, 224], "max_shape": [32, 3, 224, 224], **more}))
            done = self.run_cli("build", "--config", file, env={"TENSORRT_ROOT": str(self.folder)})
            self.assert_code(done, 77)
            self.assertNotIn("theirs.json", done.err)

    def build(self, config, *arguments):
        file = self.write("theirs.json", json.dumps(config))
        return self.run_cli("build", "--config", file, *arguments, env={"TENSORRT_ROOT": str(self.folder)})

    def test_an_output_names_its_engine(self):
        for flag in ("--out=m.plan", "--saveEngine=m.engine"):
            done = self.run_cli("build", "--model", "resnet50", flag.replace("=", " ").split()[0], flag.split("=")[1], env={"TENSORRT_ROOT": str(self.folder)})
            self.assert_code(done, 77)
            self.assertNotIn("openvino", done.err, flag)

    def test_switches_lists_and_paths_of_older_files(self):
        sizes = {"min": [1, 3, 224, 224], "opt": [8, 3, 224, 224], "max": [16, 3, 224, 224]}
        for keys in ({"use_dla": True, "dla_core": 1}, {"use_dla": True}, {"enable_dla": False, "dla_core": 0}, {"dla": {"enabled": True, "core": 1}},
                     {"dla": {"enabled": False}, "allow_gpu_fallback": True}, {"int8_calibration_cache_path": "c.cache"}, {"timing_cache_path": "t.cache"},
                     {"profiles": [{"name": "input", **sizes}], "max_batch_size": 16}, {"optimization_profiles": [{"input": sizes}]},
                     {"max_shape": [16, 3, 224, 224], "opt_shape": [8, 3, 224, 224], "max_batch_size": 16}):
            done = self.build({"model": "resnet50", "engine": "m.plan", **keys})
            self.assert_code(done, 77)
            self.assertNotIn("theirs.json", done.err, keys)

    def test_what_an_engine_does_not_have_is_answered(self):
        self.assert_error(self.build({"model": "resnet50", "engine": "m.plan", "max_batch_size": 64}), 2, "'max_batch_size': 64", '"max_shapes"', '"batch": 64')
        self.assert_error(self.build({"model": "resnet50", "engine": "m.plan", "gpu_fallback": False}), 2, "'gpu_fallback'", "leave it out")
        self.assert_error(self.build({"model": "resnet50", "engine": "m.plan", "dla": {"kore": 1}}), 2, "'dla'")

    def test_flags_of_trtexec(self):
        built = ["build", "--engine", "tensorrt", "--onnx", "resnet50", "--saveEngine=m.plan", "--memPoolSize=workspace:4096", "--allowGPUFallback", "--skipInference"]
        for flag in ("--fp16", "--int8", "--bf16", "--noTF32"):
            self.assert_code(self.run_cli(*built, flag, env={"TENSORRT_ROOT": str(self.folder)}), 77)
        self.assert_error(self.run_cli(*built, "--best"), 2, "--best: unknown option (trtexec); here: --precision int8 or --precision fp16: a file has one precision")
        self.assert_error(self.run_cli(*built, "--fp16", "--int8"), 2, "--int8: 'precision' was given before (--fp16); keep one")
        self.assert_error(self.run_cli(*built, "--memPoolSize=workspace:0.5"), 2, "workspace", "at least 1048576")


if __name__ == "__main__":
    cli.main()
