"""The speed of minijax, beside that of JAX and of HIPS autograd.

`./jaxprentice bench reference` measures all rows and writes `build/bench/reference.json`. Each
program runs in both libraries, in one process; JAX is in 64-bit mode, and arrays are float32.
`python -m benchmarks.reference import dispatch` measures only rows whose names hold such a word.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import minijax
import numpy as np

from benchmarks import _measure as measure
from benchmarks._measure import Effort, Figure, Operation, Sampler
from benchmarks._programs import (
    Sizes,
    block_loss,
    block_params,
    chain,
    mlp_data,
    mlp_loss,
    mlp_params,
    normal,
    squared_loss,
    token_data,
    training_step,
    transformer_loss,
    transformer_params,
)

ROOT = Path(__file__).resolve().parent.parent
REPORT = ROOT / "build" / "bench" / "reference.json"
PACKAGES = ("numpy", "jaxlib", "jax", "autograd")


# What is measured: each function prepares an operation for one library ----------------------------


def trace_chain(jax: ModuleType, sizes: Sizes) -> Operation:
    x = np.float32(0.5)
    return lambda: jax.make_jaxpr(chain(jax, sizes.equations))(x)


def fresh(f: Callable[..., Any]) -> Callable[..., Any]:
    """The same function as a new object, of which there is no program yet."""
    return lambda *args: f(*args)  # noqa: PLW0108


def mlp_gradient(jax: ModuleType, sizes: Sizes) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The function that is lowered and compiled, and arguments for it."""
    args = (mlp_params(sizes.widths), *mlp_data(sizes.widths, sizes.batch))
    return jax.grad(mlp_loss(jax)), args


def block_gradient(jax: ModuleType, sizes: Sizes) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    x = normal(sizes.sequences, sizes.length, sizes.model)
    return jax.grad(block_loss(jax, sizes.heads)), (block_params(sizes.model), x)


def lower(program: Callable[..., Any], jax: ModuleType, sizes: Sizes) -> Operation:
    f, args = program(jax, sizes)
    return lambda: jax.jit(fresh(f)).lower(*args)


def first_call(program: Callable[..., Any], jax: ModuleType, sizes: Sizes) -> Operation:
    """From the Python function to the first result: trace, lower, compile, run."""
    f, args = program(jax, sizes)
    return lambda: jax.jit(fresh(f))(*args)


def on_device(jax: ModuleType, tree: Any) -> Any:
    return jax.jit(lambda x: x)(tree)


def dispatch(number: int, jax: ModuleType, sizes: Sizes) -> Operation:
    """Call a compiled function that does next to nothing, with so many arguments."""
    args = on_device(jax, [np.ones(8, np.float32)] * number)
    f = jax.jit(lambda *xs: sum(xs[1:], xs[0] * 2.0))
    return lambda: f(*args)


def dispatch_numpy(jax: ModuleType, sizes: Sizes) -> Operation:
    x, y = np.ones(8, np.float32), np.ones(8, np.float32)
    f = jax.jit(lambda x, y: x * 2.0 + y)
    return lambda: f(x, y)


def dispatch_nested(jax: ModuleType, sizes: Sizes) -> Operation:
    """From nested parameters to nested parameters."""
    layers = [{"w": np.ones((4, 4), np.float32), "b": np.ones(4, np.float32)} for _ in range(5)]
    params = on_device(jax, {"layers": layers, "scale": np.ones(4, np.float32)})
    f = jax.jit(lambda params: jax.tree.map(lambda p: p * 0.5, params))
    return lambda: f(params)


def train_mlp(jax: ModuleType, sizes: Sizes) -> Operation:
    step = training_step(jax, mlp_loss(jax))
    args = on_device(jax, (mlp_params(sizes.widths), *mlp_data(sizes.widths, sizes.batch)))
    return lambda: step(*args)


def train_transformer(jax: ModuleType, sizes: Sizes) -> Operation:
    step = training_step(jax, transformer_loss(jax, sizes.heads))
    args = on_device(jax, (transformer_params(sizes), *token_data(sizes)))
    return lambda: step(*args)


