# SPDX-License-Identifier: MIT
"""Start-up hook of `paceline attach`: Python runs it in every process whose PYTHONPATH names this folder. Without PACELINE_ATTACH it does
nothing but run the sitecustomize that it stands in front of."""


def _run_the_next():
    """Runs the sitecustomize that Python would have run without this one, as Python does: one that is missing is no error. Folders of this
    hook are passed over, which PYTHONPATH may name twice: they would run each other without end."""
    import importlib.machinery
    import importlib.util
    import os
    import sys

    others = [folder for folder in sys.path if not os.path.exists(os.path.join(folder or os.curdir, "paceline_attach.py"))]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


def _attach():
    import os

    if not os.environ.get("PACELINE_ATTACH"):
        return
    try:
        import paceline_attach

        paceline_attach.wait_for_torch()
    except Exception as problem:  # the job goes on, whatever it is
        os.write(2, ("paceline attach: not attached: %r\n" % (problem,)).encode("utf-8", "replace"))


_attach()
_run_the_next()
