"""The speed of loops: compiled `while_loop` and `scan`, and the gradient of a scan, beside JAX.

`./jaxprentice bench control` measures all rows and writes `build/bench/control.json`. The loops
have many short steps, so that what a step costs besides its arithmetic is what is seen.
`python -m benchmarks.control gradient` measures only rows whose names hold such a word.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks._measure import Operation
from benchmarks._programs import normal
from benchmarks.reference import ROOT, Row, fresh, main, on_device

REPORT = ROOT / "build" / "bench" / "control.json"


@dataclass(frozen=True)
class Sizes:
    """How long the loops are; the defaults are what is reported."""

    iterations: int = 10_000  # of the while loop
    steps: int = 1000  # of the scans
    width: int = 32  # of the recurrent network


def compiled_while(jax: ModuleType, sizes: Sizes) -> Operation:
    """A loop over one number, whose length is known only when it runs."""
    f = jax.jit(
        lambda n, x: jax.lax.while_loop(
            lambda c: c[0] < n, lambda c: (c[0] + 1, c[1] * 0.999 + 1.0), (0, x)
        )
    )
    args = on_device(jax, (sizes.iterations, np.float64(1.0)))
    return lambda: f(*args)


def number_scan(jax: ModuleType) -> Callable[..., Any]:
    """A scan over numbers, which keeps every carry."""

    def step(c: Any, x: Any) -> Any:
        c = jax.numpy.sin(c) * x
        return c, c

    return lambda c, xs: jax.lax.scan(step, c, xs)


def network_scan(jax: ModuleType) -> Callable[..., Any]:
    """The final state of a recurrent network, for its weights and a sequence of inputs."""

    def run(weights: Any, xs: Any) -> Any:
        def step(h: Any, x: Any) -> Any:
            return jax.numpy.tanh(weights @ h + x), None

        return jax.lax.scan(step, xs[0], xs)[0].sum()

    return run


def numbers(sizes: Sizes) -> tuple[Any, ...]:
    return np.float64(1.0), np.linspace(0.5, 1.0, sizes.steps)


def network_inputs(sizes: Sizes) -> tuple[Any, ...]:
    return normal(sizes.width, sizes.width) * 0.5, normal(sizes.steps, sizes.width)


Program = Callable[[ModuleType], Callable[..., Any]]
Inputs = Callable[[Sizes], tuple[Any, ...]]


def compiled(program: Program, inputs: Inputs, jax: ModuleType, sizes: Sizes) -> Operation:
    f, args = jax.jit(program(jax)), on_device(jax, inputs(sizes))
    return lambda: f(*args)


def gradient(program: Program, jax: ModuleType) -> Callable[..., Any]:
    return jax.grad(lambda *args: jax.tree.leaves(program(jax)(*args))[0])


def eager(jax: ModuleType, sizes: Sizes) -> Operation:
    """Without `jit`; the step is the same function every time."""
    f, args = number_scan(jax), numbers(sizes)
    return lambda: f(*args)


def first_eager(jax: ModuleType, sizes: Sizes) -> Operation:
    """Without `jit`, with a new step: traced and compiled each time."""
    args = numbers(sizes)
    return lambda: jax.lax.scan(fresh(lambda c, x: (jax.numpy.sin(c) * x, c)), *args)


ROWS = (
    Row("compiled while, 10,000 iterations", 1.1, compiled_while),
    Row("compiled scan of numbers, 1,000 steps", 1.1, partial(compiled, number_scan, numbers)),
    Row("its gradient", 1.1, partial(compiled, partial(gradient, number_scan), numbers)),
    Row("recurrent network, 1,000 steps", 1.1, partial(compiled, network_scan, network_inputs)),
    Row(
        "gradient of the network",
        1.1,
        partial(compiled, partial(gradient, network_scan), network_inputs),
    ),
    Row("eager scan, 1,000 steps", 1.5, eager),
    Row("eager scan, first call", 1.0, first_eager),
)


if __name__ == "__main__":
    main(sys.argv[1:], REPORT, ROWS, Sizes())
