#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does `paceline attach` name the rank that is late, and nobody in a healthy job? Runs training scripts on gloo, healthy or with one rank late in one part.

usage: tools/attach_study.py --python PYTHON [--jobs plain,gan,…] [--late none,loader,forward,backward,optimizer] [--rounds 1] [--ranks 2]
                             [--steps 60] [--within SECONDS] [--keep FILE] [--paceline build/release/bin/paceline]
       tools/attach_study.py --rows --keep FILE

PYTHON has PyTorch; jobs that need a package which it lacks (transformers, lightning) are skipped in words. A late rank sleeps once per step, in its data set,
its forward or backward pass or before its optimizer: by as long as `--delay` (10 ms) says; another rank in each round.
`--within` starts no job after that time, and `--keep` adds to its file: a long study is many short slices.
Prints a Markdown row per kind of lateness: jobs, those that name the right rank, with the right part, those that suspect it, and those that accuse another.
Exit code 1 if a rank was named that is not late.
"""
import argparse
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]

# A small net of convolutions, data, and a place in each part of the step at which a rank can be late.
COMMON = """
import contextlib, os, sys, time, torch, torch.nn as nn, torch.distributed as dist
from torch.utils.data import DataLoader, Dataset, DistributedSampler
from torch.nn.parallel import DistributedDataParallel as DDP
late_rank, late_part, delay = os.environ["LATE"].split(":")
def late(part, rank=None):
    rank = dist.get_rank() if rank is None else rank
    if part == late_part and rank == int(late_rank): time.sleep(float(delay) / 1e3)
class LateBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): late("forward"); return x.clone()
    @staticmethod
    def backward(ctx, g): late("backward"); return g
class Late(nn.Module):
    @torch._dynamo.disable
    def forward(self, x): return LateBackward.apply(x)
class Data(Dataset):
    def __len__(self): return 8 * dist.get_world_size() * 100_000
    def __getitems__(self, indices):
        late("loader"); g = torch.Generator().manual_seed(indices[0]); x = torch.randn(len(indices), 3, 32, 32, generator=g)
        return [(x[i], j % 10) for i, j in enumerate(indices)]
    def __getitem__(self, i): return self.__getitems__([i])[0]
def model(): return nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), Late(), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.AvgPool2d(4), nn.Flatten(), nn.Linear(2048, 10))
def batches(): data = Data(); return iter(DataLoader(data, batch_size=8, sampler=DistributedSampler(data)))
def sgd(m):
    o = torch.optim.SGD(m.parameters(), lr=.001); o.register_step_pre_hook(lambda *_: late("optimizer")); return o
torch.manual_seed(0); torch.set_num_threads(1); loss = nn.CrossEntropyLoss(); steps = int(sys.argv[1])
def train(m, o, data):
    for _ in range(steps):
        x, y = next(data); o.zero_grad(); loss(m(x), y).backward(); o.step()
"""
INIT = COMMON + "dist.init_process_group('gloo')\n"
JOBS = {
    "plain": INIT + "m = DDP(model()); train(m, sgd(m), batches())\n",
    "no_sync": INIT + """
m = DDP(model()); o = sgd(m); data = batches()
for _ in range(steps):
    o.zero_grad()
    for micro in range(2):
        x, y = next(data)
        with m.no_sync() if micro == 0 else contextlib.nullcontext(): loss(m(x), y).backward()
    o.step()
""",
    "two_optimizers": INIT + """
m = DDP(model()); data = batches(); weights = list(m.parameters())
a, b = torch.optim.SGD(weights[:2], lr=.001), torch.optim.Adam(weights[2:]); a.register_step_pre_hook(lambda *_: late("optimizer"))
for _ in range(steps):
    x, y = next(data); a.zero_grad(); b.zero_grad(); loss(m(x), y).backward(); a.step(); b.step()
""",
    "amp": INIT + """
m = DDP(model()); o = sgd(m); data = batches(); scaler = torch.amp.GradScaler("cpu")
for _ in range(steps):
    x, y = next(data); o.zero_grad()
    with torch.autocast("cpu", torch.bfloat16): l = loss(m(x), y)
    scaler.scale(l).backward(); scaler.step(o); scaler.update()
""",
    "compiled": INIT + "m = torch.compile(DDP(model())); train(m, sgd(m), batches())\n",
    "fsdp2": INIT + """
from torch.distributed.fsdp import fully_shard
m = model(); fully_shard(m); train(m, sgd(m), batches())
""",
    "gan": INIT + """
