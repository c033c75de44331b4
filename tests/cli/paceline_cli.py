# SPDX-License-Identifier: MIT
"""Runs the paceline binary as a user meets it. PACELINE_BIN: the binary; PACELINE_SPIN: the test plug-in."""

import csv
import io
import hashlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BINARY = os.environ.get("PACELINE_BIN", "")
SPIN = os.environ.get("PACELINE_SPIN", "")
TIMEOUT_S = 120
# Signs of an NVIDIA GPU, as src/host/machine/accelerators.cc sees one. Tests are on the CPU: every GPU is hidden, unless a class wants them.
GPU_SIGNS = ("/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg", "/dev/nvhost-gpu")
GPU = any(Path(sign).exists() for sign in GPU_SIGNS)

# Every test is quick and says nothing about speed: no wait for a quiet machine, no peak, a short fixed loop.
QUICK = ["--idle-wait-s", "0", "--no-measure-peak", "--allow-noisy", "--warmup", "1"]
# Words that no user may ever see.
FORBIDDEN = ("terminate called", "what():", "Traceback", "internal error", "Segmentation fault", "AddressSanitizer")

# A /dev of its own with a sign of a GPU, for one command.
SHOWS_A_GPU = """set -e
dev=$(mktemp -d); mount -t tmpfs none "$dev"
for name in null zero full random urandom; do : > "$dev/$name"; mount --bind "/dev/$name" "$dev/$name"; done
mkdir "$dev/shm"; mount --bind /dev/shm "$dev/shm"; ln -s /proc/self/fd "$dev/fd"; : > "$dev/nvidia0"
mount --rbind "$dev" /dev
exec {binary} "$@"
"""


