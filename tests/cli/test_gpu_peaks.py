# SPDX-License-Identifier: MIT
"""Peaks of a GPU that is only shown: the probe of the spin plug-in says what it is told (tests/support/spin_probe.h)."""

import json
import unittest
from pathlib import Path

import paceline_cli as cli
from test_accuracy import matrix, rows

PEAKS = ",".join(["product:fp32:52e12", "product:tf32:380e12", "product:bf16:700e12", "product:fp8:no hardware for it", "convolution:fp32:40e12",
                  "copy:within_device:4.2e12", "copy:pinned_to_device:53e9", "copy:pageable_to_device:11e9"])
INFER = ("infer", "--plugin", cli.SPIN, "--engine", "spin", "--model", "x.spin", "--shapes", "input:{batch}x4", "--iterations", "20", "--repetitions", "1",
         "--warmup", "1", "--idle-wait-s", "0", "--allow-noisy", "--device", "cuda", "-v")
TRAIN = ("train", "--plugin", cli.SPIN, "--model", "tiny_cnn", "--batch", "4", "--steps", "8", "--ranks", "2", "--backend", "gloo", "--idle-wait-s", "0",
         "--allow-noisy", "--device", "cuda")


@unittest.skipIf(cli.GPU, "this machine shows an NVIDIA device")
class Peaks(cli.CliTest):
    def setUp(self):
        super().setUp()
        self.env.update(SPIN_US="1000", SPIN_CUDA="1", SPIN_PEAKS=PEAKS, SPIN_FLOPS="1e9", FAKE_NVML=str(self.write("nvml.txt", "* PowerManagementLimit 600000\n")))

    def measure(self, *arguments, below="results"):
        """The only case and the output."""
        out = self.on_a_shown_gpu(*arguments, "--output-dir", below, nvml=True)
        case, = self.summary(self.only_run(below))["cases"]
        return case, out

    def kept(self):
        return json.loads((Path(self.env["XDG_CACHE_HOME"]) / "paceline" / "peaks.json").read_text(encoding="utf-8"))

    def test_are_measured_once_and_kept_by_device_driver_and_limit(self):
        case, out = self.measure(*INFER)
        self.assertEqual(out.count("  peak  "), 1, out)
        peaks, = case["device_peaks"]
        self.assertEqual((peaks["device"], peaks["driver"], peaks["power_limit_w"]), ("NVIDIA H200", "580.65.06", 600))
        figures = {(p["operation"], p["variant"]): p for p in peaks["peaks"]}
        fp32 = figures["product", "fp32"]
        self.assertAlmostEqual(fp32["per_s"], 52e12, delta=1e6)  # the faster of two sizes
        self.assertEqual((fp32["detail"], fp32["n"], fp32["datasheet_per_s"]), ("large", 10, 67e12))
        self.assertAlmostEqual(fp32["spread"], 0.0005, delta=1e-4)
        self.assertEqual((figures["product", "fp8"]["per_s"], figures["product", "fp8"]["per_s_reason"]), (None, "no hardware for it"))
        self.assertEqual(figures["copy", "within_device"]["datasheet_per_s"], 4.8e12)
        self.assertEqual(figures["product", "int8"]["per_s"], None)  # the datasheet has it, the probe has not
        key, = self.kept()
        self.assertRegex(key, "^NVIDIA H200; driver 580.65.06; 600 W; ")
        self.env["SPIN_PEAKS"] = "product:fp32:1e12"
        again, out = self.measure(*INFER, below="again")
        self.assertNotIn(" peak", out)
        self.assertEqual(again["device_peaks"], case["device_peaks"])
        self.env["FAKE_NVML"] = str(self.write("nvml.txt", "* PowerManagementLimit 700000\n"))
        other, _ = self.measure(*INFER, below="other")
        self.assertAlmostEqual(other["flops"]["peak_measured_flops_per_s"], 1e12, delta=1e4)

    def test_a_case_has_its_share_of_both_peaks(self):
        case, _ = self.measure(*INFER, "--precision", "fp32")
        flops = case["flops"]
        self.assertAlmostEqual(flops["peak_measured_flops_per_s"], 52e12, delta=1e6)
        self.assertEqual(flops["peak_datasheet_flops_per_s"], 67e12)
        self.assertRegex(flops["peak_source"], r"^product fp32 \(large\) on NVIDIA H200 \(driver 580.65.06, 600 W\), median of 10, measured 20")
        self.assertAlmostEqual(flops["share_of_measured_peak"], flops["achieved_flops_per_s"] / 52e12, delta=1e-9)
        self.assertAlmostEqual(flops["share_of_datasheet_peak"], flops["achieved_flops_per_s"] / 67e12, delta=1e-9)
        self.assertEqual(flops["flops_per_byte"], 4)
        page = (self.only_run() / "report.html").read_text(encoding="utf-8")
        self.assertIn("What the device does at best", page)
        self.assertIn("NVIDIA H200 (driver 580.65.06, power limit 600 W), measured 20", page)
        self.assertRegex(page, "fp32: 52.0 TFLOP/s measured")

    def test_training_has_the_sum_over_its_gpus(self):
        case, _ = self.measure(*TRAIN)
        self.assertAlmostEqual(case["flops"]["peak_measured_flops_per_s"], 2 * 52e12, delta=1e7)
        self.assertGreater(case["flops"]["share_of_measured_peak"], 0)

    def test_a_probe_that_fails_costs_the_measured_share_alone(self):
        self.env["SPIN_PEAKS"] = "lost"
        case, _ = self.measure(*INFER)
        self.assertEqual(case["outcome"], "ok")
        self.assertEqual(case["flops"]["share_of_measured_peak"], None)
        self.assertIn("cuda:0 is lost", case["flops"]["share_of_measured_peak_reason"])
        self.assertGreater(case["flops"]["share_of_datasheet_peak"], 0)
        self.assertFalse((Path(self.env["XDG_CACHE_HOME"]) / "paceline" / "peaks.json").exists())

    def test_a_probe_beside_other_programs_is_not_kept(self):
        script = "* PowerManagementLimit 600000\n* ComputeRunningProcesses self,1,2\n"
        self.env["FAKE_NVML"] = str(self.write("nvml.txt", script))
        case, out = self.measure(*INFER)
        words = "2 processes of others were on cuda:0 while its peaks were measured: the figures were not kept"
        self.assertIn(words, " ".join(out.split()))
        self.assertEqual(case["flops"]["peak_measured_flops_per_s_reason"], words)
        self.assertFalse((Path(self.env["XDG_CACHE_HOME"]) / "paceline" / "peaks.json").exists())

    def test_a_case_that_passes_a_kept_peak_has_it_measured_again(self):
        self.env["SPIN_PEAKS"] = "product:fp32:1e9"  # the case does 1e9 in a little more than 1 ms
        self.measure(*INFER, "--precision", "fp32")
        self.env["SPIN_PEAKS"] = PEAKS
        case, out = self.measure(*INFER, "--precision", "fp32", below="again")
        self.assertRegex(" ".join(out.split()), r"the peak in fp32 of cuda:0 is raised from [\d.]+ TFLOP/s to 52\.0 TFLOP/s, measured again; it is kept in")
        self.assertAlmostEqual(case["flops"]["peak_measured_flops_per_s"], 52e12, delta=1e6)
        self.assertLess(case["flops"]["share_of_measured_peak"], 1)

    def test_a_case_that_did_more_than_the_probe_raises_the_peak(self):
        self.env.update(SPIN_US="20000", SPIN_PEAKS="product:fp32:3e10")  # the case does 1e9 in 20 ms
        for name in ("in.npy", "ref.npy"):  # its outputs are its inputs
            (self.folder / name).write_bytes(matrix(rows(8)))
        case, out = self.measure(*INFER, "--precision", "fp32", "--load-inputs", "in.npy", "--accuracy-reference", "ref.npy")
        flops = case["flops"]
        self.assertAlmostEqual(flops["share_of_measured_peak"], 1, delta=1e-9)
        self.assertGreater(flops["peak_measured_flops_per_s"], 3e10)
        self.assertRegex(flops["peak_source"], r"^product fp32 on NVIDIA H200 \(.*\): reached by .*; the probe: 0\.0300 TFLOP/s$")
        self.assertIn(f"which {case['label']} reached; it is kept in", " ".join(out.split()))
        entry, = self.kept().values()
        self.assertEqual([p["per_s"] for p in entry["peaks"] if p["variant"] == "fp32" and p["operation"] == "product"], [flops["peak_measured_flops_per_s"]])

    def test_unlike_gpus_have_a_peak_each(self):
        self.env["FAKE_NVML"] = str(self.write("nvml.txt", "1 Name NVIDIA_A100-SXM4-80GB\n"))
        self.env["SPIN_PEAKS_1"] = "product:fp32:19e12"
        case, out = self.measure(*INFER[:-3], "--precision", "fp32", "--gpus", "2", "-v")
        self.assertEqual(out.count("  peak  "), 2, out)
        self.assertAlmostEqual(case["flops"]["peak_measured_flops_per_s"], 52e12 + 19e12, delta=1e7)
        self.assertRegex(case["flops"]["peak_source"], "on NVIDIA H200 .*; product fp32 .* on NVIDIA A100-SXM4-80GB ")
        self.assertEqual(len(self.kept()), 2)

    def test_the_gpu_of_the_case_is_measured_not_the_first_one(self):
        self.env["SPIN_PEAKS"] = "lost"  # it says which device it was asked for
        case, _ = self.measure(*INFER[:-3], "--devices", "1")
        self.assertIn("cuda:1 is lost", case["flops"]["share_of_measured_peak_reason"])

    def test_a_part_of_a_gpu_is_not_kept_under_the_name_of_the_whole_one(self):
        self.env["CUDA_VISIBLE_DEVICES"] = "MIG-aa-1"
        case, _ = self.measure(*INFER)
        self.assertEqual(case["device_peaks"][0]["device"], "")
        self.assertAlmostEqual(case["flops"]["peak_measured_flops_per_s"], 52e12, delta=1e6)
        self.assertIsNone(case["flops"]["peak_datasheet_flops_per_s"])
        self.assertFalse((Path(self.env["XDG_CACHE_HOME"]) / "paceline" / "peaks.json").exists())

    def test_measure_peak_false_measures_nothing(self):
        case, out = self.measure(*INFER, "--no-measure-peak")
        self.assertNotIn(" peak", out)
        self.assertEqual(case["flops"]["peak_measured_flops_per_s_reason"], "not asked for (measure_peak: false)")
        self.assertEqual(case["flops"]["peak_datasheet_flops_per_s"], 67e12)

    def test_the_peaks_show_unused_tensor_cores(self):
        case, _ = self.measure(*INFER, "--precision", "fp32")
        findings = [f for f in self.summary(self.only_run())["findings"] if f["id"] == "unused_tensor_cores"]
        self.assertEqual([f["text"] for f in findings],
                         ["1 case in fp32 leaves the tensor cores of the NVIDIA H200 idle: tf32 products up to 7.3 times, bf16 products up to 13.5 times as "
                          f"fast there ({case['label']})."])


if __name__ == "__main__":
    cli.main()
