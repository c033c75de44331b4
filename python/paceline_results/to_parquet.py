# SPDX-License-Identifier: MIT
"""Writes a table of runs as a Parquet file, by pandas with pyarrow or fastparquet."""

import io
import pathlib

from paceline_results.regular import read_text, refuses

TABLES = ("summary", "collectives", "samples", "epochs")


def write(runs, table, file):
    """The table of all runs in one file; returns the number of rows. Raises ValueError where no run has the table."""
    place = pathlib.Path(file)
    if place.suffix != ".parquet":
        raise ValueError(f"'{file}' is no name of a Parquet file; end it with .parquet")
    frame = _frame(runs, table)
    if frame.empty:
        raise ValueError(f"no run has a row of the table '{table}'; there are {', '.join(TABLES)}")
    for name in frame.columns[frame.dtypes == object]:
        frame[name] = frame[name].astype("string")  # a column has one type, also where most cells are empty
    frame.to_parquet(file, index=False)
    return len(frame)


@refuses("the tables of the runs cannot be read")
def _frame(runs, table):
    import pandas as pd
    parts = [_with_columns(pd.read_csv(io.StringIO(read_text(file)), low_memory=False) if file.suffix == ".csv" else
                           pd.read_json(io.StringIO(read_text(file)), lines=True), about)
             for run in runs for file, about in _files(run, table) if file.is_file()]
    parts = [part for part in parts if not part.empty]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def _files(run, table):
    """(file, columns that its rows lack) of a run."""
    if table in ("summary", "collectives"):
        return [(run.folder / f"{table}.csv", {})]
    name = {"samples": "samples.csv", "epochs": "metrics_epoch.jsonl"}[table]
    return [(run.case_folder(case["case_id"]) / name, {"run_id": run.run_id, "case_id": case["case_id"]}) for case in run.summary["cases"]]


def _with_columns(frame, about):
    for place, (name, value) in enumerate(about.items()):
        frame.insert(place, name, value)
    return frame
