# SPDX-License-Identifier: MIT
"""Attaches to a training process once it has made its first optimizer step. Until then it only listens, so that processes which train nothing
(launchers, DataLoader workers, compile workers) are left alone. Nothing here raises, and nothing imports torch."""
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
_FOLDER = os.path.abspath(os.environ.get("PACELINE_ATTACH", ""))

# How launchers say rank, world, rank on this host and the job's id, in the order in which they are asked; the last name must be set, too.
_LAUNCHERS = (
    ("torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RUN_ID"),
    ("environment", "RANK", "WORLD_SIZE", "LOCAL_RANK", "SLURM_JOB_ID", "WORLD_SIZE"),
    ("mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_MCA_ess_base_jobid", "OMPI_COMM_WORLD_SIZE"),
    ("mpich", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "PMI_JOBID", "PMI_SIZE"),
    ("srun", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_JOB_ID", "SLURM_STEP_ID"),
)


class _State:
    """What is known of this process."""

    def __init__(self):
        self.library = None  # once it is loaded
        self.recording = False
        self.said = False
        self.waits = False  # for torch
        self.name = ""  # of the step file, without its ending
        self.backend = ""  # of torch.distributed at the first step
        self.trace = None  # PyTorch's profiler, while it runs; False: it could not, or was ended
        self.no_guard = None  # ends what _give_way began
        self.inherited = None  # a parent's process group, in a forked child


_state = _State()


def _number(name):
    try:
        return int(os.environ[name])
    except (KeyError, ValueError):
        return None


def _speaks():
    try:
        return _place()["local_rank"] == 0
    except Exception:  # what is to be said may be of the same cause
        return True


def _say(text):
    """At most one line per process, of one process per host where ranks are known."""
    if _state.said or not _speaks():
        return
    _state.said = True
    line = "paceline attach: " + " ".join(str(text).split()) + "\n"
    try:
        os.write(2, line.encode("utf-8", "replace"))
    except OSError:
        pass


class _TorchFinder:
    """Finds torch as the other finders do, and learns when it has been executed. Asking where torch is does not use it up."""

    def __init__(self):
        self._asking = False

    def find_spec(self, name, path=None, target=None):
        if name != "torch" or self._asking:
            return None
        self._asking = True
        try:
            import importlib.util

            spec = importlib.util.find_spec(name)
        finally:
            self._asking = False
        if spec is not None and spec.loader is not None:
            self._watch(spec.loader)
        return spec

    def _watch(self, loader):
        execute = loader.exec_module

        def and_tell(module):
            loader.__dict__.pop("exec_module", None)  # a loader that was found twice has two of these
            execute(module)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
                _guarded(_torch_is_there)

        try:
            loader.exec_module = and_tell
        except AttributeError:
            _say("not attached: torch is loaded by a %s, which cannot be watched" % type(loader).__name__)


def _guarded(function, *arguments):
    """Calls it; a failure is said and changes nothing else."""
    try:
        return function(*arguments)
    except Exception as problem:
        _say("not attached: %s: %s" % (type(problem).__name__, problem))
        return None


def wait_for_torch():
    if _state.waits:
        return
    _state.waits = True
    _guarded(_own_the_rank)
    if "torch" in sys.modules:
        _guarded(_torch_is_there)
    else:
        sys.meta_path.insert(0, _TorchFinder())


def _torch_is_there():
    global _is_compiling
    import atexit

    from torch.compiler import is_compiling as _is_compiling

    from torch.optim.optimizer import register_optimizer_step_post_hook

    register_optimizer_step_post_hook(_after_step)
    os.register_at_fork(after_in_child=_forked)
    atexit.register(_at_exit)


def _after_step(optimizer, args, kwargs):
    # An optimizer whose step is compiled whole would not be, with a call in it that the compiler does not know.
    if not _is_compiling():
        following = _step(optimizer)
        if following == _TRACED or (_state.trace is not None and following != _SAME):
            _guarded(_trace, following == _TRACED)


_TRACED, _SAME = 2, 3  # answers of the library: the next step is to be traced; this one goes on with another optimizer


def _trace(goes_on):
    """Lets PyTorch's profiler record the next step, or ends it. One that fails is not asked again in this trace."""
    try:
        if _state.trace is None:
            _state.trace = False
            _state.trace = _started_profiler()
        elif _state.trace and goes_on:
            _state.trace.step()
        elif _state.trace:
            _write_trace(_state.trace)
    except Exception as problem:
        _state.said = False
        _say("no trace: %s" % problem)
    if not goes_on:
        _state.trace = None


def _started_profiler():
    torch = sys.modules["torch"]
    from torch.autograd import profiler as autograd_profiler
    from torch.profiler import ProfilerAction, ProfilerActivity, profile

    counted = getattr(getattr(autograd_profiler, "KinetoStepTracker", None), "_step_dict", {})  # of profilers that exist, running or not
    if torch.autograd._profiler_enabled() or "ProfilerStep" in counted:
        raise RuntimeError(_OWN_PROFILER)
    prepare = autograd_profiler.profile._prepare_trace  # a release without it has no trace
    kinds = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if torch.cuda.is_initialized() else [])
    profiler = profile(activities=kinds, schedule=lambda _: ProfilerAction.RECORD, record_shapes=True)  # only a schedule marks steps
    profiler.start()
    _give_way(autograd_profiler.profile, prepare)
    return profiler


