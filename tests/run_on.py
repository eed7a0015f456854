"""What a program prints, in a process of its own, where `import jax` may mean minijax."""

import os
import subprocess
import sys

from autograder.lessons import places
from autograder.sandbox import launch
from autograder.student import run_program


def printed(file, backend):
    """What a program prints on minijax or on JAX."""
    quick = {**os.environ, "XLA_FLAGS": launch.xla_flags()}
    words = [run_program.__file__, str(places.SOLUTIONS), str(file), backend, ""]
    run = subprocess.run(
        [sys.executable, "-P", "-W", "ignore", *words],
        env=quick, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (run.returncode, run.stderr) == (0, "")
    return run.stdout
