# SPDX-License-Identifier: MIT
"""Reports from stored files alone: golden texts, several runs side by side, the words other tools' users type.

data/run was made once with the tool (spin engine, one crash, one engine that is not there yet) and is fixed. What it
renders to stands in data/golden.*; a change on purpose: PACELINE_UPDATE_GOLDEN=1 python3 test_report.py, and read the diff.
"""

import csv
import io
import json
import os
import re
import shutil
import struct
import time
import unittest
import zlib
from pathlib import Path
from xml.etree import ElementTree

import paceline_cli as cli

DATA = Path(__file__).resolve().parent / "data"
GOLDEN = {"csv": "golden.csv", "markdown": "golden.md", "text": "golden.txt"}


def height_of(svg):
    return float(re.search(r' height="([\d.]+)"', svg.read_text(encoding="utf-8"))[1])


def inked_rows(png):
    """Numbers of the rows of a picture that are not of one colour (8 bits a channel, not interlaced)."""
    width, height, _, colour = struct.unpack(">IIBB", png[16:26])
    at, packed = 8, b""
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        packed += png[at + 8:at + 8 + length] if kind == b"IDAT" else b""
        at += length + 12
    each = {0: 1, 2: 3, 4: 2, 6: 4}[colour]
    stride, data, above, inked = width * each, zlib.decompress(packed), bytes(width * each), []
    for y in range(height):
        kind, row = data[y * (stride + 1)], bytearray(data[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride) if kind else ():
            left, up, corner = (row[i - each], above[i], above[i - each]) if i >= each else (0, above[i], 0)
            nearest = min((left, up, corner), key=lambda v: abs(left + up - corner - v))
            row[i] = (row[i] + (0, left, up, (left + up) // 2, nearest)[kind]) & 255
        if row != row[:each] * width:
            inked.append(y)
        above = bytes(row)
    return inked


class Golden(cli.CliTest):
    def setUp(self):
        super().setUp()
        shutil.copytree(DATA / "run", self.folder / "run")

    def render(self, form):
        begin = time.monotonic()
        result = self.run_cli("report", "-s", "run", "-f", form)
        self.assert_code(result, 0)
        self.assertEqual(result.err, "")
        print(f"{form}: {time.monotonic() - begin:.3f} s")
        return result.out

    def test_texts(self):
        for form, name in GOLDEN.items():
            text = self.render(form)
            if os.environ.get("PACELINE_UPDATE_GOLDEN"):
                (DATA / name).write_text(text, encoding="utf-8")
            self.maxDiff = None
            self.assertEqual(text, (DATA / name).read_text(encoding="utf-8"), form)

    def test_json_is_what_is_stored(self):
        self.assertEqual(json.loads(self.render("json")), cli.read_json(DATA / "run" / "run_summary.json"))

    def test_page(self):
        result = self.run_cli("report", "-s", "run")
        self.assert_code(result, 0)
        self.assertIn("run/report.html", result.out)
        page = (self.folder / "run" / "report.html").read_text(encoding="utf-8")
        self.assertEqual(re.findall(r"<(?:script|link)\b[^>]*(?:src|href)=[^>]*//[^>]*>", page), [], "the page needs the network")
        for word in ("SPIN_FAULT=segv", "segmentation fault", "openvino", "0.77", "1.30", "Example CPU", "paceline run plan.yaml"):
            self.assertIn(word, page)

    def test_same_page_twice(self):
        pages = []
        for _ in range(2):
            self.run_cli("report", "-s", "run")
            pages.append((self.folder / "run" / "report.html").read_bytes())
        self.assertEqual(pages[0], pages[1])


class SideBySide(cli.CliTest):
    def setUp(self):
        super().setUp()
        for name in ("one", "two"):
            shutil.copytree(DATA / "run", self.folder / name)
        file = self.folder / "two" / "run_summary.json"
        file.write_text(file.read_text(encoding="utf-8").replace("20260102T030405Z-0001", "20260103T030405Z-0002"), encoding="utf-8")

    def test_csv(self):
        rows = list(csv.DictReader(io.StringIO(self.run_cli("report", "-s", "one", "-s", "two", "-f", "csv").out)))
        self.assertEqual([row["run_id"][-4:] for row in rows], ["0001"] * 6 + ["0002"] * 6)

    def test_markdown_and_json(self):
        text = self.run_cli("report", "one", "two", "-f", "markdown").out
        self.assertEqual(self.run_cli("report", "one", "two", "-f", "md").out, text)
        self.assertIn("# Run A: golden", text)
        self.assertIn("# Run B: golden", text)
        both = json.loads(self.run_cli("report", "-s", "one,two", "-f", "json").out)
        self.assertEqual([run["run_id"][-4:] for run in both["runs"]], ["0001", "0002"])
        self.assertIn("schema_version", both)

    def test_page_goes_beside_the_first(self):
        self.assert_code(self.run_cli("report", "-s", "one", "-s", "two"), 0)
        page = (self.folder / "one" / "report.html").read_text(encoding="utf-8")
        self.assertIn("0002", page)
        self.assertFalse((self.folder / "two" / "report.html").exists())

    def test_one_that_is_missing(self):
        self.assert_error(self.run_cli("report", "-s", "one", "-s", "gone", "-f", "csv"), 2, "gone")

    def test_a_folder_of_experiments_names_the_run_that_is_taken(self):
        self.assert_code(self.infer("--experiment-name", "one"), 0)
        self.assert_code(self.infer("--experiment-name", "two"), 0)
        runs = [next((self.folder / "results" / name).iterdir()).relative_to(self.folder) for name in ("one", "two")]
        older, newer = sorted(runs, key=lambda run: run.name)
        result = self.run_cli("report", "--source", "./results", "--format", "text")
        self.assert_code(result, 0)
        self.assertIn(f"2 runs are below './results'; this is the newest, ./{newer}; another one: paceline report --source ./{older}", result.err)
        alone = self.run_cli("report", "generate", "-s", "./results/one", "-f", "html")
        self.assert_code(alone, 0)
        self.assertNotIn("another one", alone.err)

    def test_newest_run_below_a_folder(self):
        rows = self.run_cli("report", "-s", ".", "-f", "csv").out.splitlines()
        self.assertEqual(len(rows), 7)


BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"))), None)
CONVERTER = shutil.which("rsvg-convert")


class Charts(cli.CliTest):
    """Charts as files, the page on paper. Programs are those that PATH has; most tests have none."""

    def setUp(self):
        super().setUp()
        for name in ("run", "training_run"):
            shutil.copytree(DATA / name, self.folder / name)
        (self.folder / "bin").mkdir()
        self.bare = {"PATH": str(self.folder / "bin")}

    def files(self, folder):
        return sorted(p.name for p in (self.folder / folder).iterdir())

    def test_every_chart_is_a_picture_without_any_program(self):
        result = self.run_cli("report", "-s", "run", "-f", "svg", "--output", "out/charts", env=self.bare)
        self.assert_code(result, 0)
        files = self.files("out/charts")
        self.assertEqual(files[0], "benchmark_results.csv")
        for name in ("latency_comparison.svg", "throughput_comparison.svg", "memory.svg", "speedup.svg", "pareto.svg"):
            self.assertIn(name, files)
        self.assertEqual(len([f for f in files if f.startswith("samples-")]), 6)
        for name in files[1:]:
            root = ElementTree.fromstring((self.folder / "out/charts" / name).read_bytes())
            self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
            self.assertTrue(root.find("{http://www.w3.org/2000/svg}style").text)
        rows = list(csv.DictReader(io.StringIO((self.folder / "out/charts/benchmark_results.csv").read_text(encoding="utf-8"))))
        self.assertEqual(len(rows), 6)
        for words in ("left out  scaling_efficiency, scaling_curve: no training case may be compared", "11 charts  out/charts"):
            self.assertIn(words, result.out + result.err)
        self.assertNotIn("scaling_efficiency.svg", files)

    def test_training_has_its_own_charts(self):
        result = self.run_cli("report", "-s", "training_run", "-f", "svg")
        self.assert_code(result, 0)
        files = self.files("training_run/charts")
        case = "tiny_cnn-train-fp32-b8-r2-cpu"
        for name in ("scaling_curve", "total_time", "step_parts", "loss", f"timeline-{case}-typical", f"timeline-{case}-worst", f"rank_times-{case}", f"stragglers-{case}"):
            self.assertIn(f"{name}.svg", files)
        timeline = (self.folder / "training_run/charts" / f"timeline-{case}-worst.svg").read_text(encoding="utf-8")
        for words in ("rank 0", "rank 1", "waits for late ranks", "communication", "The longest step"):
            self.assertIn(words, timeline)

    def test_the_same_charts_twice(self):
        for name in ("one", "two"):
            self.assert_code(self.run_cli("report", "-s", "training_run", "-f", "svg", "-o", name), 0)
        self.assertEqual(self.files("one"), self.files("two"))
        for name in self.files("one"):
            self.assertEqual((self.folder / "one" / name).read_bytes(), (self.folder / "two" / name).read_bytes())

    def test_two_runs_side_by_side(self):
        shutil.copytree(self.folder / "run", self.folder / "again")
        self.assert_code(self.run_cli("report", "-s", "run", "-s", "again", "-f", "svg", "-o", "out"), 0)
        samples = [f for f in self.files("out") if f.startswith("samples-")]
        self.assertEqual((len(samples), sum("samples-A-" in f for f in samples)), (12, 6))

    def test_without_programs_nothing_is_written(self):
        for form, words in (("png", ("librsvg2-bin", "chromium", "--format svg needs neither")), ("pdf", ("Debian: chromium", "--format html and svg need none"))):
            self.assert_error(self.run_cli("report", "-s", "run", "-f", form, "--output", "out", env=self.bare), 77, *words)
            self.assertFalse((self.folder / "out").exists())

    def test_a_program_that_fails_is_shown_with_its_words(self):
        for name in ("chromium", "rsvg-convert"):
            program = self.write(f"bin/{name}", "#!/bin/sh\necho 'cannot draw today' >&2\nexit 3\n")
            program.chmod(0o755)
        for form in ("png", "pdf"):
            self.assert_error(self.run_cli("report", "-s", "run", "-f", form, "--output", "out", env={"PATH": f"{self.bare['PATH']}:/bin"}), 2, "exit code 3", "cannot draw today")
            self.assertFalse((self.folder / "out").exists())

    def test_a_folder_that_cannot_be_one(self):
        self.write("taken", "a file")
        self.assert_error(self.run_cli("report", "-s", "run", "-f", "svg", "--output", "taken"), 2, "taken")
        self.assertEqual((self.folder / "taken").read_text(encoding="utf-8"), "a file")

    def test_damaged_steps_cost_their_pictures_alone(self):
        steps = next((self.folder / "training_run").glob("cases/*r2*/passes/timed-0.steps.bin"))
        steps.write_bytes(steps.read_bytes()[:-300])
        result = self.run_cli("report", "-s", "training_run", "-f", "svg,html", "-o", "out")
        self.assert_code(result, 0)
        self.assertIn("timeline, rank_times: no case has stored steps of several ranks", result.out + result.err)
        self.assertIn("the steps of its ranks cannot be drawn", (self.folder / "out/report.html").read_text(encoding="utf-8"))
        self.assertIn("scaling_curve.svg", self.files("out"))

    @unittest.skipUnless(BROWSER or CONVERTER, "no program that makes png")
    def test_pictures(self):
        self.assert_code(self.run_cli("report", "-s", "run", "-f", "png", "-o", "out"), 0)
        for name in ("latency_comparison.png", "throughput_comparison.png"):
            self.assertEqual((self.folder / "out" / name).read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
        self.assert_code(self.run_cli("report", "-s", "run", "-f", "svg", "-o", "out"), 0)
        low = min((self.folder / "out").glob("*.svg"), key=height_of)
        self.assertLess(height_of(low), 160)
        inked = inked_rows((low.with_suffix(".png")).read_bytes())
        self.assertGreater(inked[-1], 2 * 0.9 * height_of(low), f"{low.stem} is cut off")  # two pixels a unit

    @unittest.skipUnless(BROWSER, "no browser")
    def test_paper(self):
        self.assert_code(self.run_cli("report", "-s", "training_run", "-f", "pdf", "--output", "paper.pdf"), 0)
        self.assertEqual((self.folder / "paper.pdf").read_bytes()[:5], b"%PDF-")


    def test_a_question_that_nothing_can_answer(self):
        nobody = self.run_cli("report", "-s", "run", "-f", "text", "--what-if", "link=2x")
        self.assert_error(nobody, 2, "--what-if: no case of this result trained on several ranks")
        form = self.run_cli("report", "-s", "training_run", "-f", "csv", "--what-if", "link=2x")
        self.assert_error(form, 2, "--what-if: csv has no place for answers; use --format html, markdown, text, pdf")
        self.assert_error(self.run_cli("report", "-s", "training_run", "--what-if", "links=2x"), 2, "use link=2x")
        self.assert_code(self.run_cli("report", "-s", "training_run", "-f", "text", "--what-if", "stragglers=none"), 0)


class Words(cli.CliTest):
    def test_benchmark_with_a_config(self):
        plan = self.spin_plan()
        result = self.run_cli("benchmark", "-c", plan, "-o", "out", "-v")
        self.assert_code(result, 0)
        self.assertEqual(self.summary(self.only_run("out"))["cases"][0]["outcome"], "ok")

    def test_report_generate(self):
        shutil.copytree(DATA / "run", self.folder / "run")
        self.assert_code(self.run_cli("report", "generate", "-s", "run", "-f", "html"), 0)
        self.assertTrue((self.folder / "run" / "report.html").exists())

    def test_the_ending_of_an_output_names_its_format(self):
        shutil.copytree(DATA / "run", self.folder / "run")
        for name, begin in (("x.csv", "run_id,"), ("x.md", "#"), ("x.json", "{"), ("x.HTML", "<"), ("x.markdown", "#")):
            self.assert_code(self.run_cli("report", "-s", "run", "-o", name), 0)
            self.assertTrue((self.folder / name).read_text(encoding="utf-8").lower().startswith(begin), name)
        self.assert_code(self.run_cli("report", "-s", "run", "-f", "json", "-o", "y.csv"), 0)
        self.assertTrue((self.folder / "y.csv").read_text().startswith("{"))
        plan = self.write("plan.yaml", "kind: inference\n")
        self.assert_error(self.run_cli("report", "-s", "run", "-o", plan), 2, "no format has the ending .yaml", "--format NAME")
        self.assertEqual(plan.read_text(), "kind: inference\n")
        self.assert_error(self.run_cli("report", "-s", "run", "-o", "x.png"), 2, "--output x.png", "--format png --output FOLDER")

    def test_a_report_does_not_replace_what_a_run_stored(self):
        shutil.copytree(DATA / "run", self.folder / "run")
        case = next(file for file in (self.folder / "run" / "cases").rglob("*") if file.is_file())
        (self.folder / "link.html").symlink_to(case)
        for file in (self.folder / "run" / "run_summary.json", case, self.folder / "link.html"):
            before = file.read_bytes()
            self.assert_error(self.run_cli("report", "-s", "run", "-f", "html", "-o", file), 2, "would overwrite", "part of the stored run")
            self.assertEqual(file.read_bytes(), before)
        kept = self.write("run/figures_of_a_later_version.csv", "1\n")
        self.assert_error(self.run_cli("report", "-s", "run", "-o", kept), 2, "would overwrite")
        self.assertEqual(kept.read_text(), "1\n")
        for name in ("mine.html", "report.csv"):
            for _ in range(2):
                self.assert_code(self.run_cli("report", "-s", "run", "-o", f"run/{name}"), 0)

    def test_several_formats_into_a_folder(self):
        shutil.copytree(DATA / "run", self.folder / "run")
        (self.folder / "out").mkdir()
        self.assert_code(self.run_cli("report", "-s", "run", "-f", "html,markdown,csv,json", "--output", "out"), 0)
        self.assertEqual(sorted(p.name for p in (self.folder / "out").iterdir()), ["report.csv", "report.html", "report.json", "report.md"])

    def test_the_csv_of_few_columns(self):
        shutil.copytree(DATA / "run", self.folder / "run")
        (self.folder / "out").mkdir()
        self.assert_code(self.run_cli("report", "-s", "run", "-f", "study", "--output", "out"), 0)
        rows = list(csv.DictReader(io.StringIO((self.folder / "out" / "benchmark_results.csv").read_text(encoding="utf-8"))))
        self.assertEqual(list(rows[0]), ["model", "configuration", "batch_size", "average_latency_ms", "throughput_per_s", "item", "memory_mb", "outcome", "run_id", "grade", "repetitions", "run_outcome"])
        case = cli.read_json(DATA / "run" / "run_summary.json")["cases"][0]
        self.assertEqual((rows[0]["model"], rows[0]["configuration"], rows[0]["batch_size"]), ("x.spin", "spin fp32 SPIN_FAULT=none", "2"))
        self.assertAlmostEqual(float(rows[0]["average_latency_ms"]) * 1e6, case["stats"]["mean_ns"], delta=1)
        self.assertEqual((rows[3]["average_latency_ms"], rows[3]["throughput_per_s"]), ("", ""))
        self.assertIn("segmentation fault", rows[3]["outcome"])
        self.assertEqual((rows[0]["grade"], rows[0]["repetitions"]), (case["grade"], str(len(case["repetitions"]))))

    def test_a_plan_of_things_that_come_later_is_skipped_with_reasons(self):
        """Accepted, not silently ignored."""
        result = self.run_cli("run", self.spin_plan("timing_mode: batched", "batch_sizes: [1, 2]"), "-q")
        self.assert_code(result, 77)
        cases = self.summary()["cases"]
        self.assertEqual([(c["outcome"], c["reason_code"]) for c in cases], [("skipped", "not_available_yet")] * 2)
        self.assertIn("timing_mode 'batched'", cases[0]["reason"])

    def test_overrides_of_a_plan(self):
        plan = self.spin_plan("batch_sizes: [1, 2, 4]")
        self.assert_code(self.run_cli("run", plan, "--batch_sizes=8", "--iterations=7", "--confidence=0.9", "-q"), 0)
        case = self.summary()["cases"][0]
        self.assertEqual((case["benchmark"]["batch_per_rank"], case["stats"]["n"], case["headline"]["p50_ns"]["confidence"]), (8, 7, 0.9))

    def test_only_some_cases_then_the_rest(self):
        plan = self.spin_plan("batch_sizes: [1, 2, 4]")
        self.assert_code(self.run_cli("run", plan, "--only", "2", "-q"), 0)
        run = self.only_run()
        self.assertEqual([c["outcome"] for c in self.summary(run)["cases"]], ["skipped", "ok", "skipped"])
        before = (run / "cases" / self.summary(run)["cases"][1]["case_id"] / "samples.csv").read_bytes()
        self.assert_code(self.run_cli("run", "--resume", run, "-q"), 0)
        cases = self.summary(run)["cases"]
        self.assertEqual([c["outcome"] for c in cases], ["ok"] * 3)
        self.assertEqual((run / "cases" / cases[1]["case_id"] / "samples.csv").read_bytes(), before)

    def test_only_with_resume_measures_again(self):
        self.assert_code(self.infer("--batch", "1,2", "-q"), 0)
        run = self.only_run()
        files = sorted(run.glob("cases/*/samples.csv"))
        before = [file.read_bytes() for file in files]
        self.assert_code(self.run_cli("run", "--resume", run, "--only", "2", "-q"), 0)
        self.assertEqual(files[0].read_bytes(), before[0])
        self.assertNotEqual(files[1].read_bytes(), before[1])
        self.assert_samples_once(run, files[1].parent.name, 1, 20)
        self.assertTrue((files[1].parent / "passes.1" / "timed-0.jsonl").exists(), "the earlier records are kept")

    def test_validate(self):
        result = self.run_cli("validate", "--json")
        self.assertIn(result.code, (0, 4), str(result))
        checks = json.loads(result.out)
        text = json.dumps(checks)
        self.assertIn("PASS", text)
        self.assertEqual("FAIL" in re.findall(r'"(PASS|WARN|FAIL)"', text), result.code == 4)
        self.assertIn("plug-in torch", text)


if __name__ == "__main__":
    cli.main()