_OWN_PROFILER = "the job runs PyTorch's profiler itself"


def _give_way(kind, prepare):
    """Ends our profiler before one of the job starts: two at once end in errors of the job. In force until ours ends."""

    def after_ours(self):
        _state.no_guard()
        _guarded(_end_early)
        return prepare(self)

    def no_guard():
        kind._prepare_trace = prepare

    _state.no_guard, kind._prepare_trace = no_guard, after_ours


def _end_early():
    trace, _state.trace = _state.trace, False
    if trace:
        trace.stop()
        _state.said = False
        _say("no trace: " + _OWN_PROFILER)


def _write_trace(profiler):
    _state.no_guard()
    profiler.stop()
    folder = os.path.join(_FOLDER, "trace-%d" % _state.library.paceline_attach_trace_number())
    os.makedirs(folder, exist_ok=True)
    profiler.export_chrome_trace(os.path.join(folder, _state.name + ".json"))


def _first_step(optimizer):
    global _step
    _step = _no_step
    if _guarded(_begin):
        _step = _state.library.paceline_attach_step
        _step(optimizer)


def _no_step(optimizer):
    pass


_step = _first_step
_is_compiling = None  # torch's own function, which its compiler knows


def _forked():
    """The child of a process that is recorded is another process: it has its own first step, or none."""
    global _step
    _state.inherited = _guarded(_group) or _state.inherited
    if _step is not _first_step:
        _state.recording = False
        if _state.trace:
            _state.no_guard()  # the profiler is its parent's
        _state.trace = None
        _step = _first_step


def _at_exit():
    global _step
    _step = _no_step
    if not _state.recording:
        place = _guarded(_place)
        # No step of an optimizer in a rank among several: an empty file says so, since a report of nothing would look like health.
        if place and place["world"] > 1 and _is_the_rank(place) and not _is_agent() and not os.path.exists(_name(place["rank"])):
            _guarded(_begin)
    if _state.trace is not None:
        _guarded(_trace, False)
    if _state.recording:
        _state.recording = False
        _guarded(_pause_for_gloo)
        _guarded(_state.library.paceline_attach_end, _guarded(_exception))


def _is_agent():
    """torchrun's agent trains nothing, and is a rank for the launcher that started it. Its ranks may import it, too."""
    return "torch.distributed.elastic.agent.server.api" in sys.modules and "TORCHELASTIC_RUN_ID" not in os.environ and _group() is None


