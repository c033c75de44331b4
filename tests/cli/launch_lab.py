# SPDX-License-Identifier: MIT
"""Launchers and hosts for tests: each says by itself why this system does not allow it."""

import contextlib
import functools
import json
import os
import shutil
import socket
import subprocess
import time
import unittest
from pathlib import Path

from paceline_cli import BINARY, SPIN, CliTest, case_of, session_members, wait_until

QUICK_TRAINING = ["--model", "tiny_cnn", "--device", "cpu", "--batch", "8", "--warmup-steps", "1", "--repetitions", "1", "--idle-wait-s", "0", "--allow-noisy",
                  "--threads", "1"]
MPI_ENV = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
LAUNCHER_VARIABLES = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "OMPI_", "PMI_", "PMIX_", "SLURM_",
                      "PET_", "TORCHELASTIC_", "JOB_COMPLETION_INDEX", "GLOO_SOCKET_IFNAME")


def free_port():
    with contextlib.closing(socket.socket()) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def skip(reason):
    print(f"skipped: {reason}", flush=True)
    raise unittest.SkipTest(reason)


def listeners(pids):
    """Lists where these processes listen, as "127.0.0.1:29500" or "[::]:29500"."""
    mine = set()
    for pid in pids:
        for entry in Path(f"/proc/{pid}/fd").glob("*"):
            with contextlib.suppress(OSError):
                mine.add(os.readlink(entry))
    found = []
    for table, family, form in (("tcp", socket.AF_INET, "{}:{}"), ("tcp6", socket.AF_INET6, "[{}]:{}")):
        for line in Path(f"/proc/net/{table}").read_text(encoding="ascii").splitlines()[1:]:
            fields = line.split()
            address, port = fields[1].split(":")
            words = [int(address[i:i + 8], 16).to_bytes(4, "little") for i in range(0, len(address), 8)]
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in mine:
                found.append(form.format(socket.inet_ntop(family, b"".join(words)), int(port, 16)))
    return found


def need_root():
    if os.geteuid() != 0:
        skip("needs root")


def need_program(*names):
    for name in names:
        found = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
        if not found:
            skip(f"there is no {name} here")
    return found


