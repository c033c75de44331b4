# SPDX-License-Identifier: MIT
"""Gates of `paceline comm`, and the bandwidth that a topology lets one expect."""

import unittest

from comm_lab import CommTest
from paceline_cli import read_json


class Gates(CommTest):
    def decided(self, *words, **options):
        """More operations while there is no verdict: where a machine's times drift, few of them allow no interval (3), and never a wrong verdict."""
        for n in (400, 1600, 6400, 25600):
            result = self.comm("-n", n, *words, **options)
            if result.code != 3:
                break
        return result

    def test_bandwidth_by_size(self):
        met = self.decided("-g", "2", "-b", "64", "-e", "128", "--min-busbw", "64:0.0000001,128:0.0000001")
        self.assert_code(met, 0)
        self.assertIn("expect min_busbw 128:1e-07: met", met.out)
        missed = self.decided("-g", "2", "-b", "64", "-e", "128", "--min-busbw", "128:1000")
        self.assert_code(missed, 1)
        rounded = self.decided("-g", "3", "--collective", "all_gather", "-b", "1K", "-e", "1K", "--min-busbw", "1K:0.0000001")
        self.assert_code(rounded, 0)
        self.assertIn("at 1020 bytes", rounded.out)
        nearest = self.decided("-g", "2", "-b", "8", "-e", "16", "--min-busbw", "16:0.0000001")
        self.assert_code(nearest, 0)
        self.assertIn("at 16 bytes", nearest.out)
        for size, ranks in (("16", "2"), ("32", "8")):
            near = self.comm("-g", ranks, "-b", "8", "-e", "8", "--min-busbw", f"{size}:1")
            self.assert_error(near, 2, f"min_busbw '{size}:1': {size} bytes are not among the 1 size of the sweep")
        absent = self.comm("-g", "2", "-n", "400", "-b", "64", "-e", "128", "--min-busbw", "1M:1")
        self.assert_error(absent, 2, "min_busbw '1M:1': 1048576 bytes are not among the 2 sizes of the sweep, from 64 to 128")

    def test_the_variable_of_nccl_tests(self):
        missed = self.decided("-g", "2", "-b", "64", "-e", "64", env={"NCCL_TESTS_MIN_BW": "1000"})
        self.assert_code(missed, 1)
        self.assert_error(self.comm("-g", "2", "-b", "64", "-e", "64", env={"NCCL_TESTS_MIN_BW": "much"}), 2, "NCCL_TESTS_MIN_BW=much")

    def test_variables_of_nccl_tests_are_honoured_or_refused(self):
        for name, value in (("NCCL_TESTS_SPLIT", "MOD 2"), ("NCCL_TESTS_SPLIT_MASK", "0x7"), ("NCCL_TESTS_DEVICE", "0")):
            with self.subTest(name):
                self.assert_error(self.comm("-g", "2", "-b", "64", "-e", "64", env={name: value}), 2, f"{name}={value}: ", "unset it")
        self.assert_code(self.comm("-g", "2", "-b", "64", "-e", "64", env={"NCCL_TESTS_SPLIT_MASK": "0x0", "NCCL_TESTS_SPLIT": "AND 0x0"}), 0)
        self.assertEqual(read_json(self.only_run() / "environment.json")["variables"]["NCCL_TESTS_SPLIT_MASK"], "0x0")

    def test_metrics(self):
        result = self.decided("-g", "2", "-b", "64", "-e", "128", "--expect", "busbw_gb_per_s > 0", "--expect", "small_latency_us < 1e9")
        self.assert_code(result, 0)


class Expected(CommTest):
    TABLE = "wire:\n  about: a wire\n  operations: [all_reduce]\n  busbw_gb_per_s: {128: 0.5, 256: 1}\n  source: a page\n"

    def test_stands_beside_what_is_measured(self):
        table = self.write("own.yaml", self.TABLE)
        result = self.comm("-g", "2", "-b", "64", "-e", "256", "--expected", table, "--topology", "wire", "-J", self.folder / "nccl.json")
        self.assert_code(result, 0)
        collective = self.summary(self.only_run())["cases"][0]["collective"][0]
        self.assertEqual(collective["topology"], "wire (a wire); a page")
        few, first, second = collective["sizes"]
        self.assertIsNone(few["expected_busbw_gb_per_s"])
        self.assertEqual(few["expected_busbw_gb_per_s_reason"], "wire has no figure of so few bytes")
        self.assertEqual([s["expected_busbw_gb_per_s"] for s in (first, second)], [0.5, 1])
        for size in (first, second):
            self.assertAlmostEqual(size["expected_share"] * size["expected_busbw_gb_per_s"] / size["out_of_place"]["sync_busbw_gb_per_s"]["value"], 1, places=6)
        self.assertEqual([r["expected_bus_bw"] for r in read_json(self.folder / "nccl.json")["results"]], [None, 0.5, 1])
        self.assertIn("of expected", result.out)
        self.assertRegex(result.out, r"% \(0\.500\)")
        for form in ("html", "markdown"):
            self.assert_code(self.run_cli("report", self.only_run(), "--format", form, "--output", self.folder / f"report.{form}"), 0)
            self.assertIn("expected of wire (a wire); a page", (self.folder / f"report.{form}").read_text(encoding="utf-8"))

    def test_an_unknown_topology_has_none(self):
        result = self.comm("-g", "2", "-b", "64", "-e", "64")
        self.assert_code(result, 0)
        collective = self.summary(self.only_run())["cases"][0]["collective"][0]
        self.assertEqual(collective["topology"], "")
        self.assertIn("no expected value: no row of the table of topologies fits this run", result.out)
        self.assertIsNone(collective["sizes"][0]["expected_share"])
        self.assertNotIn("of expected", result.out)

    def test_another_operation_has_none(self):
        result = self.comm("-g", "2", "-b", "64", "-e", "64", "--collective", "broadcast", "--topology", "nvlink4")
        self.assert_code(result, 0)
        self.assertIn("no expected value: nvlink4 has no figures of broadcast", result.out)

    def test_mistakes_in_the_table_are_named(self):
        for text, said in ((self.TABLE.replace("source", "sorce"), ("own.yaml:5:3: unknown key 'wire.sorce'", "source")),
                           (self.TABLE.replace("128: 0.5", "128: much"), ("own.yaml:4:25: 'wire.busbw_gb_per_s': 'much' is no bandwidth above 0",)),
                           ("wire: [", ("own.yaml:",))):
            with self.subTest(text):
                self.assert_error(self.comm("-g", "2", "--expected", self.write("own.yaml", text)), 2, *said)
        self.assert_error(self.comm("-g", "2", "--expected", "none.yaml"), 2, "none.yaml")
        self.assert_error(self.comm("-g", "2", "--topology", "nvlink"), 2, "topology 'nvlink' is no row of the table", "nvlink4")


if __name__ == "__main__":
    unittest.main()