def _pause_for_gloo():
    """Gives a thread of gloo time to end its last collective, which our file is to have, and to free the tensors, which takes the GIL: behind
    Python's end that aborts the process (pytorch/pytorch#190489). A group without a named backend may use gloo."""
    if _state.backend not in ("", "nccl"):
        import time

        time.sleep(0.02)


def _exception():
    """Type of the exception that nobody caught, which Python keeps for debuggers; empty if there is none. Within a call it was one that somebody
    printed, and an interactive Python goes on behind it."""
    ending = sys.exc_info()[1]  # in a child of multiprocessing, which may have made an exit code of it
    if isinstance(ending, SystemExit) and ending.code not in (None, 0):
        ending = ending.__context__
    if ending is not None and not isinstance(ending, SystemExit):
        return type(ending).__name__.encode("ascii", "replace")
    outermost = getattr(getattr(sys, "last_traceback", None), "tb_frame", None)
    if outermost is None or outermost.f_back is not None or hasattr(sys, "ps1"):
        return b""
    return getattr(getattr(sys, "last_type", None), "__name__", "").encode("ascii", "replace")


def _group():
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    return distributed.group.WORLD


def _from_group():
    """Place within torch.distributed, if the job uses it."""
    group = _group()
    if group is None or group is _state.inherited:
        return None
    distributed = sys.modules["torch.distributed"]
    return {"rank": distributed.get_rank(), "world": distributed.get_world_size(), "backend": str(distributed.get_backend())}


def _launched():
    """Place that a launcher says."""
    place = {"rank": 0, "world": 1, "local_rank": 0, "rank_known": 0, "launcher": "", "job": "", "backend": ""}
    for launcher, rank, world, local, job, needed in _LAUNCHERS:
        if needed in os.environ and _number(rank) is not None and _number(world) is not None:
            place.update(rank=_number(rank), world=_number(world), local_rank=_number(local) or 0, rank_known=1,
                         launcher=launcher, job=os.environ.get(job, ""))
            break
    return place


def _rank_of_launcher():
    """The rank as the launcher says it; empty without one."""
    place = _launched()
    return "%s:%d/%d:%s" % (place["launcher"], place["rank"], place["world"], place["job"]) if place["rank_known"] else ""


def _own_the_rank():
    """Children inherit what the launcher says, and that this process was the first to see it."""
    rank = _rank_of_launcher()
    if rank and os.environ.get("PACELINE_ATTACH_OWNER", "").rpartition(":")[0] != rank:
        os.environ["PACELINE_ATTACH_OWNER"] = "%s:%d" % (rank, os.getpid())


def _is_the_rank(place):
    return bool(place["backend"]) or os.environ.get("PACELINE_ATTACH_OWNER") == "%s:%d" % (_rank_of_launcher(), os.getpid())


def _place():
    place = _launched()
    group = _from_group()
    if group:
        place.update(group, rank_known=1)
        if not place["launcher"]:
            place.update(launcher="torch.distributed", local_rank=group["rank"])
    return place


def _device(torch):
    """The CUDA device that the process uses, if it has begun to; asking begins nothing."""
    cuda = getattr(torch, "cuda", None)
    if cuda is None or not cuda.is_initialized():
        return ""
    number = cuda.current_device()
    return "cuda:%d %s" % (number, cuda.get_device_name(number))


def _library(torch):
    """Loads the library for this very release; another one's could be loaded, and would read what is not there."""
    import ctypes

    release = torch.__version__.split("+")[0]
    path = os.path.join(_HERE, "libpaceline_attach_%s.so" % release)
    if not os.path.exists(path):
        prefix, suffix = "libpaceline_attach_", ".so"
        known = sorted(name[len(prefix):-len(suffix)] for name in os.listdir(_HERE) if name.startswith(prefix) and name.endswith(suffix))
        _say("not attached: this PyTorch is %s, and there are libraries for %s" % (torch.__version__, ", ".join(known) or "none"))
        return None
    library = ctypes.PyDLL(path)
    library.paceline_attach_begin.restype = ctypes.c_char_p
    library.paceline_attach_step.argtypes = [ctypes.py_object]
    library.paceline_attach_step.restype = ctypes.c_int
    library.paceline_attach_trace_number.restype = ctypes.c_uint64
    library.paceline_attach_end.argtypes = [ctypes.c_char_p]
    library.paceline_attach_end.restype = None
    return library


