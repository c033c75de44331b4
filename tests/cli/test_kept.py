# SPDX-License-Identifier: MIT
"""Files that one run keeps for the next: used where nothing has changed, noticed where something has, and never a reason for another verdict."""

import os
import shutil

import paceline_cli as cli
from test_gate import perceptron

# Several repetitions: the check stands before them, as in a plan.
QUICK = ["--iterations", "3", "--repetitions", "2", "--threads", "1", "--accuracy-samples", "16", *cli.QUICK]
KEPT, DAMAGED = "as an earlier run kept it", "it is cut short, or was altered"


class Keeping(cli.CliTest):
    def setUp(self):
        super().setUp()
        self.runs = 0
        (self.folder / "m.onnx").write_bytes(perceptron())

    def run_once(self, *arguments, code=0, env=None):
        """The log of a run, and its verdict."""
        self.runs += 1
        result = self.run_cli("infer", "--engine", "onnxruntime", "--model", "m.onnx", *(arguments or ["--precision", "fp32"]), *QUICK,
                              "-o", f"r{self.runs}", env=env)
        self.assert_code(result, code)
        self.assertNotIn("cache", result.err)
        run = self.only_run(f"r{self.runs}")
        return (run / "log.txt").read_text(), self.summary(run)["cases"][0]["correctness"]

    def made(self):
        return sorted((self.folder / "cache" / "paceline" / "made").iterdir())


