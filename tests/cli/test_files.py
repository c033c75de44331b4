# SPDX-License-Identifier: MIT
"""Folders that cannot be written, disks that are full, results that are damaged, two runs in one directory."""

import hashlib
import json
import os
import shutil
import subprocess
import unittest

import paceline_cli as cli


class Output(cli.CliTest):
    def test_below_a_file(self):
        self.write("file", "")
        self.assert_error(self.infer("-o", "file/out"), 2, "file/out", "--output-dir")

    def test_where_nobody_can_write(self):
        self.assert_error(self.infer("-o", "/proc/paceline"), 2, "/proc/paceline", "--output-dir")

    def test_report_into_a_folder_that_cannot_be(self):
        self.assert_code(self.infer("-o", "out", "-q"), 0)
        self.write("file", "")
        self.assert_error(self.run_cli("report", "-s", "out", "-f", "csv", "--output", "file/x.csv"), 2, "file/x.csv")

    def test_files_that_cannot_be_written_are_found_before_anything_is_measured(self):
        self.write("file", "")
        self.assert_error(self.infer("--junit", "file/junit.xml"), 2, "--junit", "file")
        self.assert_error(self.infer("--junit", "."), 2, "--junit '.': it is a folder")
        self.assertFalse((self.folder / "results").exists())
        self.assert_code(self.infer("--junit", "new/junit.xml"), 0)
        self.assertTrue((self.folder / "new/junit.xml").exists())
        self.assert_error(self.infer("--junit="), 2, "--junit=: junit '' is empty")
        self.assert_code(self.infer("--junit", "/dev/null"), 0)

    def test_standard_output_on_a_full_disk(self):
        self.assert_code(self.infer("-o", "out", "-q"), 0)
        with open("/dev/full", "w", encoding="ascii") as full:
            for arguments in (["--version"], ["schema"], ["report", "-s", "out", "-f", "csv"]):
                result = self.finish(self.start(*arguments, stdout=full))
                self.assert_error(result, 2, "standard output", "full")
            gated = self.finish(self.start("infer", "--plugin", cli.SPIN, "--engine", "spin", "--model", "x.spin", "--shapes", "input:{batch}x4",
                                           "--iterations", 200, "--expect", "p50_ms < 0.000001", *cli.QUICK, stdout=full))
            self.assert_code(gated, 2)

    def test_full_disk(self):
        """On a tiny tmpfs the run ends with a message; what was stored before is readable."""
        disk = tiny_disk(self, "1200k")
        plan = self.spin_plan("repetitions: 40", f"output_dir: {disk}", "env: {SPIN_US: 10}", iterations=1000)
        # Calibrated in full, repetitions last long enough for a summary to be written among them.
        process = self.start("run", plan, "-q", env={"PACELINE_CALIBRATION": "full"})
        result = self.finish(process)
        self.assert_code(result, 2)
        self.assertIn("No space left", result.err)
        self.assert_group_empty(process)
        run = next(disk.glob("*/*/plan.yaml")).parent
        repetitions = len(self.summary(run)["cases"][0]["repetitions"])
        self.assertGreater(repetitions, 0)
        self.assert_code(self.run_cli("report", "-s", run, "-f", "csv"), 0)
        shutil.copytree(run, self.folder / "copy")  # onto a disk with room: nothing is lost
        self.assert_code(self.run_cli("run", "--resume", "copy", "--repetitions", repetitions + 1, "-q"), 0)
        self.assert_samples_once(self.folder / "copy", self.summary(self.folder / "copy")["cases"][0]["case_id"], repetitions + 1, 1000)

    def test_disk_that_is_full_from_the_start(self):
        disk = tiny_disk(self, "4k")
        result = self.infer("-o", disk)
        self.assert_code(result, 2)
        self.assertIn("No space left", result.err)


