# SPDX-License-Identifier: MIT
"""Writes stored runs for other programs: python -m paceline_results parquet | tensorboard | mlflow RUN."""

import argparse
import importlib.util
import sys

from paceline_results import find_runs

EXIT_WRONG, EXIT_UNAVAILABLE = 2, 77  # as of the tool

# Imports of each export: one of each group, which pip installs by the first name.
NEEDED = {"parquet": (("pandas",), ("pyarrow", "fastparquet")), "tensorboard": (("tensorboard",),), "mlflow": (("mlflow",),)}


class Lacking(Exception):
    """A package is not installed."""


def arguments(words):
    parser = argparse.ArgumentParser(prog="python -m paceline_results", description="Writes stored runs of Paceline for other programs.")
    exports = parser.add_subparsers(dest="export", required=True, metavar="EXPORT")
    parquet = exports.add_parser("parquet", help="one table of the runs as a Parquet file")
    parquet.add_argument("-o", "--output", required=True, metavar="FILE")
    parquet.add_argument("--table", choices=("summary", "collectives", "samples", "epochs"), default="summary")
    tensorboard = exports.add_parser("tensorboard", help="event files: metrics of cases, epochs and steps of training")
    tensorboard.add_argument("-o", "--output", required=True, metavar="LOGDIR")
    mlflow = exports.add_parser("mlflow", help="parameters, metrics and files in MLflow")
    mlflow.add_argument("--tracking-uri", metavar="URI", help="a server or a store; unset: MLFLOW_TRACKING_URI, or what MLflow takes")
    mlflow.add_argument("--experiment", metavar="NAME", help="unset: the name of the plan")
    for export in (parquet, tensorboard, mlflow):
        export.add_argument("run", metavar="RUN", help="a run directory, or a folder of runs")
    return parser.parse_args(words)


def require(export):
    for group in NEEDED[export]:
        if not any(importlib.util.find_spec(name) for name in group):
            raise Lacking(f"{export} needs the package {' or '.join(group)}: pip install {group[0]}")


def write(asked):
    """Says in one line what was written."""
    require(asked.export)
    runs = find_runs(asked.run)
    if asked.export == "parquet":
        from paceline_results import to_parquet
        return f"{to_parquet.write(runs, asked.table, asked.output)} rows  {asked.output}"
    if asked.export == "tensorboard":
        from paceline_results import to_tensorboard
        return f"{to_tensorboard.write(runs, asked.output)} scalars  tensorboard --logdir {asked.output}"
    from paceline_results import to_mlflow
    return "MLflow runs: " + " ".join(to_mlflow.write(runs, asked.tracking_uri, asked.experiment))


def main(words=None):
    asked = arguments(words)
    try:
        print(write(asked))
    except (Lacking, ImportError) as problem:
        print(f"paceline_results: {problem}", file=sys.stderr)
        return EXIT_UNAVAILABLE
    except (ValueError, OSError) as problem:
        print(f"paceline_results: {problem}", file=sys.stderr)
        return EXIT_WRONG
    return 0


if __name__ == "__main__":
    sys.exit(main())
