# SPDX-License-Identifier: MIT
"""Reads Paceline's run directories into pandas: a row per case, sample, training step, epoch or size of a collective.

    import paceline_results as results
    cases = results.cases(results.find_runs("results"))
    print(results.scaling(cases))

`python -m paceline_results --help` lists what it writes for other programs: Parquet, TensorBoard and MLflow.
"""

import importlib

from paceline_results.runs import Run, find_runs, read_run

_WITH_PANDAS = {"frames": ("cases", "collectives", "epochs", "samples", "scaling", "steps"), "step_file": ("read_step_file",)}
_MODULE_OF = {name: module for module, names in _WITH_PANDAS.items() for name in names}

__all__ = ["Run", "find_runs", "read_run", *_MODULE_OF]  # noqa: PLE0604


def __getattr__(name):
    """Imports what needs pandas when it is first used: exports for programs without pandas work without it."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'paceline_results' has no attribute '{name}'")
    return getattr(importlib.import_module(f"paceline_results.{_MODULE_OF[name]}"), name)


def __dir__():
    return sorted([*globals(), *_MODULE_OF])
