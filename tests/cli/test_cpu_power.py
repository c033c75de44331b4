# SPDX-License-Identifier: MIT
"""Energy of CPUs beside the cases, by counters (RAPL) of a tree that stands for /sys/class/powercap."""

import os
import threading
import unittest

import paceline_cli as cli
from paceline_cli import case_dir, read_csv, read_json

RANGE_UJ = 3_000_000
INFER = ("--repetitions", "2", "--device", "cpu")


class Counters(cli.CliTest):
    def setUp(self):
        super().setUp()
        self.env["SPIN_US"] = "5000"

    def add_zone(self, zone, name, uj=0):
        self.write(f"powercap/{zone}/name", name + "\n")
        self.write(f"powercap/{zone}/max_energy_range_uj", f"{RANGE_UJ}\n")
        return self.write(f"powercap/{zone}/energy_uj", f"{uj:012}\n")

    def count(self, files, uj):
        """Until the test ends, each counter goes on every few milliseconds, and begins again at its range."""
        over = threading.Event()

        def go_on():
            open_files = [os.open(f, os.O_WRONLY) for f in files]
            value = RANGE_UJ // 2
            while not over.wait(0.002):
                value = (value + uj) % RANGE_UJ
                for one in open_files:
                    os.pwrite(one, f"{value:012}\n".encode(), 0)
            for one in open_files:
                os.close(one)

        thread = threading.Thread(target=go_on)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(over.set)

    def machine(self):
        """Two packages, of which one counts its memory, and what would count twice."""
        files = [self.add_zone("intel-rapl:0", "package-0"), self.add_zone("intel-rapl:1", "package-1"), self.add_zone("intel-rapl:0:1", "dram")]
        self.add_zone("intel-rapl:0:0", "core", 7)
        self.add_zone("intel-rapl-mmio:0", "package-0", 7)
        self.count(files, 40_000)