def eager_gradient(jax: ModuleType, sizes: Sizes) -> Operation:
    """Without `jit`; each library gets its own kind of arrays."""
    asarray = getattr(jax.numpy, "asarray", np.asarray)
    params = [
        {name: asarray(w) for name, w in layer.items()} for layer in mlp_params(sizes.small_widths)
    ]
    x, y = map(asarray, mlp_data(sizes.small_widths, sizes.small_batch))
    gradient = jax.grad(squared_loss(jax))
    return lambda: gradient(params, x, y)


def per_example(jax: ModuleType, sizes: Sizes) -> Operation:
    """The gradient of each example's loss."""
    gradients = jax.jit(jax.vmap(jax.grad(mlp_loss(jax)), in_axes=(None, 0, 0)))
    params, data = mlp_params(sizes.widths), mlp_data(sizes.widths, sizes.examples)
    args = on_device(jax, (params, *data))
    return lambda: gradients(*args)


def import_seconds(jax: ModuleType, sizes: Sizes) -> Operation:
    """Import the library in a new process, which tells how long that took.

    Python keeps the bytecode of both libraries in a folder of this run: an environment may forbid
    to write it, and installers have written that of the other one.
    """
    clock = "from time import perf_counter as now; start = now()"
    command = f"{clock}; import {jax.__name__}; print(now() - start)"
    settings = {"PYTHONPATH": str(ROOT / "solutions"), "PYTHONPYCACHEPREFIX": bytecode().name}
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", **settings}
    run = partial(subprocess.run, check=True, capture_output=True, text=True, env=environment)
    run([sys.executable, "-c", command])
    return lambda: float(run([sys.executable, "-c", command]).stdout)


@cache
def bytecode() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="jaxprentice-")


# The rows ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """A line of the table: `prepare` gives the operation of each library."""

    name: str
    aim: float
    prepare: Callable[[ModuleType, Any], Operation]  # of the library, and the sizes
    other: str = "jax"
    sampler: Sampler = measure.seconds_of


ROWS = (
    Row("make_jaxpr of 1,000 equations", 0.2, trace_chain),
    Row("trace and lower, gradient of an MLP", 0.15, partial(lower, mlp_gradient)),
    Row("trace and lower, gradient of a block", 0.18, partial(lower, block_gradient)),
    Row("first call, gradient of an MLP", 0.95, partial(first_call, mlp_gradient)),
    Row("first call, gradient of a block", 0.85, partial(first_call, block_gradient)),
    Row("dispatch, 1 device array", 1.25, partial(dispatch, 1)),
    Row("dispatch, 20 device arrays", 1.0, partial(dispatch, 20)),
    Row("dispatch, 2 NumPy arrays", 2.0, dispatch_numpy),
    Row("dispatch, nested parameters", 1.3, dispatch_nested),
    Row("training step, MLP 784-256-10", 1.0, train_mlp),
    Row("training step, 2-layer transformer", 1.0, train_transformer),
    Row("per-example gradients, jit(vmap(grad))", 1.0, per_example),
    Row("eager grad of a small MLP", 0.3, eager_gradient),
    Row("eager grad of a small MLP", 2.6, eager_gradient, other="autograd"),
    Row("import", 0.5, import_seconds, sampler=lambda operation, number: operation()),
)


def module(name: str) -> ModuleType:
    """A library to compare with."""
    if name == "jax":
        jax.config.update("jax_enable_x64", True)
        return jax
    import autograd
    import autograd.numpy

    return autograd


def measured(rows: Sequence[Row], sizes: Any, effort: Effort) -> Iterator[Figure]:
    """The figures, each as soon as it is there."""
    for row in rows:
        ours, other = row.prepare(minijax, sizes), row.prepare(module(row.other), sizes)
        pairs = measure.interleaved(ours, other, row.sampler, effort)
        yield measure.figure(row.name, row.other, row.aim, pairs)


def main(
    words: Sequence[str] = (), report: Path = REPORT, rows: Sequence[Row] = ROWS, sizes: Any = None
) -> None:
    """Print the table, line by line, and write the report."""
    chosen = [row for row in rows if not words or any(word in row.name for word in words)]
    print(measure.HEAD)
    figures = measure.printed(measured(chosen, sizes or Sizes(), Effort()), measure.table_line)
    found = [{**asdict(row), "reached": row.is_reached} for row in figures]
    measure.keep(report, found, PACKAGES)


if __name__ == "__main__":
    main(sys.argv[1:])
