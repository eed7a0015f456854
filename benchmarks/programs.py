"""The programs of the gallery: what it takes to trace, to compile and to step, beside JAX.

`./jaxprentice bench programs` measures the function `step` of each program, on the state with which
it starts, and writes `build/bench/programs.json`. Both libraries run in one process and in 64-bit
mode. `python -m benchmarks.programs gpt step` measures only rows whose names hold such a word.
"""

import importlib.util
import sys
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks._measure import Operation
from benchmarks.reference import ROOT, Row, fresh, main

REPORT = ROOT / "build" / "bench" / "programs.json"
GALLERY = sorted((ROOT / "course" / "capstones" / "gallery").glob("*.py"))


def load(file: Path, library: ModuleType) -> Any:
    """A program of the gallery as a module, whose `import jax` is an import of this library."""
    names = [name for name in sys.modules if name == "jax" or name.startswith("jax.")]
    kept = {name: sys.modules.pop(name) for name in names}
    ours = library.__name__
    for name in [name for name in sys.modules if name == ours or name.startswith(f"{ours}.")]:
        sys.modules["jax" + name.removeprefix(ours)] = sys.modules[name]
    if library.__name__ == "jax":
        sys.modules.update(kept)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    finally:
        for name in [name for name in sys.modules if name == "jax" or name.startswith("jax.")]:
            del sys.modules[name]
        sys.modules.update(kept)
    return module


def trace_and_lower(file: Path, jax: ModuleType, sizes: Any) -> Operation:
    """From Python to StableHLO, of a step that was never traced before."""
    program = load(file, jax)
    args = program.start()
    return lambda: jax.jit(fresh(program.step)).lower(*args)


def first_call(file: Path, jax: ModuleType, sizes: Any) -> Operation:
    """Trace, lower, compile and run a step for the first time."""
    program = load(file, jax)
    args = program.start()
    return lambda: jax.jit(fresh(program.step))(*args)


def step(file: Path, jax: ModuleType, sizes: Any) -> Operation:
    """A step of the compiled program."""
    program = load(file, jax)
    args = program.start()
    compiled = jax.jit(program.step)
    return lambda: compiled(*args)


ROWS = [
    Row(f"{file.stem}, {name}", aim, partial(prepare, file))
    for file in GALLERY
    for name, aim, prepare in (
        ("trace and lower", 0.3, trace_and_lower),
        ("first call", 1.0, first_call),
        ("step", 1.05, step),
    )
]

if __name__ == "__main__":
    main(sys.argv[1:], REPORT, ROWS)
