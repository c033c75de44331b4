# SPDX-License-Identifier: MIT
"""Cases on a GPU that is only shown, watched by sampler nvml through a scripted double of NVIDIA's library (tests/support/fake_nvml.cc)."""

import unittest

import paceline_cli as cli
from paceline_cli import case_dir, read_csv, read_json

SCRIPT = """\
* ClockInfo.1 1980 1980 1410
* FieldValues.186 699500
* TotalEnergyConsumption 5000000 5010000 5020000 5030000
* CurrentClocksEventReasons 0x1 0x4 0x24
* Temperature 63
* MemoryInfo_v2.used 12100000000
* ComputeRunningProcesses self,1
"""
QUICK = ("--idle-wait-s", "0", "--no-measure-peak", "--allow-noisy")
INFER = ("infer", "--plugin", cli.SPIN, "--engine", "spin", "--model", "x.spin", "--shapes", "input:{batch}x4", "--iterations", "60", "--repetitions", "1",
         "--warmup", "1", *QUICK)
RANKS = ("--plugin", cli.SPIN, "--ranks", "2", "--backend", "gloo", "--idle-wait-s", "0", "--allow-noisy")
TRAIN = ("train", "--model", "tiny_cnn", "--batch", "4", "--steps", "8", *RANKS)
COMM = ("comm", "-b", "8", "-e", "64", *RANKS)


