# SPDX-License-Identifier: MIT
"""--cross-check: the engine's own tool beside us. Stand-ins that the test writes, and the real tools where PyPI packages are.

Classes: NoTool needs the spin plug-in alone; StandIns and RealTools the plug-ins for OpenVINO and ONNX Runtime.
"""

import json
import math
import os
import signal
import statistics
import sys
from pathlib import Path

import onnx_files as onnx
import paceline_cli as cli

STUDENT_T = 2.5706  # two-sided 95 %, five degrees of freedom
PACKAGES = Path(os.environ.get("PACELINE_PYTHON_PACKAGES", ""))
# Notes its arguments, then writes the report that OpenVINO's tool writes.
BENCHMARK_APP = """#!/usr/bin/env python3
import json, os, sys
words = sys.argv[1:]
folder = words[words.index("-report_folder") + 1]
with open(os.environ["STAND_IN_CALLS"], "a") as calls:
    calls.write(json.dumps([words, os.environ.get("EXTRA"), sorted(os.sched_getaffinity(0))]) + "\\n")
print("[ INFO ] Build ................................. 2030.1.0-1-abc")
report = {"execution_results": {"latency (ms)": os.environ.get("STAND_IN_MS", "1.25")}}
json.dump(report, open(os.path.join(folder, "benchmark_report.json"), "w"))
"""
# A Python that has the package, and one that has not.
PYTHON = """#!/bin/sh
[ "$1" = -c ] && exit {probe}
exec {python} - "$2" <<'EOF'
import json, sys
order = json.load(open(sys.argv[1]))
json.dump({{"version": "9.9", "samples_ns": [1000000] * order["iterations"]}}, open(order["out"], "w"))
EOF
"""
REAL_BENCHMARK_APP = """#!{python}
import sys
from openvino.tools.benchmark.main import main
sys.exit(main())
"""


class CrossCheck(cli.CliTest):
    def tool(self, name, text):
        path = self.write(f"bin/{name}", text)
        path.chmod(0o755)
        return path

    def measure(self, engine, *arguments, code=0, env=None, iterations=3):
        (self.folder / "m.onnx").write_bytes(onnx.linear())
        done = self.run_cli("infer", "--model", "m.onnx", "--engine", engine, "--shapes", "x:{batch}x4", "--batch", 2, "--threads", 1, "--iterations",
                            iterations, "--accuracy-samples", 4, "--cross-check", "--cross-check-rounds", 6, *cli.QUICK, *arguments,
                            env={"PATH": f"{self.folder}/bin:/usr/bin:/bin", "STAND_IN_CALLS": str(self.folder / "calls"), **(env or {})})
        self.assert_code(done, code)
        case = self.summary()["cases"][0]
        self.assertEqual(case["outcome"], "ok")
        return done, case

    def assert_ratio(self, check):
        ratios = sorted(a / b for a, b in zip(check["ours_ns"], check["theirs_ns"], strict=True))
        self.assertAlmostEqual(check["ratio"]["value"], (ratios[2] * ratios[3]) ** 0.5, delta=1e-9 * ratios[3])
        # The range of six pairs, which Student's t may cut at a higher confidence than 95 %.
        logs = [math.log(ratio) for ratio in ratios]
        centre, half = statistics.mean(logs), STUDENT_T * statistics.stdev(logs) / 6 ** 0.5
        low, high = (math.log(check["ratio"][end]) for end in ("ci_low", "ci_high"))
        self.assertTrue(logs[0] - 1e-9 <= low <= max(logs[0], centre - half) + 1e-9, check)
        self.assertTrue(min(logs[5], centre + half) - 1e-9 <= high <= logs[5] + 1e-9, check)
        self.assertEqual(check["theirs_p50_ns"], statistics.median(check["theirs_ns"]))

    def assert_answered(self, case):
        check = case["cross_check"]
        self.assertEqual(check["reason"], "", check["log_tail"])

    def assert_no_ratio(self, done, case, *words):
        """A reason in the result and on the terminal; the case keeps its figures."""
        check = case["cross_check"]
        self.assertIsNone(check["ratio"]["value"])
        self.assertGreater(case["headline"]["p50_ns"]["value"], 0)
        said = " ".join(done.out.split())
        for word in words:
            self.assertIn(word, check["reason"])
            self.assertIn(word, said)
        return check


