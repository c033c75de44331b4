# SPDX-License-Identifier: MIT
"""Options that an engine's plug-in declares itself: no file of the tool names them."""

import json
import shutil
import subprocess
import unittest
from pathlib import Path

import paceline_cli as cli


class DeclaredByAPlugin(cli.CliTest):
    def test_a_flag_reaches_the_engine_and_the_result(self):
        self.assert_code(self.infer("--spin.pace", "steady", "--spin.laps", 2), 0)
        case = self.summary()["cases"][0]
        self.assertEqual(case["config_effective"]["spin.pace"], "steady")
        self.assertEqual(case["config_effective"]["spin.laps"], 2)
        self.assertEqual(case["effective_settings"]["pace"], "steady")
        self.assertEqual(case["benchmark"]["params"].get("spin.pace"), "steady")
        self.assertNotIn("spin.laps", case["benchmark"]["params"])
        self.assertIn("    spin:\n      pace: steady\n      laps: 2\n", (self.only_run() / "plan.yaml").read_text())

    def test_the_default_is_stored_and_is_no_part_of_the_identity(self):
        self.assert_code(self.infer(), 0)
        case = self.summary()["cases"][0]
        self.assertEqual(case["config_effective"]["spin.pace"], "uneven")
        self.assertNotIn("spin.laps", case["config_effective"])
        self.assertNotIn("spin.pace", case["benchmark"]["params"])

    def test_a_key_of_a_plan_and_its_resumption(self):
        self.assert_code(self.run_cli("run", self.spin_plan("spin: {pace: steady}")), 0)
        run = self.only_run()
        self.assertEqual(self.summary(run)["cases"][0]["effective_settings"]["pace"], "steady")
        self.assert_code(self.run_cli("run", "--resume", run), 0)

    def test_a_flag_over_a_plan_and_before_it(self):
        plan = self.spin_plan("spin: {pace: steady}")
        self.assert_code(self.run_cli("run", "--spin.pace=uneven", plan), 0)
        self.assertEqual(self.summary()["cases"][0]["config_effective"]["spin.pace"], "uneven")

    def test_a_wrong_value_names_the_flag(self):
        self.assert_error(self.infer("--spin.pace", "fast"), 2, "--spin.pace fast", "none of uneven, steady")
        self.assert_error(self.infer("--spin.laps", 10), 2, "--spin.laps 10", "from 1 to 9")
        self.assert_error(self.run_cli("run", self.spin_plan("spin: {laps: x}")), 2, "plan.yaml:", "spin.laps", "whole number")
        self.assert_nothing_ran()

    def test_an_unknown_name_is_answered_with_the_nearest(self):
        self.assert_error(self.infer("--spin.pase", "steady"), 2, "--spin.pase", "did you mean '--spin.pace'?")
        self.assert_error(self.run_cli("run", self.spin_plan("spin: {pase: steady}")), 2, "unknown key 'spin.pase'", "did you mean 'spin.pace'?")

    def test_without_its_plug_in_it_is_unknown(self):
        self.assert_error(self.run_cli("infer", "--model", "tiny_cnn", "--spin.pace", "steady"), 2, "--spin.pace", "unknown option")

    def test_for_another_engine_it_has_no_effect(self):
        done = self.infer("--spin.pace", "steady", engine="fault")
        self.assert_code(done, 0)
        self.assertIn("spin.pace (for engine spin)", done.out + done.err)

    def test_help_and_schema_list_it_with_its_plug_in(self):
        helped = self.run_cli("infer", "--plugin", cli.SPIN, "--help")
        self.assert_code(helped, 0)
        self.assertIn("--spin.pace", helped.out)
        self.assertIn("(uneven, steady, two_states) [uneven]", " ".join(helped.out.split()))
        self.assertNotIn("--spin.pace", self.run_cli("infer", "--help").out)
        self.assertIn("| `spin.laps` |", self.run_cli("schema", "options", "--plugin", cli.SPIN).out)
        schema = json.loads(self.run_cli("schema", "plan", "--plugin", cli.SPIN).out)
        self.assertIn('"enum": ["uneven", "steady", "two_states"]', json.dumps(schema))
        self.assertNotIn("uneven", self.run_cli("schema", "plan").out)


class DeclaredInManifests(cli.CliTest):
    def setUp(self):
        super().setUp()
        installed = Path(cli.BINARY).resolve().parent.parent / "lib" / "paceline" / "plugins"
        self.plugins = self.folder / "lib" / "paceline" / "plugins"
        self.plugins.mkdir(parents=True)
        for manifest in installed.glob("*.json"):  # as where no plug-in was built
            told = {**json.loads(manifest.read_text()), "not_built_because": "no library found", "fix": "install it"}
            (self.plugins / manifest.name).write_text(json.dumps(told))
        (self.folder / "bin").mkdir()
        self.binary = shutil.copy(cli.BINARY, self.folder / "bin" / "paceline")

    def run_here(self, *arguments):
        done = subprocess.run([self.binary, *arguments], env=self.env, cwd=self.folder, capture_output=True, text=True, timeout=60)
        return cli.Finished(done.returncode, done.stdout, done.stderr)

    def test_they_are_known_where_no_plug_in_is_built(self):
        helped = self.run_here("infer", "--help").out
        for name in ("onnxruntime.graph_optimization", "openvino.num_streams", "cuda.cudnn_benchmark"):
            self.assertIn("--" + name, helped)
            self.assertIn(f"| `{name}` |", self.run_here("schema", "options").out)
        self.assert_error(self.run_here("infer", "--model", "tiny_cnn", "--openvino.num_streams", "0"), 2, "--openvino.num_streams 0", "from 1 to 4096")

    def test_without_a_manifest_they_are_unknown(self):
        (self.plugins / "openvino.json").unlink()
        self.assert_error(self.run_here("infer", "--model", "tiny_cnn", "--openvino.num_streams", "1"), 2, "unknown option")

    def test_without_any_manifest_commands_still_answer(self):
        for manifest in self.plugins.glob("*.json"):
            manifest.unlink()
        self.assert_code(self.run_here("infer", "--help"), 0)
        self.assert_error(self.run_here("build", "--model", "tiny_cnn", "--output", "m.blob"), 2, "--engine")


class FilesOfAnEngine(cli.CliTest):
    """A plug-in outside the repository says beside its shared object which files its engine reads."""

    def plan_of(self, declared):
        shutil.copy(cli.SPIN, self.folder / "spin.so")
        if declared is not None:
            (self.folder / "spin.engines.json").write_text(json.dumps(declared), encoding="utf-8")
        (self.folder / "model.spin").write_text("", encoding="utf-8")
        return self.run_cli("infer", "--plugin", "spin.so", "--model", "model.spin", "--shapes", "x:1x3", "--dry-run")

    def test_a_suffix_selects_the_engine(self):
        done = self.plan_of([{"name": "spin", "reads": [".spin"], "selected_by": [".spin"]}])
        self.assert_code(done, 0)
        self.assertIn("model.spin-spin-", done.out)

    def test_without_a_declaration_the_engine_has_to_be_named(self):
        self.assertIn("model.spin-eager-", self.plan_of(None).out)

    def test_an_invalid_declaration_names_its_file(self):
        self.assert_error(self.plan_of([{"name": "other"}]), 2, "spin.engines.json", "no engine 'other'")
        self.assert_error(self.plan_of([{"name": "spin", "selected_by": [".spin"]}]), 2, "does not read")


if __name__ == "__main__":
    unittest.main()