@unittest.skipIf(cli.GPU, "this machine shows an NVIDIA device")
class Watched(cli.CliTest):
    def setUp(self):
        super().setUp()
        self.env.update(SPIN_US="5000", SPIN_CUDA="1")

    def watch(self, *arguments, script=SCRIPT, nvml=True, below="results"):
        """Returns the only case's samplers, the rows of sampled.csv, and the output."""
        self.env["FAKE_NVML"] = str(self.write("nvml.txt", script))
        out = self.on_a_shown_gpu(*arguments, "--output-dir", below, nvml=nvml)
        run = self.only_run(below)
        case, = self.summary(run)["cases"]
        file = case_dir(run, case["case_id"]) / "sampled.csv"
        return case, read_csv(file) if file.exists() else [], out

    def test_every_case_on_a_gpu_is_watched_by_itself(self):
        case, rows, out = self.watch(*INFER, "--device", "cuda")
        self.assertEqual(case["config_effective"]["sampler"], "nvml")
        self.assertEqual(case["config_effective"]["nvml.period_ms"], 100)
        self.assertNotIn("nvml", case["case_id"])
        self.assertEqual([name for name in case["benchmark"]["params"] if "nvml" in name or "sampler" in name], [])
        sampled, = case["sampled"]
        self.assertEqual((sampled["sampler"], sampled["problems"]), ("nvml", []))
        metrics = {m["metric"]: m for m in sampled["metrics"]}
        self.assertEqual({m["device"] for m in sampled["metrics"]}, {"cuda:0"})
        self.assertEqual((metrics["sm_clock"]["unit"], metrics["sm_clock"]["min"], metrics["sm_clock"]["max"]), ("MHz", 1410, 1980))
        self.assertEqual((metrics["power"]["unit"], metrics["power"]["mean"]), ("W", 699.5))
        self.assertEqual((metrics["energy"]["unit"], metrics["energy"]["min"], metrics["energy"]["max"]), ("J", 5000, 5010))  # read at both ends of the window
        self.assertEqual((metrics["temperature"]["unit"], metrics["temperature"]["max"]), ("°C", 63))
        self.assertEqual((metrics["memory_used"]["unit"], metrics["memory_used"]["max"]), ("B", 12.1e9))
        self.assertEqual(metrics["other_processes"]["max"], 1)
        self.assertEqual([w["words"] for w in metrics["slowdown"]["words"]], ["none", "power cap", "thermal slowdown, power cap"])
        self.assertEqual([w["words"] for w in metrics["left_out"]["words"]], ["nvlink_tx, nvlink_rx: Not Supported"])
        energy = [float(r["value"]) for r in rows if r["metric"] == "energy"]
        self.assertEqual(energy, [5000, 5010])
        self.assertEqual(sampled["readings"], len([r for r in rows if r["metric"] == "power"]))
        self.assertLess(sampled["cpu_share"], 0.05)
        self.assertRegex(out, r"cuda:0: busy \d+ %,\s+\d+ MHz\s+\(lowest 1410\),\s+7\d\d W")
        self.assertNotIn("beside the timed samples", out)  # the line has its gist
        page = (self.only_run() / "report.html").read_text()
        self.assertRegex(page, r"nvml: read \d+ times in 1 window")
        self.assertRegex(page, r"(?s)Clock and power of the GPU.*limit, 700 W.*power cap in \d[\d.]* % of the samples")
        self.assert_code(self.run_cli("report", "-s", self.only_run(), "-f", "svg", "-o", "charts"), 0)
        self.assertEqual(sorted(f.name for f in (self.folder / "charts").glob("device-*")),
                         [f"device-{case['case_id']}-{name}.svg" for name in ("clock", "power")])

    def test_idle_power_is_read_before_the_case(self):
        script = SCRIPT.replace("FieldValues.186 699500", "FieldValues.186 75000").replace("5010000 5020000 5030000", "5300000")
        case, _, out = self.watch(*INFER, "--device", "cuda", script=script)
        device, = case["devices"]
        self.assertEqual(device["idle_power_w"], 75)
        above = (300 - 75 * device["energy_window_s"]) / 60
        self.assertAlmostEqual(device["energy_above_idle_per_item_j"], above, delta=1e-6)
        self.assertRegex(" ".join(out.split()), r"5\.0 J per item, [\d.]+ above 75 W of idle \(over [\d.]+ s only\)")

    def test_training_and_collectives_are_watched_on_all_devices_of_the_host(self):
        for command, device in ((TRAIN, "cuda"), (COMM, "auto")):
            case, _, _ = self.watch(*command, "--device", device, below=command[0])
            sampled, = case["sampled"]
            self.assertEqual(sampled["problems"], [])
            self.assertEqual({m["device"] for m in sampled["metrics"]}, {"cuda:0", "cuda:1"})

    def test_validate_skips_what_only_a_gpu_needs(self):
        out = self.run_cli("validate").out
        self.assertRegex(out, r"SKIP +plug-in nvml +samplers nvml; no NVIDIA GPU here to watch")
        self.assertNotRegex(out, r"WARN +plug-in onnxruntime")

    def test_none_turns_it_off(self):
        case, rows, _ = self.watch(*INFER, "--device", "cuda", "--sampler", "none")
        self.assertEqual((case["sampled"], rows), ([], []))

    def test_a_case_on_the_cpu_has_none(self):
        case, rows, _ = self.watch(*INFER, "--device", "cpu")
        self.assertEqual((case["sampled"], rows), ([], []))
        self.assertNotIn("sampler", case["config_effective"])

    def test_its_period_can_be_set_without_naming_it(self):
        case, _, out = self.watch(*INFER, "--device", "cuda", "--nvml.period_ms", "20")
        self.assertEqual(case["config_effective"]["nvml.period_ms"], 20)
        self.assertGreater(case["sampled"][0]["readings"], 8)
        self.assertNotIn("for sampler nvml", out)

    def test_without_the_library_there_is_a_reason_and_no_error(self):
        case, _, out = self.watch(*INFER, "--device", "cuda", nvml=False)
        self.assertEqual(case["outcome"], "ok")
        problem, = case["sampled"][0]["problems"]
        self.assertIn("NVIDIA's management library cannot be opened: libnvidia-ml.so.1", problem)
        self.assertIn("nvml: no readings: NVIDIA's management library cannot be opened", " ".join(out.split()))

    def test_a_gpu_that_is_lost_ends_the_sampler_with_its_reason(self):
        case, _, _ = self.watch(*INFER, "--device", "cuda", script="* ClockInfo.1 1980 1980 !15\n")
        self.assertEqual(case["outcome"], "ok")
        self.assertEqual(case["sampled"][0]["problems"],
                         ["cuda:0 does not answer any more (GPU is lost); see dmesg for its Xid, and reset it or the host (after 2 readings)"])


    def test_validate_shows_the_state_of_each_gpu_with_what_to_do(self):
        self.env["FAKE_NVML"] = str(self.write("nvml.txt", "1 PowerManagementLimit 400000\n* ComputeRunningProcesses none\n"))
        out = " ".join(self.on_a_shown_gpu("validate", nvml=True, codes=(0, 4)).split())
        self.assertIn("GPU state 1: its power limit is 400 W, 700 W by default", out)
        self.assertIn("nvidia-smi -i 1 -pl 700", out)
        self.assertIn("GPU slowdown 1: thermal slowdown, power cap", out)

    def test_the_state_is_stored_beside_each_gpu(self):
        self.watch(*INFER, "--device", "cuda", script="1 PowerManagementLimit 400000\n")
        gpus = read_json(self.only_run() / "environment.json")["nvidia"]["gpus"]
        self.assertEqual([g["power_limit_w"] for g in gpus], [700, 400])
        self.assertEqual([g["persistence"] for g in gpus], [True, True])


if __name__ == "__main__":
    cli.main()
