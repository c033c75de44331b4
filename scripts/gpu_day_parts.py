# SPDX-License-Identifier: MIT
"""The stages: which parts each has, on a GPU and in the dry form on a CPU."""
import dataclasses
import functools

import gpu_day_checks as checks
from gpu_day_place import ROOT, program_of_cuda, tensorrt_root
from gpu_day_run import Part, Step

WORKS = (0, 3)  # 3: an interval is wider than asked for, which these short runs must expect
LOOK = {
    "driver": "machine/nvidia-smi.txt: driver below 580, no device, or one that others use",
    "libraries": "log.txt: which library is missing; PACELINE_TORCH_ROOT must name a PyTorch with CUDA of the version that was built for",
    "cases": "log.txt and results/*/*/cases/*/log.txt: out of memory, a precision the device lacks, a capture that breaks",
    "nccl": "log.txt: NCCL's version against the plug-in's; NCCL_DEBUG=INFO says more",
    "sharing": "log.txt: does rank 1 ask for a second device? memory of two processes",
    "profile": "log.txt, results/*/*/operators.csv: CUPTI is missing, or may not be used by this user",
    "checkpoint": "log.txt: room in the temporary folder, random state of a device",
    "python": "log.txt: the Python's torch.cuda.is_available(), and memory that both sides need",
    "package": "log.txt, m.pt2.log: a compiler, Triton or the CUDA toolkit is missing; PACELINE_PYTHON names the Python that compiles",
    "tool": "log.txt: the tool's own words (permission for performance counters: ERR_NVGPUCTRPERM)",
    "tensorrt": "log.txt, *.plan.log: library and plug-in of another major version; operators that the parser lacks",
}


@dataclasses.dataclass(frozen=True)
class Scale:
    """Models of a stage: a GPU's, or small ones for the dry form."""
    device: str
    cnn: str
    transformer: str
    batch: int
    train_batch: int
    precisions: str  # of inference: all, fp32 and autocast, these and bf16
    half: str
    few: str
    compared: str    # with Python, by eager and by a transformer
    transformers: str
    compiled: str    # packages
    train: str       # of training: all, one, two, those of half the width
    bf16: str
    two: str
    train_half: str
    infer: tuple     # how inference is measured
    steps: tuple     # how training is
    seconds: float   # share of a GPU's times that parts need here

    @property
    def on_gpu(self):
        return self.device != "cpu"


QUIET = ("--allow-noisy",)
SANITIZED = "OnDevice.EveryIoPolicy*:OnDevice.AGraph*:OnDevice.EmptyingTheCache*"  # all of a small network: the tool costs much
NO_TENSORRT = "no library of TensorRT or TensorRT-RTX: unpack its wheel into a folder tensorrt… beside the bundle, or set TENSORRT_ROOT"
FACTS = "name,driver_version,memory.total,compute_cap"
GPU = Scale("cuda", "resnet50", "vit_b_16", 32, 128, "fp32,tf32,amp_fp16,bf16", "fp32,amp_fp16", "fp32,amp_fp16,bf16", "fp32,amp_fp16",
            "bf16", "fp32,fp16", "fp32,tf32,amp,bf16", "bf16", "fp32,bf16", "amp,bf16",
            ("--accuracy.samples", "8", "--stop.t_min_s", "1", "--stop.t_max_s", "3", "--warmup.max_time_s", "8", "--idle-wait-s", "2"),
            ("--warmup-steps", "10", "--steps", "40", "--idle-wait-s", "2"), 1.0)
# fp32 alone: not every CPU has another.
CPU = Scale("cpu", "tiny_cnn", "tiny_cnn", 2, 4, *["fp32"] * 10,
            ("--accuracy.samples", "2", "--iterations", "3", "--warmup", "1", "--idle-wait-s", "0", "--threads", "1"),
            ("--warmup-steps", "1", "--steps", "4", "--idle-wait-s", "0", "--threads", "1"), 0.1)
SCALES = {"cpu": CPU, "cuda": GPU}


