"""Runs this project's own tests, and says at the end what was skipped and how to get it."""

import os
import subprocess
import sys
from collections.abc import Sequence

from autograder.lessons import places
from autograder.student import doctor
from autograder.upkeep import pythons

# Five processes keep two cores busy, although many tests wait: for a limit of time, for a browser.
# Four leave a quarter of them idle. More than twenty wait for the longest file. A file stays in one
# process, because its tests share expensive things: a graded class, a built site. Files start in
# `tests/conftest.py`'s order.
PROCESSES = min(round(2.5 * (os.cpu_count() or 1)), 20)
IN_PARALLEL = ("-n", str(PROCESSES), "--dist", "loadfile", "--no-loadscope-reorder")
ALL = "--all"
EVERY_PYTHON = "--every-python"


def run(arguments: Sequence[str]) -> int:
    """Run pytest with the given arguments, and return its exit status.

    It runs a choice of the tests that covers every part, unless `--all` asks for all of them or the
    arguments say which.
    """
    if EVERY_PYTHON in arguments:
        return pythons.run([word for word in arguments if word != EVERY_PYTHON])
    command = [sys.executable, "-m", "pytest", "-r", "fEs", *flags(list(arguments))]
    environment = {**os.environ, "PYTHONPATH": ""}
    # Where an image sets it, each process and all that it starts would compile a thousand modules.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    status = subprocess.call(command, cwd=places.ROOT, env=environment)
    missing = [name for name in doctor.DEBIAN_PACKAGES if not doctor.has(name)]
    if missing:
        print(f"Tests that need {' and '.join(missing)} were skipped. To run them, on Debian:")
        print(f"    sudo apt install {' '.join(missing)}")
    return status


def flags(arguments: Sequence[str]) -> list[str]:
    """What pytest is called with. One file starts at once; more of them share processes."""
    rest = [word for word in arguments if word != ALL]
    named = [file for word in rest if (file := places.ROOT / word.partition("::")[0]).exists()]
    if any(word in SINGLE for word in rest) or (len(named) == 1 and named[0].is_file()):
        return rest
    selected = ALL in arguments or named or any(word in SELECTING for word in rest)
    return [*IN_PARALLEL, *rest] if selected else [*IN_PARALLEL, "--choice", *rest]


# Flags of pytest that say which tests to run; --full, ours, is all of them and the sweeps.
SELECTING = ("--full", "-k", "-m", "--lf", "--last-failed", "--ff")

# Flags of pytest that want one process: those that list tests, or that stop in a debugger.
SINGLE = ("--collect-only", "--co", "--pdb", "--trace", "--version", "--help", "--markers")
