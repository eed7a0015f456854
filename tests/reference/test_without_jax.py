"""minijax works where JAX is not installed, and leaves it alone where it is."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.lessons import places
from autograder.sandbox import launch

TOUR = Path(__file__).with_name("tour.py")


@pytest.mark.parametrize("jax", ["hidden", "seen"])
def test_a_tour_through_minijax_needs_no_jax_and_imports_none(jax):
    """Every public name, all transformations, custom rules, printing, and training an MLP."""
    flags = f"{launch.xla_flags()} --xla_force_host_platform_device_count=2"
    done = subprocess.run(
        [sys.executable, str(TOUR), jax],
        env={**os.environ, "PYTHONPATH": str(places.SOLUTIONS), "XLA_FLAGS": flags},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "False"
