#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How soon `paceline history trend` finds a change of level, and how often it finds one that is none, beside Apache Otava on the same CSV.

usage: VENV/bin/python tools/change_points_study.py [--series 200] [--paceline build/release/bin/paceline] [--folder changes] [--docs docs/history.md]

Each cell is a shift of 0, 2, 5 or 10 % at run 61 of 100, with a spread of 1 or 3 % between runs (log-normal, fixed seeds). The series of a cell are the
cases of 100 run folders and the columns of FOLDER/CELL.csv. Both tools look after every run from the change on until they find it: the delay is the
number of runs behind the change, and a point counts as found within five runs of it. Points elsewhere are false; they are counted after every
fifth run from the 20th on, and a series counts once. Otava (pip install apache-otava) has its defaults: window 50, p = 0.001. Without it, its columns
stay empty. --docs writes the table between the marks of that page.
"""
import argparse
import csv
import datetime
import json
import math
import pathlib
import random
import shutil
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARKS = ("<!-- change points: begin -->\n", "<!-- change points: end -->\n")
RUNS, CHANGE, NEAR, FIRST_LOOK, STEP = 100, 60, 5, 20, 5
SHIFTS, SPREADS = (0, 0.02, 0.05, 0.1), (0.01, 0.03)
try:
    from otava.analysis import compute_change_points
except ImportError:
    compute_change_points = None


def series_of(shift, spread, count):
    made = []
    for seed in range(count):
        dice = random.Random(f"{shift} {spread} {seed}")
        made.append([math.exp(dice.gauss(0, spread)) * (1 + shift * (run >= CHANGE)) for run in range(RUNS)])
    return made


def began(run):
    return datetime.datetime(2026, 1, 1) + datetime.timedelta(hours=run)


def write_runs(folder, series):
    """The shortest summaries that can be read: one case for each series."""
    for run in range(RUNS):
        run_id = began(run).strftime("%Y%m%dT%H%M%SZ-0000")
        cases = [{"case_id": f"s{number}", "label": f"s{number}", "outcome": "ok", "repetitions": [{"index": 0}],
                  "benchmark": {"id": f"s{number}", "model": f"s{number}"}, "headline": {"p50_ns": {"value": values[run] * 1e6}}}
                 for number, values in enumerate(series)]
        path = folder / "study" / run_id
        path.mkdir(parents=True)
        (path / "run_summary.json").write_text(json.dumps({
            "schema_version": "1.0", "run_id": run_id, "experiment_name": "study", "started_utc": began(run).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "outcome": "ok", "cases": cases}), encoding="utf-8")


def paceline_points(paceline, folder, look):
    """The places of changes of each series after `look` runs."""
    until = began(look - 1).strftime("%Y-%m-%dT%H:%M:%SZ")
    done = subprocess.run([paceline, "history", "trend", "--output-dir", folder, "--until", until, "--json"], capture_output=True, text=True, check=True)
    found = {}
    for one in json.loads(done.stdout)["series"]:
        places = {step["run_id"]: place for place, step in enumerate(one["runs"])}
        found[int(one["label"][1:])] = [places[change["run_id"]] for change in one["changes"]]
    return found


class Tally:
    """Counts what one tool finds in the series of a cell."""

    def __init__(self, shift, count):
        self.shift, self.delay, self.false = shift, {}, set()
        self.left = set(range(count)) if shift else set()

    def add(self, number, look, places, counts_false):
        near = [place for place in places if self.shift and abs(place - CHANGE) <= NEAR]
        if near and number in self.left:
            self.delay[number] = look - CHANGE
            self.left.discard(number)
        if counts_false and len(places) > len(near):
            self.false.add(number)

    def cells(self, count):
        if not self.shift:
            return ["", "", f"{100 * len(self.false) / count:.1f} %"]
        median = statistics.median(sorted(self.delay.values()) + [math.inf] * (count - len(self.delay)))
        return [f"{100 * len(self.delay) / count:.0f} %", "–" if median == math.inf else f"{median:g}", f"{100 * len(self.false) / count:.1f} %"]


def cell(options, shift, spread):
    series = series_of(shift, spread, options.series)
    folder = options.folder / f"{round(100 * shift)}-{round(100 * spread)}"
    shutil.rmtree(folder, ignore_errors=True)
    write_runs(folder, series)
    with open(f"{folder}.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["time", *(f"s{number}" for number in range(options.series))])
        writer.writerows([began(run).isoformat(), *(values[run] for values in series)] for run in range(RUNS))
    ours, theirs = Tally(shift, options.series), Tally(shift, options.series)
    for look in range(FIRST_LOOK, RUNS + 1):
        counts = look % STEP == 0
        if counts or (look > CHANGE and ours.left):
            for number, places in paceline_points(options.paceline, folder, look).items():
                ours.add(number, look, places, counts)
        if compute_change_points:
            for number in range(options.series) if counts else sorted(theirs.left) if look > CHANGE else ():
                theirs.add(number, look, [point.index for point in compute_change_points(series[number][:look])[0]], counts)
    shutil.rmtree(folder)
    return [*ours.cells(options.series), *(theirs.cells(options.series) if compute_change_points else ["", "", ""])]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--series", type=int, default=200)
    parser.add_argument("--paceline", default=str(ROOT / "build/release/bin/paceline"))
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("changes"))
    parser.add_argument("--docs", type=pathlib.Path)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    lines = ["| shift | sd | found | delay (runs) | false | Otava: found | delay (runs) | false |", "|--:|--:|--:|--:|--:|--:|--:|--:|"]
    for spread in SPREADS:
        for shift in SHIFTS:
            lines.append(f"| {100 * shift:g} % | {100 * spread:g} % | " + " | ".join(cell(options, shift, spread)) + " |")
            print(lines[-1], flush=True)
    table = "\n".join(lines) + "\n"
    print(table)
    if options.docs:
        text = options.docs.read_text(encoding="utf-8")
        head, rest = text.split(MARKS[0])
        options.docs.write_text(head + MARKS[0] + table + MARKS[1] + rest.split(MARKS[1])[1], encoding="utf-8")


if __name__ == "__main__":
    main()
