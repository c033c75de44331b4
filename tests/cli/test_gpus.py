# SPDX-License-Identifier: MIT
"""Several GPUs: `--gpus` and `--devices` on a machine that only shows four (tests/support/fake_nvml.cc), with an engine that waits."""

import os
import re
import unittest

import paceline_cli as cli

FOUR = "* Count 4\n" + "".join(f"{i} UUID GPU-{i}{i}\n{i} PciInfo 00000000:{i}B:00.0\n{i} ClockInfo.1 {1980 - 100 * i}\n" for i in range(4))
INFER = ("infer", "--plugin", cli.SPIN, "--engine", "spin", "--model", "x.spin", "--shapes", "input:{batch}x4", "--iterations", "60", "--warmup", "1",
         "--spin.pace", "steady", "--idle-wait-s", "0", "--no-measure-peak", "--allow-noisy")
CPUS = len(os.sched_getaffinity(0))


class OfFour(cli.CliTest):
    def setUp(self):
        super().setUp()
        self.env.update(SPIN_US="5000", SPIN_CUDA="1", FAKE_NVML=str(self.write("nvml.txt", FOUR)))
        if cli.GPU:
            self.skipTest("this machine shows an NVIDIA device")

    def on_four(self, *arguments, codes=(0,)):
        return " ".join(self.on_a_shown_gpu(*arguments, codes=codes, nvml=True).split())


@unittest.skipIf(CPUS < 2, "two processes need two CPUs of their own")
class Gpus(OfFour):
    def test_one_and_two_are_a_sweep_with_its_efficiency(self):
        out = self.on_four(*INFER, "--gpus", "1,2", "--repetitions", "6")
        summary = self.summary()
        one, two = summary["cases"]
        self.assertEqual([c["benchmark"]["gpus"] for c in (one, two)], [1, 2])
        self.assertEqual([c["benchmark"]["scenario"] for c in (one, two)], ["closed_loop"] * 2)
        self.assertEqual(one["benchmark"]["threads"], two["benchmark"]["threads"])
        self.assertEqual({m["device"] for m in one["sampled"][0]["metrics"]}, {"cuda:0"})
        self.assertEqual({m["device"] for m in two["sampled"][0]["metrics"]}, {"cuda:0", "cuda:1"})
        self.assertEqual([d["device"] for d in two["devices"]], ["cuda:0", "cuda:1"])
        self.assertEqual(len({i["cpus"] for i in two["load"][0]["instances"]}), 2)
        scaling, = two["scaling"]
        self.assertEqual((scaling["base_case_id"], scaling["base_world"], scaling["world"]), (one["case_id"], 1, 2))
        self.assertAlmostEqual(scaling["efficiency"], 1, delta=0.5)  # other tests run beside it
        self.assertLess(scaling["ci_low"], scaling["ci_high"])
        finding, = [f for f in summary["findings"] if f["id"] == "gpu_scaling"]
        self.assertRegex(finding["text"], r"on 1 GPU; 2 GPUs do [12]\.\d\dx the work, an efficiency of [\d.]+ % \([\d.]+–[\d.]+ %\)")
        self.assertRegex(out, r"2 GPUs +\d+ [±(].* \d+, \d+ ")
        page = (self.only_run() / "report.html").read_text()
        self.assertRegex(page, r"Work of each")
        self.assertRegex(page, r"Throughput over GPUs or processes[\s\S]*2 GPUs do [12]\.\d\d times the work of 1 GPU")
        self.assertIn("<td>cuda:1</td>", re.sub(r"<(t[dh])[^>]*>", r"<\1>", page).replace("th>", "td>"))

    def test_a_slow_one_is_named(self):
        self.env["SPIN_SLOW"] = "cuda:3=3"
        self.on_four(*INFER, "--devices", "1,3", "--repetitions", "7")
        summary = self.summary()
        case, = summary["cases"]
        self.assertEqual((case["benchmark"]["gpus"], case["benchmark"]["params"]["devices"]), (2, "1,3"))
        self.assertEqual([d["device"] for d in case["devices"]], ["cuda:1", "cuda:3"])
        finding, = [f for f in summary["findings"] if f["id"] == "slow_device"]
        share = re.search(r"cuda:3 did ([\d.]+) % of the work of the other \([\d.]+–[\d.]+ %\)", finding["text"])
        self.assertAlmostEqual(float(share.group(1)), 33.3, delta=20)  # other tests run beside it
        self.assertIn("its mean clock is 1680 MHz, the highest of the others 1880 MHz", finding["text"])
        self.assertIn("--devices 3", finding["advice"])

    def test_a_plan_has_the_same_words(self):
        plan = self.spin_plan("gpus: [1, 2]", "devices: [2, 0]", "repetitions: 1")
        self.on_four("run", plan)
        one, two = self.summary()["cases"]
        self.assertEqual([d["device"] for d in one["devices"]], ["cuda:2"])
        self.assertEqual(sorted(d["device"] for d in two["devices"]), ["cuda:0", "cuda:2"])


class Mistakes(OfFour):
    def refused(self, *arguments, words):
        out = self.on_four(*INFER, *arguments, codes=(2,))
        for word in words:
            self.assertIn(word, out)
        self.assert_nothing_ran()

    def test_each_names_the_flag_as_typed(self):
        self.refused("--gpus", "1,8", words=["'--gpus 1,8': 8 devices are asked for, and 4 devices are visible here"])
        self.refused("--devices", "0,4", words=["'--devices 0,4': there is no device 4; 4 devices are visible here"])
        self.refused("--devices", "1,1", words=["'1' is listed twice in '--devices'"])
        self.refused("--gpus", "2", "--device", "cpu", words=["'--gpus' is for several CUDA devices, and --device is 'cpu'"])
        self.refused("--gpus", "2", "--devices", "0,1,2", words=["'--devices' names 3 devices, and '--gpus' asks for 2"])
        self.refused("--gpus", "0", words=["--gpus", "out of range"])
        self.refused("--gpus", "2", "--scenario", "sync", words=["'--gpus' is for the scenarios closed_loop, server and offline"])
        self.refused("--gpus", "2", "--instances", "2", words=["--gpus", "--instances", "exclude each other"])

    def test_a_plan_for_more_than_there_are(self):
        out = self.on_four("run", self.spin_plan("gpus: [8]"), codes=(2,))
        self.assertIn("'gpus: [8]': 8 devices are asked for, and 4 devices are visible here", out)

    def test_without_a_gpu_the_cases_are_skipped(self):
        result = self.run_cli(*INFER, "--gpus", "1,2")
        self.assert_code(result, 77)
        self.assertIn("no NVIDIA GPU here", result.out + result.err)


if __name__ == "__main__":
    cli.main()
