# SPDX-License-Identifier: MIT
"""Training scripts of users, none of which knows that it is watched, and the Python environment that they run in."""

import os
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

DEPS = Path(os.environ.get("PACELINE_DEPS", ""))

# PyTorch 2.15 may abort at the end of a job that destroys no process group: all of these do.
# A step: data, forward, backward, optimizer. Words: steps, then what an experiment adds.
LOOP = """
import sys, torch, torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0); torch.set_num_threads(1)
steps = int(sys.argv[1])
def model():
    return nn.Sequential(*[layer for _ in range(4) for layer in (nn.Linear(32, 32), nn.ReLU())], nn.Linear(32, 10))
def data(**options):
    loader = DataLoader(TensorDataset(torch.randn(256, 32), torch.randint(0, 10, (256,))), batch_size=8, **options)
    while True: yield from loader
loss = nn.CrossEntropyLoss()
def step(m, o, batch):
    x, y = batch
    o.zero_grad(); l = loss(m(x), y); l.backward(); o.step()
    return l.item()
"""
PLAIN = LOOP + """
m = model(); o = torch.optim.SGD(m.parameters(), lr=.01); batches = data()
for s in range(steps): last = step(m, o, next(batches))
print(f"{last:.6f}")
"""
DDP = LOOP + """
import os, signal, time, torch.distributed as dist
dist.init_process_group("gloo"); rank = dist.get_rank()
m = nn.parallel.DistributedDataParallel(model()); o = torch.optim.SGD(m.parameters(), lr=.01); batches = data()
for s in range(steps): last = step(m, o, next(batches))
if rank == 0: print(f"{last:.6f}")
if "kill" in sys.argv and rank == 1: os.kill(os.getpid(), signal.SIGKILL)
dist.destroy_process_group()
"""
UNUSED = DDP.replace("Parallel(model())", "Parallel(model(), find_unused_parameters=True)")
LATE = LOOP + """
import time, torch.distributed as dist
dist.init_process_group("gloo"); rank = dist.get_rank()
class Slow(nn.Module):
    def forward(self, x): time.sleep(.02 * rank); return x
m = nn.parallel.DistributedDataParallel(nn.Sequential(Slow(), model())); o = torch.optim.SGD(m.parameters(), lr=.01); batches = data()
for s in range(steps): step(m, o, next(batches))
dist.barrier(); dist.destroy_process_group()
"""
# With the profiler of PyTorch by a schedule, and from step 64 on for six of eight steps.
SCHEDULED = LATE.replace("for s in range(steps): step", """profiler = torch.profiler.profile(schedule=torch.profiler.schedule(wait=8, warmup=1, active=2)); profiler.start()
for s in range(steps): profiler.step(); step""")
PROFILED = LATE.replace("for s in range(steps): step", """for s in range(steps):
    if s >= 64 and s % 8 == 0: profiler = torch.profiler.profile(); profiler.start()
    if s > 64 and s % 8 == 6: profiler.stop(); del profiler
    step""")
# Starts a worker of a DataLoader while the steps are traced, which says whether PyTorch's profiler is as it was.
WORKER_IN_TRACE = LATE.replace("for s in range(steps): step", """kind = torch.autograd.profiler.profile
prepare, started = kind._prepare_trace, False
def say(who): open(f"{who}{rank}", "w").write("as it was" if kind._prepare_trace is prepare else "guarded")
for s in range(steps):
    if not started and kind._prepare_trace is not prepare:
        started = True; say("parent")
        for batch in DataLoader(TensorDataset(torch.ones(8, 1)), num_workers=1, multiprocessing_context="fork", worker_init_fn=lambda _: say("worker")): pass
    step""")
