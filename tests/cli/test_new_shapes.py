# SPDX-License-Identifier: MIT
"""Shapes that a loaded model had not seen, on the spin plug-in, whose first inference of a shape takes longer where that is asked for."""

from paceline_cli import CliTest, main


class NewShapes(CliTest):
    def measured(self, *options, **more):
        self.assert_code(self.infer("--batch", "8", "--spin.pace", "steady", *options, **more), 0)
        case, = self.summary()["cases"]
        return case, {f["id"]: f for f in self.summary()["findings"]}

    def test_the_first_and_the_second_inference_are_timed(self):
        case, findings = self.measured("--new-batches", "2,4", "--spin.new_shape_us", "200000", "--repetitions", "3")
        for repetition in case["repetitions"]:
            self.assertEqual([one["shape"] for one in repetition["new_shapes"]], ["batch 2", "batch 4"])
            for one in repetition["new_shapes"]:
                self.assertGreater(one["first_ns"], 200e6)
                self.assertLess(one["second_ns"], 200e6)
        self.assertLess(case["headline"]["p50_ns"]["value"], 200e6)
        self.assertRegex(findings["slow_new_shape"]["text"], r"^x\.spin spin fp32 b8: the first inference of a new shape takes longer: batch 2 took [\d.]+ ms, "
                                                             r"then [\d.]+ ms; batch 4 took [\d.]+ ms, then [\d.]+ ms\.$")
        self.assertEqual(case["config_effective"]["new_shapes"], ["2", "4"])

    def test_shapes_beside_batches(self):
        case, findings = self.measured("--shapes", "input:{batch}x64", "--new-shapes", "4,input:8x32,input:{batch}x16", "--spin.new_shape_us", "200000",
                                       "--repetitions", "3")
        for repetition in case["repetitions"]:
            self.assertEqual([one["shape"] for one in repetition["new_shapes"]], ["batch 4", "8x32", "8x16"])
            self.assertTrue(all(one["second_ns"] < 200e6 < one["first_ns"] for one in repetition["new_shapes"]))
        self.assertRegex(findings["slow_new_shape"]["text"], r"batch 4 took [\d.]+ ms, then [\d.]+ ms; 8x32 took [\d.]+ ms, then [\d.]+ ms; 8x16 took")
        self.assertEqual(case["config_effective"]["new_shapes"], ["4", "input:8x32", "input:{batch}x16"])

    def test_a_gate_on_the_longest(self):
        result = self.infer("--batch", "8", "--new-batches", "2", "--spin.new_shape_us", "200000", "--expect", "new_shape_ms <= 20")
        self.assert_code(result, 1)

    def test_a_batch_that_costs_nothing(self):
        _, findings = self.measured("--new-batches", "4", "--repetitions", "3", iterations=5, env={"SPIN_US": "50000"})
        self.assertIn("a new shape takes hardly longer at first: batch 4 took", findings["new_shape"]["text"])
        self.assertNotIn("slow_new_shape", findings)

    def test_an_engine_with_one_batch_says_so(self):
        case, findings = self.measured("--new-batches", "4", env={"SPIN_FIXED_BATCH": "1"})
        one, = case["repetitions"][0]["new_shapes"]
        self.assertIsNone(one["first_ns"])
        self.assertIn("loaded for batches of 8", one["first_ns_reason"])
        self.assertIn("batch 4 could not be run: this engine was loaded for batches of 8", findings["new_shape"]["text"])

    def test_mistakes(self):
        self.assert_error(self.infer("--batch", "4", "--new-batches", "2,4"), 2, "new batch 4 is not smaller than the batch of 4", "--batch 8")
        self.assert_error(self.infer("--batch", "4", "--new-batches", "0"), 2, "new shape '0' is no batch from 1 to 1000000")
        self.assert_error(self.infer("--batch", "4", "--new-batches", "2", "--cross-check"), 2, "new_shapes", "cross_check", "leave one of them out")
        self.assert_error(self.infer("--new-shapes", "input:1x8"), 2, "new shape 'input:1x8' does not fit into 'input:{batch}x4'", "load a larger one")
        self.assert_error(self.infer("--new-shapes", "x:1x2"), 2, "new shape 'x:1x2' is of no input of the model, which has input:{batch}x4")
        self.assert_nothing_ran()

    def test_nothing_is_added_unless_it_is_asked_for(self):
        case, findings = self.measured()
        self.assertEqual(case["repetitions"][0]["new_shapes"], [])
        self.assertFalse({"new_shape", "slow_new_shape"} & set(findings))

    def test_a_stored_run_has_them(self):
        self.measured("--new-batches", "2", "--spin.new_shape_us", "200000", "--repetitions", "3")
        again = self.run_cli("report", "--source", self.only_run(), "--format", "json", "--output", "-")
        self.assert_code(again, 0)
        self.assertIn("slow_new_shape", again.out)


if __name__ == "__main__":
    main()
