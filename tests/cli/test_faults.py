# SPDX-License-Identifier: MIT
"""Workers that crash, hang, lie or leave: the case fails with a reason, the rest of the plan goes on."""

import json
import os
import resource
import signal
import time
import unittest
import zipfile
import zlib
from pathlib import Path

import paceline_cli as cli

# fault: exit code, reason_code, words of the reason
FAULTS = {
    "segv": (5, "crash", ["segmentation fault", "SIGSEGV"]),
    "abort": (5, "crash", ["SIGABRT"]),
    "kill": (5, "killed", ["SIGKILL"]),
    "hang": (5, "timeout", ["timeout_s = 2 s"]),
    "exit": (5, "exit", ["ended early", "exit code 3"]),
    "quiet_exit": (5, "exit", ["ended early", "exit code 0"]),
    "rubbish": (5, "protocol", ["no record", "%%% not a record"]),
    "throw": (5, "error", ["out of coffee"]),
}
# With one of them a worker exits as usual and runs the static destructors of its libraries.
UNTIL_EXIT = ("PACELINE_STATIC_DESTRUCTORS", "LD_PRELOAD", "LD_AUDIT", "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "NSYS_PROFILING_SESSION_ID",
              "NV_COMPUTE_PROFILER_PERFWORKS_DIR", "PACELINE_PROFILER", "INTEL_LIBITTNOTIFY64", "OMP_TOOL_LIBRARIES")
# The engine sums four columns: of four alone the output would be the input.
WIDE = "input:{batch}x8"