class TwoAtOnce(cli.CliTest):
    def test_second_run_into_one_directory_is_refused(self):
        plan = self.spin_plan("repetitions: 3", "env: {SPIN_US: 20000}")
        first = self.start("run", plan)
        self.assertTrue(cli.wait_until(lambda: list(self.folder.glob("results/*/*/run_summary.json"))))
        run = self.only_run()
        self.assert_error(self.run_cli("run", "--resume", run), 2, "another paceline is writing", str(run))
        self.assert_code(self.finish(first), 0)
        self.assertEqual(len(self.summary(run)["cases"][0]["repetitions"]), 3)

    def test_two_runs_of_one_plan_get_directories_of_their_own(self):
        plan = self.spin_plan()
        both = [self.start("run", plan, "-q") for _ in range(2)]
        for process in both:
            self.assert_code(self.finish(process), 0)
        self.assertEqual(len(list((self.folder / "results").glob("*/*/run_summary.json"))), 2)

    def test_resume_does_not_mix_what_was_measured_differently(self):
        self.assert_code(self.infer("-q"), 0)
        run = self.only_run()
        for flag in ("--iterations=5", "--threads=1", "--env.A=b", "--confidence=0.9"):
            self.assert_error(self.run_cli("run", "--resume", run, flag), 2, flag.split("=")[0], "--resume", "repetitions")
        self.assert_code(self.run_cli("run", "--resume", run, "--repetitions=2", "--expect", "p50_ms > 0", "--timeout_s=60"), 0)
        self.assert_samples_once(run, self.summary(run)["cases"][0]["case_id"], 2, 20)

    def test_resume_of_another_folder(self):
        self.assert_error(self.run_cli("run", "--resume", "gone"), 2, "there is no folder 'gone'")
        (self.folder / "saved" / "step_3").mkdir(parents=True)
        self.assert_error(self.run_cli("run", "--resume", "saved"), 2, "'saved'", "plan.yaml", "--checkpoint.dir FOLDER --checkpoint.resume")
        (self.folder / "empty").mkdir()
        self.assert_error(self.run_cli("run", "--resume", "empty"), 2, "'empty'", "plan.yaml")