class Maker:
    """Makes the parts of one place and scale."""

    def __init__(self, place, scale, options):
        self.place, self.scale, self.options = place, scale, options

    @functools.cached_property
    def torch_of_python(self):
        return self.place.torch_of_python()

    def part(self, name, what, steps, judge, seconds, look, **more):
        """`seconds`: what it needs on a GPU; it may take three times as long."""
        needs = max(2, round(seconds * self.scale.seconds))
        limit = max(240, 3 * needs)
        return Part(name, what, steps, judge, needs, limit, LOOK[look], **more)

    def infer(self, *words, command="infer", device="", peak=False, results="results"):
        measured = QUIET if peak else (*QUIET, "--no-measure-peak")
        return Step([self.place.paceline, command, *words, "--device", device or self.scale.device, *self.scale.infer, *measured, "--output-dir",
                     results], WORKS)

    def graphs(self, choices):
        """CUDA graphs; the dry form has none."""
        return ("--cuda-graphs", choices) if self.scale.on_gpu else ()

    def io(self, choice):
        return ("--io", choice) if self.scale.on_gpu else ()

    def train(self, *words, codes=WORKS, results="results"):
        s = self.scale
        return Step([self.place.paceline, "train", "--model", s.cnn, "--device", s.device, "--batch", s.train_batch, "--data.source", "synthetic",
                     *s.steps, *words, *QUIET, "--output-dir", results], codes)

    def all_ok(self, count):
        return checks.all_ok(count, self.scale.device)


def count_of(*lists):
    count = 1
    for values in lists:
        count *= len(values.split(","))
    return count


def test_program(m, name, what, seconds):
    return m.part(name, what, [Step(m.place.test_program(name))], checks.googletest, seconds, "libraries", absent=m.place.absent_test(name))


def tests(m):
    command, env = m.place.cli_test("test_gpu.py" if m.scale.on_gpu else "test_cuda.py")
    validate = m.part("validate", "the machine and what is installed", [Step([m.place.paceline, "validate", "--no-color"], (0, 4))],
                      checks.validated(m.scale.device), 5, "driver" if m.scale.on_gpu else "libraries")
    cli = m.part("cli", f"--device {m.scale.device} as a user meets it", [Step(command, env=env)], checks.python_tests, 70, "cases")
    if not m.scale.on_gpu:
        return [validate, test_program(m, "plugin_cuda", "the plug-in where no device is", 30),
                test_program(m, "plugin_cuda_parts", "its switches and copies on the CPU", 30), cli]
    asked = Step(["nvidia-smi", f"--query-gpu={FACTS}", "--format=csv,noheader"])
    driver = m.part("driver", "driver and devices", [asked], checks.last_line, 5, "driver")
    return [driver, validate, test_program(m, "gpu_cuda", "engines on the device", 10),
            test_program(m, "gpu_cuda_training", "training on the device", 10), cli]


def inference(m):
    s = m.scale
    engines = "eager,torchscript"
    both = ("--engine", engines, "--model", s.cnn)
    graphs = "CUDA graphs" if s.on_gpu else "(CUDA graphs left away)"
    times = 2 if s.on_gpu else 1
    copies = ("pinned", "pageable", "none") if s.on_gpu else ("device",)
    large, one = ("--batch", s.batch), ("--batch", "1")
    study = ROOT / "examples/plans/gpu_study.yaml"
    small = () if s.on_gpu else ("--models", s.cnn, "--batch", "1,2", "--precision", s.half)
    return [
        m.part("precisions", f"{s.cnn} b{s.batch}, {engines}: {s.precisions}", [m.infer(*both, *large, "--precision", s.precisions, peak=s.on_gpu)],
               m.all_ok(count_of(engines, s.precisions)), 80, "cases"),
        m.part("channels_last", f"the same, channels_last: {s.few}", [m.infer(*both, *large, "--precision", s.few, "--layout", "channels_last")],
               m.all_ok(count_of(engines, s.few)), 55, "cases"),
        m.part("graphs", f"the same, {graphs}: {s.half}", [m.infer(*both, *large, "--precision", s.half, *m.graphs("true"))],
               m.all_ok(count_of(engines, s.half)), 40, "cases"),
        m.part("batch_one", f"{s.cnn} b1 without and with {graphs}: {s.half}", [m.infer(*both, *one, "--precision", s.half, *m.graphs("false,true"))],
               m.all_ok(times * count_of(engines, s.half)), 75, "cases"),
        m.part("copies", f"{s.cnn} b{s.batch} eager: --io {', '.join(copies)}" if s.on_gpu else "(the CPU has no copies) one case",
               [m.infer("--model", s.cnn, *large, *m.io(io), results=f"results_{io}") for io in copies], m.all_ok(len(copies)), 25, "cases"),
        m.part("transformer", f"{s.transformer} b{s.batch} eager: {s.few}", [m.infer("--model", s.transformer, *large, "--precision", s.few)],
               m.all_ok(count_of(s.few)), 35, "cases"),
        m.part("study", "examples/plans/gpu_study.yaml, one process per case",
               [m.infer(study, *small, "--repetitions", "1", command="run")],
               m.all_ok(32 if s.on_gpu else 4), 150, "cases")]


