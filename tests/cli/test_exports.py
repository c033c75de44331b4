# SPDX-License-Identifier: MIT
"""Exports of `python -m paceline_results`, on a stored training run and on an inference of today: on doubles of TensorBoard
and MLflow that keep what they are told, and on the real packages where this Python, or the folder PACELINE_EXPORT_PACKAGES, has them."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import paceline_cli as cli

ROOT = Path(__file__).resolve().parents[2]
STORED = Path(__file__).parent / "data/training_run"
ONE_RANK = "tiny_cnn-train-fp32-b8-r1-cpu"
PACKAGES = [folder for folder in (os.environ.get("PACELINE_EXPORT_PACKAGES"), os.environ.get("PACELINE_NOTEBOOK_PACKAGES")) if folder]
SQL = "COPY (FROM '{}/summary.csv') TO '{}'"

TENSORBOARD = {
    "tensorboard/compat/proto/event_pb2.py": "class Event:\n    def __init__(self, **fields):\n        self.fields = fields\n",
    "tensorboard/compat/proto/summary_pb2.py": """
class Summary:
    class Value:
        def __init__(self, tag, simple_value):
            self.tag, self.simple_value = tag, simple_value
    def __init__(self, value):
        self.value = value
""",
    "tensorboard/summary/writer/event_file_writer.py": """
import json, pathlib
class EventFileWriter:
    def __init__(self, folder):
        self.file = pathlib.Path(folder) / "events"
        self.file.parent.mkdir(parents=True)
        self.events = []
    def add_event(self, event):
        value = event.fields["summary"].value[0]
        self.events.append([value.tag, event.fields["step"], value.simple_value, event.fields["wall_time"]])
    def close(self):
        self.file.write_text(json.dumps(self.events))
"""}
MLFLOW = {
    "mlflow/exceptions.py": "class MlflowException(Exception):\n    pass\n",
    "mlflow/entities.py": "import collections\nMetric = collections.namedtuple('Metric', 'key value timestamp step')\nParam = collections.namedtuple('Param', 'key value')\n",
    "mlflow/tracking.py": """
import json, pathlib, types
from mlflow.exceptions import MlflowException
class MlflowClient:
    def __init__(self, tracking_uri):
        if tracking_uri == "http://nobody":
            raise MlflowException("no answer")
        self.file = pathlib.Path(tracking_uri)
        self.runs = json.loads(self.file.read_text()) if self.file.exists() else {}
    def keep(self):
        self.file.write_text(json.dumps(self.runs))
    def get_experiment_by_name(self, name):
        return types.SimpleNamespace(experiment_id=name) if any(r["home"] == name for r in self.runs.values()) else None
    def create_experiment(self, name):
        return name
    def search_runs(self, homes, filter_string, max_results):
        return [r for r in self.runs.values() if r["home"] in homes and f"tags.`paceline.run_id` = '{r['tags'].get('paceline.run_id')}'" == filter_string]
    def create_run(self, home, tags, run_name):
        one = str(len(self.runs))
        self.runs[one] = {"home": home, "tags": tags, "name": run_name, "params": {}, "metrics": [], "files": [], "status": "RUNNING"}
        return types.SimpleNamespace(info=types.SimpleNamespace(run_id=one))
    def log_batch(self, one, metrics=(), params=()):
        assert len(metrics) <= 1000 and len(params) <= 100
        self.runs[one]["metrics"] += [list(m) for m in metrics]
        self.runs[one]["params"].update(params)
    def log_artifact(self, one, file):
        self.runs[one]["files"].append(pathlib.Path(file).name)
    def set_terminated(self, one, status):
        self.runs[one]["status"] = status
        self.keep()
