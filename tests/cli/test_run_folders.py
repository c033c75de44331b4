# SPDX-License-Identifier: MIT
"""Run folders that somebody else has filled, and names of outputs that lead elsewhere: pipes, links, devices, names without end,
characters that a terminal would obey."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import unittest
from pathlib import Path

import onnx_files
import paceline_cli as cli

DATA = Path(__file__).resolve().parent / "data"
PYTHON = Path(__file__).resolve().parents[2] / "python"
FORMS = ("text", "markdown", "csv", "study", "json", "html", "svg", "nccl", "nccl-json")
PATIENCE_S = 20  # a command that waits for a pipe waits for ever
LONG = "n" * 5000
LOOP = "loop"


class RunFolder(cli.CliTest):
    def setUp(self):
        super().setUp()
        (self.folder / LOOP).symlink_to(LOOP)

    def stored(self, name="run"):
        shutil.copytree(DATA / name, self.folder / name)
        return self.folder / name

    def run_quickly(self, *arguments, **options):
        begin = time.monotonic()
        result = self.run_cli(*arguments, timeout=PATIENCE_S, **options)
        self.assertLess(time.monotonic() - begin, PATIENCE_S)
        return result

    def infer_quickly(self, *arguments):
        return self.run_quickly("infer", "--plugin", cli.SPIN, "--engine", "spin", "--model", "x.spin", "--shapes", "input:{batch}x4", "--iterations", 5,
                                *cli.QUICK, *arguments)


def put_pipe(path):
    os.mkfifo(path)


def put_socket(path):
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(path.parent)  # the name of a socket may not be long
        try:
            server.bind(path.name)
        finally:
            os.chdir(here)


def put_device(path):
    path.symlink_to("/dev/zero")


def put_folder(path):
    path.mkdir()


STRANGERS = {"pipe": put_pipe, "socket": put_socket, "device": put_device, "folder": put_folder}


class NoFiles(RunFolder):
    """Files that are not regular are not read, and named."""

    def replaced(self, path, put):
        path.unlink(missing_ok=True)
        path.parent.mkdir(exist_ok=True)
        put(path)

    def test_steps_of_ranks(self):
        run = self.stored("training_run")
        case = next(run.glob("cases/*r2*"))
        name = "passes/timed-0.steps.bin"
        for what, put in STRANGERS.items():
            with self.subTest(what=what):
                self.replaced(case / name, put)
                result = self.run_quickly("report", "-s", run, "-f", "html", "-o", "page.html")
                self.assert_code(result, 0)
                self.assertIn(name, (self.folder / "page.html").read_text(encoding="utf-8"))
                (shutil.rmtree if what == "folder" else os.unlink)(case / name)

    def test_summary_results_and_samples(self):
        self.assert_code(self.infer_quickly("-o", "out"), 0)
        run = self.only_run("out")
        for name, refused in (("result.json", False), ("samples.csv", True), ("run_summary.json", True)):
            for what, put in STRANGERS.items():
                with self.subTest(name=name, what=what):
                    content = (run / name).read_bytes()
                    self.replaced(run / name, put)
                    begin = time.monotonic()
                    result = self.run_quickly("report", "-s", run, "-f", "markdown")
                    self.assertLess(time.monotonic() - begin, 4)
                    self.assert_code(result, 2 if refused else 0)
                    self.assertIn(name, result.err)
                    (shutil.rmtree if what == "folder" else os.unlink)(run / name)
                    (run / name).write_bytes(content)

    def test_resuming(self):
        self.assert_code(self.infer_quickly("-o", "out", "-r", 2), 0)
        run = self.only_run("out")
        for name, code in (("plan.yaml", 2), ("run_summary.json", 2), ("log.txt", 2), (".lock", 2), ("passes/timed-1.jsonl", 0), ("passes/check.jsonl", 0),
                           ("result.json", 0), ("samples.csv", 0), ("summary.csv", 0), ("report.html", 0), ("environment.json", 0)):
            with self.subTest(name=name):
                copy = self.folder / "copy"
                shutil.copytree(run, copy)
                self.replaced(copy / name, put_pipe)
                begin = time.monotonic()
                result = self.run_quickly("run", "--resume", copy, "--repetitions", 3)
                self.assert_code(result, code)
                if code == 2:
                    self.assertLess(time.monotonic() - begin, 4)
                    self.assertIn(name, result.err)
                else:
                    self.assert_samples_once(copy, self.summary(copy)["cases"][0]["case_id"], 3, 5)
                    self.assertTrue((copy / name).is_file())
                shutil.rmtree(copy)

    def test_the_python_package(self):
        packages = os.environ.get("PACELINE_NOTEBOOK_PACKAGES", "")
        reading = "import paceline_results.regular as r, pathlib, sys\ntry:\n  r.read_bytes(pathlib.Path(sys.argv[1]))\nexcept ValueError as e:\n  print(e)"
        env = {**os.environ, "PYTHONPATH": f"{PYTHON}:{packages}"}
        if subprocess.run([sys.executable, "-c", "import pandas, numpy"], env=env, check=False, capture_output=True).returncode != 0:
            self.skipTest("no pandas here")
        for what, put in STRANGERS.items():
            path = self.folder / what
            put(path)
            done = subprocess.run([sys.executable, "-c", reading, str(path)], env=env, capture_output=True, text=True, timeout=PATIENCE_S, check=True)
            self.assertIn(f"'{path}' is no regular file", done.stdout)
        steps = "import paceline_results as r, sys\nrun = r.find_runs(sys.argv[1])[0]\nfor c in run.summary['cases']:\n  r.steps(run, c['case_id'])\n  r.epochs(run, c['case_id'])"
        for name in ("passes/timed-0.steps.bin", "rank0.jsonl", "metrics_epoch.jsonl"):
            run = self.stored("training_run")
            case = next(run.glob("cases/*r2*"))
            for text in case.glob("rank*.jsonl"):
                if name.startswith("passes"):
                    text.unlink()
            self.replaced(case / name, put_pipe)
            done = subprocess.run([sys.executable, "-c", steps, str(run)], env=env, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
            self.assertRegex(done.stderr, f"ValueError: .*{name}' is no regular file")
            shutil.rmtree(run)


class Links(RunFolder):
    """Names that the program chooses are no way into files elsewhere."""

    def setUp(self):
        super().setUp()
        self.victim = self.write("elsewhere/victim", "precious")

    def assert_untouched(self):
        self.assertEqual(self.victim.read_text(encoding="utf-8"), "precious")
        self.assertEqual([p.name for p in self.victim.parent.iterdir()], ["victim"])

    def test_outputs_that_are_dumped(self):
        self.assert_code(self.infer_quickly("-o", "first", "--dump-outputs", "dump"), 0)
        folder = next((self.folder / "dump").iterdir())
        names = sorted(p.name for p in folder.iterdir())
        self.assertIn("outputs-0.npz", names)
        for put in (lambda path: path.symlink_to(self.victim), put_pipe):
            for name in names:
                (folder / name).unlink()
                put(folder / name)
            self.assert_code(self.infer_quickly("-o", "again", "--dump-outputs", "dump"), 0)
            for name in names:
                self.assertTrue((folder / name).is_file() and not (folder / name).is_symlink(), name)
            self.assert_untouched()
            shutil.rmtree(self.folder / "again")
        # A later file alone, which is not removed with those of an earlier dump.
        for name in names:
            (folder / name).unlink()
        (folder / "outputs-0.npz").symlink_to(self.victim)
        self.assert_code(self.infer_quickly("-o", "later", "--dump-outputs", "dump"), 0)
        self.assert_untouched()
        shutil.rmtree(folder)
        folder.symlink_to(self.victim.parent)
        result = self.infer_quickly("-o", "linked", "--dump-outputs", "dump")
        self.assert_code(result, 2)
        self.assertIn("it is a link", self.summary(self.only_run("linked"))["cases"][0]["reason"])
        self.assert_untouched()

    def test_files_of_a_run(self):
        self.assert_code(self.infer_quickly("-o", "out"), 0)
        run = self.only_run("out")
        for name in ("result.json", "samples.csv", "summary.csv", "run_summary.json", "report.html", "environment.json", "plan.yaml"):
            with self.subTest(name=name):
                copy = self.folder / "copy"
                shutil.copytree(run, copy)
                target = self.folder / "elsewhere/content"
                target.write_bytes((copy / name).read_bytes())
                (copy / name).unlink()
                (copy / name).symlink_to(target)
                before = target.read_bytes()
                self.assert_code(self.run_quickly("run", "--resume", copy, "--repetitions", 2), 0)
                self.assertFalse((copy / name).is_symlink(), name)
                self.assertEqual(target.read_bytes(), before)
                shutil.rmtree(copy)
                target.unlink()
        for name in ("log.txt", ".lock"):
            copy = self.folder / "copy"
            shutil.copytree(run, copy)
            (copy / name).unlink()
            (copy / name).symlink_to(self.victim)
            result = self.run_quickly("run", "--resume", copy, "--repetitions", 2)
            self.assert_code(result, 2)
            reason = self.summary(copy)["cases"][0]["reason"] if name == "log.txt" else result.err
            self.assertIn(f"{name}': it is a link", reason)
            self.assert_untouched()
            shutil.rmtree(copy)

    def test_folders_of_a_run(self):
        """Two cases have folders below cases/, a single one has only passes/."""
        self.assert_code(self.infer_quickly("-o", "two", "--batch", "1,2"), 0)
        self.assert_code(self.infer_quickly("-o", "one"), 0)
        two, one = self.only_run("two"), self.only_run("one")
        case = next((two / "cases").iterdir()).name
        for run, name in ((two, "cases"), (two, f"cases/{case}"), (two, f"cases/{case}/passes"), (one, "passes")):
            with self.subTest(name=name):
                copy = self.folder / "copy"
                shutil.copytree(run, copy, symlinks=True)
                shutil.rmtree(copy / name)
                (copy / name).symlink_to(self.victim.parent)
                result = self.run_quickly("run", "--resume", copy, "--repetitions", 2)
                self.assert_error(result, 2, f"{name}': it is a link")
                self.assert_untouched()
                shutil.rmtree(copy)

    def test_a_file_that_is_being_built(self):
        """Its unfinished name beside the file that was asked for has the process in it, so that nobody can plant a link there."""
        model = self.folder / "m.onnx"
        model.write_bytes(onnx_files.model([onnx_files.node("Relu", ["x"], ["y"])]))
        for engine, name in (("openvino", "m.blob"), ("tensorrt", "m.plan")):
            hidden = self.folder / f".m.unfinished.{name.split('.')[1]}"
            hidden.symlink_to(self.victim)
            result = self.run_cli("build", "--engine", engine, "--model", model, "-o", name)
            if result.code != 77:
                self.assert_code(result, 0)
                self.assertGreater((self.folder / name).stat().st_size, 0)
            else:
                self.assertRegex(result.err, f"'{engine}' needs the {engine} plug-in|GPU")
            self.assert_untouched()
            self.assertTrue(hidden.is_symlink())
            hidden.unlink()
            log = self.folder / f"{name}.log"
            log.unlink(missing_ok=True)
            log.symlink_to(self.victim)
            result = self.run_cli("build", "--engine", engine, "--model", model, "-o", name)
            if result.code != 77:
                self.assert_error(result, 2, f"{name}.log': it is a link")
            self.assert_untouched()

    def test_what_the_user_names_may_be_a_link(self):
        (self.folder / "here.xml").symlink_to(self.folder / "there.xml")
        self.assert_code(self.infer_quickly("--junit", "here.xml"), 0)
        self.assertTrue((self.folder / "here.xml").is_symlink())
        self.assertIn("<testsuites", (self.folder / "there.xml").read_text(encoding="utf-8"))

    def test_charts_and_documents_in_a_folder(self):
        run = self.stored()
        for name in ("memory.svg", "benchmark_results.csv"):
            (self.folder / "charts").mkdir(exist_ok=True)
            (self.folder / "charts" / name).symlink_to(self.victim)
        self.assert_code(self.run_quickly("report", "-s", run, "-f", "svg", "-o", "charts"), 0)
        (self.folder / "pages").mkdir()
        (self.folder / "pages/report.csv").symlink_to(self.victim)
        self.assert_code(self.run_quickly("report", "-s", run, "-f", "csv", "-o", "pages"), 0)
        (self.folder / "schema").mkdir()
        (self.folder / "schema/exit-codes.md").symlink_to(self.victim)
        self.assert_code(self.run_quickly("schema", "-o", "schema"), 0)
        self.assert_untouched()


class Names(RunFolder):
    """Links in a circle and names without end: exit 2, and the name."""

    def commands(self, name):
        run = self.stored()
        yield "source", ("report", "--source", name)
        yield "source below", ("report", "--source", f"{name}/run_summary.json")
        yield "report to", ("report", "-s", run, "-f", "csv", "-o", name)
        yield "report to a folder", ("report", "-s", run, "-f", "svg", "-o", f"{name}/charts")
        yield "page to", ("report", "-s", run, "-f", "html", "-o", f"{name}/page.html")
        yield "schema to", ("schema", "-o", name)
        yield "document to", ("schema", "plan", "-o", name)
        yield "resume", ("run", "--resume", name)
        yield "traces", ("profile", "--from", name)
        line = ("infer", "--plugin", cli.SPIN, "--engine", "spin", "--model", "x.spin", "--shapes", "input:{batch}x4", "--iterations", 5, *cli.QUICK)
        for flag in ("--output-dir", "--junit", "--dump-outputs", "--plugin"):
            yield flag, (*line, flag, name)
        for flag in ("--output-dir", "--junit", "--nccl-json"):
            yield f"run {flag}", ("run", self.spin_plan(), flag, name)

    def check(self, name, shown):
        for what, arguments in self.commands(name):
            with self.subTest(what):
                result = self.run_quickly(*arguments)
                self.assert_code(result, 2)
                said = result.err + (result.out if what == "--dump-outputs" else "")
                self.assertIn(shown, said)
                self.assertLess(max(map(len, said.splitlines())), 2500)
        self.assertTrue((self.folder / LOOP).is_symlink())

    def test_links_in_a_circle(self):
        self.check(LOOP, LOOP)

    def test_names_without_end(self):
        self.check(LONG, "nnnnnnnn")

    def test_outputs_are_looked_at_before_anything_is_measured(self):
        for name in (LOOP, LONG):
            for flag in ("--junit", "--nccl-json"):
                self.assert_error(self.run_quickly("run", self.spin_plan(), flag, name), 2, flag)
                self.assertFalse((self.folder / "results").exists())

    def test_the_longest_name_of_a_file(self):
        run = self.stored()
        name = "n" * 251 + ".csv"
        self.assert_code(self.run_quickly("report", "-s", run, "-f", "csv", "-o", name), 0)
        self.assertEqual([p.name for p in self.folder.glob("n*")], [name])

    def test_a_pipe_that_nobody_reads(self):
        put_pipe(self.folder / "pipe")
        run = self.stored()
        self.assert_error(self.run_quickly("report", "-s", run, "-f", "csv", "-o", "pipe"), 2, "'pipe': it is a pipe, and nobody has read")


class StandardOutput(RunFolder):
    def test_one_text(self):
        run = self.stored()
        for form, begin in (("csv", "run_id,"), ("markdown", "# "), ("json", "{"), ("html", "<!-- The page"), ("text", ""), ("study", "model,")):
            result = self.run_cli("report", "-s", run, "-f", form, "-o", "-")
            self.assert_code(result, 0)
            self.assertTrue(result.out.lower().startswith(begin.lower()), result.out[:80])
            self.assertEqual(result.err, "")
        self.assert_code(self.run_cli("schema", "plan", "-o", "-"), 0)
        self.assertIn("# Commands", self.run_cli("schema", "-o", "-").out)
        self.assertFalse((self.folder / "-").exists())

    def test_other_forms_than_text_are_refused_for_standard_output(self):
        run = self.stored()
        for form in ("svg", "png", "pdf"):
            self.assert_error(self.run_cli("report", "-s", run, "-f", form, "-o", "-"), 2, "--output -", form)
        self.assert_error(self.run_cli("report", "-s", run, "-f", "csv,json", "-o", "-"), 2, "--output -", "one format")
        for flag in ("--junit", "--nccl-json", "--output-dir", "--dump-outputs"):
            self.assert_error(self.run_quickly("run", self.spin_plan(), flag, "-"), 2, flag, "standard output")
        self.assertFalse((self.folder / "-").exists())


# ESC, BEL, the CSI of C1, DEL, and two that turn the direction of text.
ODD = "\x1b[31m\x07\u009b2J\x7f\u202e\u2066\r"
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
# Texts that decide what is read or how it is sorted, not only what is shown.
KEPT = {"case_id", "base_case_id", "baseline_case_id", "reference_case_id", "schema_version", "file", "sha256", "outcome", "grade", "kind", "scenario", "scope", "reason_code", "run_id", "ended_because", "verdict"}


def made_odd(node, key=""):
    if isinstance(node, dict):
        return {k: made_odd(v, k) for k, v in node.items()}
    if isinstance(node, list):
        return [made_odd(v, key) for v in node]
    return node + ODD if isinstance(node, str) and key not in KEPT else node


class ControlCharacters(RunFolder):
    def check(self, name, change):
        run = self.stored(name)
        file = run / "run_summary.json"
        summary = json.loads(file.read_text(encoding="utf-8"))
        file.write_text(json.dumps(change(summary)), encoding="utf-8")
        for form in FORMS:
            with self.subTest(form):
                target = self.folder / f"{name}-{form}"
                target.mkdir()
                self.assert_code(self.run_cli("report", "-s", run, "-f", form, "-o", target), 0)
                for written in target.iterdir():
                    found = CONTROLS.findall(written.read_bytes().decode("utf-8"))
                    self.assertEqual(set(found), set(), f"{written.name}: {len(found)}")
                if form in ("json", "nccl-json"):
                    json.loads(next(target.iterdir()).read_text(encoding="utf-8"))
        shown = self.run_cli("report", "-s", run, "-s", run, "-f", "text")
        self.assertEqual(set(CONTROLS.findall(shown.out + shown.err)), set())
        return run

    def test_in_every_text_of_a_result(self):
        for name in ("run", "training_run"):
            def change(summary):
                odd = made_odd(summary)
                for key in ("experiment_name", "started_utc", "command_line"):
                    odd[key] = summary[key] + ODD
                for case in odd["cases"]:
                    case["log_tail"] = "a log" + ODD + "\nof two lines\x1b]0;title\x07"
                odd["warnings"] = ["a library says " + ODD]
                return odd
            self.check(name, change)

    def test_json_keeps_the_data(self):
        run = self.stored()
        file = run / "run_summary.json"
        summary = json.loads(file.read_text(encoding="utf-8"))
        summary["cases"][0]["label"] += ODD + "größe"
        file.write_text(json.dumps(summary), encoding="utf-8")
        stored = json.loads(self.run_cli("report", "-s", run, "-f", "json").out)
        self.assertEqual(stored["cases"][0]["label"], summary["cases"][0]["label"])

    def test_of_a_run(self):
        """A model whose name has them, an engine that fails with them."""
        name = "m\x1b[31m\u202e.spin"
        self.write(name, "")
        result = self.run_cli("infer", "--plugin", cli.SPIN, "--engine", "spin", "--model", name, "--shapes", "input:{batch}x4", "--iterations", 5, *cli.QUICK,
                              "--junit", "junit.xml", "--dry-run")
        self.assertEqual(set(CONTROLS.findall(result.out + result.err)), set())
        result = self.run_cli("infer", "--plugin", cli.SPIN, "--engine", "spin", "--model", name, "--shapes", "input:{batch}x4", "--iterations", 5, *cli.QUICK,
                              "--junit", "junit.xml", "-o", "out")
        self.assert_code(result, 0)
        self.assertEqual(set(CONTROLS.findall(result.out + result.err)), set())
        run = self.only_run("out")
        for file in (run / "summary.csv", run / "report.html", run / "run_summary.json", self.folder / "junit.xml"):
            self.assertEqual(set(CONTROLS.findall(file.read_text(encoding="utf-8"))), set(), file)
        self.assertIn("\\x1b[31m", (self.folder / "junit.xml").read_text(encoding="utf-8"))


if __name__ == "__main__":
    cli.main()
