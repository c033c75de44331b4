# SPDX-License-Identifier: MIT
"""The command tune on the spin plug-in: what it takes, what it drops and why, limits, bad input, interruption and --resume.

`spin` takes 1 ms at every batch, and `fault` SPIN_FAULT_US: which arm is the best follows from that, on any machine."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from onnx_files import model, node, weights
from paceline_cli import QUICK, SPIN, CliTest, main, read_json

FORMS = {"text": "Arms", "html": "<svg", "markdown": "| arm |", "json": '"found"', "junit": "<testsuite"}
SLOW = {"SPIN_FAULT_US": "20000"}

# Runs a serve.py as it is, then on the inputs of another file: whether the outputs are those of a third one, and what the engine says it is set to.
SERVES = """
import json, sys
sys.setdlopenflags(1)  # lazily: PyTorch's libraries of GPUs are stubs
import numpy as np
scope = {"__file__": sys.argv[1]}
exec(compile(open(sys.argv[1]).read(), sys.argv[1], "exec"), scope)
assert "torch" in scope or len(scope["outputs"]) == 1
inputs, expected = (dict(np.load(name)) for name in sys.argv[2:4])
if "session" in scope:
    options = scope["session"].get_session_options()
    run = scope["session"].run(None, inputs)[0]
    said = {"graph_optimization": options.graph_optimization_level.name, "inter_op_threads": options.inter_op_num_threads,
            "execution_mode": options.execution_mode.name, "arena": options.enable_cpu_mem_arena, "threads": options.intra_op_num_threads,
            "allow_spinning": scope["options"].get_session_config_entry("session.intra_op.allow_spinning")}
elif "torch" in scope:
    torch = scope["torch"]
    kinds = [t.dtype if t.is_floating_point() else None for t in scope["tensors"]]
    tensors = [torch.from_numpy(value) for value in inputs.values()]
    with torch.inference_mode():
        run = scope["model"](*[t.to(kind) if kind else t for t, kind in zip(tensors, kinds)])
    said = {"threads": torch.get_num_threads(), "batch": len(scope["tensors"][0]), "type": run.dtype}
    run = run.float().numpy()
else:
    run = scope["compiled"](inputs)[0]
    said = {name: scope["compiled"].get_property(name) for name in ("INFERENCE_NUM_THREADS", "NUM_STREAMS", "ENABLE_CPU_PINNING", "PERFORMANCE_HINT",
            "DYNAMIC_QUANTIZATION_GROUP_SIZE", "KV_CACHE_PRECISION", "INFERENCE_PRECISION_HINT")}
