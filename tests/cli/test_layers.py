# SPDX-License-Identifier: MIT
"""--layer-profile: times of layers in a pass of their own, stored, printed and in every report.

Classes: Layers needs the spin plug-in alone, whose layers are by construction; LayersOfEngines OpenVINO and ONNX Runtime.
"""

import onnx_files as onnx
import paceline_cli as cli


class Layers(cli.CliTest):
    def test_layers_are_stored_printed_and_reported(self):
        done = self.infer("--layer-profile", "--layer-profile-inferences", 7)
        self.assert_code(done, 0)
        run = self.only_run()
        case = self.summary(run)["cases"][0]
        profile = case["layer_profile"]
        self.assertEqual((profile["asked"], profile["layers"], profile["inferences"], profile["sum_ns"]), (True, 3, 7, 4e5))
        self.assertEqual([r["name"] for r in profile["top"]], ["sum", "scale", "view"])
        self.assertAlmostEqual(profile["of_latency"], 4e5 / case["headline"]["p50_ns"]["value"])
        rows = cli.read_csv(run / profile["file"])
        self.assertEqual([r["name"] for r in rows], ["sum", "view", "scale"])
        self.assertEqual(rows[0], {"index": "0", "name": "sum", "type": "Add", "precision": "fp32", "model_layer": "body, first",
                                   "time_ns": "300000", "share": "0.75", "times_ns": " ".join(["300000"] * 7)})
        self.assertEqual((rows[1]["time_ns"], rows[1]["share"]), ("", ""))
        said = " ".join(done.out.split())
        self.assertIn("layers of", said)
        self.assertIn("sum Add fp32 body, first 0.300 75.0 %", said)
        self.assertIn("Profiling slows an engine down", said)
        for form in ("markdown", "html"):
            self.assert_code(self.run_cli("report", "-s", run, "-f", form, "--output", f"r.{form}"), 0)
            text = (self.folder / f"r.{form}").read_text(encoding="utf-8")
            self.assertIn("body, first", text)
            self.assertIn("Profiling slows an engine down", text)

    def test_samples_are_those_of_the_timed_processes(self):
        self.assert_code(self.infer("--layer-profile", "--reps", 2), 0)
        self.assert_samples_once(self.only_run(), "", 2, 20)

    def test_nothing_is_profiled_that_was_not_asked_for(self):
        done = self.infer()
        self.assertNotIn("layers of", done.out)
        self.assertFalse((self.only_run() / "layers.csv").exists())
        self.assertFalse(self.summary()["cases"][0]["layer_profile"]["asked"])

    def test_an_engine_that_cannot_keeps_its_case(self):
        done = self.infer("--layer-profile", env={"SPIN_NO_LAYERS": "1"})
        self.assert_code(done, 0)
        case = self.summary()["cases"][0]
        self.assertEqual((case["outcome"], case["layer_profile"]["reason"]), ("ok", "this engine cannot time its layers"))
        self.assertIn("no times of layers: this engine cannot time its layers", " ".join(done.out.split()))

    def test_a_stored_profile_is_kept_by_resume(self):
        self.assert_code(self.infer("--layer-profile"), 0)
        before = self.summary()["cases"][0]["layer_profile"]
        self.assert_code(self.run_cli("run", "--resume", self.only_run(), env={"SPIN_NO_LAYERS": "1"}), 0)
        self.assertEqual(self.summary()["cases"][0]["layer_profile"], before)

    def test_the_latency_of_requests_is_not_compared_with_layers(self):
        self.assert_code(self.infer("--layer-profile", "--scenario", "closed_loop", "--concurrency", 2), 0)
        profile = self.summary()["cases"][0]["layer_profile"]
        self.assertEqual(profile["sum_ns"], 4e5)
        self.assertIn("scenario", profile["of_latency_reason"])


class LayersOfEngines(cli.CliTest):
    def test_both_engines_have_the_same_columns(self):
        (self.folder / "m.onnx").write_bytes(onnx.linear())
        done = self.run_cli("infer", "--model", "m.onnx", "--engine", "onnxruntime,openvino", "--shapes", "x:{batch}x4", "--batch", 20000, "--threads", 1,
                            "--iterations", 3, "--accuracy-samples", 1, "--layer-profile", *cli.QUICK)
        self.assert_code(done, 0)
        run = self.only_run()
        for case in self.summary(run)["cases"]:
            with self.subTest(engine=case["benchmark"]["engine"]):
                self.assertEqual(case["layer_profile"]["reason"], "")
                product = [r for r in cli.read_csv(cli.case_dir(run, case["case_id"]) / "layers.csv")
                           if "MatMul" in r["type"] or "Gemm" in r["type"] or "FullyConnected" in r["type"]]
                self.assertEqual(len(product), 1)
                self.assertEqual(product[0]["precision"], "fp32")
                self.assertNotEqual(product[0]["time_ns"], "")
                # OpenVINO calls a node that makes an output after the output.
                self.assertIn(product[0]["model_layer"], ("matmul", "y"))


if __name__ == "__main__":
    cli.main()