"""}


class Exports(cli.CliTest):
    def export(self, *words, path=(), bare=False, code=0):
        """Runs the package as a program; `bare`: without what is installed in this Python."""
        env = {**self.env, "PYTHONPATH": ":".join(map(str, (ROOT / "python", *path))), "GIT_PYTHON_REFRESH": "quiet"}
        command = [sys.executable, *(["-S"] if bare else []), "-m", "paceline_results", *map(str, words)]
        done = subprocess.run(command, cwd=self.folder, env=env, capture_output=True, text=True, check=False, timeout=cli.TIMEOUT_S)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        return done.stdout + done.stderr

    def doubles(self, files):
        for name, text in files.items():
            self.write(f"doubles/{name}", text)
        return (self.folder / "doubles",)

    def need(self, *modules):
        env = {**self.env, "PYTHONPATH": ":".join(PACKAGES)}
        if subprocess.run([sys.executable, "-c", "import " + ", ".join(modules)], env=env, check=False, capture_output=True).returncode:
            self.skipTest(f"this Python has no {' and '.join(modules)}")

    def python(self, code, *words):
        env = {**self.env, "PYTHONPATH": ":".join(PACKAGES), "GIT_PYTHON_REFRESH": "quiet"}
        done = subprocess.run([sys.executable, "-c", code, *map(str, words)], cwd=self.folder, env=env, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    def summary_row(self, run=STORED, place=0):
        return cli.read_csv(run / "summary.csv")[place]


class Refusals(Exports):
    def test_a_package_that_is_missing_is_named(self):
        for export, words in (("tensorboard", "pip install tensorboard"), ("mlflow", "pip install mlflow"), ("parquet", "pip install pandas")):
            output = [] if export == "mlflow" else ["-o", "out"]
            self.assertIn(words, self.export(export, STORED, *output, bare=True, code=77))
        self.assertEqual(list(self.folder.glob("out*")), [])

    def test_a_folder_without_a_run_and_a_wrong_command(self):
        path = self.doubles({**TENSORBOARD, **MLFLOW})
        self.assertIn("no run of Paceline below", self.export("tensorboard", self.folder, "-o", "out", path=path, bare=True, code=2))
        self.assertIn("invalid choice", self.export("excel", STORED, code=2))
        self.assertIn("-o", self.export("tensorboard", STORED, code=2))
        self.assertIn("MLflow at http://nobody: no answer", self.export("mlflow", STORED, "--tracking-uri", "http://nobody", path=path, bare=True, code=2))

    def test_a_run_without_its_table(self):
        copy = shutil.copytree(STORED, self.folder / "copy")
        (copy / "summary.csv").unlink()
        self.assertIn("has no summary.csv", self.export("tensorboard", copy, "-o", "out", path=self.doubles(TENSORBOARD), bare=True, code=2))


    def test_two_copies_of_one_run(self):
        for name in ("a", "b"):
            shutil.copytree(STORED, self.folder / "runs" / name)
        for export, output, double in (("tensorboard", ["-o", "logs"], TENSORBOARD), ("mlflow", ["--tracking-uri", "store.json"], MLFLOW)):
            said = self.export(export, "runs", *output, path=self.doubles(double), bare=True, code=2)
            self.assertRegex(said, r"'runs/[ab]' and 'runs/[ab]' are the same run 20261122T170637Z-e5aa; name the folder of one")
        self.assertEqual([name for name in ("logs", "store.json") if (self.folder / name).exists()], [])

    def test_a_case_whose_name_leads_elsewhere(self):
        for word, text in ((ONE_RANK, "../../elsewhere"), ("20261122T170637Z-e5aa", "..")):
            copy = shutil.copytree(STORED, self.folder / "copy", dirs_exist_ok=True)
            for file in ("run_summary.json", "summary.csv"):
                (copy / file).write_text((STORED / file).read_text(encoding="utf-8").replace(word, text), encoding="utf-8")
            self.assertIn("is no id of a run or a case", self.export("tensorboard", copy, "-o", "logs", path=self.doubles(TENSORBOARD), bare=True, code=2))
        (copy / "summary.csv").write_text("case_id\n")
        self.assertIn("do not have the same cases", self.export("tensorboard", copy, "-o", "logs", path=self.doubles(TENSORBOARD), bare=True, code=2))
        self.assertFalse((self.folder / "logs").exists() and any((self.folder / "logs").iterdir()))


class TensorBoard(Exports):
    def test_a_training_has_its_metrics_epochs_and_steps(self):
        self.export("tensorboard", STORED, "-o", "logs", path=self.doubles(TENSORBOARD), bare=True)
        events = json.loads((self.folder / "logs/20261122T170637Z-e5aa" / ONE_RANK / "events").read_text())
        told = {(tag, step): value for tag, step, value, _ in events}
        self.assertEqual(told["case/p50_ms", 0], float(self.summary_row()["p50_ms"]))
        self.assertEqual(told["case/p50_ms_ci_low", 0], float(self.summary_row()["p50_ms_ci_low"]))
        self.assertAlmostEqual(told["epoch/loss", 1], 2.5492851734161377)
        self.assertAlmostEqual(told["step/step_ms", 3], 270.053618)
        self.assertAlmostEqual(told["step/loss", 2], 48.18499755859375)
        self.assertEqual({time for *_, time in events}, {1795367197.0})
        self.assertIn("already there", self.export("tensorboard", STORED, "-o", "logs", path=self.doubles(TENSORBOARD), bare=True, code=2))

    def test_an_inference(self):
        self.assert_code(self.infer("--note", "warm, but <b>slow</b>"), 0)
        run = self.only_run()
        self.export("tensorboard", run, "-o", "logs", path=self.doubles(TENSORBOARD), bare=True)
        events = json.loads(next(self.folder.glob("logs/*/*/events")).read_text())
        row = self.summary_row(run)
        self.assertEqual({tag: value for tag, *_, value, _ in events}["case/p50_ms"], float(row["p50_ms"]))

    def test_the_real_one_reads_it(self):
        self.need("tensorboard")
        self.export("tensorboard", STORED, "-o", "logs", path=PACKAGES)
        code = """
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
read = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0}).Reload()
print(json.dumps({tag: [[e.step, e.value] for e in read.Scalars(tag)] for tag in read.Tags()["scalars"]}))
"""
        told = self.python(code, self.folder / "logs/20261122T170637Z-e5aa" / ONE_RANK)
        self.assertEqual(len(told["step/step_ms"]), 12)
        self.assertAlmostEqual(told["step/step_ms"][3][1], 270.053618, places=4)
        self.assertAlmostEqual(told["case/throughput_per_s"][0][1], float(self.summary_row()["throughput_per_s"]), places=4)


class Mlflow(Exports):
    def check(self, runs):
        parent = next(run for run in runs if run["name"] == "20261122T170637Z-e5aa")
        self.assertEqual(set(parent["files"]), {"run_summary.json", "summary.csv"})
        self.assertEqual(parent["tags"]["paceline.command"], "paceline train --model tiny_cnn --ranks 1,2")
        one = next(run for run in runs if run["name"] == ONE_RANK)
        self.assertEqual((one["params"]["precision"], one["params"]["batch_per_rank"], one["status"]), ("fp32", "8", "FINISHED"))
        metrics = {(name, step): value for name, value, _, step in one["metrics"]}
        self.assertEqual(metrics["p50_ms", 0], float(self.summary_row()["p50_ms"]))
        self.assertAlmostEqual(metrics["epoch/loss", 1], 2.5492851734161377)

    def test_parameters_metrics_and_files(self):
        path = self.doubles(MLFLOW)
        self.export("mlflow", STORED, "--tracking-uri", "store.json", "--experiment", "night", path=path, bare=True)
        runs = json.loads((self.folder / "store.json").read_text())
        self.assertEqual({run["home"] for run in runs.values()}, {"night"})
        self.assertEqual([run["tags"].get("mlflow.parentRunId") for run in runs.values()], [None, "0", "0"])
        self.check(runs.values())
        again = self.export("mlflow", STORED, "--tracking-uri", "store.json", "--experiment", "night", path=path, bare=True, code=2)
        self.assertIn("already has the run 20261122T170637Z-e5aa", again)

    def test_the_real_one_reads_it(self):
        self.need("mlflow", "sqlalchemy")
        uri = f"sqlite:///{self.folder}/store.db"
        self.export("mlflow", STORED, "--tracking-uri", uri, path=PACKAGES)
        code = """
