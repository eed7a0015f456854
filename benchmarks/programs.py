"""The programs of the gallery: what it takes to trace, to compile and to step, beside JAX.

`./jaxprentice bench programs` measures the function `step` of each program, on the state with which
it starts, and writes `build/bench/programs.json`. Both libraries run in one process and in 64-bit
mode. `python -m benchmarks.programs gpt step` measures only rows whose names hold such a word.
"""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

from benchmarks._measure import Operation
from benchmarks.reference import ROOT, Row, first_call, lower, main

REPORT = ROOT / "build" / "bench" / "programs.json"
Program = Callable[[ModuleType, Any], tuple[Callable[..., Any], tuple[Any, ...]]]
GALLERY = sorted((ROOT / "course" / "capstones" / "gallery").glob("*.py"))


def load(file: Path, library: ModuleType) -> Any:
    """A program of the gallery as a module, whose `import jax` is an import of this library."""
    ours = library.__name__
    parts = [name for name in sys.modules if f"{name}.".startswith(f"{ours}.")]
    module = ModuleType(file.stem)
    with patch.dict(sys.modules, {f"jax{x.removeprefix(ours)}": sys.modules[x] for x in parts}):
        exec(compile(file.read_text(encoding="utf-8"), file, "exec"), vars(module))
    return module


def program(file: Path, jax: ModuleType, sizes: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The step of a program, and the state with which it starts."""
    loaded = load(file, jax)
    return loaded.step, loaded.start()


def step(of: Program, jax: ModuleType, sizes: Any) -> Operation:
    """A step of the compiled program."""
    f, args = of(jax, sizes)
    compiled = jax.jit(f)
    return lambda: compiled(*args)


ROWS = [
    Row(f"{file.stem}, {name}", aim, partial(prepare, partial(program, file)))
    for file in GALLERY
    for name, aim, prepare in (
        ("trace and lower", 0.3, lower),
        ("first call", 1.0, first_call),
        ("step", 1.05, step),
    )
]

if __name__ == "__main__":
    main(sys.argv[1:], REPORT, ROWS)