g = DDP(nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 3, 3, padding=1))); d = DDP(model(), broadcast_buffers=False)
p, q = torch.optim.Adam(g.parameters()), sgd(d); data = batches()
for _ in range(steps):
    x, y = next(data)
    q.zero_grad(); loss(d(g(x).detach()), y).backward(); q.step()
    p.zero_grad(); loss(d(g(x)), y).backward(); p.step()
""",
    "spawn": COMMON + """
import torch.multiprocessing as mp
def main(rank, world, port):
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=world)
    torch.set_num_threads(1); m = DDP(model()); train(m, sgd(m), batches())
if __name__ == "__main__": mp.spawn(main, (int(sys.argv[2]), sys.argv[3]), nprocs=int(sys.argv[2]))
""",
    "join": INIT + """
from torch.distributed.algorithms.join import Join
m = DDP(model()); o = sgd(m); data = batches()
with Join([m]):
    for _ in range(steps + 3 * dist.get_rank()):
        x, y = next(data); o.zero_grad(); loss(m(x), y).backward(); o.step()
""",
    "comm_hook": INIT + """
def hook(state, bucket):
    t = bucket.buffer().div_(dist.get_world_size())
    return dist.all_reduce(t, async_op=True).get_future().then(lambda f: f.value()[0])
m = DDP(model()); m.register_comm_hook(None, hook); train(m, sgd(m), batches())
""",
    "transformers": COMMON + """
from transformers import Trainer, TrainingArguments
class Net(nn.Module):
    def __init__(self): super().__init__(); self.net = model()
    def forward(self, x, labels): logits = self.net(x); return {"loss": loss(logits, labels), "logits": logits}
def collate(rows): return {"x": torch.stack([x for x, _ in rows]), "labels": torch.tensor([y for _, y in rows])}
class Ours(Trainer):
    def create_optimizer(self, *a, **k): o = super().create_optimizer(*a, **k); o.register_step_pre_hook(lambda *_: late("optimizer")); return o
words = dict(use_cpu=True, max_steps=steps, per_device_train_batch_size=8, report_to=[], save_strategy="no", logging_strategy="no", ddp_backend="gloo", disable_tqdm=True, remove_unused_columns=False)
Ours(model=Net(), args=TrainingArguments(sys.argv[0] + ".out", **words), train_dataset=Data(), data_collator=collate).train()
""",
    "lightning": COMMON + """
import lightning
class Net(lightning.LightningModule):
    def __init__(self): super().__init__(); self.net = model()
    def forward(self, x): return self.net(x)
    def training_step(self, batch, i): x, y = batch; return loss(self.net(x), y)
    def configure_optimizers(self): return sgd(self)
class Batches(lightning.LightningDataModule):
    def train_dataloader(self): return DataLoader(Data(), batch_size=8)
lightning.Trainer(accelerator="cpu", devices=int(sys.argv[2]), strategy="ddp", max_steps=steps, logger=False, enable_checkpointing=False,
                  enable_progress_bar=False, enable_model_summary=False).fit(Net(), Batches())