ACCUMULATED = LOOP + """
import contextlib, torch.distributed as dist
dist.init_process_group("gloo")
m = nn.parallel.DistributedDataParallel(model()); o = torch.optim.SGD(m.parameters(), lr=.01); batches = data()
for s in range(steps):
    o.zero_grad()
    for micro in range(4):
        x, y = next(batches)
        with m.no_sync() if micro < 3 else contextlib.nullcontext(): loss(m(x), y).backward()
    o.step()
if dist.get_rank() == 0: print("done")
dist.destroy_process_group()
"""
SPAWNED = LOOP + """
import torch.distributed as dist, torch.multiprocessing as mp
def main(rank, port):
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    m = nn.parallel.DistributedDataParallel(model()); o = torch.optim.SGD(m.parameters(), lr=.01); batches = data()
    for s in range(steps): step(m, o, next(batches))
    dist.destroy_process_group()
if __name__ == "__main__":
    mp.spawn(main, (sys.argv[2],), nprocs=2)
    print("done")
"""
# Children that multiprocessing starts: one that fails, as torch.multiprocessing hands it on, and forked ones.
SPAWNED_FAILING = SPAWNED.replace("    dist.destroy_process_group()", "    if rank == 1: raise ValueError('of the user')\n    dist.barrier()")
FORKED_RANKS = SPAWNED.replace("mp.spawn(main, (sys.argv[2],), nprocs=2)", "mp.start_processes(main, (sys.argv[2],), nprocs=2, start_method='fork')")
# A process that a rank starts when it has trained, and that trains, too.
TRAINING_CHILD = LOOP + """
import os, subprocess
m = model(); o = torch.optim.SGD(m.parameters(), lr=.01); batches = data()
for s in range(steps): step(m, o, next(batches))
if len(sys.argv) == 2: subprocess.run([sys.executable, sys.argv[0], str(steps // 2), "child"], check=True)
for s in range(steps): step(m, o, next(batches))
"""
WORKERS = LOOP + """
if __name__ == "__main__":
    m = model(); o = torch.optim.SGD(m.parameters(), lr=.01)
    batches = data(num_workers=2, multiprocessing_context=sys.argv[2])
    for s in range(steps): last = step(m, o, next(batches))
    print(f"{last:.6f}")
"""
CHILD_BEFORE = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import torch'], check=True)\n" + PLAIN
TWO_OPTIMIZERS = LOOP + """
a, b = model(), model(); p = torch.optim.SGD(a.parameters(), lr=.01); q = torch.optim.Adam(b.parameters()); batches = data()
for s in range(steps):
    batch = next(batches)
    step(a, p, batch)
    if s % 2: step(b, q, batch)
print("done")
"""
SECOND_OPTIMIZER = LOOP + """
m = nn.Linear(8, 8)
def train(o, steps):
    for s in range(steps): o.zero_grad(); m(torch.ones(4, 8)).sum().backward(); o.step()
first, second = torch.optim.SGD(m.parameters(), lr=.01), torch.optim.Adam(m.parameters(), lr=.01)
train(first, 5); train(second, steps)
print("done")
"""
FAILING_BACKWARD = LOOP + """
class Fails(torch.autograd.Function):
    @staticmethod
    def forward(context, x, fails): context.fails = fails; return x * 1
    @staticmethod
    def backward(context, g):
        if context.fails: raise RuntimeError("out of memory")
        return g, None
m = model(); o = torch.optim.SGD(m.parameters(), lr=.01); batches = data()
for s in range(steps):
    x, y = next(batches)
    o.zero_grad(); l = loss(Fails.apply(m(x), s % 20 == 5), y)
    if s % 20 == 10: l.grad_fn(torch.ones(()))
    try: l.backward()
    except RuntimeError: continue
    o.step()
print("done")
"""
STEPS_IN_BACKWARD = LOOP + """
m = model(); batches = data(); own = {p: torch.optim.SGD([p], lr=.01) for p in m.parameters()}
def ready(p): own[p].step(); own[p].zero_grad()
for p in own: p.register_post_accumulate_grad_hook(ready)
for s in range(steps):
    x, y = next(batches)
    loss(m(x), y).backward()
print("done")
"""
COMPILED = LOOP + """
m = torch.compile(model()); o = torch.optim.SGD(m.parameters(), lr=.01); batches = data()
for s in range(steps): last = step(m, o, next(batches))
print(f"{last:.6f}")
"""
COMPILED_OPTIMIZER = LOOP + """
m = model(); o = torch.optim.SGD(m.parameters(), lr=.01, foreach=True); batches = data()
whole = torch.compile(lambda: o.step())
for s in range(steps):
    x, y = next(batches)
    o.zero_grad(); l = loss(m(x), y); l.backward(); whole()
print(f"{l.item():.6f}")
"""
FORKED = LOOP + """
import os
m = model(); o = torch.optim.SGD(m.parameters(), lr=.01); batches = data()
for s in range(steps): step(m, o, next(batches))
child = os.fork()
if child == 0:
    for s in range(steps): step(m, o, next(batches))
    os._exit(0)
os.waitpid(child, 0)
for s in range(steps): step(m, o, next(batches))
print("done")
"""
NOTHING = "import torch.distributed as dist\ndist.init_process_group('gloo'); dist.barrier(); print('done\\n', end='')\ndist.destroy_process_group()\n"

