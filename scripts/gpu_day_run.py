# SPDX-License-Identifier: MIT
"""A part of a stage: what it runs, and how it went. A part has a separate folder with log.txt and the results; nothing it starts outlives it."""
import dataclasses
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

NOT_HERE = 77  # "nothing of what was asked can run here"
OK, FAILED, LEFT_OUT, SKIPPED = "ok", "failed", "left out", "skipped"


class Problem(Exception):
    """Why a part has failed, in one line."""


class Missing(Exception):
    """Why a part cannot run here, in one line."""


@dataclasses.dataclass(frozen=True)
class Step:
    command: list
    codes: tuple = (0,)
    env: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Part:
    """judge(folder) looks at the results and returns a few words, or raises Problem or Missing."""
    name: str
    what: str
    steps: list
    judge: Callable[[pathlib.Path], str]
    needs_s: int           # is not begun with less time left
    limit_s: int           # it is stopped after this time
    look: str              # likely causes of a failure
    absent: str = ""       # why it cannot run here
    may_skip: bool = False  # exit code 77 is no failure
    timed: bool = True     # has the machine for itself; others run side by side before it


@dataclasses.dataclass
class Row:
    part: Part
    result: str
    words: str
    seconds: float = 0.0


def members_of(session):
    """Living processes of a session, from /proc."""
    members = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue  # it ended while we looked
        if int(fields[3]) == session and fields[0] not in "ZX":
            members.append(int(entry.name))
    return members


def send(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def end(process, patience_s=8):
    """Asks once (paceline then keeps what it has finished), then ends everything that the process has started."""
    if process.poll() is None:
        send([process.pid], signal.SIGINT)
        try:
            process.wait(patience_s)
        except subprocess.TimeoutExpired:
            pass
    send(members_of(process.pid), signal.SIGKILL)
    process.wait()


class Running:
    """The processes of the parts that run now. After stop() no more are started."""

    def __init__(self):
        self.lock, self.processes, self.over = threading.Lock(), set(), False

    @contextlib.contextmanager
    def start(self, command, **how):
        with self.lock:
            if self.over:
                raise OSError("stopped before it was started")
            process = subprocess.Popen(command, **how)
            self.processes.add(process)
        try:
            yield process
        finally:  # also when we are interrupted ourselves
            end(process)
            with self.lock:
                self.processes.discard(process)

    def stop(self):
        with self.lock:
            self.over = True
            send([process.pid for process in self.processes], signal.SIGINT)


RUNNING = Running()


def run_step(step, folder, deadline, cpus=()):
    """Exit code, or None when it was stopped at the deadline."""
    pinned = ["taskset", "-c", ",".join(map(str, cpus))] if cpus else []
    with open(folder / "log.txt", "ab") as log:
        log.write(f"$ {' '.join(map(str, step.command))}\n".encode())
        log.flush()
        with RUNNING.start([*pinned, *(str(word) for word in step.command)], env={**os.environ, **step.env}, cwd=folder, stdin=subprocess.DEVNULL,
                           stdout=log, stderr=subprocess.STDOUT, start_new_session=True) as process:
            try:
                return process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                return None


def last_message(folder):
    lines = [line.strip() for line in (folder / "log.txt").read_text(errors="replace").splitlines() if line.strip()]
    said = [line for line in lines if line.startswith(("paceline: ", "skipped: "))] or lines
    return said[-1][:200] if said else "no words"


def check_code(part, step, code, folder):
    if code in step.codes:
        return
    if code == NOT_HERE and part.may_skip:
        raise Missing(last_message(folder))
    raise Problem(f"exit code {code}: {why(part, folder)}")


def why(part, folder):
    """The tool's own message; else what is wrong with the results; else the end of the log."""
    said = last_message(folder)
    if said.startswith("paceline: "):
        return said
    try:
        part.judge(folder)
    except Problem as problem:
        return str(problem)
    except Exception:  # results that stop anywhere
        pass
    return said


def run_steps(part, folder, deadline, cpus):
    """False: stopped at the deadline."""
    for step in part.steps:
        try:
            code = run_step(step, folder, deadline, cpus)
        except OSError as problem:
            raise Problem(str(problem)) from problem
        if code is None:
            return False
        check_code(part, step, code, folder)
    return True


def stopped(part, given_s):
    if given_s < part.limit_s:
        return LEFT_OUT, f"stopped after {given_s:.0f} s: the stage's time was over; run it alone with --only {part.name}"
    return FAILED, f"did not end within its {part.limit_s} s"


def outcome(part, folder, given_s, cpus):
    try:
        if not run_steps(part, folder, time.monotonic() + given_s, cpus):
            return stopped(part, given_s)
        return OK, part.judge(folder)
    except Problem as problem:
        return FAILED, str(problem)
    except Missing as reason:
        return SKIPPED, str(reason)
    except (KeyError, ValueError, TypeError, IndexError, OSError) as problem:  # the other parts stay possible
        return FAILED, f"its results cannot be read: {problem!r}"


def run_part(part, folder, left_s, cpus=()):
    """The part's row. folder/scratch contains what is too large to keep; `cpus`: those it runs on, all of them unless given."""
    if part.absent:
        return Row(part, SKIPPED, part.absent)
    if RUNNING.over:
        return Row(part, LEFT_OUT, "stopped before it was started")
    if left_s < part.needs_s:
        return Row(part, LEFT_OUT, f"needs {part.needs_s} s, {max(0, left_s):.0f} s are left; run it alone with --only {part.name}")
    (folder / "scratch").mkdir(parents=True)
    begin = time.monotonic()
    result, words = outcome(part, folder, min(left_s, part.limit_s), cpus)
    shutil.rmtree(folder / "scratch", ignore_errors=True)
    return Row(part, result, words, time.monotonic() - begin)


CPUS_OF_A_PART = 4


def shares_of_cpus():
    """The CPUs of this process in groups, one for each part that may run beside others."""
    cpus = sorted(os.sched_getaffinity(0))
    groups = [cpus[begin:begin + CPUS_OF_A_PART] for begin in range(0, len(cpus), CPUS_OF_A_PART)]
    return [group for group in groups if len(group) == CPUS_OF_A_PART] or [cpus]


def run_side_by_side(parts, run):
    """run(part, cpus) for each, on a group of CPUs that no other part has at that time."""
    free = shares_of_cpus()

    def run_on_a_share(part):
        cpus = free.pop()
        try:
            run(part, cpus)
        finally:
            free.append(cpus)

    with ThreadPoolExecutor(len(free)) as pool:
        begun = [pool.submit(run_on_a_share, part) for part in parts]
        try:
            for one in begun:
                one.result()
        except BaseException:
            RUNNING.stop()
            raise