class Finished:
    """Exit code and text of a command that has ended."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def on_one_line(self):
        """Standard output as sentences, however they were wrapped."""
        return " ".join(self.out.split())

    def __str__(self):
        return f"exit {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


class CliTest(unittest.TestCase):
    """A folder of its own, a home of its own, and words for what every test asks."""

    shows_gpus = False

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="paceline-cli-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.env = {**os.environ, "HOME": str(self.folder / "home"), "XDG_CACHE_HOME": str(self.folder / "cache")}
        for name in [n for n in self.env if n.startswith("SPIN_")]:
            del self.env[name]
        self.env["PACELINE_POWERCAP"] = str(self.folder / "powercap")  # not this machine's energy counters
        if GPU and not self.shows_gpus:
            self.env["CUDA_VISIBLE_DEVICES"] = ""
        self.write("x.spin", "")

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def start(self, *arguments, env=None, cwd=None, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options):
        """A process group of its own, so that nothing outlives the test and leftovers can be counted."""
        process = subprocess.Popen([BINARY, *map(str, arguments)], env={**self.env, **(env or {})}, cwd=cwd or self.folder,
                                   stdin=stdin, stdout=stdout, stderr=stderr, start_new_session=True, **options)
        self.addCleanup(end_group, process)
        return process

    def finish(self, process, timeout=TIMEOUT_S):
        out, err = process.communicate(timeout=timeout)
        text = [(t or b"").decode("utf-8", "replace") for t in (out, err)]
        for word in FORBIDDEN:
            self.assertNotIn(word, text[0] + text[1])
        return Finished(process.returncode, *text)

    def run_cli(self, *arguments, timeout=TIMEOUT_S, **options):
        return self.finish(self.start(*arguments, **options), timeout)

    def on_a_shown_gpu(self, *arguments, codes=(0,), nvml=False):
        """The output on a /dev that shows an NVIDIA GPU; `nvml`: NVIDIA's management library is there as well, as a double."""
        command = ["unshare", "-rm", "sh", "-c", SHOWS_A_GPU.format(binary=BINARY), "sh"]
        if subprocess.run([*command, "--version"], capture_output=True, check=False).returncode:
            self.skipTest("no mount namespace here")
        env = dict(self.env)
        if nvml and "PACELINE_FAKE_NVML" not in os.environ:
            self.skipTest("the double of NVML is not here")
        if nvml:
            env["LD_LIBRARY_PATH"] = f"{Path(os.environ['PACELINE_FAKE_NVML']).parent}:{env.get('LD_LIBRARY_PATH', '')}"
        done = subprocess.run([*command, *map(str, arguments)], cwd=self.folder, env=env, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
        self.assertIn(done.returncode, codes, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def infer(self, *arguments, engine="spin", model="x.spin", iterations=20, shapes="input:{batch}x4", **options):
        return self.run_cli("infer", "--plugin", SPIN, "--engine", engine, "--model", model, *(["--shapes", shapes] if shapes else []),
                            *(["--iterations", iterations] if iterations else []), *QUICK, *arguments, **options)

    def spin_plan(self, *lines, name="plan.yaml", iterations=20, engines="[spin]"):
        """A plan on the spin engine; `lines` are added at its top level."""
        return self.write(name, "\n".join([
            "kind: inference", "models: [x.spin]", f"engines: {engines}", f"plugin: [{json.dumps(SPIN)}]", 'shapes: "input:{batch}x4"',
            f"iterations: {iterations}", "warmup_iterations: 1", "idle_wait_s: 0", "measure_peak: false", "allow_noisy: true", *lines]) + "\n")

    def only_run(self, below="results"):
        """The one run directory below a folder."""
        found = sorted(p.parent for p in (self.folder / below).glob("*/*/plan.yaml"))
        self.assertEqual(len(found), 1, found)
        return found[0]

    def summary(self, run=None):
        return read_json((run or self.only_run()) / "run_summary.json")

    def assert_code(self, result, code):
        self.assertEqual(result.code, code, str(result))

    def assert_error(self, result, code, *words, lines=1):
        """Exactly `lines` messages, each with a first word that says who speaks; every word of `words` is in them."""
        self.assert_code(result, code)
        said = [line for line in result.err.splitlines() if line.startswith("paceline: ")]
        self.assertEqual(len(said), lines, str(result))
        for word in words:
            self.assertIn(word, "\n".join(said))
        self.assertEqual(result.out, "", str(result))

    def assert_nothing_ran(self, below="results"):
        self.assertFalse((self.folder / below).exists(), "a run directory was made")

    def assert_group_empty(self, process, within_s=10):
        """No process of the session is left (workers have groups of their own in it)."""
        deadline = time.monotonic() + within_s
        while (left := session_members(process.pid)) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(left, [])

    def assert_samples_once(self, run, case, repetitions, iterations):
        """samples.csv of a case holds each (repetition, index) exactly once."""
        rows = read_csv(case_dir(run, case) / "samples.csv")
        have = [(int(r["repetition"]), int(r["index"])) for r in rows]
        self.assertEqual(sorted(have), [(r, i) for r in range(repetitions) for i in range(iterations)])


def at_once(check, each):
    """check(*one) of each side by side, for commands that mostly wait; raises what the first failing one raised."""
    with ThreadPoolExecutor(len(each)) as pool:
        for done in [pool.submit(check, *one) for one in each]:
            done.result()


def case_dir(run, case):
    """Folder of a case's files; those of a single case lie beside the summary."""
    folder = run / "cases" / case
    return folder if folder.is_dir() else run


def end_group(process):
    for pid in [process.pid, *session_members(process.pid)]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.wait()
    for stream in (process.stdout, process.stderr):
        if stream:
            stream.close()


def session_members(session):
    """Living processes (no zombies) of a session, from /proc."""
    members = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue  # it ended while we looked
        if int(fields[3]) == session and fields[0] not in "ZX":
            members.append(int(entry.name))
    return members


def parent_of(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])


def children_of(pid, session):
    found = []
    for one in session_members(session):
        try:
            if parent_of(one) == pid:
                found.append(one)
        except OSError:
            pass  # it ended while we looked
    return found


def instances_of(process):
    """Processes that the workers of a run have started."""
    workers = children_of(process.pid, process.pid)
    return [one for worker in workers for one in children_of(worker, process.pid)]


def wait_until(condition, timeout=60):
    """Whether the condition came true; polls fast."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.01)
    return False


def refuse_constant(name):
    raise ValueError(f"{name} in JSON")


def seal_record(record):
    """Seals a pass record of a test's own making as paceline does."""
    lines = record.read_bytes().splitlines(keepends=True)
    seal = json.loads(lines[-1])
    seal["sha256"] = hashlib.sha256(b"".join(lines[:-1])).hexdigest()
    record.write_bytes(b"".join(lines[:-1]) + json.dumps(seal).encode() + b"\n")


def read_json(path):
    """Strict: NaN and infinity are no JSON."""
    return json.loads(Path(path).read_text(encoding="utf-8"), parse_constant=refuse_constant)


def read_csv(path):
    return list(csv.DictReader(io.StringIO(Path(path).read_text(encoding="utf-8"))))


def case_of(summary, **wanted):
    """The case whose benchmark (or params) has these values."""
    for case in summary["cases"]:
        have = {**case["benchmark"], **case["benchmark"]["params"]}
        if all(str(have.get(key)) == str(value) for key, value in wanted.items()):
            return case
    raise AssertionError(f"no case with {wanted}")


def main():
    if not BINARY:
        raise SystemExit("set PACELINE_BIN (and PACELINE_SPIN, but for a bundle's tests)")
    unittest.main(verbosity=1)