KINDS = {1: "scope", 2: "backward", 3: "communication", 4: "device", 5: "step", 6: "on", 7: "off", 8: "full", 9: "counter"}


class Steps:
    """A step file as the format says: fields of the header, and (kind, name, begin, end, value, thread, group, flags) per record."""

    def __init__(self, path):
        data = Path(path).read_bytes()
        assert data[:8] == b"PACESTEP", data[:8]
        self.version, header_bytes, name_bytes, name_slots, record_bytes = struct.unpack_from("<5I", data, 8)
        self.capacity, self.used, count, self.lost, self.block_steps, self.blocks_per_off = struct.unpack_from("<6Q", data, 32)
        self.rank, self.world, self.local_rank, self.process, self.parent, _, _, self.closed_ns, _ = struct.unpack_from("<9q", data, 80)
        self.exception = data[2944:3008].split(b"\0")[0].decode()
        names = [data[header_bytes + name_bytes * i:][:name_bytes].split(b"\0")[0].decode() for i in range(count)] + [""]
        begin = header_bytes + name_bytes * name_slots
        self.records = []
        for i in range(min(self.used, self.capacity)):
            begin_ns, end_ns, value, name, thread, group, flags, kind = struct.unpack_from("<qqQHHHBB", data, begin + record_bytes * i)
            if kind:
                self.records.append((KINDS[kind], names[min(name, count)], begin_ns, end_ns, value, thread, group, flags))

    def of(self, kind, name=""):
        return [r for r in self.records if r[0] == kind and name in r[1]]


def python_with_torch(folder):
    """A virtual environment in which `import torch` works, also with -I; None where the libraries are not here."""
    if not (DEPS / "torchrun/torchrun").exists() or not (DEPS / "torch/torch").exists():
        return None
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    site = next(folder.glob("lib/python3*/site-packages"))
    (site / "torch.pth").write_text("import os, sys; sys.setdlopenflags(os.RTLD_LAZY)\n" +
                                    "".join(f"{DEPS / part}\n" for part in ("torch", "torchrun/python", "python")))
    return folder / "bin/python"


def job_environment():
    """As of a shell of a user, with the stubs of libraries that the wheel links and no script here calls."""
    places = [os.environ.get("PACELINE_ATTACH_STUBS"), str(DEPS / "torchrun/stubs")]
    return {**os.environ, "LD_LIBRARY_PATH": ":".join(filter(None, places)), "OMP_NUM_THREADS": "1"}


class Environment:
    """The virtual environment of a test module, made once; PACELINE_ATTACH_PYTHON names one with another release of PyTorch."""

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="paceline-attach-"))
        given = os.environ.get("PACELINE_ATTACH_PYTHON")
        return Path(given) if given else python_with_torch(self.folder / "venv")

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)