@functools.cache  # a start is two seconds of CPU time
def torchrun():
    """$PACELINE_TORCHRUN, torchrun of the path, or the one that set-up made; one that starts."""
    made = Path(os.environ.get("PACELINE_DEPS", "")) / "torchrun/torchrun"
    program = os.environ.get("PACELINE_TORCHRUN") or shutil.which("torchrun") or (made.exists() and str(made))
    if not program:
        skip("no torchrun: PACELINE_TORCHRUN is not set, none is in PATH, and scripts/setup.sh --checks made none")
    if program == str(made):  # set-up keeps only one that starts
        return program
    tried = subprocess.run([program, "--help"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        skip(f"{program} does not start: {(tried.stderr or tried.stdout).strip().splitlines()[-1:]}")
    return program


def spec_of(pid):
    """The pass that a worker was handed; empty for other processes, whose descriptor 3 may be any file."""
    try:
        spec = json.loads(Path(f"/proc/{pid}/fd/3").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return spec if isinstance(spec, dict) else {}


def rank_of(pid):
    """The rank a worker trains as; None: it is no such worker."""
    spec = spec_of(pid)
    return spec["rank"] if spec.get("kind") == "train" else None


def times_asleep(pid, name):
    """How often the threads of this name went to sleep."""
    count = 0
    for task in Path(f"/proc/{pid}/task").glob("*"):
        with contextlib.suppress(OSError):
            if (task / "comm").read_text(encoding="utf-8").strip() == name:
                status = (task / "status").read_text(encoding="utf-8")
                count += int(status.partition("\nvoluntary_ctxt_switches:")[2].split()[0])
    return count


class TrainingTest(CliTest):
    """Training by the spin plug-in: real ranks and records, and no LibTorch, whose processes take seconds to start."""

    PLUGIN = ["--plugin", SPIN]

    def setUp(self):
        super().setUp()
        for name in [n for n in self.env if n.startswith(LAUNCHER_VARIABLES)]:
            del self.env[name]
        self.marks = self.folder / "marks"
        self.marks.mkdir()
        self.env["SPIN_MARKS"] = str(self.marks)

    def words(self, steps=20):
        """The command line of a short training, without the program."""
        return ["train", *self.PLUGIN, *QUICK_TRAINING, "--steps", str(steps)]

    def start_training(self, *arguments, steps=20, **options):
        return self.start(*self.words(steps), *arguments, **options)

    def train(self, *arguments, **options):
        return self.finish(self.start_training(*arguments, **options))

    def launch(self, command, *arguments, steps=20, env=None, **options):
        """A launcher's command line in front of a training."""
        return self.launch_words(command, *self.words(steps), *arguments, env=env, **options)

    def launch_words(self, command, *words, env=None, **options):
        """A launcher's command line in front of ours."""
        process = subprocess.Popen([*map(str, command), BINARY, *map(str, words)],
                                   env={**self.env, **(env or {})}, cwd=options.pop("cwd", self.folder), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, **options)
        self.addCleanup(end_processes, process)
        return process

    def finish_launch(self, process, timeout=120):
        out, err = process.communicate(timeout=timeout)
        text = out.decode("utf-8", "replace") + err.decode("utf-8", "replace")
        return process.returncode, text

    def workers(self, process):
        """Process id by rank of the workers in the session of `process`."""
        found = {}
        for pid in session_members(process.pid):
            rank = rank_of(pid)
            if rank is not None:
                found[rank] = pid
        return found

    def trains(self, pid):
        """Whether a rank has made ten steps."""
        return (self.marks / str(pid)).exists()

    def wait_for_steps(self, process, ranks=2):
        def training():
            workers = self.workers(process)
            return len(workers) == ranks and all(self.trains(pid) for pid in workers.values())
        self.assertTrue(wait_until(training), "the ranks do not train")
        return self.workers(process)

    def training_of(self, run=None, **wanted):
        case = case_of(self.summary(run), **wanted)
        self.assertEqual(case["outcome"], "ok", case["reason"])
        self.assertEqual(len(case["training"]), 1)
        return case["training"][0]

    def assert_ranks(self, training, launcher, ranks=2):
        self.assertEqual(training["launcher"], launcher)
        self.assertEqual([r["rank"] for r in training["ranks"]], list(range(ranks)))
        for rank in training["ranks"]:
            self.assertTrue(rank["host"])
            self.assertTrue(rank["cpus"])
            self.assertEqual(rank["threads"], 1)
        self.assertEqual(len({r["process_id"] for r in training["ranks"]}), ranks)

    def failed_case(self, run=None):
        case, = self.summary(run)["cases"]
        self.assertEqual(case["outcome"], "failed")
        return case

    def assert_nothing_left(self, process, within_s=10):
        deadline = time.monotonic() + within_s
        while (left := session_members(process.pid)) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(left, [])


class LaunchedWorlds:
    """Worlds of two under a launcher, unless the plan says otherwise, which is an error. `run_two(*words)`, given by the class that
    launches, starts two processes and returns the exit code and the text of all; LAUNCHER is its name in results, STARTED how messages name it."""

    COMM = ["comm", "-b", "64", "-e", "64", "-n", "5", "--size-time-s", "0", "--idle-wait-s", "0", "--allow-noisy", "--threads", "1"]
    EXIT = 2  # torchrun makes a 1 of every exit code

    def plan_of(self, counts=None):
        """A plan that trains; `counts`: its gpu_counts."""
        return self.write("plan.yaml", "kind: training\ndevice: cpu\nmodels: [tiny_cnn]\nbatch_sizes: [8]\nthreads: 1\nrepetitions: 1\nidle_wait_s: 0\n"
                                       "allow_noisy: true\nbenchmark: {warmup_steps: 1, measure_steps: 3}\n" + (f"gpu_counts: {counts}\n" if counts else ""))

    def worlds(self, *words):
        """Numbers of ranks of all cases that two processes have measured."""
        code, text = self.run_two(*words)
        self.assertEqual(code, 0, text)
        found = []
        for case in self.summary()["cases"]:
            self.assertEqual(case["outcome"], "ok", case["reason"])
            measured, = case["training"] or case["collective"]
            self.assertEqual(len({r["process_id"] for r in measured["ranks"]}), len(measured["ranks"]))
            self.assertEqual(measured["launcher"], self.LAUNCHER)
            found.append(len(measured["ranks"]))
        shutil.rmtree(self.folder / "results")
        return found

    def assert_refused(self, *words, said):
        code, text = self.run_two(*words)
        self.assertEqual(code, self.EXIT, text)
        for word in said:
            self.assertIn(word, text)
        self.assert_nothing_ran()

    def test_a_plan_trains_all_that_were_launched(self):
        for counts, worlds in ((None, [2]), ("[1, 2]", [1, 2])):
            with self.subTest(counts):
                self.assertEqual(self.worlds("train", *self.PLUGIN, "-c", self.plan_of(counts)), worlds)

    def test_a_plan_of_another_world_is_refused(self):
        for counts, most in (("[1]", "1 rank"), ("[1, 2, 3]", "3 ranks")):
            with self.subTest(counts):
                self.assert_refused("train", *self.PLUGIN, "-c", self.plan_of(counts), said=[f"gpu_counts asks for {most}, but {self.STARTED} 2 ranks"])

    def test_g_of_comm_is_per_process(self):
        self.assertEqual(self.worlds(*self.COMM, *self.PLUGIN, "-g", 1), [2])
        self.assert_refused(*self.COMM, *self.PLUGIN, "-g", 4, said=["-g 4 asks for 4 ranks per process, but", f"{self.STARTED} 2 ranks", "8"])


class LibTorchTraining(TrainingTest):
    """Tests with LibTorch: for what its ranks do, store and process group included."""

    PLUGIN = []

    def trains(self, pid):
        """Whether the threads of its process group slept 200 times: they do so about 20 times while ranks meet, then several times a step."""
        return times_asleep(pid, "pt_gloo_runloop") > 200


def end_processes(process):
    for pid in [process.pid, *session_members(process.pid)]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, 9)
    process.wait()
    for stream in (process.stdout, process.stderr):
        stream.close()


class SlurmLab:
    """A Slurm of fake nodes on this machine, as root: no systemd, no cgroups, no accounting, no munge of the system."""

    def __init__(self, folder, nodes=2):
        need_root()
        need_program("slurmctld", "slurmd", "srun", "sbatch", "munged")
        self.folder = Path(folder)
        self.env = {"SLURM_CONF": str(self.folder / "slurm.conf")}
        for name in ("state", "log", "munge", *(f"spool/n{i + 1}" for i in range(nodes))):
            (self.folder / name).mkdir(parents=True)
        self.folder.chmod(0o755)
        (self.folder / "slurm.conf").write_text(self.configuration(nodes), encoding="utf-8")
        try:
            self.begin(nodes)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as e:
            self.end()
            skip(f"Slurm does not start here: {e}, {getattr(e, 'stderr', b'')!r}")

    def configuration(self, nodes):
        d, host = self.folder, socket.gethostname().split(".")[0]
        port = free_port()
        ports = [free_port() for _ in range(nodes)]
        lines = [f"NodeName=n{i + 1} NodeHostname={host} NodeAddr=127.0.0.1 Port={p} CPUs=1 RealMemory=500 State=UNKNOWN" for i, p in enumerate(ports)]
        return f"""ClusterName=paceline
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort={port}
SlurmctldPidFile={d}/slurmctld.pid
SlurmdPidFile={d}/slurmd-%n.pid
SlurmctldLogFile={d}/log/slurmctld.log
SlurmdLogFile={d}/log/slurmd-%n.log
StateSaveLocation={d}/state
SlurmdSpoolDir={d}/spool/%n
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={d}/munge/s
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmdParameters=config_overrides
InactiveLimit=0
KillWait=5
PropagateResourceLimits=NONE
{chr(10).join(lines)}
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""

    def run(self, *command, timeout=60):
        return subprocess.run(command, check=True, capture_output=True, timeout=timeout, env={**os.environ, **self.env}, cwd=self.folder)

    def begin(self, nodes):
        m = self.folder / "munge"
        (m / "key").write_bytes(os.urandom(1024))
        (m / "key").chmod(0o400)
        self.run(need_program("munged"), "--force", f"--key-file={m}/key", f"--socket={m}/s", f"--pid-file={self.folder}/munged.pid",
                 f"--log-file={m}/log", f"--seed-file={m}/seed")
        conf = self.env["SLURM_CONF"]
        self.run(need_program("slurmctld"), "-f", conf)
        for i in range(nodes):
            self.run(need_program("slurmd"), "-f", conf, "-N", f"n{i + 1}")
        ready = wait_until(lambda: self.run("sinfo", "-h", "-o", "%T", "-N").stdout.split() == [b"idle"] * nodes, timeout=30)
        if not ready:
            raise subprocess.TimeoutExpired("sinfo", 30)

    def end(self):
        for file in self.folder.glob("*.pid"):
            with contextlib.suppress(OSError, ValueError):
                os.kill(int(file.read_text(encoding="utf-8")), 15)
        wait_until(lambda: not list(self.folder.glob("*.pid")), timeout=10)  # they remove their own
        shutil.rmtree(self.folder, ignore_errors=True)


class NetworkLab:
    """Hosts as network namespaces, joined by a bridge in one more; nothing is added to the machine's own network."""

    def __init__(self, hosts=2):
        need_root()
        need_program("ip", "unshare")
        self.prefix = f"pl{os.getpid()}"
        self.hosts = hosts
        try:
            self.begin()
        except subprocess.CalledProcessError as e:
            self.end()
            skip(f"no network namespaces here: {e.stderr.decode().strip()}")

    @staticmethod
    def run(*command):
        subprocess.run(command, check=True, capture_output=True)

    def begin(self):
        switch = f"{self.prefix}sw"
        self.run("ip", "netns", "add", switch)
        self.run("ip", "-n", switch, "link", "add", "br0", "type", "bridge")
        self.run("ip", "-n", switch, "link", "set", "br0", "up")
        for k in range(self.hosts):
            name = f"{self.prefix}{k}"
            self.run("ip", "netns", "add", name)
            self.run("ip", "link", "add", "eth0", "netns", name, "type", "veth", "peer", "name", f"p{k}", "netns", switch)
            self.run("ip", "-n", switch, "link", "set", f"p{k}", "master", "br0", "up")
            self.run("ip", "-n", name, "addr", "add", f"{self.address(k)}/24", "dev", "eth0")
            self.run("ip", "-n", name, "link", "set", "lo", "up")
            self.run("ip", "-n", name, "link", "set", "eth0", "up")
            names = Path("/etc/netns") / name  # bound over /etc by ip netns exec
            names.mkdir(parents=True)
            (names / "hosts").write_text("127.0.0.1 localhost\n" + "".join(f"{self.address(j)} node{j}\n" for j in range(self.hosts)), encoding="utf-8")

    @staticmethod
    def address(k):
        return f"10.77.0.{k + 1}"

    def on(self, k):
        """A command line to put in front: host k, with a host name of its own."""
        return ["ip", "netns", "exec", f"{self.prefix}{k}", "unshare", "-u", "sh", "-c", f'hostname node{k}; exec "$@"', "sh"]

    def slow(self, rate, hosts=None):
        """Limits the sending of hosts, or of all; skips where the kernel cannot."""
        try:
            for k in range(self.hosts) if hosts is None else hosts:
                self.run("tc", "-n", f"{self.prefix}{k}", "qdisc", "replace", "dev", "eth0", "root", "tbf", "rate", rate, "burst", "16k", "latency", "50ms")
        except (subprocess.CalledProcessError, FileNotFoundError) as e:
            skip(f"this kernel limits no rates (tbf): {e}")

    def cut(self, k):
        self.run("ip", "-n", f"{self.prefix}sw", "link", "set", f"p{k}", "down")

    def end(self):
        for name in [f"{self.prefix}{k}" for k in range(self.hosts)] + [f"{self.prefix}sw"]:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)
            shutil.rmtree(Path("/etc/netns") / name, ignore_errors=True)