def package_part(m, precision):
    """A package that PyTorch compiles here, beside the engines that run the built-in model, on the same inputs."""
    model, batch = m.scale.cnn, ("--batch", m.scale.batch)
    env = {"PACELINE_PYTHON": m.place.python}
    built = Step([m.place.paceline, "build", "--engine", "aotinductor", "--model", model, "--device", m.scale.device, *batch, "--precision", precision,
                  "--out", "scratch/m.pt2", "--log", "m.pt2.log"], env=env)
    measured = m.infer("--engine", "auto", "--model", f"{model},scratch/m.pt2", *batch, "--precision", precision, "--accuracy-reference", model)
    return m.part(f"package_{precision}", f"{model} b{m.scale.batch} {precision} by AOTInductor: compile, run, outputs against fp32",
                  [built, measured], m.all_ok(2), 130, "package", may_skip=True)


def training(m):
    s = m.scale
    collective = "nccl" if s.on_gpu else "gloo"
    two = ("--ranks", "2", "--backend", "gloo")
    saved = ("--checkpoint.dir", "scratch/checkpoints", "--precision", "fp32")
    return [
        m.part("one_rank", f"{s.cnn} b{s.train_batch}: {s.train}", [m.train("--precision", s.train)], m.all_ok(count_of(s.train)), 60, "cases"),
        m.part("channels_last", f"the same, channels_last: {s.train_half}", [m.train("--precision", s.train_half, "--layout", "channels_last")],
               m.all_ok(count_of(s.train_half)), 30, "cases"),
        m.part("fresh_data", f"every batch made and copied: {s.bf16}", [m.train("--precision", s.bf16, "--data.synthetic_fresh")], m.all_ok(1), 30,
               "cases"),
        m.part("ddp_" + collective, f"DDP over {collective} with one rank: {s.two}",
               [m.train("--precision", s.two, "--ddp.enabled", "true", "--backend", collective)],
               m.all_ok(count_of(s.two)), 35, "nccl"),
        m.part("two_ranks", f"two ranks on one {'GPU' if s.on_gpu else 'CPU'} over gloo: {s.two}", [m.train("--precision", s.two, *two)],
               m.all_ok(count_of(s.two)), 60, "sharing"),
        m.part("lost_rank", "rank 1 of two is killed in step 3", [m.train("--inject", "kill:rank=1,step=3", *two, codes=(5,))], checks.lost_rank, 35,
               "sharing"),
        m.part("profile", "the operators of one rank", [m.train("--precision", "fp32", "--profiling.enabled")], checks.profiled(s.device), 50,
               "profile"),
        m.part("checkpoint", "a checkpoint, and a run that goes on from it",
               [m.train(*saved, results="results_1"), m.train(*saved, "--checkpoint.resume", results="results_2")], checks.resumed(s.device), 75,
               "checkpoint")]


