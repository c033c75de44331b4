# SPDX-License-Identifier: MIT
"""`paceline profile --tool nsys|ncu` with stubs of both programs: they note their words, run what stands behind them, and write what was prepared."""

import json
import os
import signal
import sqlite3
import stat
import unittest
from pathlib import Path

import paceline_cli as cli
from test_nsight import TABLE, timeline

NSYS = """#!/bin/sh
echo "nsys $*" >> "$STUB_LOG"
if [ "$1" = profile ] && [ "$2" = --help ]; then echo "--capture-range --capture-range-end {known}"; exit; fi
if [ "$1" = export ]; then {export}; exit; fi
shift
while true; do case "$1" in --output=*) out=${{1#--output=}};; --*) ;; *) break;; esac; shift; done
{run}
"""
NCU = """#!/bin/sh
echo "ncu $*" >> "$STUB_LOG"
if [ "$1" = --help ]; then echo "--profile-from-start --launch-count --kernel-name --set"; exit; fi
if [ "$1" = --import ]; then {export}; exit; fi
while [ "$1" != --export ]; do shift; done
out=$2; shift 2
{run}
"""
RUNS = '"$@"; code=$?; echo report > "$out"; exit $code'
EXPORTS = 'cp "$STUB_TIMELINE" "$7"'
KERNELS = f"cat '{TABLE}'"
LOOP = ("--iterations", "5", "--warmup", "1")