class Damaged(cli.CliTest):
    def setUp(self):
        super().setUp()
        self.assert_code(self.infer("-o", "out", "-q", iterations=5), 0)
        self.run_dir = self.only_run("out")
        self.file = self.run_dir / "run_summary.json"

    def refuse(self, *words):
        for name in ("csv", "html", "json", "markdown"):
            self.assert_error(self.run_cli("report", "-s", self.run_dir, "-f", name), 2, *words)

    def change(self, change):
        content = json.loads(self.file.read_text(encoding="utf-8"))
        change(content)
        self.file.write_text(json.dumps(content), encoding="utf-8")

    def test_truncated_json(self):
        text = self.file.read_text(encoding="utf-8")
        for part in (0, 1, len(text) // 2, len(text) - 3):
            self.file.write_text(text[:part], encoding="utf-8")
            self.refuse("run_summary.json", "cut off or damaged")

    def test_not_an_object(self):
        self.file.write_text("[1, 2]", encoding="utf-8")
        self.refuse("run_summary.json", "no result of a run")

    def test_wrong_types(self):
        original = self.file.read_text(encoding="utf-8")
        for path, value in (("cases", 7), ("cases.0.benchmark", "x"), ("cases.0.stats.n", "many"), ("cases.0.outcome", "fine"),
                            ("cases.0.repetitions.0.p50_ns", [1]), ("exit_code", 0.5)):
            self.file.write_text(original, encoding="utf-8")
            self.change(lambda content, p=path, v=value: put(content, p.split("."), v))
            self.refuse("run_summary.json", "field '", path.rsplit(".", 1)[-1])

    def test_missing_samples(self):
        samples = self.run_dir / "samples.csv"
        samples.unlink()
        for name in ("csv", "html", "json", "markdown"):
            self.assert_code(self.run_cli("report", "-s", self.run_dir, "-f", name, "--output", f"r.{name}"), 0)
        for name in ("html", "markdown"):
            self.assertIn("1 case with no samples.csv: per-sample charts are left out", (self.folder / f"r.{name}").read_text(encoding="utf-8"))

    def test_damaged_samples(self):
        samples = self.run_dir / "samples.csv"
        lines = samples.read_text(encoding="utf-8").splitlines()
        samples.write_text("\n".join([*lines[:2], "0,0,x,1"]), encoding="utf-8")
        result = self.run_cli("report", "-s", self.run_dir, "-f", "markdown")
        self.assert_code(result, 0)
        self.assertIn("with a samples.csv that is not the one in run\\_summary.json", result.out)

    def test_no_run_there(self):
        (self.folder / "empty").mkdir()
        self.assert_error(self.run_cli("report", "-s", "empty"), 2, "'empty'", "run_summary.json")
        self.assert_error(self.run_cli("report", "-s", "gone"), 2, "gone", "no such file")
        self.assert_error(self.run_cli("report"), 2, "no run given")
        self.assert_error(self.run_cli("report", "-s", "x.spin"), 2, "x.spin")

    def test_case_names_that_leave_the_folder(self):
        """A hostile summary must not make us read elsewhere."""
        (self.folder / "secret.csv").write_text("secret", encoding="utf-8")
        self.change(lambda content: put(content, ["cases", "0", "samples", "file"], "../../../../../secret.csv"))
        result = self.run_cli("report", "-s", self.run_dir, "-f", "markdown", "--output", "r.md")
        self.assert_code(result, 0)  # no such file in the run's own folder
        self.assertIn("with no samples.csv", (self.folder / "r.md").read_text(encoding="utf-8"))

    def test_unknown_fields_are_kept(self):
        self.change(lambda content: content.update(later="kept", cases=[{**c, "newer": {"a": 1}} for c in content["cases"]]))
        result = self.run_cli("report", "-s", self.run_dir, "-f", "json")
        self.assert_code(result, 0)
        stored = json.loads(result.out)
        self.assertEqual((stored["later"], stored["cases"][0]["newer"]), ("kept", {"a": 1}))

    def test_resume_writes_a_damaged_summary_again(self):
        before = json.loads(self.file.read_text(encoding="utf-8"))["cases"][0]["stats"]
        self.file.write_text("{", encoding="utf-8")
        resumed = self.run_cli("run", "--resume", self.run_dir, "--allow-noisy")
        self.assert_code(resumed, 0)
        self.assertIn("run_summary.json' is cut off or damaged: it is put aside", resumed.err)
        self.assertEqual((self.run_dir / "run_summary.json.1").read_text(encoding="utf-8"), "{")
        self.assertEqual(json.loads(self.file.read_text(encoding="utf-8"))["cases"][0]["stats"], before)

    def test_resume_refuses_a_plan_that_was_changed(self):
        """Else cases would be lost from the summary, or figures would stand beside settings that are not theirs."""
        plan = self.run_dir / "plan.yaml"
        text, summary = plan.read_text(encoding="utf-8"), self.file.read_bytes()
        before = "\n    iterations: 5\n"
        for old, new, words in ((before, "\n    iterations: 50\n", "iterations is 50 in it, and was 5 when"),
                                (before, before + "    env: {A: b}\n", 'env.A is "b" in it, and was unset when'),
                                (before, before + "    onnxruntime: {inter_op_threads: 2}\n", "onnxruntime.inter_op_threads is 2 in it, and was unset when"),
                                ("precisions: [fp32]", "precisions: [bf16]", "of the run is not in it")):
            self.assertEqual(text.count(old), 1, text)
            plan.write_text(text.replace(old, new), encoding="utf-8")
            self.assert_error(self.run_cli("run", "--resume", self.run_dir, "--dry-run"), 2)
            self.assert_error(self.run_cli("run", "--resume", self.run_dir), 2, "plan.yaml' was changed since the run began", words, "paceline run ")
            self.assertEqual(self.file.read_bytes(), summary)
        plan.write_text(text, encoding="utf-8")
        self.assert_code(self.run_cli("run", "--resume", self.run_dir, "--repetitions", 2, "--allow-noisy"), 0)
        plan.write_text(plan.read_text(encoding="utf-8").replace("\n    repetitions: 2\n", "\n    repetitions: 1\n"), encoding="utf-8")
        self.assert_error(self.run_cli("run", "--resume", self.run_dir), 2, "repetitions is 1 in it, and was 2 when")
        self.assert_code(self.run_cli("run", "--resume", self.run_dir, "--repetitions", 2, "--allow-noisy"), 0)

    def test_samples_that_were_changed_are_not_drawn(self):
        samples = self.run_dir / "samples.csv"
        head, *rows = samples.read_text(encoding="utf-8").splitlines()
        column = head.split(",").index("host_ns")
        changed = [",".join(cell + "0" if i == column else cell for i, cell in enumerate(row.split(","))) for row in rows]
        samples.write_text("\n".join([head, *changed]) + "\n", encoding="utf-8")
        result = self.run_cli("report", "-s", self.run_dir, "-f", "markdown")
        self.assert_code(result, 0)
        self.assertIn("1 case with a samples.csv that is not the one in run\\_summary.json", result.out)
        self.assert_code(self.run_cli("report", "-s", self.run_dir, "-f", "html", "--output", self.folder / "page.html"), 0)
        self.assertNotIn(f"{changed[0].split(',')[column]}", (self.folder / "page.html").read_text(encoding="utf-8"))

    def test_the_digest_of_the_samples_is_stored(self):
        digest = hashlib.sha256((self.run_dir / "samples.csv").read_bytes()).hexdigest()
        self.assertEqual(self.summary(self.run_dir)["cases"][0]["samples"]["sha256"], digest)

    def test_a_result_that_was_changed_is_named(self):
        words = "result.json' and run_summary.json disagree about the same case"
        self.assertNotIn(words, self.run_cli("report", "-s", self.run_dir, "-f", "markdown").err)
        file = self.run_dir / "result.json"
        case = json.loads(file.read_text(encoding="utf-8"))
        case["headline"]["p50_ns"]["value"] /= 10
        for content in (json.dumps(case), "{"):
            file.write_text(content, encoding="utf-8")
            for form in ("markdown", "text", "csv", "json"):
                result = self.run_cli("report", "-s", self.run_dir, "-f", form)
                self.assert_code(result, 0)
                self.assertIn(words, result.err)
            self.assertIn("disagree about the same case", self.run_cli("report", "-s", self.run_dir, "-f", "markdown").out)

    def resume_sets_aside(self, words, name="timed-0.jsonl"):
        """The record is named and kept, and what it was for is measured again."""
        record = self.run_dir / "passes" / name
        content = record.read_bytes()
        result = self.run_cli("run", "--resume", self.run_dir)
        self.assert_code(result, 0)
        self.assertIn(name, result.err)
        self.assertIn(words, result.err)
        kept = [p for p in self.run_dir.rglob(f"{name}*") if p.is_file() and p.read_bytes() == content]
        self.assertEqual(len(kept), 1, list(self.run_dir.rglob("*.jsonl*")))
        self.assert_samples_once(self.run_dir, self.summary(self.run_dir)["cases"][0]["case_id"], 1, 5)

    def test_resume_notices_a_record_without_its_samples(self):
        record = self.run_dir / "passes" / "timed-0.jsonl"
        lines = [line for line in record.read_text(encoding="utf-8").splitlines(keepends=True) if '"samples"' not in line]
        record.write_text("".join(lines), encoding="utf-8")
        self.resume_sets_aside("changed after it was written")

    def test_resume_notices_an_invalid_record(self):
        record = self.run_dir / "passes" / "timed-0.jsonl"
        record.write_text('{"type": "repetition", "summary": 7}\n' + record.read_text(encoding="utf-8"), encoding="utf-8")
        cli.seal_record(record)
        self.resume_sets_aside("timed-0.jsonl")

    def test_resume_notices_the_record_of_another_case(self):
        self.assert_code(self.infer("-o", "other", "-q", "--threads", "1", "--precision", "bf16", "--allow-precision-fallback", iterations=5), 0)
        other = next((self.folder / "other").rglob("timed-0.jsonl"))
        (self.run_dir / "passes" / "timed-0.jsonl").write_bytes(other.read_bytes())
        self.resume_sets_aside("belongs to another case")

    def test_resume_notices_a_damaged_check(self):
        record = self.run_dir / "passes" / "check.jsonl"
        record.write_bytes(record.read_bytes()[:-40])
        self.resume_sets_aside("cut short", "check.jsonl")

    def test_records_that_are_pipes_and_devices(self):
        """Nothing waits for them: a report does without, and what they were for is measured again."""
        def check(name, kind, make, words):
            run = self.folder / f"{kind}-{name}"
            shutil.copytree(self.run_dir, run)
            (run / "passes" / name).unlink()
            make(run / "passes" / name)
            for form in ("text", "html"):
                self.assert_code(self.run_cli("report", "-s", run, "-f", form, "--output", f"{run.name}.{form}", timeout=30), 0)
            result = self.run_cli("run", "--resume", run, timeout=30)
            self.assert_code(result, 0)
            self.assertIn(f"passes/{name}", result.err)
            self.assertIn(words, result.err)
            self.assertTrue((run / "passes" / name).is_file())
            self.assert_samples_once(run, self.summary(run)["cases"][0]["case_id"], 1, 5)

        kinds = (("device", lambda p: os.symlink("/dev/zero", p), "it is a device or"), ("pipe", os.mkfifo, "a pipe; name a file"))
        cli.at_once(check, [(name, *kind) for name in ("timed-0.jsonl", "check.jsonl") for kind in kinds])

    def test_resume_mixes_no_two_models(self):
        """Another file under the same name: the case is measured anew, all repetitions of it, and nothing is lost."""
        model, record = self.folder / "x.spin", self.run_dir / "passes" / "timed-0.jsonl"
        content = record.read_bytes()
        model.write_text("another model", encoding="utf-8")
        result = self.run_cli("run", "--resume", self.run_dir, "--repetitions", "3")
        self.assert_code(result, 0)
        self.assertIn("'x.spin' is another file than when the case was measured", result.err)
        self.assertIn("it had 0 bytes and has 13", result.err)
        self.assertEqual((self.run_dir / "passes.1" / "timed-0.jsonl").read_bytes(), content)
        self.assertNotEqual(record.read_bytes(), content)
        case = self.summary(self.run_dir)["cases"][0]
        self.assertEqual([r["index"] for r in case["repetitions"]], [0, 1, 2])
        self.assertEqual(case["model_file"]["size_bytes"], 13)
        result = self.run_cli("run", "--resume", self.run_dir)
        self.assertNotIn("another file", result.err)
        self.assertFalse((self.run_dir / "passes.2").exists())

    def test_resume_takes_the_same_bytes_for_the_same_model(self):
        os.utime(self.folder / "x.spin", (1, 1))
        record = self.run_dir / "passes" / "timed-0.jsonl"
        content = record.read_bytes()
        result = self.run_cli("run", "--resume", self.run_dir, "--repetitions", "2")
        self.assert_code(result, 0)
        self.assertNotIn("another file", result.err)
        self.assertEqual(record.read_bytes(), content)

    def test_a_changed_model_costs_no_case_that_only_leaves_out(self):
        run = self.folder / "two"
        self.assert_code(self.infer("-o", "two", "-q", "--batch", "1,2", iterations=5), 0)
        run = self.only_run("two")
        before = self.summary(run)["cases"]
        (self.folder / "x.spin").write_text("another model", encoding="utf-8")
        result = self.run_cli("run", "--resume", run, "--only", "2")
        self.assert_code(result, 0)
        self.assertIn("its figures are those of the earlier file", result.err)
        cases = self.summary(run)["cases"]
        for key in ("outcome", "repetitions", "model_file", "stats"):
            self.assertEqual(cases[0][key], before[0][key], key)
        self.assertEqual([c["model_file"]["size_bytes"] for c in cases], [0, 13])
        self.assertNotEqual(cases[1]["repetitions"], before[1]["repetitions"])

    def test_resume_without_a_summary_keeps_the_records(self):
        record = self.run_dir / "passes" / "timed-0.jsonl"
        content = record.read_bytes()
        self.file.unlink()
        self.assert_code(self.run_cli("run", "--resume", self.run_dir), 0)
        self.assertEqual(record.read_bytes(), content)
        self.assertEqual(self.summary(self.run_dir)["cases"][0]["stats"]["n"], 5)

    def test_only_measures_a_finished_case_again_without_a_summary_too(self):
        """Its repetitions would not be neighbours in time of those that are missing."""
        content = (self.run_dir / "passes" / "timed-0.jsonl").read_bytes()
        self.file.unlink()
        self.assert_code(self.run_cli("run", "--resume", self.run_dir, "--only", "1"), 0)
        self.assertEqual((self.run_dir / "passes.1" / "timed-0.jsonl").read_bytes(), content)
        self.assertNotEqual((self.run_dir / "passes" / "timed-0.jsonl").read_bytes(), content)

    def test_resume_measures_a_damaged_repetition_again(self):
        record = self.run_dir / "passes" / "timed-0.jsonl"
        record.write_text(record.read_text(encoding="utf-8")[:100], encoding="utf-8")
        self.assert_code(self.run_cli("run", "--resume", self.run_dir), 0)
        self.assert_samples_once(self.run_dir, self.summary(self.run_dir)["cases"][0]["case_id"], 1, 5)


def put(content, path, value):
    for key in path[:-1]:
        content = content[int(key)] if isinstance(content, list) else content[key]
    content[path[-1]] = value


def tiny_disk(test, size):
    """A tmpfs of `size` below the test's folder; skips where none can be mounted."""
    disk = test.folder / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", disk], capture_output=True, check=False)
    if mounted.returncode != 0:
        test.skipTest("no tmpfs can be mounted here")
    test.addCleanup(subprocess.run, ["umount", "-l", disk], check=False)
    return disk


if __name__ == "__main__":
    cli.main()