class Faults(cli.CliTest):
    def run_fault(self, fault, at, timeout_s=30):
        """A plan of two cases: the faulty engine and a healthy one."""
        plan = self.spin_plan(f"env: {{SPIN_FAULT: {fault}, SPIN_FAULT_AT: {at}}}", f"timeout_s: {timeout_s}", "repetitions: 2",
                              f"output_dir: {fault}-{at}", engines="[fault, spin]", iterations=5)
        process = self.start("run", plan)
        result = self.finish(process)
        self.assert_group_empty(process)
        run = self.only_run(f"{fault}-{at}")
        summary = self.summary(run)
        healthy = cli.case_of(summary, engine="spin")
        self.assertEqual((healthy["outcome"], len(healthy["repetitions"])), ("ok", 2), str(result))
        self.assert_samples_once(run, healthy["case_id"], 2, 5)
        return result, run, summary, cli.case_of(summary, engine="fault")

    def check_failed(self, fault, at):
        code, reason_code, words = FAULTS[fault]
        result, run, summary, case = self.run_fault(fault, at, timeout_s=2 if fault == "hang" else 30)
        self.assert_code(result, code)
        self.assertEqual((summary["outcome"], summary["exit_code"]), ("failed", code))
        self.assertEqual((case["outcome"], case["reason_code"], case["complete"]), ("failed", reason_code, False))
        for word in words:
            self.assertIn(word, case["reason"])
        self.assertIn(case["reason"], result.err)
        self.assertIn("pass, repetition 0", case["log_tail"])
        self.assertTrue((run / "report.html").exists())
        self.assertEqual(cli.read_json(cli.case_dir(run, case["case_id"]) / "result.json")["reason"], case["reason"])

    def test_unsupported_is_skipped(self):
        for at in ("load", "run"):
            result, _, summary, case = self.run_fault("unsupported", at)
            self.assert_code(result, 0)
            self.assertEqual((case["outcome"], case["reason_code"]), ("skipped", "unsupported"))
            self.assertIn("this machine cannot do that", case["reason"])
            self.assertEqual(summary["outcome"], "ok")

    def test_what_an_engine_printed_stands_beside_why_it_cannot_read_inputs(self):
        self.write("x.pt", "no model")
        result = self.run_cli("infer", "--plugin", cli.SPIN, "--engine", "fault", "--model", "x.pt", env={"SPIN_FAULT": "unavailable", "SPIN_FAULT_AT": "inputs"})
        self.assert_code(result, 77)
        self.assertIn("the library is not here", result.err)
        self.assertIn("libspin.so.1: cannot open shared object file", result.err)

    def test_a_process_that_cannot_read_inputs_is_no_mistake_of_the_plan(self):
        self.write("x.pt", "no model")
        for fault, words in (("hang", ["timeout_s = 2 s", "phase 'inspect'"]), ("segv", ["segmentation fault"])):
            result = self.run_cli("infer", "--plugin", cli.SPIN, "--engine", "fault", "--model", "x.pt", "--timeout-s", "2",
                                  env={"SPIN_FAULT": fault, "SPIN_FAULT_AT": "inputs"})
            self.assert_error(result, 5, "model 'x.pt'", *words)

    def test_timeout_s_holds_for_everything_that_a_plug_in_is_asked(self):
        """Before the run begins as well, where its engines are not known yet."""
        plan = self.spin_plan("timeout_s: 2", iterations=5)

        def check(at, phase, *arguments):
            begin = time.monotonic()
            result = self.run_cli("run", plan, *arguments, env={"SPIN_FAULT": "hang", "SPIN_FAULT_AT": at, "SPIN_IS_FAULT": "1", UNTIL_EXIT[0]: "1"})
            self.assert_error(result, 5, "plug-in", f"timeout_s = {1 if arguments else 2} s", f"phase '{phase}'")
            self.assertLess(time.monotonic() - begin, 60)
            self.assert_nothing_ran()

        hangs = (("library", "load"), ("versions", "versions"), ("constructor", "first_inference"), ("load", "first_inference"),
                 ("bind", "first_inference"), ("destructor", "unload"), ("exit", "exit"))
        for arguments in ((), ("--timeout-s", "1")):
            cli.at_once(check, [(*hang, *arguments) for hang in hangs])

    def test_a_plug_in_that_crashes_is_named_with_its_phase(self):
        """Before the run begins, where nothing else is known of it."""
        for fault, end in (("segv", "SIGSEGV"), ("abort", "SIGABRT")):
            for at, phase in (("library", "load"), ("versions", "versions"), ("constructor", "first_inference")):
                with self.subTest(fault=fault, at=at):
                    result = self.infer(env={"SPIN_FAULT": fault, "SPIN_FAULT_AT": at, "SPIN_IS_FAULT": "1"})
                    self.assert_error(result, 5, f"plug-in '{cli.SPIN}'", end, f"phase '{phase}'")
                    self.assert_nothing_ran()

    def test_static_destructors_run_only_where_something_writes_at_exit(self):
        crash = {"SPIN_FAULT": "segv", "SPIN_FAULT_AT": "exit"}
        for variable in UNTIL_EXIT:
            result = self.infer("-o", variable, env={**crash, variable: "none"})
            self.assert_error(result, 5, f"plug-in '{cli.SPIN}'", "SIGSEGV", "phase 'exit'")
        content = Path(cli.BINARY).read_bytes()
        sanitized = b"libasan" in content or b"libtsan" in content
        self.assert_code(self.infer("-o", "none", env={**crash, **dict.fromkeys(UNTIL_EXIT, "")}), 5 if sanitized else 0)

    def test_a_hang_of_an_engine_is_named_with_its_phase(self):
        for at, phase in (("constructor", "load"), ("bind", "check"), ("destructor", "unload")):
            result = self.infer("--timeout-s", "2", "-o", at, engine="fault", env={"SPIN_FAULT": "hang", "SPIN_FAULT_AT": at})
            self.assert_code(result, 5)
            case = self.summary(self.only_run(at))["cases"][0]
            self.assertEqual(case["reason_code"], "timeout")
            self.assertIn(f"timeout_s = 2 s; it was in phase '{phase}'", case["reason"])

    def test_a_limit_on_file_sizes_is_reported_like_a_full_disk(self):
        """SIGXFSZ would end the process that writes, the coordinator or a worker."""
        limit = 16 << 10
        result = self.infer("-r", "2", iterations=4000, env={"SPIN_US": "5"},
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        self.assert_code(result, 2)
        self.assertRegex(result.err, r"(?m)^paceline: cannot write '.*': File too large")

    def test_a_case_without_times_has_no_peak_to_come(self):
        self.infer("-o", "out", engine="fault", model="tiny_cnn", shapes=None, env={"SPIN_FAULT": "throw"})
        case = self.summary(self.only_run("out"))["cases"][0]
        self.assertEqual(case["outcome"], "failed")
        self.assertNotIn("not measured yet", str(case))

    def test_nan_fails_the_accuracy_check(self):
        result, _, _, case = self.run_fault("nan", "run")
        self.assert_code(result, 1)
        self.assertEqual((case["outcome"], case["reason_code"]), ("failed", "accuracy"))
        self.assertIn("NaN", case["reason"])

    def test_progress_is_written_to_a_pipe(self):
        """A process that loads for long sends no record of its own."""
        plan = self.spin_plan("env: {SPIN_FAULT: hang, SPIN_FAULT_AT: load}", "timeout_s: 18", engines="[fault]", iterations=5)
        result = self.run_cli("run", plan)
        self.assert_code(result, 5)
        self.assertRegex(result.out, r"(?m)^  check  .*(starting|load)", str(result))

    def test_wrong_output_shape(self):
        result = self.infer("--batch", "2", engine="fault", env={"SPIN_FAULT": "badshape"})
        self.assert_code(result, 2)
        case = self.summary()["cases"][0]
        self.assertEqual((case["outcome"], case["reason_code"]), ("failed", "data"))
        self.assertIn("the batch is 2", case["reason"])

    def test_an_engine_that_does_not_compute_is_found_out(self):
        """Timed inferences repeat one question: an engine that keeps the answer must not pass as a fast one."""
        for fault, words in (("repeat", "did not compute when the same inputs were asked for again"), ("copy", "repeats answers instead of computing them"),
                             ("first", "accuracy: ")):
            for scenario in ((), ("--scenario", "closed_loop", "--concurrency", "1")):
                folder = f"{fault}{len(scenario)}"
                result = self.infer("--accuracy-reference", "spin", "-o", folder, *scenario, engine="fault", shapes=WIDE, env={"SPIN_FAULT": fault}, iterations=20)
                self.assert_code(result, 1)
                case = self.summary(self.only_run(folder))["cases"][0]
                self.assertEqual((case["outcome"], case["reason_code"]), ("failed", "accuracy"), str(result))
                self.assertIn(words, case["reason"])

    def test_a_fast_engine_that_computes_once_for_a_bind_is_found_out(self):
        """An inference so short that its time alone would prove nothing."""
        result = self.infer("--accuracy-reference", "spin", engine="fault", shapes=WIDE, env={"SPIN_FAULT": "repeat", "SPIN_FAULT_US": "80"}, iterations=200)
        self.assert_code(result, 1)
        self.assertIn("did not compute when the same inputs were asked for again", self.summary()["cases"][0]["reason"])

    def test_an_engine_that_computes_once_is_found_out_with_one_batch_of_inputs(self):
        result = self.infer("--accuracy-reference", "spin", "--accuracy-samples", "1", engine="fault", shapes=WIDE, env={"SPIN_FAULT": "first"}, iterations=20)
        self.assert_code(result, 1)
        self.assertIn("did not compute when the same inputs were asked for again", self.summary()["cases"][0]["reason"])

    def test_an_engine_that_keeps_an_answer_for_each_input_is_found_out(self):
        """With few batches the one that was timed would come up again among those that are said to be new."""
        for batch in ("16", "64"):  # 64 inputs are one batch of 64: a second one is made
            result = self.infer("--accuracy-reference", "spin", "--batch", batch, "-o", f"memo{batch}", engine="fault", shapes=WIDE,
                                env={"SPIN_FAULT": "memo", "SPIN_FAULT_US": "5000"}, iterations=200)
            self.assert_code(result, 1)
            self.assertIn("repeats answers instead of computing them", self.summary(self.only_run(f"memo{batch}"))["cases"][0]["reason"])

    def test_outputs_that_are_an_input_or_weights_pass(self):
        for fault in ("view", "constant"):
            for batch in ("1", "64"):
                result = self.infer("--accuracy-reference", "fault", "--batch", batch, "-o", fault + batch, engine="fault", env={"SPIN_FAULT": fault},
                                    iterations=20)
                self.assert_code(result, 0)

    def test_an_engine_that_computes_passes(self):
        for fault in ("", "nothing"):
            self.assert_code(self.infer("--accuracy-reference", "spin", "-o", f"honest{fault}", engine="fault", env={"SPIN_FAULT": fault}, iterations=20), 0)

    def test_nonsense_about_precisions_flops_and_types_is_refused(self):
        for fault, words in (("shares", "shares of precisions that add up to 3"), ("negative", "a share of -0.5 of the work in bf16"),
                             ("flops", "-1e+09 FLOPs"), ("dtype", "element type is no type: number 77")):
            result = self.infer("-o", fault, engine="fault", env={"SPIN_FAULT": fault}, iterations=5)
            self.assert_code(result, 2)
            case = self.summary(self.only_run(fault))["cases"][0]
            self.assertEqual((case["outcome"], case["reason_code"]), ("failed", "data"), str(result))
            self.assertIn(words, case["reason"])

    def test_failed_case_is_tried_again_by_resume(self):
        self.assert_code(self.infer("-r", "2", engine="fault", env={"SPIN_FAULT": "segv"}), 5)
        run = self.only_run()
        self.assert_code(self.run_cli("run", "--resume", run), 0)
        again = self.summary(run)["cases"][0]
        self.assertEqual((again["outcome"], again["reason"], len(again["repetitions"])), ("ok", "", 2))

    def test_one_case_in_process_reports_what_it_threw(self):
        result = self.infer("--in-process", engine="fault", env={"SPIN_FAULT": "throw"})
        self.assert_code(result, 5)
        self.assertIn("out of coffee", result.err)

    def test_inputs_that_do_not_fit_into_memory_end_their_case_alone(self):
        """A worker makes them, and says so before it takes the memory."""
        group = memory_group(self)
        plan = self.write("plan.yaml", self.spin_plan("batch_sizes: [1, 8, 40000]", iterations=5).read_text(encoding="utf-8").replace("{batch}x4", "{batch}x3x64x64"))
        result = self.finish(self.start("run", plan, preexec_fn=lambda: join_group(group)))
        self.assert_code(result, 5)
        summary = self.summary()
        self.assertEqual([(c["outcome"], c["reason_code"]) for c in summary["cases"]], [("ok", ""), ("ok", ""), ("failed", "oom")])
        self.assertIn("the inputs would take", summary["cases"][2]["reason"])
        result = self.finish(self.start("run", "--resume", self.only_run(), preexec_fn=lambda: join_group(group)))
        self.assert_code(result, 5)
        again = self.summary()["cases"]
        for case, before in zip(again[:2], summary["cases"]):
            for key in ("outcome", "repetitions", "stats", "headline", "samples"):
                self.assertEqual(case[key], before[key], key)
        self.assertEqual((again[2]["outcome"], again[2]["reason_code"]), ("failed", "oom"))

    def write_picture(self, name, side):
        """A black PNG, small as a file."""
        chunks = [(b"IHDR", side.to_bytes(4, "big") * 2 + bytes([8, 2, 0, 0, 0])), (b"IDAT", zlib.compress(bytes(side * (3 * side + 1)), 1)), (b"IEND", b"")]
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(
            len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big") for kind, data in chunks))

    def write_slow_pictures(self):
        """Which take seconds to decode."""
        self.write_picture("pictures/0.png", 5000)
        for number in range(1, 30):
            os.link(self.folder / "pictures/0.png", self.folder / f"pictures/{number}.png")
        return ("--image-dir", "pictures", "--accuracy-samples", "30")

    def test_files_that_are_no_pictures_are_said(self):
        self.write_picture("pictures/0.png", 8)
        self.write("pictures/._0.png", "x")
        self.write("pictures/1.webp", "x")
        result = self.infer("--image-dir", "pictures", shapes="input:{batch}x3x8x8")
        self.assert_code(result, 0)
        self.assertIn("left out of 'pictures': 1 .webp, 1 hidden file", result.out + result.err)

    def test_timeout_s_holds_while_inputs_are_made(self):
        result = self.infer("--timeout-s", "1.5", *self.write_slow_pictures(), shapes="input:{batch}x3x8x8")
        self.assert_code(result, 5)
        case = self.summary()["cases"][0]
        self.assertEqual(case["reason_code"], "timeout")
        self.assertIn("timeout_s = 1.5 s; it was in phase 'inputs'", case["reason"])

    def test_ctrl_c_ends_the_making_of_inputs(self):
        process = self.start("infer", "--plugin", cli.SPIN, "--engine", "spin", "--model", "x.spin", "--shapes", "input:{batch}x3x8x8", *cli.QUICK,
                             *self.write_slow_pictures())
        self.assertTrue(cli.wait_until(lambda: any(pass_of(pid) == "inputs" for pid in cli.session_members(process.pid))))
        process.send_signal(signal.SIGINT)
        self.assert_code(self.finish(process), 130)
        self.assert_group_empty(process)
        self.assertEqual(self.summary()["cases"][0]["reason_code"], "interrupted")

    def test_shapes_files_and_pictures_beyond_all_memory_have_one_message(self):
        with zipfile.ZipFile(self.folder / "huge.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive, archive.open("input.npy", "w", force_zip64=True) as member:
            header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (25000000, 4), }"
            header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
            member.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
            for _ in range(400):
                member.write(bytes(1_000_000))
        self.write_picture("pictures/huge.png", 9000)
        group = memory_group(self)
        for name, words, arguments, shapes in (("shape", "the inputs would take", (), f"input:{{batch}}x{2 ** 30}"),
                                               ("file", "huge.npz", ("--load-inputs", "huge.npz"), "input:{batch}x4"),
                                               ("picture", "9000 x 9000 pixels", ("--image-dir", "pictures"), "input:{batch}x3x8x8"),
                                               ("expected", "the expected outputs of 'huge.npz'", ("--accuracy-reference", "huge.npz"), "input:{batch}x4")):
            with self.subTest(name):
                result = self.infer("-o", name, *arguments, shapes=shapes, preexec_fn=lambda: join_group(group))
                self.assert_code(result, 5)
                case = self.summary(self.only_run(name))["cases"][0]
                self.assertEqual(case["reason_code"], "oom")
                self.assertIn(words, case["reason"])
                self.assertIn("out of memory", case["reason"])

    def test_out_of_memory_killer_is_named(self):
        group = memory_group(self)
        plan = self.spin_plan("env: {SPIN_FAULT: oom, SPIN_FAULT_AT: run}", engines="[fault, spin]", iterations=5)
        result = self.finish(self.start("run", plan, preexec_fn=lambda: join_group(group)))
        self.assert_code(result, 5)
        summary = self.summary()
        case = cli.case_of(summary, engine="fault")
        self.assertEqual(case["reason_code"], "oom", case["reason"])
        self.assertIn("out-of-memory killer", case["reason"])
        self.assertEqual(cli.case_of(summary, engine="spin")["outcome"], "ok")


def pass_of(pid):
    """The kind of the pass that a worker was handed; None: it is no worker, or has ended."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as words:
            if words.read().split(b"\0")[1:2] != [b"worker"]:
                return None  # it has its descriptors before it is one: stopped now, it would hold up the process that starts it
        with open(f"/proc/{pid}/fd/3", encoding="utf-8") as spec:
            return json.load(spec)["kind"]
    except (OSError, ValueError, TypeError):  # descriptor 3 of other processes may be any file
        return None


def memory_group(test):
    """A memory cgroup of 200 MB for the coordinator and its workers; skips where none can be made."""
    for root, limit in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
        folder = os.path.join(root, f"paceline-test-{os.getpid()}")
        try:
            os.mkdir(folder)
            test.addCleanup(os.rmdir, folder)
            with open(os.path.join(folder, limit), "r+", encoding="ascii") as file:
                file.write(str(200 << 20))
            return folder
        except OSError:
            continue
    return test.skipTest("no memory cgroup can be made here")


def join_group(folder):
    with open(os.path.join(folder, "cgroup.procs"), "w", encoding="ascii") as file:
        file.write(str(os.getpid()))


def make_test(fault, at):
    return lambda self: self.check_failed(fault, at)


for name in FAULTS:
    for moment in ("load", "run"):
        setattr(Faults, f"test_{name}_at_{moment}", make_test(name, moment))

if __name__ == "__main__":
    cli.main()