expected, = expected.values()
print(json.dumps({"error": float(np.abs(run - expected).max()), "scale": float(np.abs(run).max()), "said": {k: str(v) for k, v in said.items()}}))
"""
WRITES_TORCHSCRIPT = """
import sys
sys.setdlopenflags(1)  # lazily: a library of GPUs is a stub
import torch
torch.manual_seed(1)
net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(288, 10)).eval()
torch.jit.trace(net, torch.zeros(2, 3, 8, 8)).save("net.pt")
"""
OF_OPENVINO = {"threads": "INFERENCE_NUM_THREADS", "num_streams": "NUM_STREAMS", "dynamic_quantization_group_size": "DYNAMIC_QUANTIZATION_GROUP_SIZE"}


class Tuned(CliTest):
    def tune(self, *arguments, engines="spin,fault", code=0, **options):
        result = self.run_cli("tune", "--plugin", SPIN, "--model", "x.spin", "--engine", engines, "--shapes", "input:{batch}x4",
                              "--iterations", 10, *QUICK, *arguments, **options)
        self.assert_code(result, code)
        return result

    def found(self, *arguments, **options):
        return json.loads(self.tune(*arguments, "--json", **options).out)

    def refused(self, *words, code=2, says=()):
        result = self.run_cli("tune", *words)
        self.assert_code(result, code)
        for word in says:
            self.assertIn(word, " ".join(result.err.split()))
        self.assert_nothing_ran()

    def by_label(self, found):
        return {arm["label"].removeprefix("x.spin "): arm for arm in found["arms"]}


class Searches(Tuned):
    def test_the_slow_engine_is_dropped_and_the_answer_reproduces(self):
        found = self.found("--axes", "engine", env=SLOW)
        self.assertEqual((found["found"], found["arm"]), ("best", "x.spin-spin-fp32-b1"))
        arms = self.by_label(found)
        self.assertEqual(arms["fault fp32 b1"]["fate"], "dropped")
        self.assertIn("times the cost of x.spin-spin-fp32-b1", arms["fault fp32 b1"]["reason"])
        self.assertLess(arms["fault fp32 b1"]["rounds"], 10)
        self.assertGreater(arms["fault fp32 b1"]["ratio_low"], 1.03)
        self.assertRegex(found["sentence"], r"^Take x\.spin spin fp32 b1: median latency [\d.]+ ms \([\d.]+–[\d.]+\); the other arm costs at least "
                                            r"[\d.]+ times as much \(95 % over all arms and looks\)\. Whether its outputs hold is not known\.$")
        run = self.only_run()
        self.assertIn("<svg", (run / "tune.html").read_text(encoding="utf-8"))
        again = self.run_cli("run", run / "best.yaml", "--trust", "-o", "again", "--json")
        self.assert_code(again, 0)
        cases = read_json(self.only_run("again") / "run_summary.json")["cases"]
        self.assertEqual([(c["case_id"], len(c["repetitions"])) for c in cases], [("x.spin-spin-fp32-b1", 6)])

    def test_the_order_of_arms_changes_nothing(self):
        answers = [self.found("--axes", "engine", "--output-dir", name, engines=engines, env=SLOW)
                   for name, engines in (("first", "spin,fault"), ("last", "fault,spin"))]
        self.assertEqual(*[a["arm"] for a in answers])
        self.assertEqual(*[[(arm["case_id"], arm["fate"]) for arm in a["arms"]] for a in answers])
        orders = []
        for name in ("first", "last"):
            starts = [(r["started_utc"], c["case_id"]) for c in self.summary(self.only_run(name))["cases"] for r in c["repetitions"] if r["index"] == 0]
            orders.append([case for _, case in sorted(starts)])
        self.assertEqual(*orders)

    def test_throughput_takes_the_large_batch(self):
        found = self.found("--axes", "batch", "--batch", "1,4,16", "--objective", "throughput", engines="spin")
        self.assertEqual((found["found"], found["arm"]), ("best", "x.spin-spin-fp32-b16"))
        self.assertEqual(found["metric"], "throughput_per_s")

    def test_equal_arms_are_named(self):
        found = self.found("--threads", "1,2", engines="spin")
        self.assertEqual((found["found"], len(found["equals"])), ("equal", 2))
        self.assertIn("is not told apart from it", found["sentence"])
        self.assertEqual({arm["rounds"] for arm in found["arms"]}, {10})

    def test_every_form(self):
        for form, sign in FORMS.items():
            file = self.folder / f"answer.{form}"
            self.tune("--axes", "engine", "--format", form, "-o", file, env=SLOW)
            self.assertIn(sign, file.read_text(encoding="utf-8"), form)
            if form == "markdown":
                self.assertIn("over 2 arms and 4 looks it drops the best one in at most 5 % of searches", " ".join(file.read_text(encoding="utf-8").split()))

    def test_a_percentile_needs_its_samples(self):
        found = self.found("--axes", "engine", "--objective", "p99", env=SLOW, code=5)
        self.assertEqual((found["found"], found["rounds"]), ("nothing", 3))
        self.assertEqual(found["sentence"], "No arm has a figure for p99 of latency: p99 of a process needs 100 samples, and one had 10; "
                                            "search again with --iterations 100.")

    def unlimited(self, *arguments, code=0, **options):
        """Without the fixed number of iterations of the other searches."""
        result = self.run_cli("tune", "--plugin", SPIN, "--model", "x.spin", "--engine", "spin,fault", "--shapes", "input:{batch}x4", "--axes", "engine",
                              *QUICK, "--json", *arguments, **options)
        self.assert_code(result, code)
        return json.loads(result.out)

    def test_looks_are_short_unless_a_length_is_asked_for(self):
        words = ("tune", "--plugin", SPIN, "--model", "x.spin", "--engine", "spin,fault", "--shapes", "input:{batch}x4", "--axes", "engine",
                 "--idle-wait-s", "0", "--budget", "1s", "--json")
        for given, lines in (((), ("t_min_s: 0.3", "t_max_s: 1", "rel_halfwidth_p50: 0.05", "min_time_s: 0.2")), (("--stop.t_min_s", "0.5"), ("t_min_s: 0.5", "rel_halfwidth_p50: 0.01"))):
            self.assertIn(self.run_cli(*words, *given, "--output-dir", f"results{len(given)}").code, (0, 3))
            plan = (self.only_run(f"results{len(given)}") / "plan.yaml").read_text(encoding="utf-8")
            for line in lines:
                self.assertIn(line, plan)

    def test_a_slow_model_gets_the_samples_of_its_percentile(self):
        found = self.unlimited("--objective", "p99", "--budget", "60s", env={"SPIN_US": "11000", "SPIN_FAULT_US": "22000"})
        self.assertEqual((found["found"], found["arm"]), ("best", "x.spin-spin-fp32-b1"))
        plan = (self.only_run() / "plan.yaml").read_text(encoding="utf-8")
        for line in ("timing_mode: sync_latency", "n_min: 100"):
            self.assertIn(line, plan)

    def test_batches_have_no_percentile(self):
        found = self.unlimited("--objective", "p90", "--timing-mode", "auto", "--iterations", 50, "--engine", "spin", "--threads", "1,2",
                               env={"SPIN_US": "0"}, code=5)
        self.assertIn("batches were timed, which have no p90; add --timing-mode sync_latency", found["sentence"])

    def test_a_crash_costs_that_arm(self):
        found = self.found("--threads", "1,2", env={"SPIN_FAULT": "segv", "SPIN_FAULT_AT": "run"})
        arms = self.by_label(found)
        for threads in ("t1", "t2"):
            self.assertEqual(arms[f"fault fp32 b1 {threads}"]["fate"], "failed")
            self.assertIn("SIGSEGV", arms[f"fault fp32 b1 {threads}"]["reason"])
            self.assertEqual(arms[f"spin fp32 b1 {threads}"]["rounds"], 10)

    def test_nothing_can_be_measured(self):
        found = self.found("--threads", "1,2", engines="fault", env={"SPIN_FAULT": "segv", "SPIN_FAULT_AT": "run"}, code=5)
        self.assertEqual((found["found"], found["arm"]), ("nothing", None))
        self.assertIn("SIGSEGV", found["sentence"])


class Limits(Tuned):
    def test_a_limit_that_nothing_meets_names_the_nearest(self):
        found = self.found("--axes", "engine", "--slo", "p50<=0.2ms", env=SLOW, code=1)
        self.assertEqual((found["found"], found["arm"]), ("infeasible", "x.spin-spin-fp32-b1"))
        self.assertRegex(found["sentence"], r"^No arm meets p50<=0\.2ms; the nearest is x\.spin spin fp32 b1, which misses .*; that is \d+ % over\.$")
        self.assertEqual({arm["fate"] for arm in found["arms"]}, {"missed"})

    def test_of_several_limits_the_one_that_is_missed_most_is_named(self):
        found = self.found("--axes", "engine", "--slo", "p50<=0.1ms", "--slo", "throughput_per_s >= 10000", env=SLOW, code=1)
        self.assertRegex(found["sentence"], r"^No arm meets p50<=0\.1ms and throughput_per_s >= 10000; the nearest is x\.spin spin fp32 b1, "
                                            r"which misses p50<=0\.1ms: [\d.]+ ms .*; that is \d{3,} % over\.$")
        found = self.found("--axes", "engine", "--slo", "throughput_per_s >= 10000", env=SLOW, code=1)
        self.assertRegex(found["sentence"], r"misses throughput_per_s >= 10000: .*; that is 9\d % short\.$")

    def test_the_best_arm_is_the_best_of_those_that_meet_the_limit(self):
        """Larger batches have more throughput, and p50 is the time of the batch: the slow engine misses it whatever its rate."""
        found = self.found("--axes", "batch", "--batch", "1,8", "--objective", "throughput", "--slo", "p50 <= 10ms", env=SLOW)
        self.assertEqual(found["arm"], "x.spin-spin-fp32-b8")
        slow = self.by_label(found)["fault fp32 b8"]
        p50, = [c["headline"]["p50_ns"] for c in self.summary()["cases"] if c["case_id"] == slow["case_id"]]
        # Neighbours may leave the median without an interval, and the limit undecided.
        self.assertIn("misses p50 <= 10ms" if p50["ci_low"] else "times the cost of", slow["reason"])

    def test_a_limit_that_cannot_be_decided_is_no_answer(self):
        found = self.found("--axes", "engine", "--min-accuracy", "top1>=-0.5%", "--budget", "20s", env=SLOW, code=3)
        self.assertEqual(found["found"], "uncertain")
        self.assertIn("top1>=-0.5% cannot be decided", found["sentence"])


class BadInput(Tuned):
    def words(self, *arguments):
        return ("--plugin", SPIN, "--model", "x.spin", "--shapes", "input:{batch}x4", *QUICK, *arguments)

    def test_spaces(self):
        many = ",".join(str(n) for n in range(1, 1001))
        self.refused(*self.words("--engine", "spin", "--axes", "engine"), says=["nothing to choose", "x.spin spin fp32 b1", "--threads 1,2"])
        self.refused(*self.words("--engine", "spin", "--batch", many, "--threads", many), says=["1000000 arms", "200 at most"])
        self.refused("--model", "a.onnx,b.onnx", says=["about one model"])
        self.refused("--threads", "1,2", says=["no model given"])

    def test_a_model_that_no_engine_takes(self):
        self.write("x.unknown", "")
        self.refused("--model", "x.unknown", says=["no engine reads"])
        self.refused("--model", "missing.onnx", says=["missing.onnx"])

    def test_objectives_and_limits(self):
        self.refused(*self.words("--engine", "spin", "--objective", "energy"), code=77, says=["--objective energy cannot be measured here", "RAPL"])
        self.refused(*self.words("--objective", "speed"), says=["latency, p90, p99, throughput"])
        self.refused(*self.words("--slo", "p99<=fast"), says=["--slo p99<=fast", "'p99<=20ms'"])
        self.refused(*self.words("--slo", "p42<=1ms"), says=["p50, p90, p95 or p99"])
        self.refused(*self.words("--min-accuracy", "top1>=5%"), says=["--min-accuracy top1>=5%", "top1>=-0.5%"])
        self.refused(*self.words("--budget", "soon"), says=["--budget"])
        self.refused(*self.words("--engine", "spin", "--threads", "1,2", "--timing", "sync,pipelined"), says=["--timing pipelined", "--objective throughput"])
        self.refused(*self.words("--engine", "spin", "--threads", "1,2", "--gap", "0,10ms"), says=["--gap", "a search has one gap"])
        self.refused(*self.words("--axes", "colour"), says=["engine, precision, threads"])

    def test_options_that_a_search_decides(self):
        for option in (("--repetitions", "3"), ("--expect", "p50_ms < 5"), ("--only", "1"), ("--dry-run",)):
            self.refused(*self.words("--engine", "spin", "--threads", "1,2", *option), says=[option[0], "leave it out"])


class GoingOn(Tuned):
    def go_on(self, run, *arguments, code=0, env=None):
        result = self.run_cli("tune", "--resume", run, "--trust", "--json", *arguments, env=env)
        self.assert_code(result, code)
        return json.loads(result.out)

    def test_a_budget_that_is_over_and_more_of_it(self):
        first = self.found("--threads", "1,2", "--budget", "1ms", env=SLOW, code=5)
        self.assertEqual(first["found"], "nothing")
        self.assertTrue(first["cut_short"])
        run = self.only_run()
        found = self.go_on(run, "--budget", "90s", env=SLOW)
        self.assertEqual(len(found["equals"]), 2)
        self.assertFalse(found["cut_short"])
        self.assertEqual(self.only_run(), run)
        repeated = self.go_on(run, "--budget", "1ms", env=SLOW)  # nothing is left to measure
        self.assertEqual(repeated["arms"], found["arms"])

    def test_an_interruption_keeps_what_is_known(self):
        process = self.start("tune", "--plugin", SPIN, "--model", "x.spin", "--engine", "spin,fault", "--shapes", "input:{batch}x4", "--axes", "engine",
                             "--iterations", 20, "--slo", "p50<=1s", *QUICK, env=SLOW)
        deadline = time.monotonic() + 60
        while not (done := sorted(self.folder.glob("results/tune/*/cases/*/passes/timed*"))) and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertTrue(done, "no pass was complete")
        process.send_signal(signal.SIGINT)
        result = self.finish(process)
        self.assert_code(result, 130)
        run = self.only_run()
        before = read_json(run / "tune.json")
        self.assertTrue(before["interrupted"])
        self.assertTrue(any(arm["rounds"] > 0 for arm in before["arms"]), before)
        self.assertIn("interrupted", result.on_one_line)
        found = self.go_on(run, env=SLOW)
        self.assertEqual((found["found"], found["arm"]), ("best", "x.spin-spin-fp32-b1"))
        self.assertTrue(re.search(r"p50<=1s", json.dumps(found["checks"])), "the limit of the first part is gone")

    def test_what_only_a_new_search_can_change(self):
        self.found("--axes", "engine", "--slo", "p50<=1s", "--budget", "1ms", code=5)
        run = self.only_run()
        stored = read_json(run / "tune_request.json")
        self.assertEqual(list(stored), ["options"])
        for option in (("--axes", "batch"), ("--min-accuracy", "top1>=-1%")):
            result = self.run_cli("tune", "--resume", run, "--trust", *option)
            self.assert_error(result, 2, option[0], "start a new search")
        for option in (("--repetitions", "3"), ("--dry-run",), ("--only", "1")):
            self.assert_error(self.run_cli("tune", "--resume", run, "--trust", *option), 2, option[0], "leave it out")
        self.assertEqual(read_json(run / "tune_request.json"), stored)
        self.go_on(run, "--axes", "engine", "--budget", "1ms", code=5)  # as before

    def test_an_interrupted_first_round_names_the_arms_that_crashed(self):
        process = self.start("tune", "--plugin", SPIN, "--model", "x.spin", "--engine", "spin,fault", "--threads", "1,2", "--shapes", "input:{batch}x4",
                             "--iterations", 200, *QUICK, env={"SPIN_FAULT": "segv", "SPIN_FAULT_AT": "run", "SPIN_US": "100000"})
        deadline = time.monotonic() + 60
        failed = []
        while not failed and time.monotonic() < deadline:
            time.sleep(0.05)
            for file in self.folder.glob("results/tune/*/run_summary.json"):
                failed = [c["label"] for c in read_json(file)["cases"] if c["outcome"] == "failed"]
        process.send_signal(signal.SIGINT)
        self.assert_code(self.finish(process), 130)
        arms = {arm["label"]: arm for arm in read_json(self.only_run() / "tune.json")["arms"]}
        self.assertTrue(failed)
        for label in failed:
            self.assertEqual(arms[label]["fate"], "failed")
            self.assertIn("SIGSEGV", arms[label]["reason"])

    def test_only_a_search_can_go_on(self):
        self.assert_code(self.infer(), 0)
        result = self.run_cli("tune", "--resume", self.only_run())
        self.assert_error(result, 2, "tune_request.json")


class ServingLab(CliTest):
    """Searches that end with a program, which is executed."""

    def packages(self):
        packages = os.environ.get("PACELINE_ENGINE_PACKAGES", "")
        if not (Path(packages) / "onnxruntime").is_dir():
            self.skipTest("no Python packages of the engines: scripts/setup.sh --checks installs them")
        return {"PYTHONPATH": packages}

    def python(self, program, *arguments, cwd=None):
        done = subprocess.run([sys.executable, "-c", program, *arguments], cwd=cwd or self.folder, env={**self.env, **self.packages()}, capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def serve_file(self, *arguments, model="net.onnx", budget="30s"):
        """The run of a search in which all arms are alike but for their threads, the case to take, and the folder of its dumped outputs."""
        result = self.run_cli("tune", "--model", model, "--threads", "1,2", "--iterations", 20, *QUICK, "--budget", budget, "--dump-outputs", "dump",
                              *arguments)
        if "cannot run" in result.err or "nothing to choose" in result.err:
            self.skipTest("the engine is not here")
        self.assertIn(result.code, (0, 3), str(result))
        run = self.only_run()
        taken = read_json(run / "tune.json")["arm"]
        return result, run, next(c for c in self.summary(run)["cases"] if c["case_id"] == taken), self.folder / "dump" / taken

    def served(self, *arguments, within=1e-5, **options):
        """Checks that serve.py runs the measured arm, by its outputs on the inputs of the check; returns its settings."""
        self.packages()
        result, run, case, dump = self.serve_file(*arguments, **options)
        self.assertIn(f"python3 {run.relative_to(self.folder)}/serve.py", result.out)
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        said = self.python(SERVES, run / "serve.py", dump / "inputs-0.npz", dump / "outputs-0.npz", cwd=elsewhere)
        answer = json.loads(said.splitlines()[-1])
        self.assertLess(answer["error"], within * answer["scale"])
        return answer["said"], case["effective_settings"], run


class FromAFile(ServingLab):
    """A file that engines read: what a first look offers, and which arms follow from the file."""

    def write_product(self):
        side = [((7 * i) % 13 - 6) / 40 for i in range(16 * 16)]
        (self.folder / "net.onnx").write_bytes(model([node("MatMul", ["x", "w"], ["y"])], inputs=[("x", ("N", 16))], outputs=[("y", ("N", 16))],
                                                     tensors=[weights("w", (16, 16), side)]))

    def test_a_first_look_offers_the_search(self):
        self.write_product()
        look = self.run_cli("infer", "--model", "net.onnx", "--iterations", 20, *QUICK)
        self.assert_code(look, 0)
        if "To compare engines" not in look.out:
            self.skipTest("no engine for ONNX files is here")
        self.assertIn("  paceline tune --model net.onnx\n", look.out)
        chosen = self.run_cli("infer", "--model", "net.onnx", "--batch", 2, "--iterations", 20, *QUICK, "-o", "chosen")
        self.assertNotIn("paceline tune", chosen.out)

    def test_axes_follow_from_the_file(self):
        self.write_product()
        result = self.run_cli("tune", "--model", "net.onnx", "--iterations", 20, *QUICK, "--budget", "1ms", "--json")
        if result.code == 2 or "cannot run" in result.err:
            self.skipTest("no engine for ONNX files is here")
        self.assert_code(result, 5)
        labels = [arm["label"] for arm in json.loads(result.out)["arms"]]
        for word in ("fp32", "int8", "t1"):
            self.assertTrue(any(word in label.split() for label in labels), labels)

    def test_the_program_serves_the_arm_in_onnxruntime(self):
        self.write_product()
        said, measured, run = self.served("--engine", "onnxruntime", "--precision", "int8", "--onnxruntime.graph_optimization", "extended",
                                          "--onnxruntime.allow_spinning", "false", "--onnxruntime.inter_op_threads", "2", "--onnxruntime.arena", "false")
        self.assertEqual(said, {"graph_optimization": "ORT_ENABLE_EXTENDED", "inter_op_threads": "2", "execution_mode": "ORT_PARALLEL", "arena": "False",
                                "allow_spinning": "0", "threads": measured["threads"]})
        self.assertEqual((measured["graph_optimization"], measured["execution_mode"], measured["allow_spinning"]), ("extended", "parallel", "false"))
        program = (run / "serve.py").read_text(encoding="utf-8")
        self.assertIn('options.add_free_dimension_override_by_name("N", 1)', program)
        self.assertIn('pathlib.Path(__file__).resolve().parent / "models/net.onnx-onnxruntime-int8-b1-t', program)

    def check_openvino(self, precision, element, model="net.onnx"):
        self.write_product()
        if model != "net.onnx":
            self.python("import openvino, sys; openvino.save_model(openvino.Core().read_model('net.onnx'), sys.argv[1], compress_to_fp16=False)", model)
        said, measured, _ = self.served("--engine", "openvino", "--precision", precision, "--openvino.cpu_pinning", "true", model=model)
        self.assertEqual(measured["inference_precision"], element)
        for name, asked in OF_OPENVINO.items():
            self.assertEqual(said[asked], measured[name], name)

    def test_the_program_serves_fp32_in_openvino(self):
        self.check_openvino("fp32", "f32")

    def test_the_program_serves_a_file_of_openvino(self):
        self.check_openvino("fp32", "f32", model="net.xml")

    def test_the_program_serves_int8_in_openvino(self):
        self.check_openvino("int8", "f32")

    def test_the_program_serves_bf16_in_openvino(self):
        if "avx512_bf16" not in Path("/proc/cpuinfo").read_text(encoding="utf-8"):
            self.skipTest("no bf16 on this CPU")
        self.check_openvino("bf16", "bf16")

    def test_the_title_has_the_name_of_the_file(self):
        self.write_product()
        result = self.run_cli("tune", "--model", self.folder / "net.onnx", "--threads", "1,2", "--iterations", 20, *QUICK, "--budget", "1ms", "--json")
        if result.code == 2 or "cannot run" in result.err or "nothing to choose" in result.err:
            self.skipTest("no engine for ONNX files is here")
        self.assertEqual(json.loads(result.out)["title"], "Search for net.onnx: median latency")

    def test_a_setting_that_no_program_has_is_named(self):
        self.write_product()
        result, run, _, _ = self.serve_file("--engine", "onnxruntime", "--scenario", "closed_loop", "--instances", "2")
        self.assertFalse((run / "serve.py").exists())
        self.assertIn("serve.py, a program that serves the arm, is left out: it cannot have instances.", result.on_one_line)


class FromTorchScript(ServingLab):
    def packages(self):
        """PyTorch's own Python, as set-up made it for torchrun."""
        deps = Path(os.environ.get("PACELINE_DEPS", ""))
        if not (deps / "torchrun/stubs").is_dir() or not (deps / "python/numpy").is_dir():
            self.skipTest("no PyTorch for Python: scripts/setup.sh --checks installs it")
        paths = [deps / "torch", deps / "torchrun/python", deps / "python"]
        return {"LD_LIBRARY_PATH": str(deps / "torchrun/stubs"), "PYTHONPATH": ":".join(map(str, paths))}

    def check(self, engine, precision, kind, within):
        self.python(WRITES_TORCHSCRIPT)
        said, measured, _ = self.served("--engine", engine, "--precision", precision, "--batch", "3", "--shapes", "x:{batch}x3x8x8", "--layout", "channels_last",
                                        model="net.pt", within=within, budget="8s")
        self.assertEqual(said, {"threads": measured["threads"], "batch": "3", "type": kind})

    def test_the_program_serves_fp32_in_torchscript(self):
        self.check("torchscript", "fp32", "torch.float32", 1e-5)

    def test_the_program_serves_bf16_in_torchscript(self):
        self.check("torchscript", "bf16", "torch.bfloat16", 1e-5)

    def test_the_program_serves_fp32_in_eager(self):
        self.check("eager", "fp32", "torch.float32", 1e-5)

    def test_the_program_serves_bf16_in_eager(self):
        self.check("eager", "bf16", "torch.bfloat16", 1e-5)


if __name__ == "__main__":
    main()
