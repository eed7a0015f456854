"""Runs the benchmarks, the scripts of the folder `benchmarks`, each in a process of its own."""

import os
import subprocess
import sys

from autograder.lessons.places import ROOT, SOLUTIONS
from autograder.lessons.problem import Problem

FOLDER = ROOT / "benchmarks"


def names() -> list[str]:
    """The benchmarks there are; files that begin with an underscore are parts that they share."""
    return sorted(path.stem for path in FOLDER.glob("*.py") if not path.stem.startswith("_"))


def run(name: str | None = None) -> int:
    """Run one benchmark, or all, and return the exit status."""
    if name is not None and name not in names():
        raise Problem(f"There is no benchmark {name!r}. There are: {', '.join(names())}.")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(SOLUTIONS)])}
    for each in [name] if name else names():
        command = [sys.executable, "-m", f"{FOLDER.name}.{each}"]
        status = subprocess.call(command, cwd=ROOT, env=environment)
        if status != 0:
            return status
    return 0