def _facts(torch, place):
    import ctypes

    numbers = ("rank", "world", "local_rank", "restart", "rank_known", "block_steps", "blocks_per_off")
    texts = ("torch", "backend", "launcher", "job", "device", "command")

    class Facts(ctypes.Structure):
        _fields_ = [(name, ctypes.c_int64) for name in numbers] + [(name, ctypes.c_char_p) for name in texts]

    block_steps, _, blocks_per_off = os.environ.get("PACELINE_ATTACH_BLOCKS", "20/10").partition("/")
    values = dict(place, restart=_number("TORCHELASTIC_RESTART_COUNT") or 0, torch=torch.__version__, device=_device(torch),
                  command=" ".join(sys.orig_argv if hasattr(sys, "orig_argv") else sys.argv),
                  block_steps=int(block_steps), blocks_per_off=int(blocks_per_off or 0))
    return Facts(*[values[name] for name in numbers], *[values[name].encode("utf-8", "replace") for name in texts])


def _name(rank, start=1):
    return os.path.join(_FOLDER, "rank%d.steps" % rank if start == 1 else "rank%d.%d.steps" % (rank, start))


def _rank_goes_on(rank):
    """Whether a process still writes the newest file of this rank."""
    import struct

    start = _next_start(rank) - 1
    if start == 0:
        return False
    with open(_name(rank, start), "rb") as file:
        numbers = struct.unpack_from("<9q", file.read(152), 80)
    process, closed_ns = numbers[3], numbers[7]
    return closed_ns == 0 and process != os.getpid() and os.path.exists("/proc/%d" % process)


def _next_start(rank):
    """Number of a file that no earlier start of this rank has taken."""
    start = 1
    while os.path.exists(_name(rank, start)):
        start += 1
    return start


def _file(rank):
    os.makedirs(_FOLDER, exist_ok=True)
    return _name(rank, _next_start(rank))


def _end_with_multiprocessing():
    """Forked children of it leave Python without the functions of atexit, and the exception that ended a child is known here alone."""
    multiprocessing = sys.modules.get("multiprocessing.process")
    if multiprocessing is not None and multiprocessing.parent_process() is not None:
        from multiprocessing.util import Finalize

        Finalize(None, _at_exit, exitpriority=100)


def _begin():
    """Makes the step file. True if recording has begun."""
    import ctypes

    torch = sys.modules["torch"]
    _state.library = _state.library or _library(torch)
    if _state.library is None:
        return False
    place = _place()
    path = _file(place["rank"])
    if not _is_the_rank(place) and _guarded(_rank_goes_on, place["rank"]):
        place["rank_known"] = 0  # a process that the rank started, and no start of the rank
    _state.name, _state.backend = os.path.basename(path)[: -len(".steps")], place["backend"]
    why = _state.library.paceline_attach_begin(path.encode(sys.getfilesystemencoding(), "surrogateescape"), ctypes.byref(_facts(torch, place)))
    if why:
        _say("not attached: " + why.decode("utf-8", "replace"))
        return False
    _state.recording = True
    _end_with_multiprocessing()
    if place["rank"] == 0 and not os.environ.get("PACELINE_ATTACH_QUIET"):
        ranks = "rank 0 of %d" % place["world"] if place["rank_known"] else "one process"
        _say("attached to %s (PyTorch %s%s); steps go to %s" % (ranks, torch.__version__, ", " + place["backend"] if place["backend"] else "", _FOLDER))
    return True
