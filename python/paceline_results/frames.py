# SPDX-License-Identifier: MIT
"""Runs as data frames. Numbers are those of the files, in the unit that the column's name ends in; a missing number is NaN."""

import io
import json

import pandas as pd

from paceline_results.figures import parameters_of
from paceline_results.regular import read_text, refuses
from paceline_results.step_file import read_step_file

# Columns by which cases that differ only in the number of ranks are recognised.
SAME_WORK = ["run_id", "kind", "model", "engine", "precision", "layout", "batch", "threads", "params"]


# Columns that not every case has.
NUMBERS = ["base_ranks", "speedup_of_ranks", "efficiency", "efficiency_low", "efficiency_high", "exposed_share", "data_wait_share", "total_s"]


@refuses("a case of the runs is damaged")
def cases(runs):
    """One row per case of the runs: what was measured, its outcome and its figures with their intervals."""
    frame = pd.DataFrame([_case_row(run, case) for run in runs for case in run.summary["cases"]])
    return frame.astype({name: float for name in NUMBERS if name in frame})  # columns without any number have NaN, too


def _scaling_doubt(case):
    """Why the gain of more ranks may not be claimed, as stored; empty where Paceline claims it. None for cases without training."""
    if not case.get("training"):
        return None
    if not case.get("scaling"):
        return "no case of fewer ranks with the same work per rank"
    scaled = case["scaling"][0]
    if scaled.get("ci_low") is None or scaled.get("ci_high") is None:
        return scaled.get("ci_low_reason") or "it has no interval"
    return ""


@refuses("the samples of the case cannot be read")
def samples(run, case_id):
    """samples.csv of a case with the columns ms and seconds (since its first sample); empty where it has none."""
    file = run.case_folder(case_id) / "samples.csv"
    frame = pd.read_csv(io.StringIO(read_text(file))) if file.exists() else pd.DataFrame(columns=["repetition", "rank", "index", "start_ns", "host_ns", "flags"])
    frame["ms"] = frame["host_ns"] / 1e6
    frame["seconds"] = (frame["start_ns"] - frame["start_ns"].min()) / 1e9
    return frame


@refuses("the steps of the case cannot be read")
def steps(run, case_id):
    """Every step of every rank of a training case: from rank<k>.jsonl or, where there are too many for text, from the step files of its
    passes; empty where there are none. Buckets of a step are a list in one column there, and columns bucket<i>_<what> here."""
    folder = run.case_folder(case_id)
    texts = sorted(folder.glob("rank*.jsonl"))
    if texts:
        return _json_lines(texts)
    files = sorted(folder.glob("passes/*.steps.bin"))
    return pd.concat([read_step_file(file) for file in files], ignore_index=True) if files else pd.DataFrame()


@refuses("the epochs of the case cannot be read")
def epochs(run, case_id):
    """A row an epoch of a training case (metrics_epoch.jsonl); empty where there are none."""
    return _json_lines(run.case_folder(case_id).glob("metrics_epoch.jsonl"))


# Columns of collectives.csv that are words, empty where an operation has none.
COLLECTIVE_WORDS = ["run_id", "case_id", "outcome", "grade", "operation", "type", "reduction", "backend", "device", "launcher", "place", "mode"]


@refuses("the collectives of the runs cannot be read")
def collectives(runs):
    """Every size of every sweep of the runs (collectives.csv): a row per size, place (in_place, out_of_place) and mode (one_by_one after a
    barrier each, with intervals; back_to_back; batch, which is how nccl-tests times). Runs without the file have no rows."""
    files = [run.folder / "collectives.csv" for run in runs]
    frames = [pd.read_csv(file, dtype=dict.fromkeys(COLLECTIVE_WORDS, str)) for file in files if file.is_file()]
    frame = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=COLLECTIVE_WORDS)
    return frame.fillna(dict.fromkeys(COLLECTIVE_WORDS, ""))


def scaling(frame):
    """Training cases that were measured, by ranks, with Paceline's own speed-up and efficiency against the fewest ranks with the same work
    a rank, from the medians of the step times, and the interval of the efficiency. Where Paceline claims none (fewer than six
    pairs of processes, no case of fewer ranks), they are NaN, and `no_claim` says why."""
    rows = frame[(frame["kind"] == "training") & frame["throughput_per_s"].notna()]
    return rows.sort_values([*SAME_WORK, "ranks"]).reset_index(drop=True)


def _case_row(run, case):
    benchmark = case["benchmark"]
    doubt = _scaling_doubt(case)
    scaled = next(iter(case.get("scaling") or []), {}) if doubt == "" else {}
    trained = next(iter(case.get("training") or []), {})
    p50, throughput, speedup = case["headline"]["p50_ns"], case["throughput"]["per_s"], case["speedup"]["ratio"]
    return {
        "experiment": run.experiment, "run_id": run.run_id, "case_id": case["case_id"], "label": case["label"],
        "outcome": case["outcome"], "grade": case["grade"], "reason": case["reason"],
        "kind": benchmark["kind"], "model": benchmark["model"], "engine": benchmark["engine"], "precision": benchmark["precision"],
        "layout": benchmark["layout"], "batch": benchmark["batch_per_rank"], "threads": benchmark["threads"], "ranks": benchmark["world_size"],
        "params": json.dumps(parameters_of(benchmark), sort_keys=True),
        "item": case["throughput"]["item"],
        **_with_interval("p50_ms", p50, 1e-6), **_with_interval("throughput_per_s", throughput), **_with_interval("speedup", speedup),
        "base_ranks": scaled.get("base_world"), "speedup_of_ranks": scaled.get("speedup"), "efficiency": scaled.get("efficiency"),
        "efficiency_low": scaled.get("ci_low"), "efficiency_high": scaled.get("ci_high"), "no_claim": doubt,
        "exposed_share": trained.get("exposed_share"), "data_wait_share": trained.get("data_wait_share"),
        "total_s": _total_seconds(trained),
    }


def _with_interval(name, stored, scale=1.0):
    def scaled(key):
        value = stored.get(key)
        return None if value is None else value * scale
    return {name: scaled("value"), f"{name}_low": scaled("ci_low"), f"{name}_high": scaled("ci_high")}


def _total_seconds(trained):
    total = trained.get("total_ns")
    return None if total is None else total / 1e9


def _json_lines(files):
    rows = [json.loads(line) for file in files for line in read_text(file).splitlines()]
    return pd.DataFrame(rows)
