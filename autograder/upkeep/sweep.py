"""Walks the reference through everything: each primitive, shape, dtype and pair of transformations.

The work is done by two tests, which the usual run of the tests does in part. What JAX answers is
kept in `build/oracle`, and what failed last time comes first: a sweep that was stopped goes on
quickly.
"""

import os
import subprocess
import sys
from importlib.util import find_spec

from autograder.lessons import places
from autograder.lessons.problem import Problem

TEST = "tests/reference/test_primitives.py"
EDGES = "tests/reference/test_edges.py"


def run() -> int:
    """Run the sweep with pytest's progress on the screen, and return the exit status."""
    if not (places.ROOT / TEST).exists() or find_spec("jax") is None:
        raise Problem(f"The sweep needs {TEST} and JAX. Leave it out with --quick.")
    print(
        f"\nThe sweep, {TEST} and {EDGES} --full (the better part of an hour, at first):",
        flush=True,
    )
    command = [sys.executable, "-m", "pytest", TEST, EDGES, "--full", "-q", "--failed-first"]
    command += ["-n", "2", "--dist", "worksteal"]
    return subprocess.call(command, cwd=places.ROOT, env={**os.environ, "PYTHONPATH": ""})
