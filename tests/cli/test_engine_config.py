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
                                  ("min_shapes", [1, 3, 224, 224], "does not name its input")):
            file = self.write("engine.json", json.dumps({**json.loads(EXAMPLE.read_text()), key: value}))
            self.assert_error(self.run_cli("build", "--config", file), 2, "engine.json", words)

    def test_words_of_other_tools(self):
        """The same file in their words is answered in the same way."""
        file = self.write("theirs.json", json.dumps({
            "onnx_path": "resnet50", "engine": "tensorrt", "engine_path": "m.plan", "fp16": True, "int8": False, "workspace_mb": 4096,
            "dla_core": -1, "calibration": {"cache": None}, "shapes": {"input": {"min": [1, 3, 224, 224], "opt": [8, 3, 224, 224], "max": [32, 3, 224, 224]}}}))
        done = self.run_cli("build", "--config", file, env={"TENSORRT_ROOT": str(self.folder)})
        self.assert_code(done, 77)
        self.assertNotIn("theirs.json", done.err)


if __name__ == "__main__":
    cli.main()