class NoTool(CrossCheck):
    def test_an_engine_without_a_tool_says_so(self):
        done = self.infer("--cross-check")
        self.assert_code(done, 3)  # asked, and not answered
        check = self.assert_no_ratio(done, self.summary()["cases"][0], "no tool of engine 'spin' is known here")
        self.assertEqual((check["asked"], check["tool"], check["ours_ns"]), (True, "", []))
        for form in ("markdown", "html"):
            done = self.run_cli("report", "-s", self.only_run(), "-f", form, "--output", f"report.{form}")
            self.assert_code(done, 0)
            self.assertIn("no tool of engine", (self.folder / f"report.{form}").read_text(encoding="utf-8"))

    def test_nothing_is_said_where_nothing_was_asked(self):
        done = self.infer()
        self.assertNotIn("cross-check", done.out + done.err)
        self.assertFalse(self.summary()["cases"][0]["cross_check"]["asked"])

    def test_what_it_cannot_compare_is_an_error_before_anything_runs(self):
        for arguments, word in ((["--scenario", "closed_loop"], "one inference after the other"), (["--in-process"], "--in-process has none"),
                                (["--confidence", "0.99", "--cross-check-rounds", "7"], "needs at least 8 pairs"),
                                (["--cross-check-rounds", "5"], "out of range")):
            with self.subTest(arguments=arguments):
                self.assert_error(self.infer("--cross-check", *arguments), 2, word)
        self.assert_nothing_ran()

    def test_its_cost_is_in_the_estimate(self):
        texts = [self.infer("--dry-run", *extra).out for extra in ([], ["--cross-check", "--cross-check-rounds", "1000"])]
        self.assertNotIn(" h ", texts[0])
        self.assertIn(" h ", texts[1])


