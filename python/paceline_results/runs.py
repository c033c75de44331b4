# SPDX-License-Identifier: MIT
"""Run directories: where they are, what is in run_summary.json, where the files of a case lie."""

import dataclasses
from pathlib import Path

from paceline_results.regular import read_json

SCHEMA_MAJOR = "1"
NEEDED = {"schema_version": str, "run_id": str, "experiment_name": str, "cases": list}  # what a summary has, and its type


@dataclasses.dataclass(frozen=True)
class Run:
    """One run: its folder and run_summary.json as it is."""

    folder: Path
    summary: dict

    @property
    def run_id(self):
        return self.summary["run_id"]

    @property
    def experiment(self):
        return self.summary["experiment_name"]

    def case_folder(self, case_id):
        """Where a case's files are: a run of a single case has them beside the summary."""
        folder = self.folder / "cases" / case_id
        return folder if folder.is_dir() else self.folder


def read_run(folder):
    """The run in a folder. Raises ValueError for a folder that is none, a damaged one, and a newer major version of the format."""
    folder = Path(folder)
    file = folder / "run_summary.json"
    if not file.is_file():
        raise ValueError(f"'{folder}' is no run of Paceline: it has no run_summary.json")
    summary = read_json(file)
    lacking = [name for name, kind in NEEDED.items() if not isinstance(summary, dict) or not isinstance(summary.get(name), kind)]
    if lacking:
        raise ValueError(f"'{file}' is damaged, or no result of a run: its {lacking[0]} is missing or of another type")
    version = summary["schema_version"]
    if version.split(".")[0] != SCHEMA_MAJOR:
        raise ValueError(f"'{file}' is of format {version}; this package reads {SCHEMA_MAJOR}.x")
    return Run(folder, summary)


def find_runs(folder):
    """Every run below a folder (or the folder itself), oldest first."""
    folder = Path(folder)
    found = [read_run(file.parent) for file in folder.rglob("run_summary.json")]
    if not found:
        raise ValueError(f"no run of Paceline below '{folder}'")
    return sorted(found, key=lambda run: (str(run.summary.get("started_utc", "")), run.run_id))


def refuse_copies(runs):
    """Raises ValueError for two folders with the same run, which an export would write twice."""
    folders = {}
    for run in runs:
        if run.run_id in folders:
            raise ValueError(f"'{folders[run.run_id]}' and '{run.folder}' are the same run {run.run_id}; name the folder of one")
        folders[run.run_id] = run.folder
