# SPDX-License-Identifier: MIT
"""--device cuda on a machine that has one; skipped with the reason elsewhere."""

import sys
from pathlib import Path

import paceline_cli as cli

SIGNS = ("/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg", "/dev/nvhost-gpu")
PLAN = """kind: inference
models: [tiny_cnn]
engines: [eager, torchscript]
precisions: [fp32, fp16]
device: cuda
cuda_graphs: [false, true]
io: {io}
cache_mode: {cache}
baseline: {{cuda_graph: false}}
repetitions: 2
iterations: 30
idle_wait_s: 0
"""


class Gpu(cli.CliTest):
    def test_every_engine_io_policy_cache_mode_and_graph(self):
        for io, cache in (("device", "warm"), ("pinned", "warm"), ("pageable", "cold")):
            plan = self.write(f"{io}.yaml", PLAN.format(io=io, cache=cache))
            result = self.run_cli("run", plan, "--allow-noisy", "--output-dir", f"results-{io}")
            self.assert_code(result, 0)
            cases = self.summary(self.only_run(f"results-{io}"))["cases"]
            self.assertEqual(len(cases), 8)
            for case in cases:
                self.assertEqual((case["outcome"], case["correctness"]["passed"]), ("ok", True), case["reason"])
                self.assertEqual(case["benchmark"]["cache_mode"], cache)
                self.assertEqual(case["effective_settings"]["device"], "cuda:0")
                self.assertGreater(case["device_p50_ns"]["value"], 0)
                self.assertGreaterEqual(case["memory"]["reserved_peak_bytes"], case["memory"]["tensor_peak_bytes"])
                self.assertEqual(case["precision"]["executed"][0]["precision"], case["benchmark"]["precision"])

    def test_a_device_too_many_is_skipped_and_named(self):
        result = self.run_cli("infer", "--model", "tiny_cnn", "--device", "cuda:99", "--iterations", "3")
        self.assert_code(result, 77)
        self.assertIn("there is no device cuda:99", result.out + result.err)

    def test_validate_loads_the_plug_in(self):
        self.assertRegex(self.run_cli("validate").out, r"plug-in cuda +LibTorch ")


if __name__ == "__main__":
    if not any(Path(sign).exists() for sign in SIGNS):
        print(f"skipped: no NVIDIA GPU here (none of {', '.join(SIGNS)})")
        sys.exit(77)
    cli.main()
