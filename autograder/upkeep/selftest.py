"""Runs this project's own tests, and says at the end what was skipped and how to get it."""

import os
import subprocess
import sys
from collections.abc import Sequence

from autograder.lessons import places
from autograder.student import doctor

# All tests take minutes, so two processes share the files. A file stays in one process, for its
# tests share what is expensive: a graded class, a built site.
IN_PARALLEL = ("-n", "2", "--dist", "loadfile")


def run(arguments: Sequence[str]) -> int:
    """Run pytest with the given arguments (none: all tests), and return its exit status."""
    command = [sys.executable, "-m", "pytest", "-r", "fEs", *(arguments or IN_PARALLEL)]
    status = subprocess.call(command, cwd=places.ROOT, env={**os.environ, "PYTHONPATH": ""})
    missing = [name for name in doctor.PROGRAMS if not doctor.has(name)]
    if missing:
        print(f"Tests that need {' and '.join(missing)} were skipped. To run them, on Debian:")
        print(f"    sudo apt install {' '.join(missing)}")
    return status
