# SPDX-License-Identifier: MIT
"""Figures of a run as plain numbers, for programs that draw or collect them. Needs no package."""

import csv
import datetime
import io
import json
import math
import re

from paceline_results.regular import read_text, refuses

# Columns of epochs and steps that number or name a row; they are no figures.
ABOUT_EPOCH = {"epoch", "repetition", "steps", "samples"}
ABOUT_STEP = {"epoch", "repetition", "rank", "step", "start_ns", "phase", "buckets", "skipped", "judged", "correct"}


@refuses("summary.csv of the run cannot be read")
def table(run):
    """The rows of summary.csv, cells as text, in the order of the cases."""
    file = run.folder / "summary.csv"
    if not file.is_file():
        raise ValueError(f"'{run.folder}' has no summary.csv; paceline report --source DIR --format csv --output DIR/summary.csv writes it")
    rows = list(csv.DictReader(io.StringIO(read_text(file))))
    names = [case["case_id"] for case in run.summary["cases"]]
    if [row.get("case_id") for row in rows] != names:
        raise ValueError(f"'{run.folder}': summary.csv and run_summary.json do not have the same cases")
    for name in (run.run_id, *names):
        if name in (".", "..") or not re.fullmatch(r"[\w.-]{1,255}", name):
            raise ValueError(f"'{run.folder}': {name!r} is no id of a run or a case")
    return rows


def numbers_of(row):
    """The metrics of a row of summary.csv that have a number, with the ends of their intervals."""
    metrics = [name for name in row if f"{name}_ci_low" in row]
    names = [name + end for name in metrics for end in ("", "_ci_low", "_ci_high")]
    return {name: float(row[name]) for name in names if row.get(name)}


FIELD_OF_PARAMETER = {"device": "device", "gpus": "gpus", "instances": "instances", "inject": "fault"}


def parameters_of(benchmark):
    """Returns the parameters that tell cases apart, as text, by the names of their options."""
    fields = {name: benchmark.get(field) for name, field in FIELD_OF_PARAMETER.items()}
    return {**benchmark.get("params", {}), **{name: str(value) for name, value in fields.items() if value not in ("", None)}}


@refuses("a case of the runs is damaged")
def settings_of(case):
    """Returns a case's identity and parameters, as text."""
    benchmark = case["benchmark"]
    others = {name for field in FIELD_OF_PARAMETER.values() for name in (field, f"{field}_reason")} | {"params"}
    identity = {name: str(value) for name, value in benchmark.items() if name not in others and value not in ("", None)}
    return {**identity, **parameters_of(benchmark)}


@refuses("the environment of the run is damaged")
def facts_of(run):
    """Returns a run's identification for people: id, command, commit, notes, version of the tool."""
    summary = run.summary
    environment = summary.get("environment") or {}
    sources = environment.get("sources") or {}
    facts = {"run_id": run.run_id, "outcome": summary.get("outcome"), "command": summary.get("command_line"), "version": (summary.get("suite") or {}).get("version"),
             "commit": sources.get("commit"), "modified": sources.get("modified"), "notes": "\n".join(environment.get("notes") or [])}
    return {name: str(value) for name, value in facts.items() if value not in ("", None)}


@refuses("the run does not have a time at which it started")
def began_s(run):
    """The start of the run in seconds since 1970."""
    return datetime.datetime.fromisoformat(run.summary["started_utc"].replace("Z", "+00:00")).timestamp()


@refuses("the epochs of the case cannot be read")
def epochs(run, case_id):
    """(repetition, epoch, its figures) of a training case."""
    rows = _json_lines(run.case_folder(case_id) / "metrics_epoch.jsonl")
    return [(int(row["repetition"]), int(row["epoch"]), _figures(row, ABOUT_EPOCH)) for row in rows]


@refuses("the steps of the case cannot be read")
def steps(run, case_id):
    """(repetition, step, its figures) of rank 0 of a training case. Steps in step files need numpy and pandas."""
    folder = run.case_folder(case_id)
    rows = _json_lines(folder / "rank0.jsonl")
    if not rows and any(folder.glob("passes/*.steps.bin")):
        from paceline_results.frames import steps as in_files
        frame = in_files(run, case_id)
        rows = frame[frame["rank"] == 0].to_dict("records")
    return [(int(row["repetition"]), int(row["step"]), _figures(row, ABOUT_STEP)) for row in rows]


def _figures(row, about):
    """Times in milliseconds, since programs that draw them show few digits."""
    figures = {}
    for name, value in row.items():
        if name in about or name.startswith("bucket") or isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            continue
        in_ns = name.endswith("_ns")
        figures[f"{name[:-3]}_ms" if in_ns else name] = value / 1e6 if in_ns else float(value)
    return figures


def _json_lines(file):
    return [json.loads(line) for line in read_text(file).splitlines()] if file.is_file() else []
