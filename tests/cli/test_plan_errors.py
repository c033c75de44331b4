# SPDX-License-Identifier: MIT
"""Plans that are wrong: one clear message each, with the place, the value and what is allowed."""

import json
import re
import unittest

import paceline_cli as cli


class BadPlan(cli.CliTest):
    def refuse(self, text, *words, lines=1, arguments=()):
        self.write("p.yaml", text)
        result = self.run_cli("run", "p.yaml", *arguments)
        self.assert_error(result, 2, *words, lines=lines)
        self.assert_nothing_ran()
        return result

    def test_unknown_key(self):
        self.refuse("kind: inference\nmodels: [resnet50]\nbatchsizes: [1]\n", "p.yaml:3:1", "'batchsizes'", "'batch_sizes'")

    def test_unknown_nested_key(self):
        self.refuse("kind: inference\nmodels: [resnet50]\nstop: {n_mni: 3}\n", "p.yaml:3:8", "n_mni", "n_min")

    def test_empty(self):
        self.refuse("", "p.yaml:1:1", "empty")
        self.refuse("# only words\n", "p.yaml:1:1", "empty")

    def test_missing(self):
        self.assert_error(self.run_cli("run", "gone.yaml"), 2, "gone.yaml", "examples/plans")
        self.assert_error(self.run_cli("run"), 2, "no plan given", "paceline run PLAN.yaml")
        self.assert_error(self.run_cli("run", "."), 2, "'.'")

    def test_yaml_syntax(self):
        self.refuse("kind: inference\nmodels: [resnet50\nengines: x: y\n", "p.yaml:", "YAML syntax")
        self.refuse("kind: inference\n\tmodels: [resnet50]\n", "p.yaml:2", "YAML syntax")
        self.refuse("kind: inference\nmodels: {resnet50\n", "p.yaml:", "YAML syntax")

    def test_not_a_map(self):
        self.refuse("- a\n- b\n", "p.yaml:1:1", "a plan is a map of keys")
        self.refuse("42\n", "p.yaml:1:1", "a plan is a map of keys")

    def test_ranges(self):
        self.refuse("kind: inference\nmodels: [resnet50]\nbatch_sizes: [1, 0]\n", "p.yaml:3:18", "'0'", "from 1 to")
        self.refuse("kind: inference\nmodels: [resnet50]\niterations: -5\n", "p.yaml:3:13", "'-5'", "from 1 to")
        self.refuse("kind: inference\nmodels: [resnet50]\nrepetitions: 0\n", "'0'", "from 1 to")
        self.refuse("kind: inference\nmodels: [resnet50]\nconfidence: 1.5\n", "'1.5'")
        self.refuse("kind: inference\nmodels: [resnet50]\nthreads: [99999999999999999999]\n", "99999999999999999999")

    def test_types(self):
        self.refuse("kind: inference\nmodels: [resnet50]\niterations: [1, 2]\n", "p.yaml:3:13", "a list where a whole number belongs")
        self.refuse("kind: inference\nmodels: [resnet50]\niterations: many\n", "'many'", "whole number")
        self.refuse("kind: inference\nmodels: [resnet50]\niterations: {a: 1}\n", "p.yaml:3")
        self.refuse("kind: inference\nmodels: [resnet50]\npin: perhaps\n", "'perhaps'")

    def test_duplicate_axes(self):
        self.refuse("kind: inference\nmodels: [resnet50]\nmodels: [vit_b_16]\n", "p.yaml:3:1", "duplicate key 'models'", "line 2")
        self.refuse("kind: inference\nmodels: [resnet50]\nmodel: vit_b_16\n", "'model'", "'models'")
        self.refuse("kind: inference\nmodels: [resnet50]\nbatch_sizes: [1, 8, 1]\n", "p.yaml:3:21", "'1' is listed twice")
        result = self.run_cli("infer", "--model", "resnet50", "--batch", "1", "--batch", "2", "--dry-run")
        self.assert_code(result, 0)
        self.assertIn("--batch 2 replaces --batch 1", result.out + result.err)
        self.assertNotIn("b1 ", result.out)

    def test_a_mistyped_flag_is_one_mistake(self):
        """Neither is what it was meant to give called missing, nor does a near name go unsaid."""
        result = self.run_cli("infer", "--mdoel", "tiny_cnn")
        self.assert_error(result, 2, "--mdoel: unknown option; did you mean '--model'?")
        self.assertNotIn("no model is named", result.err)
        (self.folder / "nets").mkdir()
        (self.folder / "nets" / "resnet.onnx").write_bytes(b"")
        (self.folder / "matrix.yaml").write_text("kind: inference\n", encoding="utf-8")
        self.assert_error(self.run_cli("infer", "--model", "nets/resent.onnx"), 2, "does not exist", "did you mean 'nets/resnet.onnx'?")
        (self.folder / "net.onnx").write_bytes(b"")
        for name in ("net.onx", "net.onn", "./nett.onxn"):
            self.assert_error(self.run_cli("infer", "--model", name), 2, "net.onnx'?")
        self.assert_error(self.run_cli("run", "matirx.yaml"), 2, "did you mean 'matrix.yaml'?")
        self.assertNotIn("did you mean", self.run_cli("infer", "--model", "nets/bert.onnx").err)

    def test_all_errors_at_once(self):
        result = self.refuse("kind: inference\nmodels: [resnet5]\nbatch_sizes: 0\nprecisions: [fp23]\nnope: 1\n", "'resnet5'", "'0'", "'fp23'", "'nope'",
                             lines=4)
        self.assertIn("4 errors, nothing was run", result.err)

    def test_no_kind_and_nothing_that_tells_it(self):
        self.refuse("models: [resnet50]\n", "kind")

    def test_bad_override(self):
        plan = "kind: inference\nmodels: [resnet50]\n"
        self.refuse(plan, "--iterations=0", "'0'", arguments=["--iterations=0"])
        self.refuse(plan, "--stop.n_mni", "n_min", arguments=["--stop.n_mni=3"])

    def test_baseline_that_is_not_measured(self):
        self.refuse("kind: inference\nmodels: [resnet50]\nbaseline: {engine: torchscript}\n", "torchscript", "not measured here")

    def test_unknown_metric_of_a_gate(self):
        self.refuse("kind: inference\nmodels: [tiny_cnn]\nexpect: ['p50_msec < 3']\n", "p50_msec", "'p50_ms'")

    def test_models_of_the_wrong_kind_are_one_mistake(self):
        for value, words in (("{a: b}", "a map where"), ("[]", "empty list"), ("", "no value")):
            self.refuse(f"kind: inference\nmodels: {value}\nengines: [eager]\n", "2:", words)

    def test_a_plug_in_that_does_not_exist_has_its_line(self):
        for key in ("plugin", "plugins"):
            self.refuse(f"kind: inference\nmodels: [tiny_cnn]\n{key}:\n  - gone.so\n", "4:5: plug-in 'gone.so' does not exist")

    def test_weights_that_do_not_exist(self):
        self.refuse("kind: inference\nmodels: [resnet50]\nweights: gone.safetensors\n", "gone.safetensors", "does not exist")

    def test_bytes_that_are_no_text(self):
        (self.folder / "p.yaml").write_bytes(b"kind: inference\nmodels: [resnet\xff\xfe50]\n")
        self.assert_error(self.run_cli("run", "p.yaml"), 2, "p.yaml")
        (self.folder / "p.yaml").write_bytes(bytes(range(256)) * 50)
        self.assert_error(self.run_cli("run", "p.yaml"), 2, "p.yaml")

    def test_deep_nesting_is_no_crash(self):
        self.write("p.yaml", "a: " + "[" * 20000)
        result = self.run_cli("run", "p.yaml")
        self.assert_code(result, 2)