class StandIns(CrossCheck):
    def test_benchmark_app_takes_turns_with_us(self):
        self.tool("benchmark_app", BENCHMARK_APP)
        done, case = self.measure("openvino", "--precision", "fp32", "--openvino.cpu-pinning=true", "--env.EXTRA=yes", "--pin")
        check = case["cross_check"]
        self.assertEqual((check["tool"], check["version"], check["iterations"]), ("benchmark_app", "2030.1.0-1-abc", 3))
        self.assertEqual(check["theirs_ns"], [1.25e6] * 6)
        self.assert_ratio(check)
        self.assertEqual(check["verdict"], "faster")  # four numbers against 1.25 ms, whatever the grade
        self.assertIn("the tool runs version 2030.1.0-1-abc", check["notes"][0])
        said = " ".join(done.out.split())
        self.assertIn("benchmark_app 1.25 ms, Paceline", said)
        self.assertIn("Paceline is faster by", said)
        self.assertIn("6 pairs of processes with benchmark_app", " ".join((done.out + done.err).split()))
        calls = [json.loads(line) for line in (self.folder / "calls").read_text().splitlines()]
        self.assertEqual(len(calls), 6)
        words, extra, cpus = calls[0]
        options = {word: value for word, value in zip(words, words[1:]) if word.startswith("-")}
        self.assertEqual((extra, len(cpus)), ("yes", 1))
        for flag, value in {"-nthreads": "1", "-niter": "3", "-infer_precision": "f32", "-shape": "x[2,4]", "-iop": "x:f32", "-pin": "YES",
                            "-hint": "none", "-nstreams": "1"}.items():
            self.assertEqual(options[flag], value, words)
        self.assertTrue(options["-i"].startswith("x:/"), options)

    def test_the_processes_come_in_the_order_abba(self):
        self.tool("benchmark_app", BENCHMARK_APP)
        self.measure("openvino")
        heads = [line for line in (self.only_run() / "log.txt").read_text().splitlines() if line.startswith("#")]
        turns = ["theirs" if "cross-check" in line else "ours" for line in heads if "cross-check" in line or "timed pass" in line]
        self.assertEqual(turns, ["ours"] + ["ours", "theirs", "theirs", "ours"] * 3)  # the first one is the case's own

    def test_gates_and_reports_have_the_ratio(self):
        self.tool("benchmark_app", BENCHMARK_APP)
        self.measure("openvino", "--expect", "cross_check_ratio < 0.9", env={"STAND_IN_MS": "500.00"})
        run = self.only_run()
        self.assertEqual(self.summary()["gates"][0]["verdict"], "met")  # the ratio outlives a busy machine
        self.assertIn("cross_check_ratio", (run / "summary.csv").read_text())
        page = (run / "report.html").read_text(encoding="utf-8")
        self.assertIn("Cross-check with the engine", page)
        self.assertIn("#formula-cross_check_ratio", page)
        done = self.run_cli("report", "-s", run, "-f", "markdown", "--output", "r.md")
        self.assert_code(done, 0)
        self.assertIn("## Cross-check with the engines' own tools", (self.folder / "r.md").read_text(encoding="utf-8"))

    def test_a_coarse_figure_is_said(self):
        self.tool("benchmark_app", BENCHMARK_APP)
        _, case = self.measure("openvino", env={"STAND_IN_MS": "0.10"})
        self.assertIn("benchmark_app rounds its figure by up to 5.0 %", case["cross_check"]["notes"])

    def test_a_tool_that_is_not_there_is_named_with_its_package(self):
        done, case = self.measure("openvino", "--cross-check-python", "no/such/python", code=3)
        self.assert_no_ratio(done, case, "benchmark_app was not found", "'no/such/python', which is not there", "pip install openvino")
        self.assertEqual(case["cross_check"]["log_tail"], "")

    def test_a_python_without_the_package(self):
        python = self.tool("bare", PYTHON.format(probe=1, python=sys.executable))
        done, case = self.measure("onnxruntime", "--cross-check-python", python, code=3)
        self.assert_no_ratio(done, case, "fails at 'import numpy, onnxruntime'", "pip install onnxruntime")

    def test_the_python_loop(self):
        python = self.tool("python", PYTHON.format(probe=0, python=sys.executable))
        _, case = self.measure("onnxruntime", "--cross-check-python", python)
        check = case["cross_check"]
        self.assertEqual((check["version"], check["theirs_ns"]), ("9.9", [1e6] * 6))
        self.assert_ratio(check)

    def test_failures_of_a_tool_keep_the_case(self):
        for name, text, words, tail in (
                ("exit", "#!/bin/sh\necho no such device\nexit 3\n", ("benchmark_app failed: exit code 3",), "no such device"),
                ("silent", "#!/bin/sh\necho all fine\n", ("cannot be read", "it wrote no benchmark_report.json"), "all fine"),
                ("junk", BENCHMARK_APP.replace("json.dump(report", "json.dump([1]"), ("no JSON object",), "Build"),
                ("words", BENCHMARK_APP.replace('"latency (ms)"', '"other"'), ("no 'latency (ms)'",), "Build"),
                ("killed", "#!/bin/sh\necho dying\nkill -9 $$\n", ("killed by signal 9",), "dying"),
                ("loader", "#!/no/such/interpreter\n", ("could not be started",), "")):
            with self.subTest(name=name):
                cli.shutil.rmtree(self.folder / "results", ignore_errors=True)
                self.tool("benchmark_app", text)
                done, case = self.measure("openvino", code=3)
                check = self.assert_no_ratio(done, case, *words)
                self.assertIn(tail, check["log_tail"])

    def test_a_tool_that_hangs_is_stopped(self):
        self.tool("benchmark_app", "#!/bin/sh\necho waiting\nexec sleep 1000\n")
        done, case = self.measure("openvino", "--timeout-s", "10", code=3)
        self.assert_no_ratio(done, case, "no end within timeout_s = 10 s")

    def test_an_interrupt_stops_the_tool_and_keeps_the_case(self):
        self.tool("benchmark_app", "#!/bin/sh\ntouch \"$STAND_IN_CALLS\"\nexec sleep 1000\n")
        (self.folder / "m.onnx").write_bytes(onnx.linear())
        process = self.start("infer", "--model", "m.onnx", "--engine", "openvino", "--shapes", "x:1x4", "--threads", 1, "--iterations", 3,
                             "--accuracy-samples", 4, "--cross-check", "--layer-profile", *cli.QUICK,
                             env={"PATH": f"{self.folder}/bin:/usr/bin:/bin", "STAND_IN_CALLS": str(self.folder / "calls")})
        self.assertTrue(cli.wait_until((self.folder / "calls").exists))
        process.send_signal(signal.SIGINT)
        self.assert_code(self.finish(process), 130)
        self.assert_group_empty(process)
        case = self.summary()["cases"][0]
        self.assertEqual((case["outcome"], case["cross_check"]["reason"]), ("ok", "the run was interrupted"))
        self.assertFalse(case["layer_profile"]["asked"])

    def test_a_finished_cross_check_is_not_done_again(self):
        self.tool("benchmark_app", BENCHMARK_APP)
        _, first = self.measure("openvino")
        self.tool("benchmark_app", "#!/bin/sh\nexit 1\n")
        self.assert_code(self.run_cli("run", "--resume", self.only_run()), 0)
        self.assertEqual(self.summary()["cases"][0]["cross_check"], first["cross_check"])


class RealTools(CrossCheck):
    """Nothing about speed: that the tools take our arguments and say what we read."""

    def setUp(self):
        super().setUp()
        if not (PACKAGES / "onnxruntime").is_dir():
            self.skipTest("no Python packages of the engines: scripts/setup.sh --checks installs them")
        self.env["PYTHONPATH"] = str(PACKAGES)

    def test_the_python_loop(self):
        _, case = self.measure("onnxruntime", "--cross-check-python", sys.executable, iterations=20)
        check = case["cross_check"]
        self.assert_answered(case)
        self.assertEqual(check["version"], case["effective_settings"]["version.ONNX Runtime"])
        self.assert_ratio(check)

    def test_benchmark_app(self):
        if not (PACKAGES / "openvino").is_dir():
            self.skipTest("no Python package of OpenVINO")
        self.tool("benchmark_app", REAL_BENCHMARK_APP.format(python=sys.executable))
        _, case = self.measure("openvino", "--cross-check-python", "none", iterations=20)
        check = case["cross_check"]
        self.assert_answered(case)
        self.assertIn("-", check["version"])
        self.assert_ratio(check)


if __name__ == "__main__":
    cli.main()