class Kept(Keeping):
    def test_a_second_run_makes_neither_inputs_nor_reference(self):
        first, verdict = self.run_once()
        second, again = self.run_once()
        self.assertNotIn(KEPT, first)
        self.assertIn("# reference ", first)
        for made in ("inputs", "reference"):
            self.assertIn(f"# {made}: {KEPT}", second)
            self.assertNotIn(f" {made} pass,", second)
        self.assertEqual(verdict, again)
        self.assertTrue(verdict["passed"])

    def test_an_engine_keeps_nothing_of_its_own(self):
        """ONNX Runtime 1.31 has an identifier and events to upload."""
        self.run_once()
        self.assertEqual([p.name for p in (self.folder / "cache").iterdir()], ["paceline"])

    def test_fresh_makes_them_again(self):
        _, verdict = self.run_once()
        log, again = self.run_once("--precision", "fp32", "--fresh")
        self.assertNotIn(KEPT, log)
        self.assertEqual(verdict, again)
        self.assertIn(KEPT, self.run_once()[0])

    def test_another_file_of_the_same_name_size_and_time_is_noticed(self):
        self.run_once()
        model = self.folder / "m.onnx"
        before = model.stat()
        model.write_bytes(perceptron(change=lambda values: values[::-1]))
        os.utime(model, ns=(before.st_atime_ns, before.st_mtime_ns))
        self.assertEqual(model.stat().st_size, before.st_size)
        log, verdict = self.run_once()
        self.assertIn(f"# inputs: {KEPT}", log)
        self.assertNotIn(f"# reference: {KEPT}", log)
        self.assertTrue(verdict["passed"])

    def test_an_entry_that_is_cut_or_altered_is_noticed(self):
        _, verdict = self.run_once()
        for damage in (lambda data: data[: len(data) // 2], lambda data: data[:-100] + bytes([data[-100] ^ 1]) + data[-99:], lambda data: b""):
            for entry in self.made():
                entry.write_bytes(damage(entry.read_bytes()))
            log, again = self.run_once()
            self.assertNotIn(KEPT, log)
            self.assertEqual(log.count(DAMAGED), len(self.made()))
            self.assertEqual(verdict, again)
            self.assertIn(KEPT, self.run_once()[0])

    def test_another_build_of_the_library_is_noticed(self):
        self.run_once()
        entry = next(e for e in self.made() if b"libonnxruntime.so" in e.read_bytes())
        library = next(w for w in entry.read_bytes().decode("utf-8", "replace").split('"') if "/libonnxruntime.so" in w)
        root = self.folder / "root"
        (root / "lib").mkdir(parents=True)
        shutil.copy2(library, root / "lib" / "libonnxruntime.so.1")
        env = {"ONNXRUNTIME_ROOT": str(root)}
        self.assertNotIn(f"# reference: {KEPT}", self.run_once(env=env)[0])
        self.assertIn(f"# reference: {KEPT}", self.run_once(env=env)[0])
        shutil.copy2(library, root / "lib" / "other")  # as another build of the same size and time
        os.replace(root / "lib" / "other", root / "lib" / "libonnxruntime.so.1")
        log, verdict = self.run_once(env=env)
        self.assertIn("libonnxruntime.so.1' has changed", log)
        self.assertTrue(verdict["passed"])

    def test_int8_files_are_kept_with_what_is_said_of_them(self):
        files = []
        for _ in range(2):
            log, _ = self.run_once("--precision", "int8", "--accuracy", "off")
            run = self.only_run(f"r{self.runs}")
            files.append(self.summary(run)["cases"][0]["model_file"])
            self.assertTrue(list(run.glob("calibration-*.json")), list(run.iterdir()))
        self.assertIn(f"# quantise: {KEPT}", log)
        self.assertEqual(files[0], files[1])

    def test_a_wrong_model_fails_with_and_without(self):
        (self.folder / "other.onnx").write_bytes(perceptron(change=lambda values: values[::-1]))
        asked = ["--precision", "fp32", "--accuracy-reference", "other.onnx"]
        verdicts = [self.run_once(*asked, code=1)[1] for _ in range(2)]
        self.assertEqual(verdicts[0], verdicts[1])
        self.assertFalse(verdicts[0]["passed"])

    def test_without_a_folder_everything_is_made(self):
        nowhere = {"XDG_CACHE_HOME": "/proc/nowhere"}
        for _ in range(2):
            log, verdict = self.run_once(env=nowhere)
            self.assertNotIn(KEPT, log)
            self.assertTrue(verdict["passed"])

    def test_runs_at_once_share_the_folder(self):
        command = ["infer", "--engine", "onnxruntime", "--model", "m.onnx", "--precision", "fp32", *QUICK]
        started = [self.start(*command, "-o", f"p{i}") for i in range(3)]
        for process in started:
            self.assert_code(self.finish(process), 0)
        verdicts = [self.summary(self.only_run(f"p{i}"))["cases"][0]["correctness"] for i in range(3)]
        self.assertEqual(verdicts.count(verdicts[0]), 3)
        self.run_once()
        alone = len(self.made())
        self.run_once()
        self.assertEqual(len(self.made()), alone)
        self.assertLessEqual(alone, 3)  # inputs, the reference, and the run of another engine that confirms it


class AtOnce(Keeping):
    """A first look: the figure stands before the check of its outputs."""

    ONE = ["--iterations", "40", "--repetitions", "1", "--threads", "1", "--accuracy-samples", "16", *cli.QUICK]

    def test_the_figure_is_there_before_the_check_and_says_so(self):
        result = self.run_cli("infer", "--engine", "onnxruntime", "--model", "m.onnx", *self.ONE)
        self.assert_code(result, 0)
        figure, check = result.out.index("so far; outputs not checked yet"), result.out.index("  check  ")
        self.assertLess(figure, check)
        log = (self.only_run() / "log.txt").read_text()
        self.assertLess(log.index(" timed pass,"), log.index(" check pass,"))
        case = self.summary()["cases"][0]
        self.assertTrue(case["correctness"]["passed"])
        self.assertEqual(len(case["repetitions"]), 1)
        self.assertEqual(list(self.folder.glob("results/*/*/.artefacts")), [])

    def test_a_check_that_fails_withdraws_it(self):
        (self.folder / "other.onnx").write_bytes(perceptron(change=lambda values: values[::-1]))
        result = self.run_cli("infer", "--engine", "onnxruntime", "--model", "m.onnx", "--accuracy-reference", "other.onnx", *self.ONE)
        self.assert_code(result, 1)
        self.assertIn("withdrawn: accuracy: ", result.out)
        case = self.summary()["cases"][0]
        self.assertEqual((case["outcome"], case["repetitions"]), ("failed", []))
        self.assertFalse((self.only_run() / "passes" / "timed-0.jsonl").exists())

    def test_phases_are_printed_where_they_are_asked_for(self):
        result = self.run_cli("infer", "--engine", "onnxruntime", "--model", "m.onnx", "--verbose", *self.ONE)
        self.assert_code(result, 0)
        self.assertRegex(result.out, r"\n  timed \d+\.\d\d s: start \d+\.\d\d, .*load \d+\.\d\d, .*measure \d+\.\d\d, .*verify \d+\.\d\d")
        self.assertRegex(result.out, r"\n  run \d+\.\d\d s: before \d+\.\d\d, inputs \d+\.\d\d, .*timed \d+\.\d\d, .*between passes \d+\.\d\d")


if __name__ == "__main__":
    cli.main()
