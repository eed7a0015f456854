"""minijax works where JAX is not installed, and leaves it alone where it is."""

from pathlib import Path

import pytest
from run_on import output

TOUR = Path(__file__).with_name("tour.py")


@pytest.mark.parametrize("jax", ["hidden", "seen"])
def test_a_tour_through_minijax_needs_no_jax_and_imports_none(jax):
    """Every public name, expressions, and a step of training; see `test_import_graph`, too."""
    assert output(str(TOUR), jax, devices=1).splitlines()[-1] == "False"
