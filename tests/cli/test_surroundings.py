# SPDX-License-Identifier: MIT
"""Odd places to be run in: closed pipes, no home, no temporary folder, strange names."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import paceline_cli as cli

LINE = ["infer", "--plugin", cli.SPIN, "--engine", "spin", "--model", "x.spin", "--shapes", "input:{batch}x4", "--iterations", "5", *cli.QUICK]


class Stacks(cli.CliTest):
    """Half a megabyte is what engines need; with 64 KiB not even the version could be read."""

    def test_a_small_stack_is_named(self):
        for kib in (64, 200, 1023):
            for arguments in (["--version"], LINE):
                result = self.run_cli(*arguments, preexec_fn=lambda limit=kib << 10: resource.setrlimit(resource.RLIMIT_STACK, (limit, limit)))
                self.assert_error(result, 2, f"the stack may have {kib} KiB here, and at least 1024 are needed", "ulimit -s 8192")
        self.assert_nothing_ran()

    def test_a_megabyte_is_enough(self):
        self.assert_code(self.run_cli(*LINE, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, 1 << 20))), 0)


class Pipes(cli.CliTest):
    def test_a_reader_that_leaves_ends_no_run(self):
        """paceline … | head -1"""
        read, write = os.pipe()
        process = self.start(*LINE, "--repetitions", "12", "-o", "out", stdout=write)
        os.close(write)
        self.assertGreater(len(os.read(read, 10)), 0)
        os.close(read)
        self.assert_code(self.finish(process), 0)
        self.assertEqual(len(self.summary(self.only_run("out"))["cases"][0]["repetitions"]), 12)

    def test_a_reader_that_leaves_both_streams(self):
        read, write = os.pipe()
        os.close(read)
        result = self.finish(self.start(*LINE, "-v", "--iterations=none", stdout=write, stderr=write))
        self.assertEqual(result.code, 2)  # nobody reads why
        process = self.start(*[w if w != "spin" else "fault" for w in LINE], "--env.SPIN_FAULT=unsupported", "-o", "out", stdout=write, stderr=write)
        os.close(write)
        self.assert_code(self.finish(process), 77)
        self.assertEqual(self.summary(self.only_run("out"))["cases"][0]["outcome"], "skipped")

    def test_help_schema_and_report_into_a_closed_pipe(self):
        self.assert_code(self.run_cli(*LINE, "-o", "out"), 0)
        for arguments in (["--help"], ["schema"], ["schema", "plan"], ["report", "-s", "out", "-f", "json"]):
            read, write = os.pipe()
            os.close(read)
            process = self.start(*arguments, stdout=write)
            os.close(write)
            result = self.finish(process)
            self.assert_code(result, 0)
            self.assertEqual(result.err, "")

    def test_closed_descriptors_do_not_end_up_in_files(self):
        """With 0, 1 and 2 closed the first files opened would be given these numbers."""
        command = " ".join(f"'{word}'" for word in [cli.BINARY, *LINE, "-o", "out"])
        code = subprocess.run(["sh", "-c", command + " <&- >&- 2>&-"], cwd=self.folder, env=self.env, timeout=60, check=False).returncode
        self.assertEqual(code, 0)
        run = self.only_run("out")
        self.assertEqual((run / ".lock").read_bytes(), b"")
        self.summary(run)
        self.assert_code(self.run_cli("report", "-s", run, "-f", "csv"), 0)


class Signals(cli.CliTest):
    """A starter that ignores SIGCHLD leaves the exit codes of children known."""

    def test_sigchld_that_is_ignored(self):
        def ignore():
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        self.assert_code(self.run_cli(*LINE, preexec_fn=ignore), 0)
        self.assert_code(self.run_cli("attach", "--", "sh", "-c", "exit 41", preexec_fn=ignore), 41)


class Variables(cli.CliTest):
    def without(self, **changes):
        """A run with variables changed; None removes one."""
        process = subprocess.run([cli.BINARY, *LINE, "-o", "out"], cwd=self.folder, capture_output=True, timeout=60, check=False,
                                 env={k: v for k, v in {**self.env, **changes}.items() if v is not None})
        self.assertEqual(process.returncode, 0, process.stdout + process.stderr)
        return process

    def test_no_home(self):
        self.without(HOME=None, XDG_CACHE_HOME=None)

    def test_home_that_does_not_exist(self):
        self.without(HOME="/nowhere/at/all", XDG_CACHE_HOME=None)

    def test_no_temporary_folder(self):
        self.without(TMPDIR="/nowhere/at/all")

    def thread_variables(self):
        return [f for f in self.summary(self.only_run("out"))["findings"] if f["id"] == "thread_variables"]

    def test_a_number_of_threads_that_is_not_used_is_named(self):
        """Users of LibTorch and MKL set it, and every engine has the threads of the case."""
        self.without(OMP_NUM_THREADS="77", MKL_NUM_THREADS="77")
        found = self.thread_variables()
        self.assertEqual([f["text"].split(":")[0] for f in found], ["OMP_NUM_THREADS=77 was not used"])
        self.assertEqual(found[0]["advice"], "--threads 77 sets it.")
        shutil.rmtree(self.folder / "out")
        threads = self.summary_of_plain()["cases"][0]["benchmark"]["threads"]
        shutil.rmtree(self.folder / "out")
        self.without(OMP_NUM_THREADS=str(threads))
        self.assertEqual(self.thread_variables(), [])

    def summary_of_plain(self):
        self.without(OMP_NUM_THREADS=None, MKL_NUM_THREADS=None)
        return self.summary(self.only_run("out"))

    def test_a_number_of_threads_that_was_asked_for_needs_no_word(self):
        self.assert_code(self.run_cli(*LINE, "--threads", 1, "-o", "out", env={"OMP_NUM_THREADS": "77", "OMP_THREAD_LIMIT": "78"}), 0)
        self.assertEqual(self.thread_variables(), [])

    @unittest.skipUnless(os.environ.get("PACELINE_MALLOC_DOUBLE"), "no allocator to preload")
    def test_a_preloaded_allocator_is_recorded(self):
        double = os.environ["PACELINE_MALLOC_DOUBLE"]
        self.without(LD_PRELOAD=double)
        summary = self.summary(self.only_run("out"))
        name = os.path.basename(double)
        self.assertEqual(summary["cases"][0]["effective_settings"]["heap"], f"as {name} decides")
        self.assertEqual(summary["environment"]["os"]["allocator"], name)
        self.assertEqual(summary["environment"]["variables"]["LD_PRELOAD"], double)

    def test_dumb_terminal(self):
        self.assertNotIn(b"\x1b", self.without(TERM="dumb").stdout)

    def test_no_variable_at_all(self):
        process = subprocess.run([cli.BINARY, *LINE], cwd=self.folder, capture_output=True, env={}, timeout=60, check=False)
        self.assertEqual(process.returncode, 0, process.stderr)

    def test_locale_that_does_not_exist(self):
        self.without(LC_ALL="xx_YY.ISO-8859-15", LANG="C")

    def test_variables_that_are_no_text(self):
        env = {**{k.encode(): v.encode("utf-8", "surrogateescape") for k, v in self.env.items()}, b"OMP_PROC_BIND": b"\xff\xfe", b"LANG": b"\xff"}
        process = subprocess.run([cli.BINARY, *LINE, "-o", "out"], cwd=self.folder, capture_output=True, env=env, timeout=60, check=False)
        self.assertEqual(process.returncode, 0, process.stderr)
        self.summary(self.only_run("out"))


class Limits(cli.CliTest):
    def test_a_system_that_starts_no_more_processes_is_said_so(self):
        """The limit does not count for root, who runs the command as another user."""
        if os.geteuid() != 0 or not (shutil.which("setpriv") and shutil.which("prlimit")):
            self.skipTest("needs root and setpriv")
        home = Path(tempfile.mkdtemp(prefix="paceline-nobody-", dir="/tmp"))
        self.addCleanup(shutil.rmtree, home, ignore_errors=True)
        home.chmod(0o777)
        words = ["infer", "--model", "tiny_cnn", "--engine", "eager", "--iterations", "2", *cli.QUICK, "-o", f"{home}/out"]
        for most in (1, 2):
            line = ["setpriv", "--reuid", "65534", "--clear-groups", "prlimit", f"--nproc={most}", cli.BINARY, *words]
            done = subprocess.run(line, cwd=home, capture_output=True, text=True, timeout=100, check=False,
                                  env={**self.env, "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")})
            said = " ".join((done.stdout + done.stderr).split())
            if "ermission denied" in said or done.returncode == 77:
                self.skipTest("this tree is closed to other users, or has no LibTorch")
            self.assertEqual(done.returncode, 5, said)
            self.assertIn(f"this user, who may have {most} (ulimit -u), or the container (pids.max) is at its limit", said)
            for word in (*cli.FORBIDDEN, "failed (data)", "ended early"):
                self.assertNotIn(word, said)


class Locales(cli.CliTest):
    """A library that sets the locale of the process: numbers keep their points, letters of ASCII are the same."""

    def setUp(self):
        super().setUp()
        self.double = os.environ.get("PACELINE_LOCALE_DOUBLE", "")
        if not self.double or not shutil.which("localedef"):
            self.skipTest("no localedef here, or no library that sets the locale")
        self.places = {}
        for name, source, charset in (("de_DE.UTF-8", "de_DE", "UTF-8"), ("tr_TR", "tr_TR", "ISO-8859-9")):
            (self.folder / "locales").mkdir(exist_ok=True)
            subprocess.run(["localedef", "-i", source, "-f", charset, str(self.folder / "locales" / name)], check=False, capture_output=True, timeout=60)
            self.places[name] = {"LOCPATH": str(self.folder / "locales"), "LC_ALL": name, "LD_PRELOAD": self.double}
        said = subprocess.run([sys.executable, "-c", "import ctypes; c = ctypes.CDLL(None); b = ctypes.create_string_buffer(9);"
                               "c.snprintf(b, 9, b'%.1f', ctypes.c_double(1.5)); print(b.value.decode())"],
                              env={**self.env, **self.places["de_DE.UTF-8"]}, capture_output=True, text=True, check=False, timeout=60).stdout
        if "1,5" not in said:
            self.skipTest(f"no locale with a comma can be made here: {said}")

    def written(self, run, env):
        """The content of every report of a run by its name."""
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        self.assert_code(self.run_cli("report", "-s", run, "-f", "text,markdown,csv,study,json,html,svg", "-o", out, env=env), 0)
        return {path.name: path.read_bytes() for path in out.iterdir()}

    def test_reports_are_the_same_byte_for_byte(self):
        for name in ("run", "training_run"):
            run = self.folder / name
            shutil.copytree(Path(__file__).resolve().parent / "data" / name, run)
            plain = self.written(run, {})
            self.assertGreater(len(plain), 10)
            for place, env in self.places.items():
                for file, content in self.written(run, env).items():
                    self.assertEqual(content, plain[file], f"{file} in {place}")

    def test_what_is_read_and_measured_is_the_same(self):
        for place, env in self.places.items():
            self.assert_code(self.run_cli(*LINE, "-o", place, "-r", "6", "--confidence", "0.95", "--expect", "p50_ms < 123456.5", env=env), 0)
            run = self.only_run(place)
            self.assertEqual(self.summary(run)["cases"][0]["config_effective"]["confidence"], 0.95)
            self.assertEqual(self.written(run, env), self.written(run, {}))


class Names(cli.CliTest):
    def run_model(self, name, *flags):
        self.write(name, "")
        result = self.run_cli(*[name if word == "x.spin" else word for word in LINE], *flags, "-o", "out")
        self.assert_code(result, 0)
        run = self.only_run("out")
        case = self.summary(run)["cases"][0]
        self.assertEqual(case["benchmark"]["model"], name)
        self.assertNotIn("/", case["case_id"])
        self.assert_samples_once(run, case["case_id"], 1, 5)
        for form in ("csv", "markdown", "html", "json"):
            self.assert_code(self.run_cli("report", "-s", run, "-f", form), 0)
        return run, case

    def test_unicode(self):
        self.run_model("ünï cödé 名 🚴.spin")

    def test_spaces_quotes_and_markup(self):
        run, _ = self.run_model("a 'b' \"c\" <script>alert(1) d=e;f$(g).spin")
        self.assertNotIn("<script>alert(1)", (run / "report.html").read_text(encoding="utf-8"))

    def test_leading_dots_and_parents(self):
        (self.folder / "sub").mkdir()
        run, case = self.run_model("./sub/../x2.spin", "--batch", "1,2")
        self.assertTrue((run / "cases" / case["case_id"]).is_dir())

    def test_long_name(self):
        self.run_model("x" * 240 + ".spin")

    def test_two_long_names_that_begin_alike(self):
        for end in "ab":
            self.write("x" * 200 + end + ".spin", "")
        both = ",".join("x" * 200 + end + ".spin" for end in "ab")
        self.assert_code(self.run_cli(*[both if word == "x.spin" else word for word in LINE], "-o", "out"), 0)
        cases = self.summary(self.only_run("out"))["cases"]
        self.assertEqual(len({case["case_id"] for case in cases}), 2)

    def test_output_folder_with_spaces_and_unicode(self):
        self.assert_code(self.run_cli(*LINE, "-o", "a b/çé 名"), 0)
        run = self.only_run("a b/çé 名")
        self.assert_code(self.run_cli("report", "-s", run, "-f", "csv"), 0)

    def test_bytes_that_are_no_utf8(self):
        name = b"bad\xff.spin"
        (self.folder / os.fsdecode(name)).write_text("", encoding="utf-8")
        arguments = [name if word == "x.spin" else word.encode() for word in LINE]
        process = subprocess.run([cli.BINARY.encode(), *arguments], cwd=self.folder, capture_output=True, env=self.env, timeout=60, check=False)
        self.assertEqual(process.returncode, 2)
        self.assertIn(b"not valid UTF-8", process.stderr)
        self.assertEqual(process.stderr.count(b"paceline:"), 1)

    def test_log_that_is_no_utf8(self):
        """A worker that writes bytes to its log: the log tail is stored readable."""
        process = self.start(*[w if w != "spin" else "fault" for w in LINE], "-o", "out", "--env.SPIN_FAULT=segv",
                             env={"LD_DEBUG": "statistics"})
        self.assert_code(self.finish(process), 5)
        self.assertGreater(len(self.summary(self.only_run("out"))["cases"][0]["log_tail"]), 100)

    def test_folder_that_may_not_be_written(self):
        """In / of a read-only file system results go where --output-dir says."""
        result = self.run_cli(*[str(self.folder / "x.spin") if word == "x.spin" else word for word in LINE], "-o", self.folder / "out", cwd="/proc")
        self.assert_code(result, 0)
        self.only_run("out")
        result = self.run_cli(*[str(self.folder / "x.spin") if word == "x.spin" else word for word in LINE], cwd="/proc")
        self.assert_error(result, 2, "results", "--output-dir")

    def test_folder_that_is_gone(self):
        (self.folder / "gone").mkdir()
        model = str(self.folder / "x.spin")
        script = 'cd gone && rmdir ../gone && exec "$@"'
        process = subprocess.run(["sh", "-c", script, "sh", cli.BINARY, *[model if w == "x.spin" else w for w in LINE], "-o", self.folder / "out"],
                                 cwd=self.folder, env=self.env, capture_output=True, text=True, timeout=60, check=False)
        self.assertNotIn("internal error", process.stderr)
        self.assertIn(process.returncode, (0, 2), process.stderr)


class Capabilities(cli.CliTest):
    """`validate` in a tree of its own: what the machine is fit for follows from what its plug-ins bring."""

    def validate(self, env=None, **manifests):
        """The row of each plug-in, and the verdict."""
        plugins = self.folder / "lib/paceline/plugins"
        plugins.mkdir(parents=True)
        (self.folder / "bin").mkdir()
        shutil.copy(cli.BINARY, self.folder / "bin/paceline")
        shutil.copy(cli.SPIN, plugins / "spin.so")
        for name, brings in manifests.items():
            self.write(plugins / f"{name}.json", json.dumps({"name": name, "file": "spin.so", "built_for": {}, "not_built_because": "", "fix": "", **brings}))
        done = subprocess.run([self.folder / "bin/paceline", "validate"], cwd=self.folder, env={**self.env, **(env or {})}, capture_output=True, text=True,
                              timeout=60, check=False)
        lines = done.stdout.splitlines()
        return {name: line for name in manifests for line in lines if f"plug-in {name} " in line}, lines[-1]

    def test_a_plug_in_that_crashes_costs_what_it_brings(self):
        rows, verdict = self.validate(env={"SPIN_FAULT": "abort", "SPIN_FAULT_AT": "library"}, alone={"capabilities": ["trainer cpu"]})
        self.assertIn("FAIL", rows["alone"])
        self.assertRegex(verdict, "not fit for multi-rank training, fit for inference$")

    def test_what_plug_ins_bring_is_shown_and_unknown_roles_are_left_out(self):
        rows, verdict = self.validate(now={"capabilities": ["engine spin", "trainer cpu"]}, later={"capabilities": ["recorder power"]})
        self.assertRegex(rows["now"], "^PASS .*spin 1; engines spin fault; trainers cpu; backends gloo; communicators gloo; first op ")
        self.assertIn("this version knows no capability 'recorder power'", rows["later"])
        self.assertIn("fit for multi-rank training and inference", verdict)


if __name__ == "__main__":
    cli.main()
