# SPDX-License-Identifier: MIT
"""Reads Paceline's run directories into pandas: a row a case, a sample, a training step or an epoch.

    import paceline_results as results
    cases = results.cases(results.find_runs("results"))
    print(results.scaling(cases))
"""

from paceline_results.frames import cases, epochs, samples, scaling, steps
from paceline_results.runs import Run, find_runs, read_run
from paceline_results.step_file import read_step_file

__all__ = ["Run", "cases", "epochs", "find_runs", "read_run", "read_step_file", "samples", "scaling", "steps"]