class Tools(cli.CliTest):
    def setUp(self):
        super().setUp()
        self.env.update(PATH=f"{self.folder / 'bin'}:{os.environ['PATH']}", STUB_LOG=str(self.folder / "calls"), CUDA_HOME=str(self.folder / "none"),
                        STUB_TIMELINE=str(timeline(self.folder / "made.sqlite")))
        self.program("nsys", NSYS.format(known="--cuda-graph-trace", run=RUNS, export=EXPORTS))
        self.program("ncu", NCU.format(run=RUNS, export=KERNELS))

    def program(self, name, text):
        path = self.write(f"bin/{name}", text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def calls(self):
        log = self.folder / "calls"
        return log.read_text().splitlines() if log.exists() else []

    def infer_words(self, tool, *more):
        return ("profile", "--tool", tool, "infer", "--plugin", cli.SPIN, "--engine", "spin", "--model", "x.spin", "--shapes", "input:{batch}x4", *more)

    def train_words(self, tool, *more):
        return ("profile", "--tool", tool, "--plugin", cli.SPIN, "--model", "tiny_cnn", "--batch", "4", "--backend", "gloo", *more)

    def case(self):
        case, = self.summary()["cases"]
        return case


class OnTheCpu(Tools):
    def test_the_timed_process_alone_runs_under_nsys(self):
        done = self.run_cli(*self.infer_words("nsys", "--device", "cpu"))
        self.assert_code(done, 0)
        profiled, = [call for call in self.calls() if call.endswith(" worker")]
        self.assertIn("--cuda-graph-trace=node", profiled)
        self.assertNotIn("--capture-range", profiled)  # nothing on the CPU would begin a range
        self.assertIn(f"--output={self.only_run()}/timeline.nsys-rep", profiled)
        self.assertTrue((self.only_run() / "timeline.nsys-rep").exists())
        self.assertIn("the case ran on the CPU", done.out)

    def test_such_a_case_is_not_comparable(self):
        self.run_cli(*self.infer_words("nsys", "--device", "cpu"))
        case = self.case()
        self.assertEqual((case["outcome"], case["grade"], len(case["repetitions"])), ("ok", "C", 1))
        self.assertIn("not comparable: it was measured under nsys", " ".join(case["grade_reasons"]))
        self.assertEqual({call.split()[1] for call in self.calls()}, {"profile", "export"})

    def test_a_training_has_rank_0_under_it(self):
        done = self.run_cli(*self.train_words("nsys", "--device", "cpu", "--ranks", "2"))
        self.assert_code(done, 0)
        self.assertEqual(sum(call.endswith(" worker") for call in self.calls()), 1)
        case = self.case()
        self.assertEqual(case["benchmark"]["world_size"], 2)
        self.assertFalse(case["operator_profile"])

    def test_a_plan_that_trains_for_a_time_makes_few_steps(self):
        for number, length in enumerate(("measure_seconds: 100", "measure_steps: 100000")):
            plan = self.write(f"p{number}.yaml", f"kind: training\nplugin: [{json.dumps(cli.SPIN)}]\nmodels: [tiny_cnn]\nbatch_sizes: [4]\ndevice: cpu\n"
                                                 f"benchmark: {{{length}}}\n")
            self.assert_code(self.run_cli("profile", "--tool", "nsys", "-c", plan), 0)
            run, = (self.folder / "results" / f"p{number}").iterdir()
            self.assertEqual(self.summary(run)["cases"][0]["repetitions"][0]["n"], 10)
        self.assertEqual(sum(call.endswith(" worker") for call in self.calls()), 2)

    def test_a_tool_that_works_long_behind_the_last_rank_is_waited_for(self):
        self.program("nsys", NSYS.format(known="--cuda-graph-trace", run='"$@"; sleep 4; echo report > "$out"', export=EXPORTS))
        self.assert_code(self.run_cli(*self.train_words("nsys", "--device", "cpu", "--ranks", "2")), 0)
        self.assertTrue((self.only_run() / "timeline.nsys-rep").exists())

    def test_what_a_tool_cannot_do_is_refused_before_anything_runs(self):
        for words, said in (
                (self.infer_words("ncu", "--device", "cpu"), "ncu counts inside kernels of a GPU"),
                (self.train_words("ncu", "--device", "cpu", "--ranks", "2"), "--ranks 1"),
                (self.infer_words("nvprof"), "--tool"),
                (self.infer_words("nsys", "--repetitions", "3"), "one repetition"),
                (self.infer_words("nsys", "--in-process"), "--in-process beside --tool nsys"),
                (self.infer_words("nsys", "--launch-count", "3"), "--launch-count is for --tool ncu"),
                (self.infer_words("nsys", "--from", "x.sqlite"), "--from beside --tool nsys"),
                (self.train_words("nsys", "--profiling.enabled"), "CUPTI"),
                (("profile", "infer", "--model", "resnet50"), "--tool nsys or --tool ncu"),
                (("profile", "--launch-count", "3"), "--launch-count is for --tool ncu")):
            with self.subTest(words=words):
                self.assert_error(self.run_cli(*words), 2, said)
                self.assert_nothing_ran()
        self.assertEqual(self.calls(), [])

    def test_a_missing_tool_is_answered_with_what_to_type_elsewhere(self):
        self.env["PATH"] = str(self.folder / "none")
        for tool, table in (("nsys", "timeline.sqlite"), ("ncu", "kernels.csv")):
            words = self.infer_words(tool, "--device", "cuda") if tool == "ncu" else self.infer_words(tool, "--device", "cpu")
            self.assert_error(self.run_cli(*words), 77, f"type: paceline profile --tool {tool} infer", f"paceline profile --from {table}")
            self.assert_nothing_ran()

    def test_a_tool_that_is_too_old_is_named_with_what_it_lacks(self):
        self.program("nsys", NSYS.format(known="", run=RUNS, export=EXPORTS))
        self.assert_error(self.run_cli(*self.infer_words("nsys", "--device", "cpu")), 77, "--cuda-graph-trace", "too old")
        self.program("nsys", "#!/bin/sh\necho 'cannot be started here'; exit 9\n")
        self.assert_error(self.run_cli(*self.infer_words("nsys", "--device", "cpu")), 77, "exit code 9: cannot be started here")
        self.assert_nothing_ran()

    def failing(self, run):
        self.program("nsys", NSYS.format(known="--cuda-graph-trace", run=run, export=EXPORTS))
        done = self.run_cli(*self.infer_words("nsys", "--device", "cpu"))
        self.assertNotEqual(done.code, 0, done)
        return self.case()["reason"], done

    def test_the_words_of_a_tool_that_fails_are_shown(self):
        reason, _ = self.failing("echo 'no session could be started' >&2; exit 3")
        self.assertIn("exit code 3", reason)
        self.assertIn("it ran under nsys, and its log ends with: no session could be started", reason)

    def test_a_tool_that_does_not_start_the_program_or_is_killed_fails_the_case(self):
        reason, _ = self.failing("exit 0")
        self.assertIn("it ran under nsys", reason)
        cli.shutil.rmtree(self.folder / "results")
        reason, _ = self.failing("kill -9 $$")
        self.assertIn("SIGKILL", reason)

    def test_a_failure_behind_the_timed_part_fails_the_case_too(self):
        reason, _ = self.failing('"$@"; echo "No space left on device" >&2; exit 1')
        self.assertIn("No space left on device", reason)

    def test_a_tool_that_wrote_nothing_is_an_error_after_the_results(self):
        self.program("nsys", NSYS.format(known="--cuda-graph-trace", run='"$@"; echo "Error: no permission"', export=EXPORTS))
        done = self.run_cli(*self.infer_words("nsys", "--device", "cpu"))
        self.assert_code(done, 2)
        self.assertIn("nsys wrote no report; it says: Error: no permission", done.err)
        self.assertEqual(self.case()["outcome"], "ok")

    def test_an_export_that_fails_is_quoted(self):
        self.program("nsys", NSYS.format(known="--cuda-graph-trace", run=RUNS, export="echo 'damaged report'; exit 4"))
        done = self.run_cli(*self.infer_words("nsys", "--device", "cpu"))
        self.assert_code(done, 2)
        self.assertIn("exit code 4: damaged report", done.err)

    def test_an_interrupt_ends_tool_and_worker(self):
        self.env["SPIN_US"] = "20000"
        process = self.start(*self.infer_words("nsys", "--device", "cpu", "--iterations", "100000"))
        self.assertTrue(cli.wait_until(lambda: any(call.endswith(" worker") for call in self.calls())))
        process.send_signal(signal.SIGINT)
        self.assert_code(self.finish(process), 130)
        self.assert_group_empty(process)
        self.assertFalse((self.only_run() / "timeline.sqlite").exists())

    def test_a_worker_in_another_session_ends_too(self):
        run = 'setsid -w sh -c \'echo $$ > "$0.pid"; exec "$@"\' "$STUB_LOG" "$@"; echo report > "$out"'
        self.program("nsys", NSYS.format(known="--cuda-graph-trace", run=run, export=EXPORTS))
        self.env["SPIN_US"] = "20000"
        process = self.start(*self.infer_words("nsys", "--device", "cpu", "--iterations", "100000"))
        noted = self.folder / "calls.pid"
        self.assertTrue(cli.wait_until(lambda: noted.exists() and noted.read_text().strip()))
        worker = Path("/proc") / noted.read_text().strip()
        process.send_signal(signal.SIGINT)
        self.assert_code(self.finish(process), 130)
        self.assertTrue(cli.wait_until(lambda: not worker.exists()), "the worker went on")


@unittest.skipIf(cli.GPU, "this machine shows an NVIDIA device")
class OnAGpu(Tools):
    """A GPU that is only shown, and a double of CUDA's runtime that notes who begins and ends a range."""

    def setUp(self):
        super().setUp()
        self.env.update(SPIN_CUDA="1", LD_PRELOAD=os.environ["PACELINE_FAKE_CUDART"], FAKE_CUDART=str(self.folder / "cuda"))

    def cuda_calls(self):
        return [line.split()[0] for line in (self.folder / "cuda").read_text().splitlines()]

    def test_a_range_around_the_timed_iterations_is_recorded(self):
        out = self.on_a_shown_gpu(*self.infer_words("nsys", "--device", "cuda"), nvml=True)
        self.assertEqual(self.cuda_calls(), ["synchronize", "start", "synchronize", "stop"])
        profiled, = [call for call in self.calls() if call.endswith(" worker")]
        self.assertIn("--capture-range=cudaProfilerApi --capture-range-end=stop", profiled)
        self.assertIn("device 0: 75 % of 400 µs busy", out)
        run = self.only_run()
        self.assertEqual(json.loads((run / "nsys.json").read_text())["devices"][0]["late_host_ns"], 90000)
        self.assertTrue((run / "timeline.sqlite").exists())

    def test_kernels_of_ncu_are_bounded_and_shown(self):
        out = self.on_a_shown_gpu(*self.infer_words("ncu", "--device", "cuda", "--launch-count", "7", "--kernel-name", "gemm", "--section",
                                                    "SpeedOfLight,Occupancy"), nvml=True)
        profiled, = [call for call in self.calls() if call.endswith(" worker")]
        for words in ("--profile-from-start off", "--launch-count 7", "--kernel-name regex:gemm", "--section SpeedOfLight --section Occupancy",
                      "--target-processes application-only"):
            self.assertIn(words, profiled)
        self.assertNotIn("--set", profiled)
        self.assertIn("waits for data of L1, L2 or DRAM", " ".join(out.split()))
        self.assertEqual((self.only_run() / "kernels.csv").read_text(), TABLE.read_text())
        self.assertEqual(self.cuda_calls().count("start"), 1)

    def test_kernels_are_points_in_the_roofline_of_the_report(self):
        columns = {"ID": "0", "Kernel Name": "my_gemm", "gpu__time_duration.sum": "1000", "dram__bytes.sum.per_second": "5e11",
                   "sm__ops_path_tensor_src_fp16.sum.per_second": "4e14"}
        table = self.write("k.csv", "\n".join([",".join(columns), ",".join(["", "", "ns", "byte/s", ""]), ",".join(columns.values())]) + "\n")
        self.program("ncu", NCU.format(run=RUNS, export=f"cat '{table}'"))
        self.env["SPIN_FLOPS"] = "1e9"
        self.on_a_shown_gpu(*self.infer_words("ncu", "--device", "cuda", "--precision", "fp32"), nvml=True)
        page = (self.only_run() / "report.html").read_text()
        self.assertIn("kernels of x.spin spin fp32 b1 cuda under ncu", page)
        self.assertIn("my_gemm", page)

    def test_training_steps_are_a_range_of_rank_0(self):
        self.on_a_shown_gpu(*self.train_words("nsys", "--device", "cuda", "--ranks", "2"), nvml=True)
        self.assertEqual(self.cuda_calls(), ["synchronize", "start", "synchronize", "stop"])

    def test_cuda_that_refuses_the_range_fails_the_case(self):
        self.env["FAKE_CUDART_CODE"] = "3"
        out = self.on_a_shown_gpu(*self.infer_words("nsys", "--device", "cuda"), nvml=True, codes=range(1, 80))
        self.assertIn("the range that the profiler waits for (code 3)", out)

    def test_a_case_without_cuda_has_no_range_and_says_so(self):
        self.env["LD_PRELOAD"] = ""
        out = self.on_a_shown_gpu(*self.infer_words("nsys", "--device", "cuda"), nvml=True, codes=range(1, 80))
        self.assertIn("no library of CUDA is loaded", out)


if __name__ == "__main__":
    cli.main()