import json, sys
from mlflow.tracking import MlflowClient
client = MlflowClient(sys.argv[1])
home = client.get_experiment_by_name("train").experiment_id
runs = []
for run in client.search_runs([home]):
    metrics = [[m.key, m.value, m.timestamp, m.step] for name in run.data.metrics for m in client.get_metric_history(run.info.run_id, name)]
    files = [file.path for file in client.list_artifacts(run.info.run_id)]
    runs.append({"name": run.info.run_name, "status": run.info.status, "tags": dict(run.data.tags), "params": dict(run.data.params), "metrics": metrics, "files": files})
print(json.dumps(runs))
"""
        self.check(self.python(code, uri))
        self.assertIn("already has the run", self.export("mlflow", STORED, "--tracking-uri", uri, path=PACKAGES, code=2))


class Documents(Exports):
    def test_the_lines_of_the_documents_are_understood(self):
        lines = re.findall(r"^python -m paceline_results ([^#\n]*)", (ROOT / "docs/results.md").read_text(encoding="utf-8"), re.M)
        self.assertEqual([line.split()[0] for line in lines], ["parquet", "tensorboard", "mlflow"])
        for line in lines:
            self.assertIn("pip install", self.export(*line.replace("DIR", str(STORED)).split(), bare=True, code=77))


class Parquet(Exports):
    def test_the_tool_names_duckdb(self):
        for words in (["--format", "parquet"], ["-f", "html,parquet"], ["-o", "x.parquet"]):
            self.assert_error(self.run_cli("report", "--source", STORED, *words), 2, words[0], "Parquet", SQL.format("DIR", "summary.parquet"))
        self.assertFalse((self.folder / "x.parquet").exists())

    def test_the_line_of_the_documents(self):
        said = re.search(r'duckdb -c "(.*?)"', (ROOT / "docs/results.md").read_text(encoding="utf-8")).group(1)
        self.assertEqual(said, SQL.format("DIR", "summary.parquet"))
        with (STORED / "summary.csv").open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["case_id"] for row in rows], [case["case_id"] for case in cli.read_json(STORED / "run_summary.json")["cases"]])
        self.assertTrue(all(None not in row and None not in row.values() for row in rows))
        self.need("duckdb")
        code = "import duckdb, json, sys\nduckdb.sql(sys.argv[1])\nprint(json.dumps(duckdb.sql(\"SELECT case_id, p50_ms FROM 'summary.parquet'\").fetchall()))"
        self.assertEqual(self.python(code, said.replace("DIR", str(STORED))), [[row["case_id"], float(row["p50_ms"])] for row in rows])

    def test_the_package_writes_it(self):
        self.need("pandas", "pyarrow")
        code = "import json, pandas, sys\nprint(pandas.read_parquet(sys.argv[1]).to_json(orient='records'))"
        self.export("parquet", STORED, "-o", "summary.parquet", path=PACKAGES)
        rows = self.python(code, "summary.parquet")
        self.assertEqual([row["case_id"] for row in rows], [self.summary_row(place=place)["case_id"] for place in (0, 1)])
        self.assertEqual(rows[0]["p50_ms"], float(self.summary_row()["p50_ms"]))
        for table, count in (("epochs", 6), ("samples", 20)):
            with self.subTest(table):
                self.export("parquet", STORED, "--table", table, "-o", "t.parquet", path=PACKAGES)
                rows = self.python(code, "t.parquet")
                self.assertEqual(rows[0]["case_id"], ONE_RANK)
                self.assertGreaterEqual(len(rows), count)
        self.assertIn("no run has a row", self.export("parquet", STORED, "--table", "collectives", "-o", "c.parquet", path=PACKAGES, code=2))


if __name__ == "__main__":
    cli.main()
