# SPDX-License-Identifier: MIT
"""Reads Paceline's run directories into pandas: a row per case, sample, training step, epoch or size of a collective.

    import paceline_results as results
    cases = results.cases(results.find_runs("results"))
    print(results.scaling(cases))
"""

from paceline_results.frames import cases, collectives, epochs, samples, scaling, steps
from paceline_results.runs import Run, find_runs, read_run
from paceline_results.step_file import read_step_file

__all__ = ["Run", "cases", "collectives", "epochs", "find_runs", "read_run", "read_step_file", "samples", "scaling", "steps"]
