# SPDX-License-Identifier: MIT
"""Writes the description of the machine into the archive, and the archive itself."""
import os
import pathlib
import subprocess
import tarfile

from gpu_day_checks import cases_of, number
from gpu_day_place import ROOT

TORCH = """import platform, torch
print('python', platform.python_version()); print('torch', torch.__version__, 'cuda', torch.version.cuda)
print('cudnn', torch.backends.cudnn.version(), 'devices', torch.cuda.device_count())
print('nccl', '.'.join(map(str, torch.cuda.nccl.version())) if torch.cuda.is_available() else 'unknown: no device')
print(torch.__config__.show())"""
VARIABLES = ("CUDA_", "NVIDIA_", "NCCL_", "TORCH_", "PYTORCH_", "TENSORRT_", "OMP_", "MKL_", "PACELINE_", "LD_LIBRARY_PATH")
# Files that the archive can do without, in the order in which they go when the rest is too large; paceline report renders a report again.
LARGE = ("report.html", "trace_rank*.json", "rank*.jsonl", "samples.csv", "*.plan.log")
ARCHIVE_LIMIT = 10_000_000


def facts(place):
    """{file: command}."""
    return {"nvidia-smi.txt": ["nvidia-smi", "-q"], "nvidia-smi-processes.txt": ["nvidia-smi"], "lscpu.txt": ["lscpu"], "uname.txt": ["uname", "-a"],
            "memory.txt": ["cat", "/proc/meminfo"], "system.txt": ["cat", "/etc/os-release"], "paceline.txt": [place.paceline, "--version"],
            "python-torch.txt": [place.python, "-c", TORCH], "python-packages.txt": [place.python, "-m", "pip", "list"],
            "bundle.txt": ["cat", str(ROOT / "bundle.json")] if place.bundle else ["git", "-C", str(ROOT), "log", "-1", "--oneline"]}


def said_by(command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=60)
    except (OSError, subprocess.TimeoutExpired) as problem:
        return f"{' '.join(command)}: {problem}\n"
    return done.stdout + (done.stderr if done.returncode else "")


def write_facts(place, folder):
    folder.mkdir(parents=True)
    for name, command in facts(place).items():
        (folder / name).write_text(said_by(command))
    chosen = sorted(f"{name}={value}" for name, value in os.environ.items() if name.startswith(VARIABLES))
    (folder / "variables.txt").write_text("\n".join(chosen) + "\n")


def scaled(value, factor, digits):
    return "–" if value is None else f"{value * factor:.{digits}f}"


def figures(parts):
    """The contents of the parts' folders: one line per case, and the tables of comparisons."""
    compared = [path.read_text() for folder in parts if (path := folder / "compare.md").exists()]
    return "\n".join([text for text in (case_figures(parts), *compared) if text])


FIGURES = ("p50 ms", "back to back ms", "device p50 ms", "enqueue ms", "samples/s", "clock MHz", "W", "J per sample", "at power cap")


def figures_of(case):
    """Cells of one case, as FIGURES names them."""
    device = (case.get("devices") or [{}])[0]
    parts = {part["name"]: part for part in case.get("device_parts") or []}
    capped = [row["share"] for row in device.get("slowdowns") or [] if row["reason"] == "power cap"]
    return [scaled(number(case, "headline", "p50_ns", "value"), 1e-6, 3), scaled(number(case, "back_to_back_ns", "value"), 1e-6, 3),
            scaled(number(case, "device_p50_ns", "value"), 1e-6, 3), scaled(number(parts, "enqueue", "p50_ns"), 1e-6, 3),
            scaled(number(case, "throughput", "per_s", "value"), 1, 1), scaled(number(device, "sm_clock_mean_mhz"), 1, 0),
            scaled(number(device, "power_mean_w"), 1, 0), scaled(number(device, "energy_per_item_j"), 1, 4),
            f"{100 * capped[0]:.0f} %" if capped else "–"]


def case_figures(parts):
    lines = [f"| part | case | {' | '.join(FIGURES)} | grade |", "|---" * (len(FIGURES) + 3) + "|"]
    for folder in parts:
        for c in cases_of(folder):
            if c["outcome"] == "ok":
                lines.append(f"| {folder.name} | {c['label']} | {' | '.join(figures_of(c))} | {c.get('grade') or '–'} |")
    return "\n".join(lines) + "\n" if len(lines) > 2 else ""


def pack(folder, archive, without=()):
    def keep(member):
        return None if any(pathlib.PurePath(member.name).match(pattern) for pattern in without) else member
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(folder, arcname=folder.name, filter=keep)
    return archive.stat().st_size


def write_archive(folder, archive, limit=ARCHIVE_LIMIT):
    """Returns what was left out so that it stays below `limit`."""
    for count in range(len(LARGE) + 1):
        left = [pattern for pattern in LARGE[:count] if next(folder.rglob(pattern), None)]
        (folder / "left_out.txt").write_text("\n".join(left or ["nothing"]) + "\n")
        if pack(folder, archive, left) <= limit:
            break
    return left
