# SPDX-License-Identifier: MIT
"""Logs runs to MLflow: a run with the files, and below it one per case with parameters, metrics and epochs. Needs the package mlflow."""

from paceline_results import figures
from paceline_results.runs import refuse_copies

FILES = ("run_summary.json", "summary.csv", "collectives.csv", "plan.yaml", "environment.json", "report.html")
MOST_OF_PARAMETER, MOST_PARAMETERS, MOST_METRICS = 500, 100, 1000  # characters; of one request, as every server of MLflow takes
TAG = "paceline.run_id"


def write(runs, tracking_uri=None, experiment=None):
    """Returns the ids of the MLflow runs, one per run. Raises ValueError for a run that the experiment already has or that is there twice, and for what MLflow refuses."""
    from mlflow.exceptions import MlflowException
    from mlflow.tracking import MlflowClient
    refuse_copies(runs)
    try:
        client = MlflowClient(tracking_uri=tracking_uri)
        homes = [_experiment(client, experiment or run.experiment) for run in runs]
        for run, home in zip(runs, homes, strict=True):
            if client.search_runs([home], filter_string=f"tags.`{TAG}` = '{run.run_id}'", max_results=1):
                raise ValueError(f"MLflow already has the run {run.run_id} in this experiment; delete it there, or write --experiment NAME")
        return [_log_run(client, run, home) for run, home in zip(runs, homes, strict=True)]
    except MlflowException as problem:
        raise ValueError(f"MLflow at {tracking_uri or 'its default place'}: {problem}") from problem


def _experiment(client, name):
    found = client.get_experiment_by_name(name)
    return found.experiment_id if found else client.create_experiment(name)


def _log_run(client, run, home):
    rows = figures.table(run)
    facts = {f"paceline.{name}": value for name, value in figures.facts_of(run).items()}
    parent = client.create_run(home, tags=facts, run_name=run.run_id).info.run_id
    for case, row in zip(run.summary["cases"], rows, strict=True):
        _log_case(client, run, home, parent, case, row)
    for name in FILES:
        if (run.folder / name).is_file():
            client.log_artifact(parent, str(run.folder / name))
    client.set_terminated(parent, status="FINISHED" if run.summary.get("outcome") == "ok" else "FAILED")
    return parent


def _log_case(client, run, home, parent, case, row):
    from mlflow.entities import Metric, Param
    tags = {"mlflow.parentRunId": parent, "paceline.case_id": case["case_id"], "paceline.outcome": str(case.get("outcome")), "paceline.grade": str(case.get("grade"))}
    one = client.create_run(home, tags=tags, run_name=case["case_id"]).info.run_id
    began_ms = round(figures.began_s(run) * 1000)
    params = [Param(name, value[:MOST_OF_PARAMETER]) for name, value in figures.settings_of(case).items()]
    metrics = [Metric(name, value, began_ms, 0) for name, value in figures.numbers_of(row).items()]
    for repetition, epoch, values in figures.epochs(run, case["case_id"]):
        prefix = f"epoch/repetition {repetition}" if repetition else "epoch"
        metrics += [Metric(f"{prefix}/{name}", value, began_ms, epoch) for name, value in values.items()]
    for begin in range(0, len(params), MOST_PARAMETERS):
        client.log_batch(one, params=params[begin:begin + MOST_PARAMETERS])
    for begin in range(0, len(metrics), MOST_METRICS):
        client.log_batch(one, metrics=metrics[begin:begin + MOST_METRICS])
    client.set_terminated(one, status="FINISHED" if case.get("outcome") == "ok" else "FAILED")