class Watched(Counters):
    def test_every_case_is_watched_by_itself_where_counters_can_be_read(self):
        self.machine()
        done = self.infer(*INFER)
        self.assert_code(done, 0)
        case, = self.summary()["cases"]
        self.assertEqual(case["config_effective"]["sampler"], "rapl")
        self.assertNotIn("rapl", case["case_id"])
        sampled, = case["sampled"]
        self.assertEqual((sampled["sampler"], sampled["windows"], sampled["problems"]), ("rapl", 2, []))
        self.assertEqual([m["device"] for m in sampled["metrics"]], ["package-0", "dram package-0", "package-1"])
        self.assertEqual(case["devices"], [])  # a socket is no GPU
        cpu, memory = case["cpu_power"]
        self.assertEqual((cpu["part"], cpu["scope"]), ("package", "packages 0+1 of the whole machine, not this process alone"))
        self.assertEqual((memory["part"], memory["scope"]), ("dram", "memory of package 0 of the whole machine, not this process alone"))
        rows = [r for r in read_csv(case_dir(self.only_run(), case["case_id"]) / "sampled.csv") if r["device"].startswith("package")]
        ends = [[float(r["value"]) for r in rows if (r["device"], r["repetition"]) == (device, repetition)]
                for device in ("package-0", "package-1") for repetition in ("0", "1")]
        self.assertAlmostEqual(cpu["energy_j"], sum(e[-1] - e[0] for e in ends), places=6)
        self.assertGreater(cpu["energy_j"], RANGE_UJ * 1e-6 / 2)  # it began again meanwhile
        self.assertAlmostEqual(cpu["power_mean_w"], cpu["energy_j"] / cpu["energy_window_s"], places=6)
        self.assertGreaterEqual(cpu["power_max_w"], cpu["power_mean_w"] * 0.99)
        self.assertAlmostEqual(cpu["energy_per_item_j"], cpu["energy_j"] / 40, places=6)
        self.assertGreater(cpu["idle_power_w"], 0)
        words = " ".join(done.out.split())
        self.assertRegex(words, r"CPU: \d+ W \(highest \d+\), [\d.]+ J per item(, [\d.]+ above \d+ W of idle)? \(over [\d.]+ s only\); packages 0\+1 of the")
        page = (self.only_run() / "report.html").read_text(encoding="utf-8")
        self.assertIn("whose energy", page)
        self.assertRegex(page, r"rapl: read \d+ times in 2 windows")

    def test_energy_of_short_windows_is_no_metric(self):
        self.machine()
        done = self.infer(*INFER, "--expect", "cpu_energy_per_item_j<1e9", "--expect", "cpu_power_w>0")
        gates = {g["metric"]: g for g in self.summary()["gates"]}
        self.assertEqual(gates["cpu_power_w"]["verdict"], "met", str(done))
        self.assertNotEqual(gates["cpu_energy_per_item_j"]["verdict"], "met")
        self.assertRegex(gates["cpu_energy_per_item_j"]["detail"], r"its windows lasted [\d.]+ s together, and energy takes 10 s")
        row, = read_csv(self.only_run() / "summary.csv")
        self.assertEqual(row["cpu_energy_per_item_j"], "")
        self.assertGreater(float(row["cpu_power_w"]), 0)

    def test_idle_power_is_read_once_before_the_first_process_and_kept(self):
        self.machine()
        self.assert_code(self.infer(*INFER, "--batch", "1,2"), 0)
        run = self.only_run()
        idle, = read_json(run / "idle.json")
        self.assertEqual((idle["sampler"], idle["problem"]), ("rapl", ""))
        self.assertGreaterEqual(idle["window_s"], 0.5)
        first, second = [c["cpu_power"][0]["idle_power_w"] for c in self.summary()["cases"]]
        self.assertEqual(first, second)
        before = (run / "idle.json").read_bytes()
        self.assert_code(self.run_cli("run", "--resume", run, "--only", self.summary()["cases"][0]["case_id"]), 0)
        self.assertEqual((run / "idle.json").read_bytes(), before)
        self.assertEqual(self.summary()["cases"][0]["cpu_power"][0]["idle_power_w"], first)

    def test_none_turns_it_off(self):
        self.machine()
        self.assert_code(self.infer(*INFER, "--sampler", "none"), 0)
        case, = self.summary()["cases"]
        self.assertEqual((case["sampled"], case["cpu_power"]), ([], []))
        self.assertFalse((self.only_run() / "idle.json").exists())

    def test_validate_names_the_counters(self):
        self.machine()
        self.assertRegex(self.run_cli("validate").out, r"PASS +CPU energy +energy counters of package-0, dram package-0, package-1")


class NotReadable(Counters):
    def test_without_counters_there_is_nothing_and_it_costs_nothing(self):
        self.assert_code(self.infer(*INFER), 0)
        case, = self.summary()["cases"]
        self.assertEqual((case["sampled"], case["cpu_power"]), ([], []))
        self.assertNotIn("sampler", case["config_effective"])
        self.assertFalse((self.only_run() / "idle.json").exists())
        self.assertRegex(self.run_cli("validate").out, r"SKIP +CPU energy +this machine has no energy counters")

    def test_without_permission_there_is_the_fix_and_no_number(self):
        self.add_zone("intel-rapl:0", "package-0").unlink()
        (self.folder / "powercap/intel-rapl:0/energy_uj").mkdir()  # root may read every file
        fix = "sudo chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj"
        self.assertIn(fix, self.run_cli("validate").out)
        self.assert_code(self.infer(*INFER), 0)
        self.assertEqual(self.summary()["cases"][0]["sampled"], [])
        done = self.infer(*INFER, "--sampler", "rapl", "--output-dir", "asked")
        self.assert_code(done, 0)
        case, = self.summary(self.only_run("asked"))["cases"]
        self.assertIn(fix, case["sampled"][0]["problems"][0])
        cpu, = case["cpu_power"]
        self.assertEqual((cpu["part"], cpu["power_mean_w"]), ("package", None))
        self.assertIn(fix, cpu["power_mean_w_reason"])
        self.assertIn(fix, " ".join(done.out.split()))


if __name__ == "__main__":
    cli.main()
