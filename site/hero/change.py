"""Runs an example that a reader has changed, after those before it, on microjax in one file."""

import io
import json
import sys
import traceback
from contextlib import redirect_stdout, suppress

import microjax

# The lessons have a module each.
sys.modules |= {f"microjax.{name}": microjax for name in ("interpreters", "duals", "staging")}


def run(codes):
    """What the last of these examples prints, and the error that ends it, as text."""
    *before, changed = json.loads(codes)
    names = {}
    for code in before:
        with suppress(Exception), redirect_stdout(io.StringIO()):
            exec(code, names)
    with redirect_stdout(io.StringIO()) as out:
        try:
            exec(changed, names)
        except Exception as error:
            print("".join(traceback.format_exception_only(error)), end="")
    return out.getvalue() or "It prints nothing."
