"""What a program prints, in a process of its own, where `import jax` may mean minijax.

Some have more devices than one: how many there are is fixed when XLA starts.
"""

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


def environment(devices):
    """The variables of a process that has the reference, and so many devices."""
    flags = f"{launch.xla_flags()} --xla_force_host_platform_device_count={devices}"
    return {**os.environ, "XLA_FLAGS": flags, "PYTHONPATH": str(places.SOLUTIONS)}


def output(*words, devices):
    """What Python prints, called with these words."""
    command, env = [sys.executable, *words], environment(devices)
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
