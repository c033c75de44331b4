#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One stage of a day with a GPU: its parts within a budget of time, an archive of results, a table.

usage: scripts/gpu_day.sh STAGE [--device cpu|cuda] [--out DIR] [--budget SECONDS] [--only PART,…] [--paceline FILE] [--build DIR]
                          [--python FILE] [--compute-sanitizer FILE] [--ncu FILE] [--keep DIR] [--list]

If a part fails, the others still run, and its row names what to look at. A part that does not fit into the budget is left out, by name.
exit codes: 0 every part is ok, or cannot run here and says why; 1 a part failed; 2 the command line is wrong; 3 no part failed, but the time was
over before some; 77 no part can run here.
"""
import argparse
import pathlib
import shutil
import signal
import sys
import tempfile
import time

import gpu_day_machine as machine
from gpu_day_parts import SCALES, STAGES, Maker
from gpu_day_place import Place
from gpu_day_run import FAILED, LEFT_OUT, OK, SKIPPED, Row, run_part, run_side_by_side

BUDGET_S = 520   # a stage ends within nine minutes
ARCHIVING_S = 15  # of it, kept for the archive
TAIL_LINES = 12


class Stopped(Exception):
    """Somebody ended us: what there is becomes the archive."""


def stop(number, frame):
    for again in (signal.SIGINT, signal.SIGTERM):
        signal.signal(again, signal.SIG_IGN)
    raise Stopped(signal.Signals(number).name)


def parse():
    parser = argparse.ArgumentParser(prog="gpu_day.sh", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stage", choices=STAGES)
    parser.add_argument("--device", choices=sorted(SCALES), default="cuda", help="cpu: the dry form (CUDA_VISIBLE_DEVICES chooses a GPU)")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("results/gpu_day"), help="where the archive goes")
    parser.add_argument("--budget", type=float, default=BUDGET_S, help=f"seconds for the whole stage ({BUDGET_S})")
    parser.add_argument("--only", help="these parts alone")
    parser.add_argument("--paceline", help="another binary than that of the bundle or build")
    parser.add_argument("--build", help="build folder of a source tree (build/release)")
    parser.add_argument("--python", help="interpreter with PyTorch, for the comparison")
    parser.add_argument("--compute-sanitizer", help="the program, where it is not found")
    parser.add_argument("--ncu", help="the program, where it is not found")
    parser.add_argument("--keep", type=pathlib.Path, help="also leave the unpacked results in this new folder")
    parser.add_argument("--list", action="store_true", help="print the parts with the seconds they need, run nothing")
    options = parser.parse_args()
    if options.keep and options.keep.exists():
        parser.error(f"--keep '{options.keep}' is there already; name a new folder")
    return parser, options


def chosen(parser, parts, only):
    if not only:
        return parts
    names = [part.name for part in parts]
    for name in only.split(","):
        if name not in names:
            parser.error(f"there is no part '{name}'; this stage has {', '.join(names)}")
    return [part for part in parts if part.name in only.split(",")]


def run_all(parts, folder, deadline):
    """A row for every part in their order, also when we are stopped. Parts that time nothing run first, side by side, and leave the others their time."""
    rows, begun = {}, []
    kept_s = sum(part.needs_s for part in parts if part.timed and not part.absent)

    def run(part, cpus=()):
        begun.append(part)
        print(f"{len(begun)}/{len(parts)} {part.name}: {part.what}", flush=True)
        left_s = deadline - time.monotonic() - (0 if part.timed else kept_s)
        row = rows[part.name] = run_part(part, folder / part.name, left_s, cpus)
        print(f"    {part.name}: {row.result}, {row.seconds:.0f} s: {row.words}", flush=True)

    try:
        run_side_by_side([part for part in parts if not part.timed], run)
        for part in parts:
            if part.timed:
                run(part)
    except Stopped as by:
        for part in parts:
            rows.setdefault(part.name, Row(part, LEFT_OUT, f"stopped by {by}"))
    return [rows[part.name] for part in parts]


def cell(text):
    return str(text).replace("|", "/").replace("\n", " ")


def table(rows, stage):
    lines = ["| part | what | result | seconds | what to look at |", "|---|---|---|---|---|"]
    for row in rows:
        place = f"{stage}/{row.part.name}" if row.part.look.startswith("log.txt") else stage
        ending = f"{row.words}; look at {place}/{row.part.look}" if row.result == FAILED else row.words
        lines.append(f"| {row.part.name} | {cell(row.part.what)} | {row.result} | {row.seconds:.0f} | {cell(ending)} |")
    return "\n".join(lines) + "\n"


def show_failures(rows, folder):
    for row in rows:
        log = folder / row.part.name / "log.txt"
        if row.result == FAILED and log.exists():
            print(f"--- end of {folder.name}/{row.part.name}/log.txt")
            print("\n".join(log.read_text(errors="replace").splitlines()[-TAIL_LINES:]))


def exit_code(rows):
    results = {row.result for row in rows}
    if FAILED in results:
        return 1
    if LEFT_OUT in results:
        return 3
    return 0 if OK in results else 77


def finish(rows, folder, options):
    """Figures, archive, table: the table last."""
    text = table(rows, folder.name)
    figures = machine.figures([folder / row.part.name for row in rows])
    (folder / "table.md").write_text(text)
    (folder / "figures.md").write_text(figures or "no figures\n")
    options.out.mkdir(parents=True, exist_ok=True)
    archive = options.out / f"gpu_day_{options.stage}.tar.gz"
    left = machine.write_archive(folder, archive)
    show_failures(rows, folder)
    if figures:
        print(figures)
    print(f"archive: {archive} ({archive.stat().st_size / 1e6:.1f} MB)" + (f"; without {', '.join(left)}" if left else ""))
    print(text, end="", flush=True)


def run_stage(parts, place, options, begin):
    with tempfile.TemporaryDirectory(prefix="paceline-gpu-day-") as work:
        folder = pathlib.Path(work) / options.stage
        machine.write_facts(place, folder / "machine")
        rows = run_all(parts, folder, begin + options.budget - min(ARCHIVING_S, options.budget / 10))
        finish(rows, folder, options)
        if options.keep:
            shutil.copytree(folder, options.keep)
    return exit_code(rows)


def main():
    begin = time.monotonic()
    parser, options = parse()
    place = Place(options)
    if absent := place.absent_tool():
        parser.error(absent)
    parts = chosen(parser, STAGES[options.stage](Maker(place, SCALES[options.device], options)), options.only)
    if options.list:
        for part in parts:
            beside = "" if part.timed else "  (side by side)"
            print(f"{part.name}  {part.needs_s} s  {part.what}{beside}" + (f"  (not here: {part.absent})" if part.absent else ""))
        return 0
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    return run_stage(parts, place, options, begin)


if __name__ == "__main__":
    sys.exit(main())
