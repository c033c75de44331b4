# SPDX-License-Identifier: MIT
"""--device cuda on a machine that has one; skipped with the reason elsewhere."""

import sys

import paceline_cli as cli

# A process that loads CUDA's libraries takes seconds to start. A case has two, and a run one for the reference.
RUN_TIMEOUT_S = 240
PLAN = """kind: inference
models: [tiny_cnn]
engines: {engines}
precisions: {precisions}
device: cuda
cuda_graphs: {graphs}
io: {io}
cache_mode: {cache}
repetitions: 1
iterations: 30
warmup_iterations: 5
idle_wait_s: 0
measure_peak: false
"""


class Gpu(cli.CliTest):
    shows_gpus = True

    def cases(self, count, io, cache="warm", engines="[eager]", precisions="[fp32]", graphs="[false]"):
        """Cases of a run that are right, with what only a device has."""
        plan = self.write("plan.yaml", PLAN.format(io=io, cache=cache, engines=engines, precisions=precisions, graphs=graphs))
        self.assert_code(self.run_cli("run", plan, "--allow-noisy", timeout=RUN_TIMEOUT_S), 0)
        cases = self.summary()["cases"]
        self.assertEqual(len(cases), count)
        for case in cases:
            self.assertEqual((case["outcome"], case["correctness"]["passed"]), ("ok", True), case["reason"])
            self.assertEqual((case["benchmark"]["device"], case["benchmark"]["cache_mode"]), ("cuda:0", cache))
            self.assertEqual(case["effective_settings"]["device"], "cuda:0")
            self.assertGreater(case["device_p50_ns"]["value"], 0)
            self.assertGreaterEqual(case["memory"]["reserved_peak_bytes"], case["memory"]["tensor_peak_bytes"])
            self.assertEqual(case["precision"]["executed"][0]["precision"], case["benchmark"]["precision"])
        return cases

    def test_engines_and_precisions(self):
        for case in self.cases(4, "device", engines="[eager, torchscript]", precisions="[fp32, fp16]"):
            for library in ("CUDA runtime", "cuDNN", "cuBLASLt"):
                self.assertRegex(case["effective_settings"][f"version.{library}"], r"^\d+\.\d+")

    def test_layers_have_the_times_of_the_device(self):
        result = self.run_cli("infer", "--model", "tiny_cnn", "--device", "cuda", "--engine", "eager", "--cuda-graphs", "false,true", "--iterations", 30,
                              "--reps", 1, "--layer-profile", "--allow-noisy", "--idle-wait-s", 0, "--no-measure-peak", timeout=RUN_TIMEOUT_S)
        self.assert_code(result, 0)
        for case in self.summary()["cases"]:
            profile = case["layer_profile"]
            self.assertIn("on the device", profile["source"], profile["reason"])
            self.assertLess(profile["sum_ns"], 1.1 * case["headline"]["p50_ns"]["value"])

    def test_graphs(self):
        self.cases(2, "pinned", graphs="[false, true]")

    def test_pageable_memory_and_cold_caches(self):
        self.cases(1, "pageable", cache="cold")

    def test_outputs_that_stay_are_compared_and_the_environment_names_the_gpu(self):
        case, = self.cases(1, "none")
        self.assertEqual(case["effective_settings"]["io"], "inputs and outputs on the device, nothing is copied")
        self.assertTrue(case["correctness"]["checked"])
        nvidia = cli.read_json(self.only_run() / "environment.json")["nvidia"]
        self.assertRegex(nvidia["driver_version"], r"^\d+\.\d+")
        self.assertTrue(nvidia["gpus"][0]["name"])

    def test_a_device_too_many_is_skipped_and_named(self):
        result = self.run_cli("infer", "--model", "tiny_cnn", "--device", "cuda:99", "--iterations", "3", "--idle-wait-s", "0")
        self.assert_code(result, 77)
        self.assertIn("there is no device cuda:99", result.out + result.err)

    def test_validate_loads_the_plug_in(self):
        result = self.run_cli("validate")
        self.assertRegex(result.out, r"plug-in cuda +LibTorch ")
        self.assertRegex(result.out, r"GPUs +driver \d")


if __name__ == "__main__":
    if not cli.GPU:
        print(f"skipped: no NVIDIA GPU here (none of {', '.join(cli.GPU_SIGNS)})")
        sys.exit(77)
    cli.main()
