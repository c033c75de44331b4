# SPDX-License-Identifier: MIT
"""Run directories and files that a release wrote are read, reported and resumed: data/VERSION, one run of each kind.

Those of 0.1.0 were made on the spin plug-in (profile: on LibTorch) and stripped of pages, logs and most samples. Indentation and the path of the
plug-in are taken out of them; records, checkpoint and calibration are as they were written.
"""

import json
import shutil
from pathlib import Path

import onnx_files
from launch_lab import QUICK_TRAINING, TrainingTest
from paceline_cli import SPIN, CliTest, main, read_csv, read_json

DATA = Path(__file__).resolve().parent / "data/0.1.0"
RUNS = ("infer", "server", "train", "comm", "profile")
RESUMED = RUNS[:-1]  # whose plug-in is here on every machine
FORMATS = ("text", "markdown", "csv", "study", "html", "svg")


class Stored(CliTest):
    def stored(self, name):
        run = self.folder / name
        shutil.copytree(DATA / name, run)
        for file in ("plan.yaml", "run_summary.json", "environment.json"):
            (run / file).write_text((run / file).read_text(encoding="utf-8").replace("SPIN.so", SPIN), encoding="utf-8")
        return run

    def report(self, *arguments):
        result = self.run_cli("report", *arguments)
        self.assert_code(result, 0)
        return result


def figures(summary):
    return {case["case_id"]: (case["outcome"], case["headline"]["p50_ns"]["value"], [r["p50_ns"] for r in case["repetitions"]])
            for case in summary["cases"]}


class Runs(Stored):
    def test_the_data_are_of_the_version_that_they_stand_for(self):
        for name in RUNS:
            self.assertEqual(read_json(DATA / name / "run_summary.json")["schema_version"], "1.0", name)

    def test_reports_show_the_figures_of_every_kind(self):
        for name in RUNS:
            run = self.stored(name)
            shown = json.loads(self.report("--source", run, "--format", "json", "--output", "-").out)
            self.assertEqual(figures(shown), figures(self.summary(run)), name)
            for form in FORMATS:
                result = self.report("--source", run, "--format", form, "--output", self.folder / f"{name}.{form}")
                self.assertNotIn("cannot be read", result.err)
        self.assertIn("max_pool2d", self.report("--source", self.folder / "profile", "--format", "text").out)
        self.report("--source", self.folder / "comm", "--format", "collectives", "--output", "sizes.csv")
        self.assertEqual({row["size_bytes"] for row in read_csv(self.folder / "sizes.csv")}, {"8", "512"})

    def test_two_runs_stand_side_by_side(self):
        both = self.report("--source", self.stored("infer"), "--source", self.stored("server"), "--format", "csv", "--output", "-").out
        self.assertEqual(len(both.splitlines()), 4)

    def test_resume_takes_over_what_is_complete(self):
        for name in RESUMED:
            run = self.stored(name)
            before = figures(self.summary(run))
            records = {p: p.read_bytes() for p in run.rglob("passes/*") if p.is_file()}
            result = self.run_cli("run", "--resume", run)
            self.assert_code(result, 0)
            self.assertNotRegex(result.err, r"rep \d+   done")
            self.assertEqual(figures(self.summary(run)), before, name)
            for path, content in records.items():
                self.assertEqual(path.read_bytes(), content, path)

    def test_resume_measures_what_is_missing_and_keeps_the_rest(self):
        for name in RESUMED:
            run = self.stored(name)
            before = figures(self.summary(run))
            self.assert_code(self.run_cli("run", "--resume", run, "--repetitions", 2), 0)
            after = figures(self.summary(run))
            self.assertEqual(set(after), set(before))
            for case, (_, _, repetitions) in before.items():
                self.assertEqual(after[case][0], "ok")
                self.assertEqual((after[case][2][:1], len(after[case][2])), (repetitions, 2), name)
            self.assertEqual(list(run.rglob("passes.1")), [], "records were put aside")


class Checkpoint(TrainingTest):
    def test_training_continues_from_it(self):
        shutil.copytree(DATA / "checkpoint", self.folder / "kept/step_7")
        result = self.run_cli("train", *self.PLUGIN, *QUICK_TRAINING, "--ranks", 2, "--steps", 5, "--warmup-steps", 0, "--checkpoint-dir", "kept",
                              "--checkpoint.resume", "true")
        self.assert_code(result, 0)
        self.assertEqual(self.summary()["cases"][0]["training"][0]["checkpoints"]["resumed_step"], 7)


class Calibration(Stored):
    """Needs ONNX Runtime: the model is in ONNX."""

    def test_it_is_used(self):
        shutil.copy(DATA / "calibration.json", self.folder / "cache.json")
        (self.folder / "linear.onnx").write_bytes(onnx_files.linear())
        done = self.run_cli("export", "--model", "linear.onnx", "--precision", "int8", "--quantisation.samples", 8, "--calib-cache", "cache.json", "--out", "a.onnx")
        self.assert_code(done, 0)
        self.assertIn("from cache", done.out)


if __name__ == "__main__":
    main()