class Nulls(cli.CliTest):
    """null is an option that is not set, for the reader of plans and for the schema."""

    def test_plans_and_their_schema_agree(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("python3-jsonschema is not here")
        schema = json.loads(self.run_cli("schema", "plan").out)
        inference, training = {"kind": "inference", "models": ["tiny_cnn"]}, {"kind": "training", "models": ["tiny_cnn"]}
        for plan, taken in (
            (inference, True), ({**inference, "batch_sizes": None}, True), ({**inference, "stop": None}, True), ({**inference, "stop": {"t_max_s": None}}, True),
            ({**inference, "env": None}, True), ({**inference, "env": {"X": None}}, True), ({**inference, "instances": None}, True),
            ({**training, "training": {"precision": None, "optimizer": None}}, True), ({**training, "kind": None, "ranks": 1}, True),
            ({"workloads": [{**inference, "timeout_s": None}], "expect": None}, True),
            ({**inference, "batch_sizes": [1, None]}, False), ({"workloads": None}, False),
        ):
            with self.subTest(plan):
                self.assert_code(self.run_cli("run", self.write("p.yaml", json.dumps(plan)), "--dry-run"), 0 if taken else 2)
                valid = jsonschema.Draft202012Validator(schema).is_valid(plan)
                self.assertEqual(valid, taken)


class LargePlan(cli.CliTest):
    def setUp(self):
        super().setUp()
        numbers = ", ".join(str(n) for n in range(1, 101))
        self.write("p.yaml", f"kind: inference\nmodels: [tiny_cnn]\nbatch_sizes: [{numbers}]\nthreads: [{numbers}]\n")

    def test_asks_before_ten_thousand_cases(self):
        self.assert_error(self.run_cli("run", "p.yaml"), 2, "10000 cases", "--yes", "--dry-run")
        self.assert_nothing_ran()

    def test_dry_run_lists_them(self):
        result = self.run_cli("run", "p.yaml", "--dry-run")
        self.assert_code(result, 0)
        rows = [line for line in result.out.splitlines() if re.match(r" *\d+  \S", line)]
        self.assertEqual(len(rows), 10000)
        self.assertIn(" 10000 cases, ", result.on_one_line)
        self.assert_nothing_ran()

    def test_dry_run_of_long_values_is_short(self):
        """Each case has the value, no line has it all: together they would be 24 MB."""
        numbers = ", ".join(str(n) for n in range(1, 101))
        long = "x" * 120_000  # as long as the system takes
        self.write("long.yaml", f"kind: inference\nmodels: [tiny_cnn]\nbatch_sizes: [{numbers}]\nenv: {{A: [{long}, {long}y]}}\n")
        for arguments in ((), ("--json",), ("-v",)):
            with self.subTest(arguments):
                result = self.run_cli("run", "long.yaml", "--dry-run", *arguments)
                self.assert_code(result, 0)
                self.assertLess(len(result.out) + len(result.err), 200_000)
        self.write("longer.yaml", f"kind: inference\nmodels: [tiny_cnn]\nbatch_sizes: [{numbers}]\nenv: {{A: [{long}{long}, y]}}\n")
        result = self.run_cli("run", "longer.yaml", "--dry-run")
        self.assert_error(result, 2, "env.A", "240000 bytes")
        self.assertLess(len(result.err), 1000)

    def test_too_many_even_with_yes(self):
        numbers = ", ".join(str(n) for n in range(1, 101))
        self.write("p.yaml", f"kind: inference\nmodels: [tiny_cnn]\nbatch_sizes: [{numbers}]\nthreads: [{numbers}]\nenv: {{A: [{numbers}], B: [{numbers}]}}\n")
        self.assert_error(self.run_cli("run", "p.yaml", "--yes"), 2, "100000000 cases")
        self.assert_nothing_ran()


if __name__ == "__main__":
    cli.main()
