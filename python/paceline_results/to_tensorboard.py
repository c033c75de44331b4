# SPDX-License-Identifier: MIT
"""Writes event files of TensorBoard: a run of TensorBoard per case, with its metrics, epochs and steps. Needs the package tensorboard."""

from pathlib import Path

from paceline_results import figures
from paceline_results.runs import refuse_copies


def write(runs, folder):
    """Event files below LOGDIR/<run_id>/<case_id>; returns the number of scalars. Refuses a run that is already there."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter
    for run in runs:
        if (Path(folder) / run.run_id).exists():
            raise ValueError(f"'{Path(folder) / run.run_id}' is already there; remove it, or name another folder with -o")
    refuse_copies(runs)
    everything = [(run, figures.began_s(run), list(_cases(run))) for run in runs]  # nothing is written before all of it is read
    written = 0
    for run, began, cases in everything:
        for case_id, scalars in cases:
            writer = EventFileWriter(str(Path(folder) / run.run_id / case_id))
            for tag, step, value in scalars:
                summary = Summary(value=[Summary.Value(tag=tag, simple_value=value)])
                writer.add_event(Event(wall_time=began, step=step, summary=summary))
            writer.close()
            written += len(scalars)
    return written


def _cases(run):
    """(case, its scalars) of a run. Later repetitions have separate tags."""
    for row in figures.table(run):
        case_id = row["case_id"]
        scalars = [(f"case/{name}", 0, value) for name, value in figures.numbers_of(row).items()]
        for part, rows in (("epoch", figures.epochs(run, case_id)), ("step", figures.steps(run, case_id))):
            for repetition, number, values in rows:
                prefix = f"{part}/repetition {repetition}" if repetition else part
                scalars += [(f"{prefix}/{name}", number, value) for name, value in values.items()]
        yield case_id, scalars
