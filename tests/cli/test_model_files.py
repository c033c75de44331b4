# SPDX-License-Identifier: MIT
"""Model files as caches and libraries leave them: links of Hugging Face's cache, weights in parts, pickles, older formats."""

import json
import struct
import zipfile
from pathlib import Path

import onnx_files as onnx
import paceline_cli as cli

WEIGHTS = [0.1 * i - 0.7 for i in range(16)]
RUN = ["--iterations", "5", "--repetitions", "1", *cli.QUICK]


class Cache(cli.CliTest):
    """model.onnx and its data as links into blobs/, as `huggingface_hub` lays them out."""

    def cache(self, data="../../../blobs/2222"):
        root = self.folder / "models--me--net"
        folder = root / "snapshots" / "0f1e" / "onnx"
        folder.mkdir(parents=True)
        (root / "blobs").mkdir()
        (root / "blobs" / "1111").write_bytes(onnx.linear(tensor=onnx.external_weights("w", (4, 4), "model.onnx_data")))
        (root / "blobs" / "2222").write_bytes(struct.pack("<16f", *WEIGHTS))
        (folder / "model.onnx").symlink_to("../../../blobs/1111")
        (folder / "model.onnx_data").symlink_to(data)
        return folder / "model.onnx"

    def outputs(self, model, engine):
        """The first output of the checked inputs."""
        out = f"{engine}-{Path(model).parent.name}"
        result = self.run_cli("infer", "--model", model, "--engine", engine, *RUN, "-o", out, "--dump-outputs", f"{out}-dump")
        self.assert_code(result, 0)
        self.assertNotIn("failed", result.out)
        with zipfile.ZipFile(next((self.folder / f"{out}-dump").rglob("outputs-0.npz"))) as archive:
            return archive.read(archive.namelist()[0])[-64:]

    def test_every_engine_reads_it_through_its_links(self):
        model = self.cache()
        plain = self.folder / "plain" / "model.onnx"
        plain.parent.mkdir()
        plain.write_bytes(onnx.linear(tensor=onnx.weights("w", (4, 4), WEIGHTS)))
        for engine in ("onnxruntime", "openvino"):
            with self.subTest(engine=engine):
                self.assertEqual(self.outputs(model, engine), self.outputs(plain, engine))

    def test_it_becomes_float16_and_a_build(self):
        model = self.cache()
        for command in (["export", "--precision", "fp16", "--out", "half.onnx"], ["build", "--engine", "openvino", "--out", "net.blob"]):
            with self.subTest(command=command[0]):
                self.assert_code(self.run_cli(command[0], "--model", model, *command[1:]), 0)

    def test_a_link_out_of_the_cache_is_opened_by_none(self):
        (self.folder / "secret").write_bytes(struct.pack("<16f", *WEIGHTS))
        model = self.cache(self.folder / "secret")
        for engine in ("onnxruntime", "openvino"):
            with self.subTest(engine=engine):
                result = self.run_cli("infer", "--model", model, "--engine", engine, *RUN, "-o", engine)
                self.assert_code(result, 2)
                case = self.summary(self.only_run(engine))["cases"][0]
                self.assertEqual((case["outcome"], case["reason_code"]), ("failed", "data"))
                self.assertIn("outside the model's folder, which is not followed", case["reason"])
                self.assertIn("copy the data file into the model's folder", case["reason"])
        for command in (["export", "--precision", "fp16", "--out", "half.onnx"], ["build", "--engine", "openvino", "--out", "net.blob"]):
            with self.subTest(command=command[0]):
                result = self.run_cli(command[0], "--model", model, *command[1:])
                self.assert_code(result, 2)
                self.assertIn("outside the model's folder, which is not followed", result.err)

    def test_a_link_within_the_folder_is_a_file(self):
        folder = self.folder / "own"
        folder.mkdir()
        (folder / "m.onnx").write_bytes(onnx.linear(tensor=onnx.external_weights("w", (4, 4), "m.data")))
        (folder / "m.0").write_bytes(struct.pack("<16f", *WEIGHTS))
        (folder / "m.data").symlink_to("m.0")
        self.assertEqual(self.outputs(folder / "m.onnx", "openvino"), self.outputs(folder / "m.onnx", "onnxruntime"))


class Formats(cli.CliTest):
    def test_an_older_format_runs(self):
        for version in (3, 4, 7):
            (self.folder / f"v{version}.onnx").write_bytes(onnx.linear(opset=13, version=version))
            for engine in ("onnxruntime", "openvino"):
                with self.subTest(version=version, engine=engine):
                    self.assert_code(self.run_cli("infer", "--model", f"v{version}.onnx", "--engine", engine, *RUN), 0)

    def test_inputs_that_do_not_run_are_not_the_files_fault(self):
        """An index outside the table."""
        (self.folder / "m.onnx").write_bytes(onnx.model([onnx.node("Gather", ["w", "ids"], ["y"])], inputs=(("ids", ("N",), onnx.INT64),),
                                                        outputs=(("y", ("N", 4)),), tensors=[onnx.weights("w", (4, 4), WEIGHTS)]))
        result = self.run_cli("infer", "--model", "m.onnx", "--input-values", "ids:7", *RUN)
        self.assert_code(result, 2)
        case = self.summary()["cases"][0]
        self.assertIn("--input-values", case["reason"])
        self.assertIn("idx=7 must be within", case["reason"])
        self.assertNotIn("Fix what the reason", result.out + result.err)


if __name__ == "__main__":
    cli.main()