""",
}
PACKAGES = {"transformers": "transformers", "lightning": "lightning"}
PARTS = {"loader": "data", "forward": "forward", "backward": "backward", "optimizer": "the optimizer"}
LATE = ["none", *PARTS]

# Without it, PyTorch 2.15 alone aborts at the end of some jobs on a busy machine: a thread of gloo is still there.
END = "\nif dist.is_initialized(): dist.destroy_process_group()\n"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1])


def problem_in(text):
    lines = text.strip().splitlines() or ["no output"]
    return next((one for one in reversed(lines) if "Error" in one), lines[-1])


class Failed(Exception):
    """A job, or its study, with the end of its output."""

    def __init__(self, problem, output=""):
        super().__init__(problem)
        self.output = output


def run_job(options, name, folder, late, before="", **variables):
    """Runs one job attached; its step files are in `folder`/steps. `before`: stands in front of its script."""
    script = pathlib.Path(folder) / f"{name}_job.py"
    script.write_text(before + JOBS[name] + END)
    words = [str(script), str(options.steps), str(options.ranks), free_port()]
    if name != "spawn":
        words = ["-m", "torch.distributed.run", "--nproc-per-node", str(options.ranks), "--standalone", *words]
    env = {**os.environ, "LATE": late, "OMP_NUM_THREADS": "1", **variables}
    job = subprocess.run([options.paceline, "attach", "-q", "--output", f"{folder}/steps", "--", options.python, *words],
                         env=env, capture_output=True, text=True)
    if job.returncode:
        raise Failed(problem_in(job.stderr), job.stderr[-4000:])


def study_of(options, path):
    """The answer of `profile` about step files."""
    said = subprocess.run([options.paceline, "profile", "--from", str(path), "--format", "json"], capture_output=True, text=True)
    if said.returncode:
        raise Failed(said.stderr.strip())
    return json.loads(said.stdout)


def run(options, name, part, rank):
    """One job; what `profile` says of it."""
    with tempfile.TemporaryDirectory(prefix="attach-study-") as folder:
        try:
            run_job(options, name, folder, f"{rank}:{part}:{options.delay}")
            study = study_of(options, folder + "/steps")
        except Failed as failed:
            return {"problem": str(failed), **({"output": failed.output} if failed.output else {})}
        rows = {key: [(r["rank"], r["late_in"], [c["name"] for c in r["causes"]], r["mean_late_ns"]) for r in study[key]] for key in ("late", "suspected")}
        return {**rows, "step_ns": study["step_ns"], "steps": study["steps"]}


def packages_of(python):
    names = sorted(set(PACKAGES.values()))
    code = f"import importlib.util as u\nprint(*[n for n in {names} if u.find_spec(n)])"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.split()


def jobs_that_run(options):
    """Jobs that were asked for and whose packages are there; others are skipped in words."""
    there = packages_of(options.python)
    for name in options.jobs:
        if name in PACKAGES and PACKAGES[name] not in there:
            print(f"{name}: skipped, {options.python} has no {PACKAGES[name]}", file=sys.stderr)
        else:
            yield name


def study(options, keep):
    began = time.monotonic()
    for number in range(options.rounds):
        for name in jobs_that_run(options):
            for part in options.late:
                if time.monotonic() - began > options.within:
                    return
                rank = number % options.ranks
                keep({"job": name, "part": part, "rank": rank, "ranks": options.ranks, **run(options, name, part, rank)})


def rows_of(found):
    """A row per kind of lateness."""
    print("| late in | jobs | rank named | with its part | suspected | another rank named | no answer |\n|---|---|---|---|---|---|---|")
    accused = 0
    for part in LATE:
        all_of = [one for one in found if one["part"] == part]
        ran = [one for one in all_of if "problem" not in one]
        right = [one for one in ran if part != "none" and [r[0] for r in one["late"]] == [one["rank"]]]
        named = sum(one["late"][0][1] == PARTS[part] for one in right)
        others = sum(any(part == "none" or r[0] != one["rank"] for r in one["late"]) for one in ran)
        suspected = sum(bool(one["suspected"]) for one in ran)
        accused += others
        if all_of:
            print(f"| {part} | {len(all_of)} | {len(right) if part != 'none' else '–'} | {named if part != 'none' else '–'} | {suspected} | {others} | {len(all_of) - len(ran)} |")
    for one in found:
        if "problem" in one:
            print(f"{one['job']}, late in {one['part']}: {one['problem']}", file=sys.stderr)
    return accused


def add_options_of_jobs(parser):
    parser.add_argument("--paceline", default=str(ROOT / "build/release/bin/paceline"))
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--jobs", type=lambda text: text.split(","), default=list(JOBS))
    for name, value in (("--ranks", 2), ("--steps", 60)):
        parser.add_argument(name, type=int, default=value)


def check_jobs(parser, options):
    if unknown := set(options.jobs) - set(JOBS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options_of_jobs(parser)
    parser.add_argument("--late", type=lambda text: text.split(","), default=LATE)
    parser.add_argument("--delay", default="10")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--within", type=float, default=1e9)
    parser.add_argument("--keep")
    parser.add_argument("--rows", action="store_true")
    options = parser.parse_args()
    check_jobs(parser, options)
    if unknown := set(options.late) - set(LATE):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    found = []

    def keep(one):
        found.append(one)
        print(json.dumps(one), file=sys.stderr, flush=True)
        if options.keep:
            with open(options.keep, "a") as file:
                file.write(json.dumps(one) + "\n")

    if not options.rows:
        study(options, keep)
    if options.keep:
        found = [json.loads(line) for line in open(options.keep)]
    return 1 if rows_of(found) else 0


if __name__ == "__main__":
    sys.exit(main())
