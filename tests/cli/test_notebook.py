# SPDX-License-Identifier: MIT
"""python/paceline_results and notebooks/analysis.ipynb, on a stored training run and on what the tool writes today.

PACELINE_NOTEBOOK_PACKAGES: the folder with pandas, matplotlib and nbclient; skipped without them (scripts/setup.sh --checks installs them).
"""

import json
import math
import os
import shutil
import sys
import unittest
from pathlib import Path

import paceline_cli as cli

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = os.environ.get("PACELINE_NOTEBOOK_PACKAGES", "")
NOTEBOOK = ROOT / "notebooks/analysis.ipynb"
STORED = Path(__file__).parent / "data/training_run"
sys.path[:0] = [str(ROOT / "python")] + ([PACKAGES] if PACKAGES else [])
try:
    import nbclient
    import nbformat
    import paceline_results as results
    from traitlets.config import Config
except ImportError as problem:
    print(f"skipped: {problem}; scripts/setup.sh --checks installs what this test needs")
    sys.exit(77)


class Package(cli.CliTest):
    def stored(self):
        return results.cases([results.read_run(STORED)])

    def test_cases_have_the_figures_of_the_files(self):
        frame = self.stored()
        self.assertEqual(list(frame["ranks"]), [1, 2])
        summary = json.loads((STORED / "run_summary.json").read_text())
        for row, case in zip(frame.to_dict("records"), summary["cases"], strict=True):
            self.assertEqual(row["case_id"], case["case_id"])
            self.assertAlmostEqual(row["p50_ms"] * 1e6, case["headline"]["p50_ns"]["value"])
            self.assertEqual(row["throughput_per_s"], case["throughput"]["per_s"]["value"])
            self.assertAlmostEqual(row["total_s"] * 1e9, case["training"][0]["total_ns"], delta=1)

    def test_damage_is_a_value_error(self):
        """Whatever stands in the files, and nothing else is raised."""
        stored = json.loads((STORED / "run_summary.json").read_text())
        folder = self.folder / "run"
        shutil.copytree(STORED, folder)
        for text in ("[" * 200_000, "[]", "null", "{}", json.dumps({**stored, "run_id": 7}), json.dumps({**stored, "cases": {}}), "\xff", '{"schema_version": "1.4"'):
            (folder / "run_summary.json").write_bytes(text.encode("latin-1"))
            with self.assertRaises(ValueError, msg=text[:40]):
                results.read_run(folder)
            with self.assertRaises(ValueError, msg=text[:40]):
                results.find_runs(folder)
        for case in (None, [], {}, {**stored["cases"][0], "headline": None}, {**stored["cases"][0], "throughput": {"per_s": []}}):
            (folder / "run_summary.json").write_text(json.dumps({**stored, "cases": [case]}))
            with self.assertRaises(ValueError, msg=str(case)[:40]):
                results.cases([results.read_run(folder)])
        with open(folder / "run_summary.json", "w", encoding="utf-8") as file:
            file.truncate(1 << 40)
        with self.assertRaisesRegex(ValueError, "at most"):
            results.read_run(folder)
        header = json.dumps([1]).encode()
        (folder / "x.steps.bin").write_bytes(b"PACESTEP" + (1).to_bytes(4, "little") + len(header).to_bytes(4, "little") + header)
        with self.assertRaisesRegex(ValueError, "x.steps.bin"):
            results.read_step_file(folder / "x.steps.bin")

    def claimed(self):
        """The stored run as if the tool had claimed its intervals."""
        run = results.read_run(STORED)
        run.summary["cases"][1]["scaling"][0].update(ci_low=0.5, ci_high=0.6)
        return run

    def test_scaling_is_the_tools_own(self):
        run = self.claimed()
        stored = run.summary["cases"][1]["scaling"][0]
        rows = results.scaling(results.cases([run]))
        two = rows.iloc[1]
        self.assertEqual((two["efficiency"], two["efficiency_low"], two["efficiency_high"]), (stored["efficiency"], stored["ci_low"], stored["ci_high"]))
        self.assertEqual((two["speedup_of_ranks"], two["base_ranks"], two["no_claim"]), (stored["speedup"], 1, ""))

    def test_the_fewest_ranks_have_no_efficiency(self):
        """There is nothing that one rank, or two ranks alone, could be compared with."""
        row = results.scaling(results.cases([self.claimed()])).iloc[0]
        self.assertTrue(math.isnan(row["efficiency"]))
        self.assertIn("no case of fewer ranks", row["no_claim"])
        alone = self.claimed()
        alone.summary["cases"][1]["scaling"] = []
        del alone.summary["cases"][0]
        rows = results.scaling(results.cases([alone]))
        self.assertEqual(list(rows["ranks"]), [2])
        self.assertTrue(rows["efficiency"].isna().all())

    def test_what_the_tool_does_not_claim_is_no_number(self):
        self.assertTrue(results.scaling(self.stored())["efficiency"].isna().all())
        self.assertEqual(results.scaling(self.stored())["no_claim"][1], "fewer than six pairs of processes")
        run = self.claimed()
        run.summary["cases"][1]["scaling"][0].update(ci_low=None, ci_high=None, ci_low_reason="not run in turns")
        self.assertEqual(results.scaling(results.cases([run]))["no_claim"][1], "not run in turns")

    def test_samples_steps_and_epochs(self):
        run = results.read_run(STORED)
        case = run.summary["cases"][1]
        samples, steps, epochs = (read(run, case["case_id"]) for read in (results.samples, results.steps, results.epochs))
        self.assertEqual(len(samples), case["stats"]["n"])
        self.assertAlmostEqual(samples["ms"].median() * 1e6, case["stats"]["median_ns"])
        self.assertEqual(sorted(steps["rank"].unique()), [0, 1])
        self.assertEqual(len(epochs), len(case["training"][0]["epochs"]))

    def test_other_folders_are_refused(self):
        for read in (results.read_run, results.find_runs):
            with self.assertRaisesRegex(ValueError, "no run"):
                read(self.folder)
        summary = json.loads((STORED / "run_summary.json").read_text())
        self.write("run_summary.json", json.dumps({**summary, "schema_version": "2.0"}))
        with self.assertRaisesRegex(ValueError, "of format 2.0"):
            results.read_run(self.folder)

    def test_a_run_of_today(self):
        """A single case has its files beside the summary."""
        self.assert_code(self.infer(iterations=20), 0)
        run, = results.find_runs(self.folder / "results")
        frame = results.cases([run])
        self.assertEqual((frame["kind"][0], frame["outcome"][0], frame["ranks"][0]), ("inference", "ok", 1))
        self.assertGreater(frame["p50_ms"][0], 0)
        self.assertEqual(len(results.samples(run, frame["case_id"][0])), 20)
        self.assertTrue(results.scaling(frame).empty)
        self.assertTrue(results.steps(run, frame["case_id"][0]).empty)

    def same(self, number, stored):
        """A missing number is NaN."""
        if stored is None:
            self.assertTrue(math.isnan(number))
        else:
            self.assertAlmostEqual(number / stored, 1, places=6)

    def test_sizes_of_collectives(self):
        """A row per size, place and mode, with the figures of the summary; the tool's own CSV has the same rows."""
        self.assert_code(self.run_cli("comm", "--plugin", cli.SPIN, "-g", "2", "-b", "64", "-e", "128", "--collective", "all_reduce,all_gather,all_to_all", "-n", "60",
                                      "--size-time-s", "0", "--idle-wait-s", "0", "--allow-noisy", "-q"), 0)
        run, = results.find_runs(self.folder / "results")
        frame = results.collectives([run])
        self.assertEqual(len(frame), 2 * 3 * (2 + 2 + 1), "sizes, modes, places: all_to_all has one")
        self.assertTrue(frame["time_ns_ci_low"].notna().any())
        for case in run.summary["cases"]:
            c = case["collective"][0]
            for size in c["sizes"]:
                for place in ("out_of_place", "in_place"):
                    figures = size[place]
                    rows = frame[(frame["operation"] == c["operation"]) & (frame["size_bytes"] == size["bytes"]) & (frame["place"] == place)].set_index("mode")
                    if figures["n"] is None:
                        self.assertTrue(rows.empty)
                        continue
                    one = rows.loc["one_by_one"]
                    self.assertEqual((one["type"], one["reduction"], one["ranks"], one["n"]), ("float", c["reduction"], 2, figures["n"]))
                    for column, stored in (("time_ns", figures["sync_ns"]), ("busbw_gb_per_s", figures["sync_busbw_gb_per_s"])):
                        for name, key in ((column, "value"), (f"{column}_ci_low", "ci_low"), (f"{column}_ci_high", "ci_high")):
                            self.same(one[name], stored[key])
                    self.assertAlmostEqual(rows.loc["batch", "time_ns"] / figures["batch_ns"], 1, places=6)
                    self.assertAlmostEqual(rows.loc["batch", "busbw_gb_per_s"] / figures["batch_busbw_gb_per_s"], 1, places=6)
                    self.assertTrue(math.isnan(rows.loc["batch", "time_ns_ci_low"]), "a batch has no interval")
        self.assert_code(self.run_cli("report", run.folder, "--format", "collectives", "--output", "sizes.csv"), 0)
        self.assertEqual((self.folder / "sizes.csv").read_text(), (run.folder / "collectives.csv").read_text())
        self.assertTrue(results.collectives([results.read_run(STORED)]).empty)

    def test_step_files_hold_what_the_text_holds(self):
        self.assert_code(self.run_cli("train", "--plugin", cli.SPIN, "--model", "tiny_cnn", "--device", "cpu", "--ranks", "2", "--batch-size", "4", "--threads", "1", "--steps", "6",
                                      "--idle-wait-s", "0", "--allow-noisy", "-q"), 0)
        run, = results.find_runs(self.folder / "results")
        case_id = run.summary["cases"][0]["case_id"]
        text = results.steps(run, case_id)
        file, = run.case_folder(case_id).glob("passes/*.steps.bin")
        frame = results.read_step_file(file)
        self.assertEqual(list(frame["buckets"]), [len(buckets) for buckets in text["buckets"]])
        for name in text.columns.drop("buckets"):
            self.assertEqual(list(frame[name]), list(text[name]), name)
        for path in run.case_folder(case_id).glob("rank*.jsonl"):
            path.unlink()
        self.assertTrue(results.steps(run, case_id).equals(frame))
        content = file.read_bytes()
        for damaged in (content[:-1], content[:len(content) // 2], content[:40], b"", content[:-30] + b"x" + content[-29:]):
            file.write_bytes(damaged)
            with self.assertRaisesRegex(ValueError, "timed-0.steps.bin' cannot be read"):
                results.read_step_file(file)


class Notebook(cli.CliTest):
    """Every cell runs; charts come out as pictures."""

    def execute(self, folder):
        """Text and number of pictures of all outputs."""
        for name, value in (("PACELINE_RESULTS", str(folder)), ("PYTHONPATH", PACKAGES), ("MPLCONFIGDIR", str(self.folder)),
                            ("JUPYTER_PLATFORM_DIRS", "1"), ("IPYTHONDIR", str(self.folder)), ("JUPYTER_PATH", f"{PACKAGES}/share/jupyter")):
            before = os.environ.get(name)
            os.environ[name] = value
            self.addCleanup(os.environ.__setitem__ if before is not None else lambda key, _: os.environ.pop(key, None), name, before)
        notebook = nbformat.read(NOTEBOOK, as_version=4)
        config = Config({"KernelManager": {"transport": "ipc", "ip": str(self.folder / "kernel")}})  # no port of this machine
        nbclient.NotebookClient(notebook, config=config, timeout=240, resources={"metadata": {"path": str(NOTEBOOK.parent)}}).execute()
        outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
        pictures = sum("image/png" in output.get("data", {}) for output in outputs)
        return "\n".join(output.get("text", "") or output.get("data", {}).get("text/plain", "") for output in outputs), pictures

    def test_it_is_stored_without_outputs(self):
        cells = json.loads(NOTEBOOK.read_text())["cells"]
        self.assertTrue(any('scaling[["case_id", "grade"' in "".join(cell["source"]) for cell in cells))
        for cell in cells:
            self.assertFalse(cell.get("outputs"))
            self.assertIsNone(cell.get("execution_count"))

    def test_training(self):
        text, pictures = self.execute(STORED)
        self.assertIn("1 runs, 2 cases", text)
        self.assertIn("tiny_cnn-train-fp32-b8-r2-cpu", text)
        self.assertIn("fewer than six pairs of processes", text)  # why there is no efficiency
        self.assertEqual(pictures, 3, text)

    def test_inference_beside_training(self):
        self.assert_code(self.infer(iterations=20), 0)
        shutil.copytree(STORED, self.folder / "results/train/stored")
        text, pictures = self.execute(self.folder / "results")
        self.assertIn("2 runs, 3 cases", text)
        self.assertEqual(pictures, 4, text)

    def test_inference_alone(self):
        self.assert_code(self.infer(iterations=20), 0)
        text, pictures = self.execute(self.folder / "results")
        self.assertIn("No training case was measured", text)
        self.assertEqual(pictures, 1, text)


if __name__ == "__main__":
    cli.main()
