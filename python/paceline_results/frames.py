# SPDX-License-Identifier: MIT
"""Runs as data frames. Numbers are those of the files, in the unit that the column's name ends in; a missing number is NaN."""

import json

import pandas as pd

# Columns that tell cases apart which differ in the number of ranks only.
SAME_WORK = ["run_id", "kind", "model", "engine", "precision", "layout", "batch", "threads", "params"]


def cases(runs):
    """A row a case of the runs: what was measured, its outcome and its figures with their intervals."""
    return pd.DataFrame([_case_row(run, case) for run in runs for case in run.summary["cases"]])


def samples(run, case_id):
    """samples.csv of a case with the columns ms and seconds (since its first sample); empty where it has none."""
    file = run.case_folder(case_id) / "samples.csv"
    frame = pd.read_csv(file) if file.is_file() else pd.DataFrame(columns=["repetition", "rank", "index", "start_ns", "host_ns", "flags"])
    frame["ms"] = frame["host_ns"] / 1e6
    frame["seconds"] = (frame["start_ns"] - frame["start_ns"].min()) / 1e9
    return frame


def steps(run, case_id):
    """Every step of every rank of a training case (rank<k>.jsonl); empty where there are none."""
    return _json_lines(sorted(run.case_folder(case_id).glob("rank*.jsonl")))


def epochs(run, case_id):
    """A row an epoch of a training case (metrics_epoch.jsonl); empty where there are none."""
    return _json_lines(run.case_folder(case_id).glob("metrics_epoch.jsonl"))


def scaling(frame):
    """Training cases that were measured, by ranks: throughput and, against the fewest ranks with the same work a rank, speed-up and
    efficiency (throughput over ranks times the throughput a rank there). `efficiency_stored` is the tool's own, from step times, with its
    interval; the two differ a little."""
    rows = frame[(frame["kind"] == "training") & frame["throughput_per_s"].notna()].copy()
    rows = rows.sort_values([*SAME_WORK, "ranks"])
    base = rows.groupby(SAME_WORK, dropna=False)[["ranks", "throughput_per_s"]].transform("first")
    rows["base_ranks"] = base["ranks"]
    rows["speedup_of_throughput"] = rows["throughput_per_s"] / base["throughput_per_s"]
    rows["efficiency"] = rows["speedup_of_throughput"] * rows["base_ranks"] / rows["ranks"]
    return rows.reset_index(drop=True)


def _case_row(run, case):
    benchmark = case["benchmark"]
    scaled = next(iter(case.get("scaling") or []), {})
    trained = next(iter(case.get("training") or []), {})
    p50, throughput, speedup = case["headline"]["p50_ns"], case["throughput"]["per_s"], case["speedup"]["ratio"]
    return {
        "experiment": run.experiment, "run_id": run.run_id, "case_id": case["case_id"], "label": case["label"],
        "outcome": case["outcome"], "grade": case["grade"], "reason": case["reason"],
        "kind": benchmark["kind"], "model": benchmark["model"], "engine": benchmark["engine"], "precision": benchmark["precision"],
        "layout": benchmark["layout"], "batch": benchmark["batch_per_rank"], "threads": benchmark["threads"], "ranks": benchmark["world_size"],
        "params": json.dumps(benchmark["params"], sort_keys=True),
        "item": case["throughput"]["item"],
        **_with_interval("p50_ms", p50, 1e-6), **_with_interval("throughput_per_s", throughput), **_with_interval("speedup", speedup),
        "efficiency_stored": scaled.get("efficiency"), "efficiency_stored_low": scaled.get("ci_low"),
        "efficiency_stored_high": scaled.get("ci_high"),
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
    rows = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return pd.DataFrame(rows)