def compare_part(m, name, engine, precisions, model):
    """Rows of `model` at the stage's batch, a minute each on a GPU."""
    torch, absent = m.torch_of_python
    s = m.scale
    rows = ["--models", model, "--engines", engine, "--precisions", precisions, "--batches", s.batch, "--pairs", "6", "--device", s.device]
    run = ["--iterations", "100", "--warmup", "50"] if s.on_gpu else ["--iterations", "3", "--warmup", "1", "--threads", "1"]
    command = ["python3", ROOT / "tools/compare_pytorch.py", "--paceline", m.place.paceline, "--python", m.place.python, *rows, *run, "--report-only",
               "--out", "compare.md"]
    what = f"beside Python, torch {torch or '–'}: {model} {engine} {precisions} b{s.batch}, 6 pairs"
    return m.part(name, what, [Step(command)], checks.compared, 60 * count_of(precisions), "python", absent=absent)


def cuda_tool_part(m, name, given, make):
    """A part that puts a tool of the toolkit in front of a program; the dry form needs one that is named."""
    program = program_of_cuda(name, given) if m.scale.on_gpu or given else None
    if program:
        return make(program)
    return dataclasses.replace(make(name), absent=f"there is no {name} here; name it with --{name}" if m.scale.on_gpu else "needs a GPU")


def sanitizer_part(m, program):
    test, only = ("gpu_cuda", [f"--gtest_filter={SANITIZED}"]) if m.scale.on_gpu else ("plugin_cuda_parts", [])
    command = [*m.place.launcher, program, "--tool", "memcheck", "--error-exitcode", "99", m.place.test_file(test), *only]
    return m.part("sanitizer", f"compute-sanitizer's memcheck on {test}", [Step(command)], checks.sanitized, 10, "tool",
                  absent=m.place.absent_test(test))


def ncu_part(m, program):
    """The timed process alone: the check of outputs, in a process beside it, has thousands of kernels."""
    measured = [m.place.paceline, "infer", "--model", m.scale.cnn, "--batch", "1", *m.graphs("true"), "--device", m.scale.device, "--iterations", "3",
                "--warmup", "2", "--accuracy", "off", *QUIET, "--no-measure-peak", "--idle-wait-s", "0", "--in-process", "--output-dir", "results"]
    command = [program, "--clock-control", "none", "--graph-profiling", "graph", "--target-processes", "application-only", "--launch-count", "1500", "--metrics",
               "gpu__time_duration.sum", "--csv", "--log-file", "ncu.csv", *measured]
    return m.part("ncu", f"ncu on one graph of {m.scale.cnn}", [Step(command, WORKS)], checks.kernels, 45, "tool")


def ways_of_timing(m):
    """One at a time and back to back; back to back with copies in between and beside."""
    s = m.scale
    large = ("--model", s.cnn, "--batch", s.batch)
    engines, overlaps = "eager,torchscript", ("false", "true") if s.on_gpu else ("false",)
    copies = "in between and beside" if s.on_gpu else "(the CPU has none)"
    return [
        m.part("timing", f"{s.cnn} b{s.batch}, one at a time and back to back: {s.half}",
               [m.infer("--engine", engines, *large, "--precision", s.half, "--timing", "sync,pipelined")],
               checks.timed_both_ways(2 * count_of(engines, s.half), s.device), 75, "cases"),
        m.part("overlap", f"{s.cnn} b{s.batch} back to back, copies {copies}",
               [m.infer("--engine", "torchscript", *large, *m.io("pinned"), "--timing", "pipelined", "--overlap", choice, results=f"results_{choice}")
                for choice in overlaps], m.all_ok(len(overlaps)), 20, "cases")]


