# SPDX-License-Identifier: MIT
"""Help, version, and words that are nearly right."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import termios
import unittest
from pathlib import Path

import paceline_cli as cli

COMMANDS = ("run", "infer", "validate", "report", "schema")


class Help(cli.CliTest):
    def test_help_names_every_command(self):
        for word in ("--help", "-h", "help"):
            result = self.run_cli(word)
            self.assert_code(result, 0)
            for command in COMMANDS:
                self.assertRegex(result.out, rf"(?m)^  {command} ")
            self.assertNotIn("worker", result.out)

    def test_no_argument_is_a_usage_error_that_shows_help(self):
        result = self.run_cli()
        self.assert_code(result, 2)
        self.assertIn("usage: paceline COMMAND", result.out)

    def test_each_command_has_help(self):
        for command in (*COMMANDS, "benchmark"):
            result = self.run_cli(command, "--help")
            self.assert_code(result, 0)
            self.assertRegex(result.out, r"^usage: paceline \w+")
            self.assertIn("--quiet", result.out)

    def test_help_is_as_wide_as_the_terminal(self):
        """Whole words on lines of that width; words longer than that have a line of their own."""
        for columns in (60, 80, 118):
            for command in ("infer", "train", "report", "schema"):
                text = self.run_cli(command, "--help", env={"COLUMNS": str(columns)}).out
                long = [line for line in text.splitlines() if len(line) > columns and " " in line.strip() and not line.strip().startswith("[")]
                self.assertEqual(long, [], (command, columns))
        self.assertEqual(self.run_cli("infer", "--help", env={"COLUMNS": "80"}).out.split(), self.run_cli("infer", "--help").out.split())

    def test_notices_break_between_words_on_a_terminal(self):
        text = self.on_terminal(60, "infer", "--model", "tiny_cnn", "--batch", "1", "--batch", "2", "--iterations", "3", "--dry-run")
        self.assertIn("--batch 2 replaces --batch 1", " ".join(text.split()))
        self.assertLessEqual(max(map(len, text.split("\n   1  ")[0].splitlines())), 60, text)
        text = self.on_terminal(60, "infer", "--modle", "tiny_cnn", "--batch-size-of-all", "8", "--iterations-of-all", "3")
        self.assertLessEqual(max(map(len, text.splitlines())), 60, text)

    def on_terminal(self, columns, *arguments):
        """Returns the output on a terminal of that width."""
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = self.start(*arguments, stdout=slave, stderr=slave, env={"TERM": "xterm", "LANG": "C.UTF-8"})
        os.close(slave)
        text = b""
        try:
            while piece := os.read(master, 65536):
                text += piece
        except OSError:
            pass  # the other end is closed
        process.wait(timeout=30)
        return text.decode().replace("\r", "")

    def test_help_wins_over_errors(self):
        self.assert_code(self.run_cli("infer", "--batch", "0", "--help"), 0)

    def test_version(self):
        version = (Path(__file__).resolve().parents[2] / "VERSION").read_text().strip()
        for word in ("--version", "version"):
            result = self.run_cli(word)
            self.assert_code(result, 0)
            self.assertTrue(result.out.startswith(f"paceline {version} ("), result.out)
            self.assertIn("plug-in torch: ", result.out)

    def test_no_deep_learning_library_is_linked(self):
        text = subprocess.run(["ldd", cli.BINARY], capture_output=True, text=True, check=True).stdout
        libraries = [line.split()[0] for line in text.splitlines()]
        self.assertIn("libstdc++.so.6", libraries)
        for name in ("torch", "c10", "mkl", "dnnl", "gomp"):
            self.assertFalse([library for library in libraries if library.startswith("lib" + name)], libraries)

    def test_schema_topics(self):
        for topic, word in (("commands", "paceline infer"), ("options", "`batch_sizes`"), ("metrics", "`p50_ms`"), ("exit-codes", "| 77 |")):
            result = self.run_cli("schema", topic)
            self.assert_code(result, 0)
            self.assertIn(word, result.out)
        for topic in ("plan", "result"):
            self.assertIsInstance(json.loads(self.run_cli("schema", topic).out), dict)
        self.assert_error(self.run_cli("schema", "optoins"), 2, "unknown topic 'optoins'", "options")

    def test_schema_without_a_topic_prints_all(self):
        text = self.run_cli("schema").out
        for heading in ("# Commands", "# Options", "# Metrics", "# Exit codes"):
            self.assertIn(heading, text)
        self.assertEqual(set(json.loads(self.run_cli("schema", "--json").out)), {"engine-config", "plan", "result"})

    def test_worker_is_not_for_people(self):
        self.assert_error(self.run_cli("worker"), 2, "paceline run")


class NearlyRight(cli.CliTest):
    def expect(self, arguments, *words, lines=1):
        self.assert_error(self.run_cli(*arguments), 2, *words, lines=lines)
        self.assert_nothing_ran()

    def test_command(self):
        self.expect(["rnu"], "unknown command 'rnu'", "did you mean 'run'", "validate")
        self.expect(["--versoin"], "unknown command '--versoin'")

    def test_flag(self):
        self.expect(["infer", "--model", "resnet50", "--presicion", "fp32"], "--presicion", "did you mean '--precision'")
        self.expect(["report", "--sorce", "x"], "--sorce", "did you mean '--source'")

    def test_model(self):
        self.expect(["infer", "--model", "resnet5"], "'resnet5'", "did you mean 'resnet50'", "vit_b_16")

    def test_engine(self):
        self.expect(["infer", "--model", "resnet50", "--engine", "eagr"], "'eagr'", "did you mean 'eager'")

    def test_engine_of_a_plugin(self):
        self.assert_error(self.infer(engine="spinn"), 2, "'spinn'", "did you mean 'spin'")

    def test_precision(self):
        self.expect(["infer", "--model", "resnet50", "--precision", "bf61"], "'bf61'", "did you mean 'bf16'")

    def test_format(self):
        self.expect(["report", "-s", ".", "-f", "htm"], "'htm'", "html")

    def test_each_wrong_flag_is_named_at_once(self):
        self.expect(["infer", "--model", "resnet50", "--batch", "0", "--precision", "fp23", "--itres", "3"], "'0'", "'fp23'", "--itres", lines=3)

    def test_a_flag_without_its_value(self):
        self.expect(["infer", "--model", "resnet50", "--batch"], "--batch", "needs a value")

    def test_missing_model_file(self):
        self.expect(["infer", "--model", "gone.pt", "--shapes", "input:1x4"], "gone.pt")

    def test_plugin_that_is_missing_or_none(self):
        self.expect(["infer", "--plugin", "gone.so", "--engine", "spin", "--model", "x.spin", "--shapes", "i:1x4"], "gone.so", "does not exist")
        result = self.run_cli("infer", "--plugin", "x.spin", "--engine", "spin", "--model", "x.spin", "--shapes", "i:1x4")
        self.assert_error(result, 2, "x.spin")
        self.assert_nothing_ran()

    def test_plugin_that_is_a_text_or_another_library(self):
        self.write("text.so", "no library\n")
        with open("/proc/self/maps", encoding="utf-8") as maps:
            foreign = next(line.split()[-1] for line in maps if "/libc.so" in line or "/libc-" in line)
        for file, words in (("text.so", "cannot load plug-in"), (foreign, "exports no paceline_plugin()")):
            self.expect(["infer", "--plugin", file, "--engine", "spin", "--model", "x.spin", "--shapes", "i:1x4"], f"plug-in '{file}'", words)

    def test_only_a_case_that_exists(self):
        self.assert_error(self.infer("--only", "2"), 2, "--only 2", "--dry-run")
        self.assert_error(self.infer("--only", "x.spin-spin-fp32-b2"), 2, "did you mean 'x.spin-spin-fp32-b1'")

    def test_file_of_an_unknown_type_names_those_that_are_read(self):
        self.write("model.dat", "")
        self.expect(["infer", "--model", "model.dat"], "model.dat", ".ts", ".onnx", ".plan", ".engine")

    def test_engine_that_is_not_here_is_skipped_with_a_reason(self):
        result = self.run_cli("infer", "--model", "tiny_cnn", "--engine", "tensorrt", *cli.QUICK)
        self.assert_code(result, 77)
        case = self.summary()["cases"][0]
        self.assertEqual(case["outcome"], "skipped")
        self.assertNotEqual(case["reason"], "")


if __name__ == "__main__":
    cli.main()