def tools(m):
    s = m.scale
    loop = ("--model", s.cnn, "--batch", "1", "--scenario", "closed_loop")
    more = [compare_part(m, "compare_torchscript", "torchscript", "fp32", s.cnn),
            compare_part(m, "compare_transformer", "eager", s.transformers, s.transformer)] if s.on_gpu else []
    return [
        compare_part(m, "compare", "eager", s.compared, s.cnn),
        cuda_tool_part(m, "compute-sanitizer", m.options.compute_sanitizer, lambda program: sanitizer_part(m, program)),
        cuda_tool_part(m, "ncu", m.options.ncu, lambda program: ncu_part(m, program)),
        m.part("closed_loop", "1, 2 and 4 requests in flight" + (", pinned copies" if s.on_gpu else ""),
               [m.infer(*loop, "--concurrency", "1,2,4", *m.io("pinned"))], m.all_ok(3), 30, "cases"),
        m.part("instances", "one and two processes on one device", [m.infer(*loop, "--instances", "1,2", device="cuda:0" if s.on_gpu else "cpu")],
               m.all_ok(2), 22, "cases"),
        *ways_of_timing(m),
        *more]


def tensorrt_plan(m, precision, env):
    """A plan that is built, run, and compared with fp32. int8 without data to calibrate with takes random inputs."""
    model, shapes = m.scale.cnn, ["--shapes", "input:8x3x224x224", "--batch", "8", "--precision", precision]
    exported = Step([m.place.paceline, "export", "--model", model, "--format", "torchscript", "--batch", "8", "--out", "scratch/m.pt"])
    built = Step([m.place.paceline, "build", "--model", model, "--engine", "tensorrt", *shapes, "--out", "scratch/m.plan", "--log", "m.plan.log"],
                 env=env)
    ran = m.infer("--engine", "tensorrt", "--model", "scratch/m.plan", *shapes, "--accuracy.reference", "scratch/m.pt")
    return m.part(f"plan_{precision}", f"{model} b8 in {precision}: build, run, outputs against fp32",
                  [exported, built, dataclasses.replace(ran, env=env)], m.all_ok(1), 90, "tensorrt", may_skip=True)


def tensorrt_doubles(m):
    """The tests of the plug-in on doubles of TensorRT's libraries and of the driver."""
    command, env = m.place.cli_test("test_tensorrt.py", "Absent")
    programs = [test_program(m, f"plugin_tensorrt_double_{version}", f"plans on a double of TensorRT {version} and the driver", 30)
                for version in (10, 11)]
    return [*programs, m.part("absent", "what is said without TensorRT", [Step(command, env=env)], checks.python_tests, 30, "tensorrt")]


def tensorrt(m):
    if not m.scale.on_gpu:
        return tensorrt_doubles(m)
    root = tensorrt_root()
    absent = "" if root else NO_TENSORRT
    env = {"TENSORRT_ROOT": root or ""}
    command, words = m.place.cli_test("test_tensorrt.py", "Options", "Refusals", "Plans")
    cli = m.part("cli", "options, refusals and plans as a user meets them", [Step(command, env={**words, **env})], checks.python_tests, 90,
                 "tensorrt")
    return [dataclasses.replace(part, absent=absent) for part in (*(tensorrt_plan(m, p, env) for p in ("fp32", "fp16", "int8")), cli)]


QUICK_CHECKS = ("driver", "validate", "gpu_cuda", "gpu_cuda_training", "plugin_cuda", "plugin_cuda_parts", "cli", "lost_rank", "checkpoint", "profile",
                "package_fp32", "package_fp16", "sanitizer", "ncu")
QUICK_TIMES = ("timing", "overlap", "one_rank", "channels_last")


def quick(m):
    """Selects what takes ten minutes on 16 CPUs and one GPU: what shows right or wrong side by side, then what is timed, alone."""
    parts = {}
    for stage in (tests, training, inference, tools):
        for part in stage(m):
            parts.setdefault(part.name, part)
    packages = [package_part(m, precision) for precision in m.scale.compiled.split(",")]
    parts.update({part.name: part for part in packages})
    return [dataclasses.replace(parts[name], timed=name in QUICK_TIMES) for name in (*QUICK_CHECKS, *QUICK_TIMES) if name in parts]


STAGES = {"tests": tests, "inference": inference, "training": training, "tools": tools, "tensorrt": tensorrt, "quick": quick}
